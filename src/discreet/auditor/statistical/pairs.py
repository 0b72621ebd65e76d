"""Which two inputs to compare: those given, or the most promising of many."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from discreet.auditor.statistical.choosing import screen, suggest
from discreet.auditor.statistical.pace import Pace
from discreet.auditor.statistical.parameters import Progress, Question
from discreet.auditor.statistical.sampling import BatchRaised, Run, Sampler
from discreet.errors import InvalidArgument

Pair: TypeAlias = tuple[Any, Any]

_PAIRS = 64
_SHARE = 0.4  # of the time
_ROWS = 512  # outputs a side in the first round; twice as many in each that follows


def read_pair(pair: Any) -> Pair:
    """Two inputs, at the door."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidArgument(
            name="pair",
            expected="two neighbouring inputs, (x, x_neighbour)",
            given=InvalidArgument.describe_data(pair),
        )
    return pair[0], pair[1]


def different(pair: Pair) -> Pair:
    """Refuse an input and itself: no audit of those can ever fail."""
    if _equal(*pair):
        raise InvalidArgument(
            name="pair", expected="two different neighbouring inputs", given="two equal ones"
        )
    return pair


def _equal(x: Any, y: Any) -> bool:
    if x is y:
        return True
    try:
        return type(x) is type(y) and bool(np.all(x == y)) and np.shape(x) == np.shape(y)
    except Exception:  # whatever cannot be compared is not known to be equal
        return False


def best_pair(
    run: Run,
    neighbors: Iterable[Pair] | Callable[[], Pair] | None,
    asked: Question,
    *,
    batched: bool,
    pace: Pace,
    progress: Progress,
) -> tuple[Pair, int]:
    """The pair that promises most, by halving the field in rounds of twice as many samples.

    Its samples only choose: the audit of the winner draws its own.
    """
    field = _read(neighbors)
    started, tried = time.perf_counter(), len(field)
    samplers = [Sampler(run, pair, batched) for pair in field]
    rows = _ROWS
    while len(samplers) > 1:
        progress(0.0, f"comparing {len(samplers)} pairs")
        scored = []
        for sampler in samplers:
            scored.append((_score(sampler, asked, rows), sampler))
            over = (
                pace.seconds is not None and time.perf_counter() - started > _SHARE * pace.seconds
            )
            if over:
                break
        scored.sort(key=lambda pair: -pair[0])
        samplers = [sampler for _, sampler in scored[: max(1, len(scored) // 2)]]
        rows *= 2
        if over:
            break
    return samplers[0].pair, tried


def _score(sampler: Sampler, asked: Question, rows: int) -> float:
    try:
        first, other = sampler.draw(0, rows), sampler.draw(1, rows)
    except BatchRaised:  # it only has to be worth a look
        sampler.run, sampler.batched = sampler.one_by_one().run, False
        first, other = sampler.draw(0, rows), sampler.draw(1, rows)
    own = asked.parameters[0]
    tested = 8.0 * rows
    kept = screen(sampler.reader, first, other, [own], tested=tested, out_of_time=_never)
    found = suggest(sampler.reader, kept, first, other, [own], tested=tested, out_of_time=_never)
    return max((candidate.score for candidate in found[own.name]), default=0.0)


def _never() -> bool:
    return False


def _read(neighbors: Iterable[Pair] | Callable[[], Pair] | None) -> list[Pair]:
    if callable(neighbors):
        make = neighbors
        neighbors = (make() for _ in range(_PAIRS))
    if not isinstance(neighbors, Iterable):
        raise InvalidArgument(
            name="pair",
            expected="two neighbouring inputs, or neighbors= with many such pairs",
            given="neither",
        )
    found = [read_pair(pair) for pair in islice(neighbors, _PAIRS)]
    found = [pair for pair in found if not _equal(*pair)]
    if not found:
        raise InvalidArgument(
            name="neighbors", expected="at least one pair of two different inputs", given="none"
        )
    return found
