"""All bounds that hold for the same questions to the same sample, side by side."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

from discreet.adaptive.doors import percent
from discreet.adaptive.jung import jung_noise, jung_width, most_jung_noise
from discreet.adaptive.noise_tails import Shape
from discreet.adaptive.noise_widths import ROUNDING, Noise, best_noise, most_noise, width_of
from discreet.adaptive.rounding import best_levels, rounding_width
from discreet.adaptive.splitting import splitting_width
from discreet.errors import InvalidArgument
from discreet.exact import round_up

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
        """The method, for reading."""
        return METHODS[self.method]

    @property
    def change(self) -> str:
        """What is done to an answer, for reading."""
        if self.noise is not None:
            return str(self.noise)
        return "no noise" if self.levels is None else f"no noise, steps of 1/{self.levels:,}"


@dataclass(frozen=True)
class Bounds:
    """The bounds of several methods for k questions to n records; ``won`` is the one in use.

    >>> from discreet.adaptive.bounds_table import bounds
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
        for one in self.rows:
            if one.method == method:
                return one
        raise KeyError(method)

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
) -> Bounds:
    """Every method's bound: at this noise, at the most noise within ``error`` where there is any,
    or at the noise of the least width. The one in use is that of the least width; within an
    error it is the one that tells least about a record."""
    if noise is None:
        found = (
            row(method, n, queries=queries, failure=failure, error=error) for method in METHODS
        )
    else:
        suited = ("laplace",) if noise.shape == "laplace" else ("gaussian", "jung", "tv")
        found = (at(method, noise, queries=queries, failure=failure) for method in suited)
    rows = tuple(replace(one, expected=_expected(one.noise, queries)) for one in found)
    allowed = [one for one in rows if one.method in set(methods)]
    if not allowed:
        raise InvalidArgument(
            name="method",
            expected=f"one for {rows[0].noise}: {', '.join(one.method for one in rows)}",
            given=", ".join(methods),
        )
    kept = [one for one in allowed if error is not None and one.width <= error]
    won = min(kept, key=_told) if kept else min(allowed, key=_width)
    return Bounds(n, queries, failure, tuple(sorted(rows, key=_width)), won)


def _width(one: Bound) -> float:
    return one.width


def _told(one: Bound) -> tuple[float, float]:
    """For ordering: how much an answer tells about one record, by the μ or ε of its noise (many
    Laplace answers of ε each are as telling as Gaussian ones of μ = ε); then the width."""
    size = 0 if one.noise is None else one.noise.size
    return -float(size), one.width


@lru_cache(maxsize=1024)
def row(
    method: str, n: int, *, queries: int, failure: Fraction, error: Fraction | None = None
) -> Bound:
    """One method's bound, at the noise of the least width or the most within the error."""
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
    whole = noise.total(queries)
    match method:
        case "jung":
            width = jung_width(noise, queries=queries, failure=failure)
        case "tv":
            mean = width_of(noise, queries=queries, failure=Fraction(1), whole=whole)
            width = round_up(Fraction(mean) / failure)
        case _:
            width = width_of(noise, queries=queries, failure=failure, whole=whole)
    return Bound(method, width, noise)


@lru_cache(maxsize=1024)
def _expected(noise: Noise | None, queries: int) -> float | None:
    if noise is None:
        return None
    return width_of(noise, queries=queries, failure=Fraction(1), whole=noise.total(queries))
