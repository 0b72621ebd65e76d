"""A ledger and its accounts on the command line: options, documents, and checks of new accounts."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from discreet.cli.options import Text, argument, option
from discreet.cli.output import cap_in_words, short
from discreet.cli.paths import check_ledger_exists, check_ledger_place, check_public_key, key_files
from discreet.errors import InvalidArgument, Refused

if TYPE_CHECKING:
    from discreet.guarantees.notion import Budget
    from discreet.ledger import Account
    from discreet.ledger.ledger import Ledger


# -- which ledger, and its accounts as documents ---------------------------------------------------


@dataclass(frozen=True)
class LedgerOptions:
    """The options that name a ledger and its key."""

    ledger: str = argument(
        "The ledger: a file, or a postgresql:// address.", "LEDGER", envvar="DISCREET_LEDGER"
    )
    key: Text = option(
        "The private key that signs the ledger: Ed25519, as PEM.", "FILE", envvar="DISCREET_KEY"
    )

    def open(self, *, create: bool = False) -> Ledger:
        """The ledger, checked from its first record to its last."""
        import discreet as dp

        (check_ledger_place if create else check_ledger_exists)(self.ledger)
        return dp.Ledger(self.ledger, create=create, key=self.key)


@dataclass(frozen=True)
class ReadOnlyLedgerOptions(LedgerOptions):
    """The options for a ledger that is only read: the public half of its key is enough."""

    public_key: Text = option(
        "Demand that the ledger was made with this key: a file, or 64 hexadecimal digits.",
        "FILE|HEX",
    )

    @property
    def key_files(self) -> list[str]:
        """The files of the key, which a picture must not overwrite."""
        return [*key_files(self.key), *key_files(self.public_key)]

    def open(self, *, create: bool = False) -> Ledger:
        """The ledger, checked from its first record to its last, and against the key."""
        import discreet as dp

        check_ledger_exists(self.ledger)
        check_public_key(self.public_key)
        return dp.Ledger(self.ledger, key=self.key, public_key=self.public_key)


def datasets_of(ledger: Ledger, name: str | None) -> list[Account]:
    """All datasets, or the one that is named."""
    found = [account for account in ledger.datasets if name in (None, account.name)]
    if name is not None and not found:
        raise unknown_dataset(list(ledger.datasets), name)
    return found


def unknown_dataset(there: list[Account], given: str | None = None) -> InvalidArgument:
    """The error for a dataset that is not named, or that does not exist."""
    names = ", ".join(account.name for account in there)
    return InvalidArgument(
        "--dataset",
        f"one of {names}" if there else "a dataset of this ledger, which has none",
        "nothing" if given is None else InvalidArgument.describe_parameter(given),
        hint="" if there else "add one: discreet ledger create LEDGER --dataset NAME --epsilon 3",
        code="missing-argument" if given is None else "unknown-name",
    )


def facts_of(ledger: Ledger) -> dict[str, Any]:
    """What every document about a ledger begins with."""
    return {"ledger": ledger.location, "id": ledger.id}


def spent_without_cap(ledger: Ledger, dataset: str) -> dict[str, Fraction]:
    """What analysts without a cap of their own spent on a dataset, by name."""
    free = {a.name for a in ledger.analysts if a.dataset == dataset and a.filter is None}
    spent = dict.fromkeys(free, Fraction(0))
    for entry in ledger.history(dataset) if free else ():
        if entry.analyst in free:
            spent[entry.analyst] += entry.costs[0].amount
    return spent


def account_documents(ledger: Ledger, accounts: Iterable[Account]) -> list[dict[str, Any]]:
    """Accounts as documents, including what was spent by analysts who have no cap."""
    spent = cache(partial(spent_without_cap, ledger))  # it reads a dataset's whole history
    documents = []
    for account in accounts:
        told = account_document(account)
        if account.filter is None and account.dataset is not None:
            told["spent"] = spent(account.dataset).get(account.name, Fraction(0))
        documents.append(told)
    return documents


def account_document(account: Account) -> dict[str, Any]:
    """An account, with its sums as exact numbers."""
    kept = account.filter
    return {
        "kind": account.kind,
        "name": account.name,
        "dataset": account.dataset,
        "budget": None if account.budget is None else json.loads(account.budget.to_json()),
        "cap": None if kept is None else kept.limit.amount,
        "spent": None if kept is None else kept.total,
        "slack": None if kept is None else kept.slack,
        "spent_slack": None if kept is None else kept.spent_slack,
        "relation": str(account.relation),
        "unit": account.unit,
        "groups": list(account.groups),
        "releases": account.releases,
    }


# -- a new dataset and its groups, checked before they are made ------------------------------------


def check_caps(dataset: str | None, budget: Any, groups: list[str], of_group: Any) -> None:
    """Refuse a cap without a dataset or group, and a dataset without a cap."""
    if dataset is None and (budget is not None or (groups and of_group is None)):
        raise InvalidArgument.missing(
            "--dataset", "given with a cap or a group", hint="as in --dataset people --epsilon 3"
        )
    if dataset is not None and budget is None:
        raise InvalidArgument.missing(
            "the cap",
            "given with --dataset, as --epsilon, --rho or --mu",
            hint="it is the most that all answers together may cost one person, and stays fixed; "
            "as in --epsilon 3",
        )
    if of_group is not None and not groups:
        raise InvalidArgument.missing("--group", "given with a cap of a group")


def check_names(
    *,
    dataset: str | None,
    unit: str | None = None,
    groups: Sequence[str] = (),
    relation: str = "add-remove",
) -> None:
    """Refuse names that cannot be printed, and an unknown relation."""
    from discreet.ledger.history import read_name
    from discreet.neighbors import Relation

    Relation.parse(relation)
    named = [("--dataset", dataset), ("--unit", unit), *(("--group", name) for name in groups)]
    for what, name in named:
        if name is not None:
            read_name(name, argument=what)


def check_groups(groups: list[str], of_group: Any, *, there: Collection[str]) -> None:
    """Refuse groups that do not exist, except the one that is to be made, before making any."""
    for name in groups if of_group is None else groups[:-1]:
        if name not in there:
            raise InvalidArgument.of(
                "--group",
                "a group that is there, or the last one with its cap",
                name,
                hint="to make it, add its cap: --group-epsilon 5, --group-rho or --group-mu",
            )


def check_kept(
    data: Account, *, budget: Budget | None, unit: str | None, relation: str, groups: Sequence[str]
) -> None:
    """Refuse to change the cap, unit, relation or groups of an existing dataset."""
    from discreet.ledger import Cap

    kept = {
        "its unit is": (_unit(data.unit), _unit(unit)),
        "its relation is": (str(data.relation), relation),
        "its groups are": (_names(data.groups), _names(groups)),
    }
    if budget is not None and budget != data.budget:
        kept["its cap is"] = (cap_in_words(data), short(str(Cap.read(budget, None))))
    for words, (had, given) in kept.items():
        if had != given:
            raise Refused(
                f'the dataset "{data.name}" is there already, and {words} {had}, not {given}: '
                "that is never changed",
                remedy="Say the same, or add a dataset under another name",
                code="already-there",
            )


def _unit(unit: str | None) -> str:
    return "a row" if unit is None else f'the column "{unit}"'


def _names(groups: Sequence[str]) -> str:
    return ", ".join(dict.fromkeys(groups)) or "none"
