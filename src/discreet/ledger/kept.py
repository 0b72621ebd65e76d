"""One account while a journal is read: its cap, who it is for, and what is spent.

Journals are long and their charges mostly alike, so equal ones are counted and added up at once.
That is the sum that one by one would give as long as it is exact; where denominators grow so
long that sums are rounded, charges are added in order.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from math import lcm

from discreet.errors import BudgetExceeded, LedgerDamaged
from discreet.guarantees.filters import Charge, Filter
from discreet.ledger.caps import Cap
from discreet.neighbors import Relation
from discreet.numeric.short_fractions import EXACT_BITS


@dataclass
class Kept:
    """An account, and what was read of it."""

    number: int  # of the record that opened it
    kind: str  # "group", "dataset" or "analyst"
    name: str
    cap: Cap | None  # an analyst may have none
    relation: Relation
    unit: str | None = None
    dataset: int | None = None  # of an analyst
    groups: tuple[int, ...] = ()  # above a dataset
    charges: int = 0
    _filter: Filter | None = field(default=None, init=False)
    _waiting: dict[tuple[str, str], int] = field(default_factory=dict, init=False)
    _common: int = field(default=1, init=False)  # a multiple of all denominators so far

    def __post_init__(self) -> None:
        self._filter = None if self.cap is None else self.cap.opened

    @property
    def words(self) -> str:
        """For messages."""
        return f'{self.kind} "{self.name}"'

    @property
    def filter(self) -> Filter | None:
        """Caps and sums, as of the last time that everything read was added up."""
        return self._filter

    def note(self, amount: str, slack: str) -> None:
        """Read one charge."""
        key = (amount, slack)
        if key in self._waiting:
            self._waiting[key] += 1
        else:
            self._note_first(key)
        self.charges += 1

    def _note_first(self, key: tuple[str, str]) -> None:
        charge = charge_of(*key)
        self._common = lcm(self._common, charge.amount.denominator, charge.slack.denominator)
        if self._common.bit_length() <= EXACT_BITS:
            self._waiting[key] = 1
            return
        self.settle()
        self._common = 1 << EXACT_BITS  # from now on, one by one
        self._filter = self._added(self._filter, charge)

    def settle(self) -> None:
        """Add up what was read, and hold it against the cap: all of it, or nothing changes."""
        account = self._filter
        for (amount, slack), times in self._waiting.items():
            one = charge_of(amount, slack)
            account = self._added(account, Charge(one.amount * times, one.slack * times))
        self._filter, self._waiting = account, {}

    def _added(self, account: Filter | None, charge: Charge) -> Filter:
        assert account is not None
        try:
            return account.add(charge)
        except BudgetExceeded:
            pass
        raise LedgerDamaged(
            f"the charges of the {self.words} add up to more than its cap, which no ledger lets "
            "happen: restore the ledger and its head from a backup"
        )


@lru_cache(maxsize=4096)
def charge_of(amount: str, slack: str) -> Charge:
    """A charge as the journal writes it."""
    cost = Charge(Fraction(amount), Fraction(slack))
    if cost.amount < 0 or cost.slack < 0 or not (cost.amount or cost.slack):
        raise ValueError("a charge is above 0")
    return cost
