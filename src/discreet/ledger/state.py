"""What a journal adds up to: its records, read in order, give accounts with caps and sums.

Nothing else is stored. A total that is not written down cannot disagree with the records, and a
process that has read up to some record needs only what came after it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from discreet.ledger.caps import Cap
from discreet.ledger.kept import Kept
from discreet.ledger.records import START, damaged, read
from discreet.neighbors import Relation


class _Chain(NamedTuple):
    """What a charge of an analyst to a dataset bears on."""

    accounts: list[Kept]
    numbers: list[int]
    without_cap: list[Kept]
    relation: str


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
        self._chains: dict[tuple[int, int | None], _Chain] = {}

    def above(self, dataset: int, analyst: int | None) -> list[Kept]:
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

    def apply(self, row: tuple[int, str | None, str, str, str]) -> None:
        """Read the next record, or say where the journal is damaged."""
        number = self.number + 1
        try:
            self._apply(number, read(row, number, self.hash))
        except (KeyError, ValueError, TypeError, AssertionError, AttributeError, StopIteration):
            unreadable = True
        else:
            unreadable = False
        if unreadable:  # outside the except block: what was there is not passed on
            raise damaged(number, "cannot be read")
        self.number, self.hash = number, row[4]

    def accept(self, number: int, digest: str, fields: dict[str, Any]) -> None:
        """Count a charge that was just written."""
        self._charge(number, fields)
        self.settle()
        self.number, self.hash = number, digest

    def settle(self) -> None:
        """Add up what was read, and hold it against the caps."""
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
        self.accounts[number] = Kept(
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
