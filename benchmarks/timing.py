"""Time a job beside its reference, taking turns, so that a busy machine slows both."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass

ROUNDS = 9


@dataclass(frozen=True)
class Row:
    """One line of the results; ``ok`` is None where no target was set."""

    what: str
    ours: str
    reference: str
    ratio: str
    target: str
    ok: bool | None

    def as_dict(self) -> dict[str, object]:
        return asdict(self)


def race(*jobs: Callable[[], object], rounds: int = ROUNDS) -> list[float]:
    """Return the best seconds of each job; the jobs take turns, after one warm-up each."""
    for job in jobs:
        job()
    best = [float("inf")] * len(jobs)
    for _ in range(rounds):
        for i, job in enumerate(jobs):
            start = time.perf_counter()
            job()
            best[i] = min(best[i], time.perf_counter() - start)
    return best


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let large releases use ``count`` threads inside the block."""
    before = os.environ.get("DISCREET_THREADS")
    os.environ["DISCREET_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ["DISCREET_THREADS"]
        else:
            os.environ["DISCREET_THREADS"] = before


def against(what: str, ours: float, reference: float, count: int, most: float, name: str) -> Row:
    """A row that must not exceed ``most`` times its reference."""
    ratio = ours / reference
    return Row(
        what,
        f"{ours / count * 1e9:.2f} ns",
        f"{reference / count * 1e9:.2f} ns, {name}",
        f"{ratio:.2f}",
        f"at most {most:g}",
        ratio <= most,
    )
