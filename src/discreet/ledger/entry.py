"""What a ledger remembers of a release, and what every ledger offers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from discreet.guarantees import Guarantee
from discreet.guarantees.accounts.filters import Filter


@dataclass(frozen=True)
class Entry:
    """One charge: what was asked, what it promises, when. Never data."""

    question: str
    mechanisms: tuple[str, ...]
    guarantee: Guarantee
    time: datetime


class Ledger(Protocol):
    """Where a session's budget is kept. Charging is one step: check every cap, then write."""

    @property
    def account(self) -> Filter:
        """Caps and sums as they are now."""
        ...

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything charged so far, in order."""
        ...

    def charge(self, entry: Entry) -> None:
        """Write the charge, or refuse it (`BudgetExceeded`) and leave no trace."""
        ...
