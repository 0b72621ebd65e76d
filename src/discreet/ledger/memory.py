"""A budget in memory: for one process, gone when it ends."""

from __future__ import annotations

import os
import threading
from typing import NoReturn

from discreet.errors import Refused
from discreet.guarantees.accounts.filters import Filter
from discreet.ledger.entry import Entry


class MemoryLedger:
    """Caps and charges of one session, safe between threads.

    A copy in another process would have a budget of its own, and the two together could spend
    twice as much. So a forked copy refuses to charge, and copying and pickling are refused.

    >>> from discreet.guarantees import Pure
    >>> MemoryLedger(Filter(limit=Pure(1))).account.spent
    Pure(epsilon=Fraction(0, 1))
    """

    def __init__(self, account: Filter) -> None:
        self._account = account
        self._entries: tuple[Entry, ...] = ()
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def account(self) -> Filter:
        """Caps and sums as they are now."""
        return self._account

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Everything charged so far, in order."""
        return self._entries

    def charge(self, entry: Entry) -> None:
        """Write the charge, or refuse it and leave no trace."""
        if os.getpid() != self._process:
            raise Refused(
                "this budget is kept in the memory of another process, which cannot see what is "
                "spent here: release from the process that opened the session"
            )
        with self._lock:
            self._account = self._account.charge(entry.guarantee)
            self._entries = (*self._entries, entry)

    def __reduce__(self) -> NoReturn:
        raise Refused(
            "a budget in memory cannot be copied: two copies could spend it twice; pass the "
            "session itself around"
        )
