"""Large vectors are processed in chunks, by several threads, in arrays that are used again.

Fresh arrays of a chunk's size would cost more in page faults than the arithmetic done in
them. So a thread keeps one workspace, and the functions on the fast path write into its arrays.
"""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from discreet.noise.entropy import Source

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

BLOCK: Final = 1 << 18  # what one thread takes on at a time
# A block is processed in chunks. For one thread small ones are best: their arrays stay in the
# cache. Several threads hand the interpreter to each other after every operation, so each
# operation then has to be worth it.
CHUNK: Final = 1 << 15
CHUNK_AMONG_THREADS: Final = 1 << 17


class Workspace:
    """Arrays by name, made when first needed or when too small, and used again from then on."""

    def __init__(self) -> None:
        self._words: dict[str, NDArray[np.uint64]] = {}

    def words(self, name: str, size: int) -> NDArray[np.uint64]:
        kept = self._words.get(name)
        if kept is None or kept.size < size:
            kept = self._words[name] = np.empty(size, np.uint64)
        return kept[:size]

    def floats(self, name: str, size: int) -> NDArray[np.float64]:
        """The words of this name, read as floats."""
        return self.words(name, size).view(np.float64)

    def flags(self, name: str, size: int) -> NDArray[np.bool_]:
        """The words of this name, read as flags."""
        return self.words(name, (size + 7) // 8).view(np.bool_)[:size]


_local: Final = threading.local()


@contextmanager
def room() -> Iterator[Workspace]:
    """Lend this thread's workspace.

    It is taken out while lent: a signal handler or finalizer that draws in the middle of a
    draw gets another one, and cannot put its words in place of ours.
    """
    space: Workspace = _local.__dict__.pop("room", None) or Workspace()
    try:
        yield space
    finally:
        _local.room = space


def chunks(size: int) -> Iterator[slice]:
    """Cut ``range(size)`` into chunks of the length that suits this thread."""
    step: int = getattr(_local, "chunk", CHUNK)
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def in_blocks(work: Callable[[int, int], None], size: int, source: Source) -> None:
    """Call ``work(start, end)`` for every block of ``range(size)``."""
    if size <= BLOCK:
        work(0, size)
        return
    starts = range(0, size, BLOCK)
    ends = [min(start + BLOCK, size) for start in starts]
    ended: Iterable[None] = map(work, starts, ends)
    if source.parallel and threads() > 1:
        with suppress(RuntimeError):  # an interpreter that is shutting down starts no threads
            ended = _pool().map(work, starts, ends)
    for _ in ended:  # waits for each block, and raises what it raised
        pass


def threads() -> int:
    """Return how many threads large releases use: ``DISCREET_THREADS``, else the cores."""
    wanted = os.environ.get("DISCREET_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    allowed = getattr(os, "sched_getaffinity", None)  # not on macOS and Windows
    return len(allowed(0)) if allowed else os.cpu_count() or 1


_workers: "ThreadPoolExecutor | None" = None


def _pool() -> "ThreadPoolExecutor":
    from concurrent.futures import ThreadPoolExecutor

    global _workers
    if _workers is None:
        _workers = ThreadPoolExecutor(threads(), "discreet-noise", initializer=_among_threads)
    return _workers


def _among_threads() -> None:
    _local.chunk = CHUNK_AMONG_THREADS


def _forget_pool() -> None:
    """A forked child has none of its parent's threads."""
    global _workers
    _workers = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
