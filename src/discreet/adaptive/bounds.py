"""The bounds of all methods for the same questions to the same sample, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from operator import attrgetter
from typing import Final

import numpy as np

from discreet.adaptive import validity
from discreet.adaptive.arguments import MOST_QUERIES, percent, upward
from discreet.adaptive.noise_width import (
    ROUNDING,
    Noise,
    Shape,
    best_noise,
    estimated_width,
    jung_noise,
    jung_width,
    most_jung_noise,
    most_noise,
    width_of,
)
from discreet.errors import InvalidArgument, Refused
from discreet.mechanisms.statistical_queries import LARGEST_SAMPLE
from discreet.numeric import balls
from discreet.numeric.exact import round_up

METHODS: Final = {
    "gaussian": "Gaussian noise",
    "laplace": "Laplace noise",
    "jung": "Gaussian noise, constants of Jung et al. (2020)",
    "splitting": "sample splitting",
    "rounding": "rounded answers, no noise",
    "tv": "Gaussian noise, TV stability and Markov's inequality",
}


@dataclass(frozen=True)
class Bound:
    """How far all answers together can be from the population, by one method."""

    method: str
    width: float  #: of all answers at once, at the confidence
    noise: Noise | None = None  #: none for sample splitting and rounding
    levels: int | None = None  #: for rounding, the steps from 0 to 1
    expected: float | None = None  #: a bound on the mean of the largest error, by TV stability

    @property
    def words(self) -> str:
        """The method's name for readers."""
        return METHODS[self.method]

    @property
    def change(self) -> str:
        """What is done to an answer, in words."""
        if self.noise is not None:
            return str(self.noise)
        return "no noise" if self.levels is None else f"no noise, steps of 1/{self.levels:,}"


@dataclass(frozen=True)
class BoundsTable:
    """The bounds of several methods for k questions to n records; ``won`` is the one in use.

    >>> from discreet.adaptive.bounds import bounds
    >>> found = bounds(10**5, queries=1000, failure=Fraction(1, 20))
    >>> found.won.method, round(found.won.width, 4), round(found["splitting"].width, 4)
    ('gaussian', 0.1067, 0.2285)
    """

    n: int
    queries: int
    failure: Fraction
    rows: tuple[Bound, ...]
    won: Bound

    def __getitem__(self, method: str) -> Bound:
        return {one.method: one for one in self.rows}[method]

    def __str__(self) -> str:
        sure = percent(1 - self.failure)
        head = ("bound", "noise on an answer", f"all within, {sure}", "largest error, mean")
        lines = [head, *(self._line(one) for one in self.rows)]
        spans = [max(len(line[i]) for line in lines) for i in range(len(head))]
        texts = [
            "  ".join(
                cell.ljust(span) if i < 2 else cell.rjust(span)
                for i, (cell, span) in enumerate(zip(line, spans, strict=True))
            ).rstrip()
            for line in lines
        ]
        return "\n".join([texts[0], "─" * max(map(len, texts)), *texts[1:]])

    def _line(self, one: Bound) -> tuple[str, str, str, str]:
        mark = " ← used" if one is self.won else ""
        mean = "" if one.expected is None else f"{one.expected:.4f}"
        width = f"{one.width:.4f}" if one.width < 1 else "says nothing"
        return one.words + mark, one.change, width, mean


def bounds(
    n: int,
    *,
    queries: int,
    failure: Fraction,
    error: Fraction | None = None,
    noise: Noise | None = None,
    methods: Iterable[str] = tuple(METHODS),
) -> BoundsTable:
    """Every method's bound: at the given noise, at the most noise within ``error`` if one is given,
    or at the noise of least width. The one in use has the least width or, if an error is given,
    reveals the least about a record."""
    if noise is None:
        found = (
            row(method, n, queries=queries, failure=failure, error=error) for method in METHODS
        )
    else:
        suited = ("laplace",) if noise.shape == "laplace" else ("gaussian", "jung", "tv")
        found = (at(method, noise, queries=queries, failure=failure) for method in suited)
    rows = tuple(
        one if one.noise is None else replace(one, expected=_expected(one.noise, queries))
        for one in found
    )
    allowed = [one for one in rows if one.method in set(methods)]
    if not allowed:
        raise InvalidArgument(
            "method",
            f"one for {rows[0].noise}: {', '.join(one.method for one in rows)}",
            ", ".join(methods),
        )
    width = attrgetter("width")
    kept = [one for one in allowed if error is not None and one.width <= error]
    won = min(kept, key=_told) if kept else min(allowed, key=width)
    return BoundsTable(n, queries, failure, tuple(sorted(rows, key=width)), won)


def _told(one: Bound) -> tuple[float, float]:
    """For ordering: how much an answer reveals about one record, by the μ or ε of its noise (many
    Laplace answers of ε each reveal as much as Gaussian ones of μ = ε); then the width."""
    size = 0 if one.noise is None else one.noise.size
    return -float(size), one.width


