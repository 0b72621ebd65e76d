"""What a release cost and what is left, read from the ledger after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.app.cli.amounts import in_words

if TYPE_CHECKING:
    from discreet.ledger import Account, Entry
    from discreet.ledger.ledger import Ledger
    from discreet.release import Result


@dataclass(frozen=True)
class Receipt:
    """One charge, and every account that it went to, as they are now."""

    ledger: str
    id: str
    entry: Entry
    accounts: tuple[Account, ...]
    stored: bool  #: an answer that was there already, for nothing

    def lines(self) -> Iterator[str]:
        """For a terminal: the record, and a line for each cap."""
        yield f"record {self.entry.number} of {self.ledger}"
        for account in self.accounts:
            assert account.filter is not None
            notion = type(account.filter.limit)
            left, whole = in_words(notion, *_rest(account)), in_words(notion, *_whole(account))
            yield f"left of {account.kind} {account.name}: {left} of {whole}"

    def document(self) -> dict[str, Any]:
        """The same with exact numbers."""
        return {
            "record": self.entry.number,
            "ledger": {"location": self.ledger, "id": self.id},
            "stored": self.stored,
            "charged": [
                {"account": cost.account, "amount": cost.amount, "slack": cost.slack}
                for cost in self.entry.costs
            ],
            "remaining": [
                {"account": f'{a.kind} "{a.name}"', "amount": _rest(a)[0], "slack": _rest(a)[1]}
                for a in self.accounts
            ],
        }


def receipt(ledger: Ledger, result: Result) -> Receipt | None:
    """That of an answer which was just given."""
    entry = None if result.record is None else ledger.entry(result.record)
    if entry is None:
        return None
    stored = any(f"stored answer of record {entry.number}:" in note for note in result.notes)
    charged = {cost.account for cost in entry.costs}
    people = [who for who in ledger.analysts if who.dataset == entry.dataset]
    accounts = [*ledger.datasets, *ledger.groups, *people]
    found = (a for a in accounts if a.filter and f'{a.kind} "{a.name}"' in charged)
    return Receipt(ledger.location, ledger.id, entry, tuple(found), stored)


def _whole(account: Account) -> tuple[Fraction, Fraction]:
    from discreet.guarantees.filters import sum_of

    assert account.filter is not None
    return sum_of(account.filter.limit), account.filter.slack


def _rest(account: Account) -> tuple[Fraction, Fraction]:
    assert account.filter is not None
    cap, slack = _whole(account)
    return cap - account.filter.total, slack - account.filter.spent_slack
