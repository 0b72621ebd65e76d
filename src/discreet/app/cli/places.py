"""Which ledger, which dataset in it, and accounts told in words and as documents."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from discreet.app.cli.outputs import key_files
from discreet.app.cli.presence import check_place, check_there
from discreet.app.cli.public_keys import check_public
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.ledger import Account
    from discreet.ledger.ledger import Ledger


@dataclass(frozen=True)
class Place:
    """Which ledger."""

    ledger: Annotated[
        str,
        Argument(
            help="The ledger: a file, or a postgresql:// address.",
            envvar="DISCREET_LEDGER",
            metavar="LEDGER",
        ),
    ]
    key: Annotated[
        str | None,
        Option(
            help="The private key that signs the ledger: Ed25519, as PEM.",
            envvar="DISCREET_KEY",
            metavar="FILE",
        ),
    ] = None

    def open(self, *, create: bool = False) -> Ledger:
        """The ledger, checked from its first record to its last."""
        import discreet as dp

        if create:
            check_place(self.ledger)
        else:
            check_there(self.ledger)
        return dp.Ledger(self.ledger, create=create, key=self.key)


@dataclass(frozen=True)
class Reading(Place):
    """Which ledger, where it is only read: the public half of its key will do."""

    public_key: Annotated[
        str | None,
        Option(
            help="Demand that the ledger was made with this key: a file, or 64 hexadecimal digits.",
            metavar="FILE|HEX",
        ),
    ] = None

    @property
    def key_files(self) -> list[str]:
        """What signs: no picture may be drawn over it."""
        return [*key_files(self.key), *key_files(self.public_key)]

    def open(self, *, create: bool = False) -> Ledger:
        """The ledger, checked from its first record to its last, and against the key."""
        import discreet as dp

        check_there(self.ledger)
        check_public(self.public_key)
        return dp.Ledger(self.ledger, key=self.key, public_key=self.public_key)


def datasets_of(ledger: Ledger, name: str | None) -> list[Account]:
    """All datasets, or the one that is named."""
    found = [account for account in ledger.datasets if name in (None, account.name)]
    if name is not None and not found:
        raise which(list(ledger.datasets), name)
    return found


def which(there: list[Account], given: str | None = None) -> InvalidArgument:
    """The error of a dataset that is not named, or not there."""
    names = ", ".join(account.name for account in there)
    return InvalidArgument(
        name="--dataset",
        expected=f"one of {names}" if there else "a dataset of this ledger, which has none",
        given="nothing" if given is None else InvalidArgument.describe_parameter(given),
        hint="" if there else "add one: discreet ledger create LEDGER --dataset NAME --epsilon 3",
    )


def facts_of(ledger: Ledger) -> dict[str, Any]:
    """What every document about a ledger begins with."""
    return {"ledger": ledger.location, "id": ledger.id}


def spent_without_cap(ledger: Ledger, dataset: str) -> dict[str, Fraction]:
    """By analyst, what those who have no cap of their own spent of a dataset."""
    free = {a.name for a in ledger.analysts if a.dataset == dataset and a.filter is None}
    spent = dict.fromkeys(free, Fraction(0))
    for entry in ledger.history(dataset) if free else ():
        if entry.analyst in free:
            spent[entry.analyst] += entry.costs[0].amount
    return spent


def account_documents(ledger: Ledger, accounts: Iterable[Account]) -> list[dict[str, Any]]:
    """Accounts as documents, with what was spent also by those who have no cap."""
    free: dict[str, dict[str, Fraction]] = {}
    documents = []
    for account in accounts:
        told = account_document(account)
        if account.filter is None and account.dataset is not None:
            if account.dataset not in free:
                free[account.dataset] = spent_without_cap(ledger, account.dataset)
            told["spent"] = free[account.dataset].get(account.name, Fraction(0))
        documents.append(told)
    return documents


def account_document(account: Account) -> dict[str, Any]:
    """An account, with its sums as exact numbers."""
    from discreet.guarantees.filters import sum_of

    kept = account.filter
    return {
        "kind": account.kind,
        "name": account.name,
        "dataset": account.dataset,
        "budget": None if account.budget is None else json.loads(account.budget.to_json()),
        "cap": None if kept is None else sum_of(kept.limit),
        "spent": None if kept is None else kept.total,
        "slack": None if kept is None else kept.slack,
        "spent_slack": None if kept is None else kept.spent_slack,
        "relation": str(account.relation),
        "unit": account.unit,
        "groups": list(account.groups),
        "releases": account.releases,
    }