@lru_cache(maxsize=1024)
def row(
    method: str, n: int, *, queries: int, failure: Fraction, error: Fraction | None = None
) -> Bound:
    """One method's bound, at the noise of least width or at the most noise within the error."""
    if method == "splitting":
        width = splitting_width(n, queries=queries, failure=failure)
        return Bound(method, round_up(Fraction(width) + ROUNDING))
    if method == "rounding":
        levels = best_levels(n, queries=queries, failure=failure)
        width = rounding_width(n, queries=queries, failure=failure, levels=levels)
        return Bound(method, round_up(Fraction(width) + ROUNDING), levels=levels)
    shape: Shape = "laplace" if method == "laplace" else "gaussian"
    noise = None
    if method == "tv":
        noise = best_noise(shape, n, queries=queries, failure=Fraction(1))
    elif method == "jung":
        if error is not None:
            noise = most_jung_noise(n, queries=queries, failure=failure, error=error)
        noise = noise or jung_noise(n, queries=queries, failure=failure)
    else:
        if error is not None:
            noise = most_noise(shape, n, queries=queries, failure=failure, error=error)
        noise = noise or best_noise(shape, n, queries=queries, failure=failure)
    return at(method, noise, queries=queries, failure=failure)


def at(method: str, noise: Noise, *, queries: int, failure: Fraction) -> Bound:
    """One method's bound at this noise."""
    match method:
        case "jung":
            width = jung_width(noise, queries=queries, failure=failure)
        case "tv":
            width = round_up(Fraction(_expected(noise, queries)) / failure)
        case _:
            width = width_of(noise, queries=queries, failure=failure)
    return Bound(method, width, noise)


@lru_cache(maxsize=1024)
def _expected(noise: Noise, queries: int) -> float:
    return width_of(noise, queries=queries, failure=Fraction(1))


# -- the error, the questions or the records that would do -----------------------------------------


def least_width(method: str, n: int, *, queries: int, failure: Fraction) -> float:
    """The least width of one method (approximate for Laplace noise); 1 or more says nothing.

    >>> round(least_width("splitting", 10**4, queries=100, failure=Fraction(1, 20)), 4)
    0.2024
    """
    if method == "laplace":  # composing it is too slow for a search
        return estimated_width("laplace", n, queries=queries, failure=failure)
    return row(method, n, queries=queries, failure=failure).width


def most_queries(method: str, n: int, *, error: Fraction, failure: Fraction) -> int:
    """The most questions that stay within this error, up to 10⁹; 0 if not even one does."""
    fewer, _ = _between(
        lambda k: least_width(method, n, queries=k, failure=failure) <= error,
        most=n if method == "splitting" else MOST_QUERIES,
    )
    return fewer


def refusal(
    methods: Sequence[str], n: int, *, queries: int, error: Fraction | None, failure: Fraction
) -> Refused:
    """Why answers to this many questions on this few records cannot be that exact, and what would
    do. Without an error, no method has a width below 1, and two shares are always within 1.
    """
    if "gaussian" in methods:  # the rest reach no further, except Laplace at one or two questions
        methods = [method for method in methods if method not in ("jung", "laplace", "tv")]

    def widths(size: int) -> Iterator[float]:
        return (least_width(one, size, queries=queries, failure=failure) for one in methods)

    wish = Fraction(1, 2) if error is None else error
    most = max(most_queries(method, n, error=wish, failure=failure) for method in methods)
    _, records = _between(lambda size: all(w > wish for w in widths(size)), most=LARGEST_SAMPLE)
    ways = [f"an error of {upward(least)}"] if (least := min(widths(n))) < 1 else []
    ways += [f"{most:,} question{'s' * (most > 1)}"] if most else []
    ways += [f"{records:,} records"] if records <= LARGEST_SAMPLE else []
    about = "about " if tuple(methods) == ("laplace",) else ""
    would = f": {about}{', or '.join(ways)} would do" if ways else ""
    asked = f"{queries:,} adaptive question{'s' * (queries > 1)}"
    sure = f"at {percent(1 - failure)} confidence"
    if error is None:
        within = " for an error of 0.5" if ways else ""
        return Refused(
            f"about {asked} to {n:,} records nothing can be said {sure}, for every share is "
            f"within 1 of every other{would}{within}"
        )
    return Refused(
        f"{n:,} records cannot answer {asked} within {float(error):g} of the population "
        f"{sure}{would}"
    )


def says_nothing(
    noise: Noise, methods: Sequence[str], *, queries: int, failure: Fraction
) -> Refused:
    """Why this noise is of no use, and what noise would be."""
    names = [name for name in methods if name in ("gaussian", "jung", "tv")]
    name = "laplace" if noise.shape == "laplace" else names[0]
    best = row(name, noise.n, queries=queries, failure=failure)
    asked = f"{queries:,} adaptive question{'s' * (queries > 1)}"
    would = f": {best.noise} would give {upward(best.width)}" if best.width < 1 else ""
    return Refused(
        f"with this noise ({noise}) nothing can be said about {asked} to {noise.n:,} records at "
        f"{percent(1 - failure)} confidence, for every share is within 1 of every other{would}"
    )


