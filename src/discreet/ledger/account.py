"""Accounts, and what a journal adds up to: its records, read in order, give caps and sums.

Nothing else is stored. A total that is not written down cannot disagree with the records, and a
process that has read up to some record needs only what came after it.

Journals are long and their charges mostly alike, so equal ones are counted and added up at once.
As long as sums are exact, that gives the same as adding one by one; where denominators grow so
long that sums are rounded, charges are added in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import lcm
from typing import Any, NamedTuple

from discreet.errors import BudgetExceeded, LedgerDamaged
from discreet.guarantees.filters import Filter, in_words
from discreet.guarantees.notion import Budget
from discreet.ledger.budget import Cap
from discreet.ledger.record import START, Row, damaged, read_record
from discreet.neighbors import Relation
from discreet.numeric.short_fractions import EXACT_BITS

# -- one account while the journal is read ---------------------------------------------------------


@dataclass
class AccountState:
    """An account, and what was read of it so far."""

    number: int  # of the record that opened it
    kind: str  # "group", "dataset" or "analyst"
    name: str
    cap: Cap | None  # an analyst may have none
    relation: Relation
    unit: str | None = None
    dataset: int | None = None  # of an analyst
    groups: tuple[int, ...] = ()  # above a dataset
    charges: int = 0
    filter: Filter | None = field(default=None, init=False)  # as of the last ``settle``
    _waiting: dict[tuple[str, str], int] = field(default_factory=dict, init=False)
    _common: int = field(default=1, init=False)  # a multiple of all denominators so far

    def __post_init__(self) -> None:
        self.filter = None if self.cap is None else self.cap.opened

    @property
    def words(self) -> str:
        """The account as messages name it."""
        return f'{self.kind} "{self.name}"'

    def note(self, amount: str, slack: str) -> None:
        """Read one charge."""
        key = (amount, slack)
        if key in self._waiting:
            self._waiting[key] += 1
        else:
            self._note_first(key)
        self.charges += 1

    def _note_first(self, key: tuple[str, str]) -> None:
        amount, slack = amounts_of(*key)
        self._common = lcm(self._common, amount.denominator, slack.denominator)
        if self._common.bit_length() <= EXACT_BITS:
            self._waiting[key] = 1
            return
        self.settle()
        self._common = 1 << EXACT_BITS  # from now on, one by one
        self.filter = self._added(self.filter, amount, slack)

    def settle(self) -> None:
        """Add up what was read and check it against the cap; if that fails, nothing changes."""
        account = self.filter
        for key, times in self._waiting.items():
            amount, slack = amounts_of(*key)
            account = self._added(account, amount * times, slack * times)
        self.filter, self._waiting = account, {}

    def _added(self, account: Filter | None, amount: Fraction, slack: Fraction) -> Filter:
        assert account is not None
        try:
            return account.add(amount, slack)
        except BudgetExceeded:
            pass
        raise LedgerDamaged(
            f"the charges of the {self.words} add up to more than its cap, which no ledger lets "
            "happen",
            remedy="restore the ledger and its head from a backup",
        )


@lru_cache(maxsize=4096)
def amounts_of(amount: str, slack: str) -> tuple[Fraction, Fraction]:
    """The two numbers of a charge as the journal writes them."""
    amounts = Fraction(amount), Fraction(slack)
    if min(amounts) < 0 or not any(amounts):
        raise ValueError("a charge is above 0")
    return amounts


# -- all accounts: what the journal adds up to -----------------------------------------------------


class _Chain(NamedTuple):
    """The accounts that a charge of an analyst to a dataset counts against."""

    accounts: list[AccountState]
    numbers: list[int]
    without_cap: list[AccountState]
    relation: str


class LedgerState:
    """Accounts and sums up to a record."""

    def __init__(self) -> None:
        self.number = 0
        self.hash = START
        self.id = ""
        self.public_key: str | None = None
        self.accounts: dict[int, AccountState] = {}
        self.names: dict[tuple[str, int | None, str], int] = {}  # kind, dataset, name
        self.charges = 0
        self.replies = 0
        self._chains: dict[tuple[int, int | None], _Chain] = {}

    def above(self, dataset: int, analyst: int | None) -> list[AccountState]:
        """The accounts that a charge must fit: the dataset, its groups, and the analyst."""
        return self._chain(dataset, analyst).accounts

    def _chain(self, dataset: int, analyst: int | None) -> _Chain:
        found = self._chains.get((dataset, analyst))
        if found is None:
            data = self.accounts[dataset]
            all_of_them = [data, *(self.accounts[group] for group in data.groups)]
            if analyst is not None:
                all_of_them.append(self.accounts[analyst])
            found = self._chains[dataset, analyst] = _Chain(
                [account for account in all_of_them if account.cap is not None],
                [account.number for account in all_of_them if account.cap is not None],
                [account for account in all_of_them if account.cap is None],
                data.relation.value,
            )
        return found

    def analysts(self, dataset: int) -> list[str]:
        """The names of those who may ask about a dataset."""
        return [name for kind, of, name in self.names if (kind, of) == ("analyst", dataset)]

    def apply(self, row: Row) -> None:
        """Read the next record; the error says where the journal is damaged."""
        number = self.number + 1
        try:
            self._apply(number, read_record(row, number, self.hash))
        except (KeyError, ValueError, TypeError, AssertionError, AttributeError, StopIteration):
            pass
        else:
            self.number, self.hash = number, row[4]
            return
        # Outside the except block: what was there is not passed on.
        raise damaged(number, "cannot be read")

    def accept(self, number: int, digest: str, fields: dict[str, Any]) -> None:
        """Count a charge that was just written."""
        self._charge(number, fields)
        self.settle()
        self.number, self.hash = number, digest

    def settle(self) -> None:
        """Add up what was read, and check it against the caps."""
        for account in self.accounts.values():
            account.settle()

    def _apply(self, number: int, fields: dict[str, Any]) -> None:
        kind = fields["kind"]
        if (kind == "ledger") != (number == 1):
            raise damaged(number, "opens a ledger in the middle, or does not open it at its start")
        if kind == "charge":  # first, since most records are
            self._charge(number, fields)
        elif kind == "reply":
            self._reply(number, fields)
        elif kind == "ledger":
            self.id, self.public_key = str(fields["id"]), fields["public_key"]
        elif kind in ("group", "dataset", "analyst"):
            self._open(number, fields)
        elif kind == "migration":
            if not 1 <= fields["from"] < fields["to"]:
                raise damaged(number, "brings the ledger to a version that is not later")
        else:
            raise damaged(number, "is of an unknown kind")

    def _charge(self, number: int, fields: dict[str, Any]) -> None:
        chain = self._chain(fields["dataset"], fields["analyst"])
        parts = fields["charges"]
        if [part[0] for part in parts] != chain.numbers:
            raise damaged(number, "is not charged to the accounts it must be charged to")
        if fields["relation"] != chain.relation:
            raise damaged(number, "was made under another neighbour relation than its dataset's")
        for account, (_, amount, slack) in zip(chain.accounts, parts, strict=True):
            account.note(amount, slack)
        for account in chain.without_cap:
            account.charges += 1
        self.charges += 1

    def _reply(self, number: int, fields: dict[str, Any]) -> None:
        if not 1 <= fields["charge"] < number or len(fields["digest"]) != 64:
            raise damaged(number, "answers a charge that was not made")
        self.replies += 1

    def _open(self, number: int, fields: dict[str, Any]) -> None:
        kind, name, dataset = fields["kind"], fields["name"], fields.get("dataset")
        if (kind, dataset, name) in self.names:
            raise damaged(number, f"opens the {kind} {name!r} a second time")
        if dataset is not None and self.accounts[dataset].kind != "dataset":
            raise damaged(number, "is about a dataset that was not opened")
        groups = tuple(fields.get("groups", ()))
        if any(self.accounts[group].kind != "group" for group in groups):
            raise damaged(number, "is in a group that was not opened")
        self.accounts[number] = AccountState(
            number,
            kind,
            name,
            None if fields["cap"] is None else Cap.from_document(fields["cap"]),
            Relation(fields["relation"]),
            unit=fields.get("unit"),
            dataset=dataset,
            groups=groups,
        )
        self.names[kind, dataset, name] = number


# -- accounts, as users see them -------------------------------------------------------------------


@dataclass(frozen=True)
class Account:
    """A group, a dataset or an analyst, with its cap and what is spent of it."""

    kind: str  #: "group", "dataset" or "analyst"
    name: str
    dataset: str | None  #: that of an analyst
    budget: Budget | None  #: as stated; an analyst may have none of their own
    filter: Filter | None  #: caps and sums as they were when it was looked at
    relation: Relation
    unit: str | None
    groups: tuple[str, ...]
    releases: int

    @classmethod
    def of(cls, kept: AccountState, state: LedgerState) -> Account:
        """The account in this state of the ledger."""
        return cls(
            kept.kind,
            kept.name,
            None if kept.dataset is None else state.accounts[kept.dataset].name,
            None if kept.cap is None else kept.cap.budget,
            kept.filter,
            kept.relation,
            kept.unit,
            tuple(state.accounts[group].name for group in kept.groups),
            kept.charges,
        )

    def __str__(self) -> str:
        """One line: who, the cap, and what is spent of it.

        >>> from discreet.guarantees import Pure
        >>> account = Filter(limit=Pure(3)).charge(Pure("0.5"))
        >>> rest = (Relation.ADD_REMOVE, "id", (), 1)
        >>> print(Account("dataset", "visits", None, Pure(3), account, *rest))
        dataset "visits": ε = 0.5 of ε = 3 is spent
        """
        whose = f'{self.kind} "{self.name}"'
        if self.filter is None or self.budget is None:
            return f"{whose}: no cap of its own"
        account, kind = self.filter, type(self.filter.limit)
        spent = in_words(kind, account.total, account.spent_slack)
        limit = in_words(kind, account.limit.amount, account.slack)
        told = f"{whose}: {spent} of {limit} is spent"
        return told if self.budget == account.limit else f"{told} (which keeps {self.budget.words})"
