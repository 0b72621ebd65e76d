"""What a journal adds up to: its records, read in order, give accounts with caps and sums.

Nothing else is stored. A total that is not written down cannot disagree with the records, and a
process that has read up to some record needs only what came after it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import BudgetExceeded
from discreet.guarantees.accounts.charges import Charge
from discreet.guarantees.accounts.filters import Filter
from discreet.ledger.caps import Cap
from discreet.ledger.records import START, damaged, read
from discreet.neighbors import Relation


@dataclass
class Kept:
    """An account: its cap, who it is for, and what is spent."""

    number: int  # of the record that opened it
    kind: str  # "group", "dataset" or "analyst"
    name: str
    cap: Cap | None  # an analyst may have none
    relation: Relation
    unit: str | None = None
    dataset: int | None = None  # of an analyst
    groups: tuple[int, ...] = ()  # above a dataset
    filter: Filter | None = None
    charges: int = 0

    @property
    def words(self) -> str:
        """For messages."""
        return f'{self.kind} "{self.name}"'


class State:
    """Accounts and sums up to a record."""

    def __init__(self) -> None:
        self.number = 0
        self.hash = START
        self.id = ""
        self.public_key: str | None = None
        self.accounts: dict[int, Kept] = {}
        self.names: dict[tuple[str, int | None, str], int] = {}  # kind, dataset, name
        self.charges = 0
        self.replies = 0

    def above(self, dataset: int, analyst: int | None) -> list[Kept]:
        """The accounts that a charge must fit: the dataset, its groups, and the analyst."""
        data = self.accounts[dataset]
        all_of_them = [data, *(self.accounts[g] for g in data.groups)]
        if analyst is not None:
            all_of_them.append(self.accounts[analyst])
        return [account for account in all_of_them if account.cap is not None]

    def apply(self, row: tuple[int, str | None, str, str, str]) -> None:
        """Read the next record, or say where the journal is damaged."""
        number = self.number + 1
        try:
            fields = read(row, number, self.hash)
            match fields["kind"]:
                case "charge":
                    self._charge(number, fields)
                case "reply":
                    self._reply(number, fields)
                case "ledger" if number == 1:
                    self.id, self.public_key = fields["id"], fields["public_key"]
                case "group" | "dataset" | "analyst":
                    self._open(number, fields)
                case kind:
                    raise damaged(number, f"is of an unknown kind, {str(kind)[:20]!r}")
        except (KeyError, ValueError, TypeError, AssertionError, AttributeError):
            unreadable = True
        except BudgetExceeded:
            raise damaged(number, "charges more than the cap allows") from None
        else:
            unreadable = False
        if unreadable:
            raise damaged(number, "cannot be read")
        if number == 1 and not self.id:
            raise damaged(1, "does not open a ledger")
        self.number, self.hash = number, row[4]

    def _charge(self, number: int, fields: dict[str, Any]) -> None:
        accounts = self.above(fields["dataset"], fields["analyst"])
        parts = fields["charges"]
        if len(parts) != len(accounts):
            raise damaged(number, "is not charged to the accounts it must be charged to")
        if self.accounts[fields["dataset"]].relation.value != fields["relation"]:
            raise damaged(number, "was made under another neighbour relation than its dataset's")
        sums = []
        for account, (target, amount, slack) in zip(accounts, parts, strict=True):
            if target != account.number:
                raise damaged(number, "is not charged to the accounts it must be charged to")
            assert account.filter is not None
            sums.append(account.filter.add(charge_of(amount, slack)))
        for account, following in zip(accounts, sums, strict=True):
            account.filter = following
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
        cap = None if fields["cap"] is None else Cap.from_document(fields["cap"])
        self.accounts[number] = Kept(
            number,
            kind,
            name,
            cap,
            Relation.parse(fields["relation"]),
            unit=fields.get("unit"),
            dataset=dataset,
            groups=groups,
            filter=None if cap is None else cap.opened,
        )
        self.names[kind, dataset, name] = number


@lru_cache(maxsize=4096)
def charge_of(amount: str, slack: str) -> Charge:
    """A charge as the journal writes it."""
    cost = Charge(Fraction(amount), Fraction(slack))
    if cost.amount < 0 or cost.slack < 0 or not (cost.amount or cost.slack):
        raise ValueError("a charge is above 0")
    return cost
