"""How a query runs: in a thread of its own, with a progress bar, and silent about failures.

Engines quote cells in their messages, so nothing of a failure's message is passed on. The thread
lets the caller show progress and be interrupted while an engine computes in native code.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeVar
from weakref import WeakKeyDictionary

from discreet.errors import DiscreetError, EngineError

if TYPE_CHECKING:
    from rich.progress import Progress


# -- running something that may fail ---------------------------------------------------------------


T = TypeVar("T")

FAILED: Final = (
    "the engine could not compute the answer; its message may quote data and is not shown. "
    "Check that the source is still there and unchanged, and that memory and disk suffice"
)


def run(
    work: Callable[[], T],
    *,
    interrupt: Callable[[], None] = lambda: None,
    fraction: Callable[[], float | None] = lambda: None,
) -> T:
    """What `work` returns; EngineError, with no cause and no context, if it raises.

    `interrupt` stops the engine when the caller is interrupted, `fraction` says how much is done.

    >>> run(lambda: 1 + 1)
    2
    >>> run(lambda: int("secret"))
    Traceback (most recent call last):
    discreet.errors.EngineError: the engine could not compute the answer; its message may quote \
data and is not shown. Check that the source is still there and unchanged, and that memory and \
disk suffice
    """
    outcome: list[Any] = []
    ours: list[DiscreetError] = []
    done, unwanted = threading.Event(), threading.Event()

    def worker() -> None:
        try:
            if not unwanted.is_set():
                outcome.append(work())
        except DiscreetError as error:
            ours.append(error)
        except BaseException:
            pass  # an empty outcome says enough, and nothing of the exception may survive
        finally:
            done.set()

    thread = threading.Thread(target=worker, name="discreet-engine", daemon=True)
    try:
        thread.start()
        with ProgressBar(fraction) as bar:
            while not done.wait(TICK):
                bar.update()
    except BaseException:
        unwanted.set()
        while thread.is_alive():
            interrupt()  # more than once, since an engine that has not begun forgets it
            thread.join(TICK)
        raise
    thread.join()
    if outcome:
        return outcome[0]  # type: ignore[no-any-return]
    if ours:
        error = ours.pop()
        error.__cause__ = error.__context__ = error.__traceback__ = None
        raise error
    raise EngineError(FAILED)


# -- a bar for what takes longer than two seconds, on a terminal only ------------------------------
# What it shows is for the operator at that terminal: how long a query runs depends on the data.


PATIENCE: Final = 2.0  # seconds without a bar
TICK: Final = 0.1  # seconds between two looks


def can_be_shown() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


class ProgressBar(AbstractContextManager["ProgressBar"]):
    """Appears after two seconds, follows `fraction` (from 0 to 1, or None), and vanishes.

    >>> with ProgressBar(lambda: 0.5) as bar:
    ...     bar.update()  # too early for anything to be seen
    """

    def __init__(self, fraction: Callable[[], float | None]) -> None:
        self._fraction = fraction
        self._start = time.monotonic()
        self._shown = can_be_shown()
        self._progress: Progress | None = None

    def update(self) -> None:
        if not self._shown or time.monotonic() - self._start < PATIENCE:
            return
        if self._progress is None:
            self._progress = _started()
        fraction = self._fraction()
        total = None if fraction is None else 1.0
        self._progress.update(self._progress.task_ids[0], total=total, completed=fraction or 0.0)

    def __exit__(self, *exc: object) -> None:
        if self._progress is not None:
            self._progress.stop()


def _started() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    progress = Progress(
        TextColumn("computing"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    progress.add_task("", total=None)
    progress.start()
    return progress


# -- taking turns on a connection of the caller ----------------------------------------------------
# One pass at a time uses it, and the others wait.
#
# Statements of two threads on one connection would end up in each other's transactions, and fail
# after they were charged.


_locks: WeakKeyDictionary[Any, threading.Lock] = WeakKeyDictionary()
_looking = threading.Lock()


@dataclass(eq=False)
class Turn:
    """One pass's turn on a connection. It may be taken in one thread and given back in another."""

    connection: Any
    taken: bool = False
    stopped: bool = False

    def take(self) -> None:
        """Wait for our turn; raises EngineError if `stop` is called meanwhile."""
        while not self.taken:
            self.taken = self._lock.acquire(timeout=TICK)
            if self.stopped:
                raise EngineError(FAILED)

    def stop(self) -> bool:
        """Stop waiting. Returns whether it is our turn, in which case what is running is ours."""
        self.stopped = True
        return self.taken

    def give(self) -> None:
        """Give the connection to the next pass."""
        if self.taken:
            self.taken = False
            self._lock.release()

    @property
    def _lock(self) -> threading.Lock:
        with _looking:
            return _locks.setdefault(self.connection, threading.Lock())
