"""What a session needs of a budget, wherever it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from discreet.ledger.entry import Claim, Entry, NamedFilter
from discreet.ledger.history import History


class Purse(Protocol):
    """Where a session's budget is kept: one dataset's, as one analyst may spend it."""

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        ...

    @property
    def analyst(self) -> str | None:
        """Who spends, if that is known."""
        ...

    @property
    def ledger(self) -> str | None:
        """The id of the ledger, if it is one that outlives the process."""
        ...

    @property
    def caps(self) -> tuple[NamedFilter, ...]:
        """Every cap that a charge must stay within, as it is now; the dataset's first."""
        ...

    @property
    def entries(self) -> History:
        """Everything charged so far, in order."""
        ...

    @property
    def releases(self) -> int:
        """How many charges there are."""
        ...

    def charge(self, claim: Claim) -> Entry:
        """Write the charge, or refuse it (`BudgetExceeded`) and leave no trace."""
        ...

    def keep(self, entry: Entry, reply: Callable[[], bytes]) -> None:
        """Keep what was released for a charge."""
        ...

    def find(self, key: str) -> Entry | None:
        """What was charged under this idempotency key, if anything was."""
        ...

    def own(self, entry: Entry | int) -> Entry | None:
        """The charge, or that with this number, as it was recorded here; none if it is one of
        another ledger or dataset."""
        ...

    def reply(self, entry: Entry) -> bytes | None:
        """What was released for a charge; nothing if the release did not come to its end."""
        ...
