"""Which two inputs to compare: those given, or the most promising of many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from discreet.auditor.statistical.choosing import screen, suggest
from discreet.auditor.statistical.features import apart
from discreet.auditor.statistical.outputs import Outputs
from discreet.auditor.statistical.pace import Pace
from discreet.auditor.statistical.parameters import Progress, Question
from discreet.auditor.statistical.sampling import BatchRaised, Run, Sampler
from discreet.errors import InvalidArgument

Pair: TypeAlias = tuple[Any, Any]

_PAIRS = 64
_GOLDEN = 0.6180339887498949
_SHARE = 0.3  # of the time, or of the samples
_ROWS = 4096  # outputs a side and round, at most


def read_pair(pair: Any) -> Pair:
    """Two inputs, at the door."""
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidArgument(
            name="pair",
            expected="two neighbouring inputs, (x, x_neighbour)",
            given=f"{len(pair)} of them"
            if isinstance(pair, tuple | list)
            else InvalidArgument.describe_data(pair),
        )
    return pair[0], pair[1]


def different(pair: Pair) -> Pair:
    """Refuse an input and itself: no audit of those can ever fail."""
    if _equal(*pair):
        raise InvalidArgument(
            name="pair",
            expected="two different neighbouring inputs",
            given="two equal ones",
            hint="let them differ in one person, as in pair=(0, 1) for a count",
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
) -> tuple[Pair, int, Pace]:
    """The pair that promises most, how many there were, and what is left of the pace.

    The field is halved in rounds of twice as many samples, which only choose: the audit of the
    winner draws its own.
    """
    field = _read(neighbors, pace)
    # Not in the order of the list: if time runs out, all of it was looked into, thinly.
    spread = sorted(range(len(field)), key=lambda i: i * _GOLDEN % 1)
    everyone = samplers = [Sampler(run, field[i], batched) for i in spread]
    parts = max(1, len(field).bit_length())
    full = False
    while len(samplers) > 1:
        progress(0.0, f"comparing {len(samplers)} pairs")
        scored = []
        for sampler in samplers:
            score = _score(sampler, asked, pace, parts * len(samplers), full=full)
            scored.append((score, sampler))
            if pace.has_used(_SHARE):
                break
        scored.sort(key=lambda one: one[0], reverse=True)
        samplers = [sampler for _, sampler in scored[: max(1, len(scored) // 2)]]
        full = True
        if pace.has_used(_SHARE):
            break
    drawn = sum(max(sampler.drawn) for sampler in everyone)
    tried = sum(1 for sampler in everyone if sampler.drawn[0]) or len(everyone)
    return samplers[0].pair, tried, pace.without(drawn)


def _score(
    sampler: Sampler, asked: Question, pace: Pace, parts: int, *, full: bool
) -> tuple[float, float]:
    try:
        first, other = _few(sampler, pace, parts)
    except BatchRaised:  # it only has to be worth a look
        sampler.run, sampler.batched = sampler.one_by_one().run, False
        first, other = _few(sampler, pace, parts)
    glance = apart(first, other)
    if not full:
        return 0.0, glance
    own, tested = asked.parameters[0], 8.0 * len(first)
    kept = screen(sampler.reader, first, other, [own], tested=tested, out_of_time=_never)
    found = suggest(sampler.reader, kept, first, other, [own], tested=tested, out_of_time=_never)
    return max((candidate.score for candidate in found[own.name]), default=0.0), glance


def _few(sampler: Sampler, pace: Pace, parts: int) -> tuple[Outputs, Outputs]:
    """So many outputs that all pairs and rounds together keep to their share."""
    sampler.draw(0, 1)
    rows = max(4, min(_ROWS, pace.part(_SHARE / parts, sampler)))
    return sampler.both(rows)


def _never() -> bool:
    return False


def _read(neighbors: Iterable[Pair] | Callable[[], Pair] | None, pace: Pace) -> list[Pair]:
    if callable(neighbors):
        make = neighbors
        neighbors = (make() for _ in range(_PAIRS))
    if not isinstance(neighbors, Iterable):
        raise InvalidArgument(
            name="pair",
            expected="two neighbouring inputs, or neighbors= with many such pairs",
            given="neither",
            hint="as in pair=(0, 1)",
        )
    found = []
    for pair in islice(neighbors, _PAIRS):
        if not _equal(*read_pair(pair)):
            found.append(read_pair(pair))
        if found and pace.has_used(_SHARE / 3):
            break
    if not found:
        raise InvalidArgument(
            name="neighbors", expected="at least one pair of two different inputs", given="none"
        )
    return found
