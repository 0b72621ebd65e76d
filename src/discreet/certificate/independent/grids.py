"""On which points a column is added up or chosen from, from its bounds alone.

Values between lower and upper are counted in steps of 2^(−exponent), rounded to whole ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor
from typing import Any, Final, NamedTuple

from discreet.certificate.independent.reals import read

Document = Mapping[str, Any]

_POINTS: Final = 1024  # of a quantile whose step is not given
_HIGHEST, _LOWEST = 62, -20  # powers of two on the ladder of a range; from 0 for whole numbers


class Points(NamedTuple):
    """The multiples of 2^(−exponent) from low to high, among which a quantile is chosen."""

    exponent: int
    low: int
    high: int

    @property
    def size(self) -> int:
        """How many there are."""
        return self.high - self.low + 1

    @property
    def whole(self) -> bool:
        """Are they integers of 64 bits?"""
        largest = max(abs(self.low), abs(self.high))
        return self.exponent <= 0 and largest.bit_length() - self.exponent < 63


def points(aggregate: Document) -> Points:
    """For a quantile: the step is a power of two, at most the one that is asked for.

    >>> column = {"type": "integer"}
    >>> points({"bounds": ["-3", "60"], "step": None, "column": column}).size
    64
    """
    lower, upper = (Fraction(end) for end in aggregate["bounds"])
    if aggregate["step"] is not None:
        step = Fraction(aggregate["step"])
    else:
        step = (upper - lower) / _POINTS
        step = max(step, Fraction(1)) if aggregate["column"]["type"] == "integer" else step
    exponent = step.denominator.bit_length() - step.numerator.bit_length()
    exponent += Fraction(2) ** -exponent > step
    fine = Fraction(2) ** exponent
    return Points(exponent, ceil(lower * fine), floor(upper * fine))


def rungs(column: Document) -> int:
    """The bins of a range: between 0 and powers of two, on both sides."""
    return 2 * (_HIGHEST - (0 if column["type"] == "integer" else _LOWEST) + 1)


def extent(part: Document) -> tuple[int, int]:
    """The least and the most that a row adds to a sum, in steps."""
    grid = part["grid"]
    low, high = grid["lower"] - grid["centre"], grid["upper"] - grid["centre"]
    if part["kind"] == "sum":
        return low, high
    return -grid["offset"], _largest_square(grid) - grid["offset"]


def is_grid_of(one: Document, bounds: Sequence[str]) -> bool:
    """Whether values between these bounds lie on a sum's grid, and a step is worth what it says.

    Squares are counted from the middle of what they can be, which halves what a row moves."""
    grid, squared = one["part"]["grid"], one["part"]["kind"] == "sum of squares"
    if not _is_between(grid, *bounds):
        return False
    fine = Fraction(2) ** grid["exponent"]
    step = 2 ** grid["shift"] / fine**2 if squared else 1 / fine
    offset = _largest_square(grid) // 2 if squared else 0
    return bool(
        read(one["step"], "step") == step
        and grid["offset"] == offset
        and (squared or grid["shift"] == 0)
    )


def _is_between(grid: Document, lower: str, upper: str) -> bool:
    """⌈lower·2^e⌉ and ⌊upper·2^e⌋ are the ends, in whole numbers: it is asked of every aggregate
    and every sum."""
    exponent = grid["exponent"]
    up, down = max(exponent, 0), max(-exponent, 0)
    (n, d), (m, c) = _ratio(lower), _ratio(upper)
    return bool(
        -((-n << up) // (d << down)) == grid["lower"] and (m << up) // (c << down) == grid["upper"]
    )


@lru_cache(maxsize=4096)
def _ratio(number: str) -> tuple[int, int]:
    return Fraction(number).as_integer_ratio()


def _largest_square(grid: Document) -> int:
    largest = max(abs(grid["lower"] - grid["centre"]), abs(grid["upper"] - grid["centre"]))
    return int((largest**2 + (1 << grid["shift"] >> 1)) >> grid["shift"])
