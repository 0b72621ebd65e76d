"""Running something that may fail, without a word of the failure: engines quote cells.

The work is done in a thread of its own, so that the caller can show progress and be interrupted
while an engine computes in native code.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, TypeVar

from discreet.engines.progress import TICK, ProgressBar
from discreet.errors import DiscreetError, EngineError

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
            pass  # an empty outcome says enough, and nothing of the exception may live on
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
            interrupt()  # more than once: an engine that has not begun forgets it
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
