"""No connection survives a fork: a database's locks and sockets belong to one process.

SQLite remembers which locks its process holds, and a forked child inherits the memory but not the
locks. So every store closes its connection before a fork, and opens one when it is next used.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import WeakSet


class Connected(Protocol):
    """A store with a connection, used by one thread at a time."""

    mutex: threading.RLock

    def close(self) -> None:
        """Close the connection; the next use opens one."""
        ...


_LIVE: WeakSet[Connected] = WeakSet()
_HELD: list[Connected] = []


def register(store: Connected) -> None:
    """From now on, close it before a fork."""
    _LIVE.add(store)


def _before() -> None:
    for store in list(_LIVE):
        store.mutex.acquire()
        _HELD.append(store)
        store.close()


def _in_parent() -> None:
    while _HELD:
        _HELD.pop().mutex.release()


def _in_child() -> None:
    while _HELD:
        _HELD.pop().mutex = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
