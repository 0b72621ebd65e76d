"""What can be said of a new dataset and its groups before any of it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.ledger import Account


def check_caps(dataset: str | None, budget: Any, groups: list[str], of_group: Any) -> None:
    """Every cap has something that it caps."""
    if dataset is None and (budget is not None or (groups and of_group is None)):
        raise InvalidArgument(
            name="--dataset",
            expected="given with a cap or a group",
            given="nothing",
            hint="as in --dataset people --epsilon 3",
        )
    if dataset is not None and budget is None:
        raise InvalidArgument(
            name="the cap",
            expected="given with --dataset, as --epsilon, --rho or --mu",
            given="nothing",
            hint="it is the most that all answers together may cost one person, and stays fixed; "
            "as in --epsilon 3",
        )
    if of_group is not None and not groups:
        raise InvalidArgument(
            name="--group", expected="given with a cap of a group", given="nothing"
        )


def check_groups(groups: list[str], of_group: Any, *, there: Mapping[str, Account]) -> None:
    """All groups are there, but the one that is made, before any of it is."""
    made = groups[-1:] if of_group is not None else []
    for name in groups:
        if name not in there and name not in made:
            raise InvalidArgument(
                name="--group",
                expected="a group that is there, or the last one with its cap",
                given=InvalidArgument.describe_parameter(name),
                hint="make one first: discreet ledger create LEDGER --group NAME --group-epsilon 5",
            )


def check_new(dataset: str | None, there: Sequence[Account]) -> None:
    """A dataset that is there keeps its groups, so it cannot join one that is made now."""
    if dataset is not None and any(account.name == dataset for account in there):
        raise InvalidArgument(
            name="--dataset",
            expected="one that is not there yet, since it joins a group when it is added",
            given=InvalidArgument.describe_parameter(dataset),
        )
