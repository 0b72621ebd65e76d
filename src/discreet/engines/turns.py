"""Who may speak on a connection of the caller: one pass at a time, and the others wait.

Statements of two threads on one connection would end up in each other's transactions, and fail
after they were charged.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from discreet.engines.progress import TICK
from discreet.engines.running import FAILED
from discreet.errors import EngineError

_locks: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
_looking = threading.Lock()


@dataclass(eq=False)
class Turn:
    """One pass's turn on a connection. It may be taken in one thread and given back in another."""

    connection: Any
    taken: bool = False
    stopped: bool = False

    def take(self) -> None:
        """Wait until it is ours; EngineError if somebody calls `stop` meanwhile."""
        while not self.taken:
            self.taken = self._lock.acquire(timeout=TICK)
            if self.stopped:
                raise EngineError(FAILED)

    def stop(self) -> bool:
        """Wait no longer. Returns whether it is our turn, so that what is running is ours."""
        self.stopped = True
        return self.taken

    def give(self) -> None:
        """Let the next one have it."""
        if self.taken:
            self.taken = False
            self._lock.release()

    @property
    def _lock(self) -> threading.Lock:
        with _looking:
            return _locks.setdefault(self.connection, threading.Lock())