def _between(holds: Callable[[int], bool], *, most: int) -> tuple[int, int]:
    """A number for which it holds and a larger one, near to it, for which it does not.

    What holds for a number holds for all below it. The first is 0 if it holds for none, the
    second most + 1 if it holds for all; both are right to three digits, enough for advice.
    """
    low, high = 0, 1
    while high <= most and holds(high):
        low, high = high, 2 * high
    if high > most:
        low, high = (most, most + 1) if holds(most) else (low, most)
    while high - low > max(1, low // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


# -- sample splitting ------------------------------------------------------------------------------
# Every question gets records that no earlier answer has seen.
#
# The sample is cut into k disjoint parts of m = ⌊n/k⌋ records. The j-th query may depend on all
# earlier answers, but none of them depends on the j-th part, so its exact mean there is a mean of m
# independent values in [0, 1]. Whatever came before, it is off by t or more with a probability of
# at most
#
#     2·exp(−m·κ(t)),   κ(t) = 2t² + 4t⁴/9 + 32t⁶/135 + 7072t⁸/42525,
#
# by Chernoff's bound (Hoeffding 1963, Theorem 1), since the relative entropy of two coins whose
# chances differ by t is at least κ(t), whatever they are (Fedotov, Harremoës and Topsøe 2003). As
# that holds given the past, all k answers are right with probability at least (1 − b)^k, where b
# is this bound: chances multiply as if the questions were independent.


_NUDGE = 2.0**-40
_KAPPA = (Fraction(2), Fraction(4, 9), Fraction(32, 135), Fraction(7072, 42525))


def splitting_width(n: int, *, queries: int, failure: Fraction) -> float:
    """How far k answers, each on a part of its own, can be off, all at once; 1 if no parts exist.

    >>> round(splitting_width(10**5, queries=1000, failure=Fraction(1, 20)), 4)
    0.2285
    """
    size = n // queries
    if not size:
        return 1.0
    width = _estimated(size, one_of(queries, failure))
    while width < 1 and not _is_kept(size, width, queries, failure):
        width *= 1 + _NUDGE
    return min(width, 1.0)


def _estimated(size: int, one: float) -> float:
    """The t of one part of this size at this failure probability, rounded either way."""
    needed = math.log(2 / one) / size  # κ(t) at least
    low, high = 0.0, math.sqrt(needed / 2)  # where 2t² alone is enough: Hoeffding's own t
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if _kappa(middle) >= needed else (middle, high)
    return high


def one_of(queries: int, failure: Fraction) -> float:
    """The failure probability of each question at which all k are right except with probability
    ``failure``: 1 − (1 − β)^(1/k), which is never less than the β/k of the union bound."""
    return -math.expm1(math.log1p(-float(failure)) / queries)


def _kappa(t: float) -> float:
    return math.fsum(float(c) * t ** (2 * i) for i, c in enumerate(_KAPPA, 1))


def _is_kept(size: int, width: float, queries: int, failure: Fraction) -> bool:
    """Whether (1 − 2·exp(−m·κ(t)))^k ≥ 1 − β is certain."""
    t = Fraction(width)
    exponent = size * sum((c * t ** (2 * i) for i, c in enumerate(_KAPPA, 1)), Fraction(0))
    with balls.precision(128):
        one = 2 * (-balls.ball(exponent)).exp()
        return bool(one < 1) and bool((1 - one) ** queries >= balls.ball(1 - failure))


# -- coarse answers --------------------------------------------------------------------------------
# A mean over the whole sample, without noise, rounded to one of m + 1 values.
#
# An analyst that gets one of m + 1 answers to each question can, over all possible answers, ask at
# most N = 1 + (m+1) + … + (m+1)^(k−1) different questions. All N means over the sample are
# near those over the population at once, by Hoeffding's inequality and the union bound:
#
#     width = 1/(2m) + √(ln(2N/β)/(2n))
#
# (description length: Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, NIPS 2015). It protects
# nobody: an answer can reveal a single record.


def rounding_width(n: int, *, queries: int, failure: Fraction, levels: int) -> float:
    """How far k answers can be off, all at once; rounded up.

    >>> round(rounding_width(10**4, queries=100, failure=Fraction(1, 20), levels=22), 4)
    0.1481
    """
    # N = ((m+1)^k − 1)/m is below (m+1)^k/m, whose logarithm needs no long integers.
    once = Fraction(validity.exponent(Fraction(2, levels), failure=failure))
    each = Fraction(validity.exponent(levels + 1, failure=Fraction(1)))
    told = round_up(once + queries * each)
    return min(1.0, round_up(Fraction(1, 2 * levels) + Fraction(validity.radius(n, told))))


def best_levels(n: int, *, queries: int, failure: Fraction) -> int:
    """The number of steps with the least width."""
    m = np.unique(np.geomspace(1, 10 * math.isqrt(n) + 10, 2000).astype(np.int64))
    told = np.log(2 / (m * float(failure))) + queries * np.log(m + 1)
    return int(m[np.argmin(1 / (2 * m) + np.sqrt(np.maximum(told, 0) / (2 * n)))])
