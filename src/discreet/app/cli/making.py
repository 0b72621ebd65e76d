"""What can be said of a new dataset and its groups before any of it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.app.cli.amounts import cap_in_words, short
from discreet.errors import InvalidArgument, Refused

if TYPE_CHECKING:
    from discreet.app.cli.budgets import Budget
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


def check_names(
    *,
    dataset: str | None,
    unit: str | None = None,
    groups: Sequence[str] = (),
    relation: str = "add-remove",
) -> None:
    """Names that can be printed, and a relation that there is."""
    from discreet.ledger.accounts import read_name
    from discreet.neighbors import Relation

    Relation.parse(relation)
    named = [("--dataset", dataset), ("--unit", unit), *(("--group", name) for name in groups)]
    for option, name in named:
        if name is not None:
            read_name(name, argument=option)


def check_groups(groups: list[str], of_group: Any, *, there: Mapping[str, Account]) -> None:
    """All groups are there, but the one that is made, before any of it is."""
    made = groups[-1:] if of_group is not None else []
    for name in groups:
        if name not in there and name not in made:
            raise InvalidArgument(
                name="--group",
                expected="a group that is there, or the last one with its cap",
                given=InvalidArgument.describe_parameter(name),
                hint="to make it, add its cap: --group-epsilon 5, --group-rho or --group-mu",
            )


def check_new(dataset: str | None, there: Sequence[Account]) -> None:
    """A dataset that is there keeps its groups, so it cannot join one that is made now."""
    if dataset is not None and any(account.name == dataset for account in there):
        raise InvalidArgument(
            name="--dataset",
            expected="one that is not there yet, since it joins a group when it is added",
            given=InvalidArgument.describe_parameter(dataset),
        )


def check_kept(
    name: str,
    there: Sequence[Account],
    *,
    budget: Budget | None,
    unit: str | None,
    relation: str,
    groups: Sequence[str],
) -> None:
    """A dataset that is there keeps its cap, who is a person in it, what is hidden, its groups."""
    from discreet.ledger import Cap

    for account in there:
        if account.name != name:
            continue
        kept = {
            "its unit is": (_unit(account.unit), _unit(unit)),
            "its relation is": (str(account.relation), relation),
            "its groups are": (_names(account.groups), _names(groups)),
        }
        if budget is not None and budget != account.budget:
            kept["its cap is"] = (cap_in_words(account), short(str(Cap.read(budget, None))))
        for words, (had, given) in kept.items():
            if had != given:
                raise Refused(
                    f'the dataset "{name}" is there already, and {words} {had}, not {given}: '
                    "that is never changed. Say the same, or add a dataset under another name"
                )


def _unit(unit: str | None) -> str:
    return "a row" if unit is None else f'the column "{unit}"'


def _names(groups: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(groups)) or "none"
