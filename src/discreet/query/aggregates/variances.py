"""Variance and standard deviation of a bounded column: means of squares and of values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from discreet.hints import spelled
from discreet.mechanisms.ratio_error import std_error, variance_error
from discreet.numeric.exact import Number
from discreet.query.aggregates.aggregate import (
    Bought,
    Bounded,
    ColumnLike,
    Expected,
    Output,
    Values,
    added_noise,
    as_floats,
    count_part,
    expected_ratio_error,
    ratio,
    read_count,
    value_total,
)
from discreet.query.expressions import Typed
from discreet.query.measures import FINE_BITS, Total

_EACH = 0.975  # of the two errors, so that both hold with 95 %


@dataclass(frozen=True)
class Variance(Bounded):
    """The variance of values, each clamped to its bounds."""

    kind = "variance"
    noun = "variance"

    @property
    def parts(self) -> tuple[Total, Total]:
        """The sum of distances from the middle, which a mean of the same column shares, and the sum
        of their squares, each reduced by half of the largest, so that a row moves it by half as
        much."""
        total = value_total(self.value, self.bounds, centred=True)
        shift = max(2 * total.grid.largest.bit_length() - FINE_BITS, 0)  # to 2^30 steps at most
        square = replace(total, squared=True, shift=shift)
        return total, replace(square, offset=square.largest_square // 2)

    @property
    def counts(self) -> tuple[Typed]:
        return (self.value,)

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """mean of squares − square of mean, within what the bounds allow."""
        (total, squares), counted = self.parts, count_part(bought, self.value)
        counts = np.asarray(read_count(bought, values, self.value), np.float64)
        sums, square_sums = as_floats(values, total), as_floats(values, squares)
        offset = float(squares.offset * squares.step)
        found = offset + ratio(squares, square_sums, counts) - ratio(total, sums, counts) ** 2
        error = variance_error(
            sums,
            square_sums,
            counts,
            scale_s1=float(added_noise(bought, total).size),
            scale_s2=float(added_noise(bought, squares).size),
            scale_n=float(added_noise(bought, counted).size),
            half_width=total.half,
            noise=added_noise(bought, total).noise,
            step1=float(total.step),
            step2=float(squares.step),
        )
        error = np.minimum(error + float(squares.rounding), self._most)
        return [
            Output(
                name=name,
                kind=self.kind,
                values=np.clip(found, 0.0, self._most),
                error=error,
                sources=(total.words, squares.words, counted.words),
                bounds=(0.0, self._most),
            )
        ]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """The error for a group of this size whose values are spread evenly over the bounds."""
        first, second = (expected_ratio_error(bought, part, size, _EACH) for part in self.parts)
        # |a − b² − (A − B²)| ≤ |a − A| + |b² − B²|, and here B = 0
        error = min(second + first**2 + float(self.parts[1].rounding), self._most)
        return [Expected(name, error, f"of {self.value.words}²", by_size=True)]

    @property
    def _most(self) -> float:
        lower, upper = self.bounds
        return float((upper - lower) / 2) ** 2


@dataclass(frozen=True)
class StandardDeviation(Variance):
    """The root of the variance, from the same parts."""

    kind = "std"
    noun = "standard deviation"

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        (one,) = super().outputs(name, bought, values)
        half = self.parts[0].half
        error = std_error(one.values, one.error, half_width=half)
        return [replace(one, values=np.sqrt(one.values), error=error, bounds=(0.0, half))]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        (one,) = super().expected(name, bought, size)
        half = self.parts[0].half
        error = float(std_error(half**2 / 3, one.error, half_width=half))
        return [replace(one, error=error, unit=f"of {self.value.words}")]


@spelled
def variance(
    column: ColumnLike, *, bounds: tuple[Number, Number] | None = None, weight: Number = 1
) -> Variance:
    """The variance of a column (over n, not n − 1), each value clamped to ``bounds``.

    Missing values are left out. Computed from noisy sums of values and of squares and from a noisy
    count; a ``mean`` of the same column and a ``count()`` in the same query share them.

    ``column`` is the name of a column, or a function of a row, as in ``lambda row: row.days * 24``.
    ``bounds`` are (lower, upper), from what is known of the column and not from the data; they
    must be given.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> variance("days", bounds=(0, 60)).kind
    'variance'
    """
    return Variance.of(column, bounds, weight)


@spelled
def std(
    column: ColumnLike, *, bounds: tuple[Number, Number] | None = None, weight: Number = 1
) -> StandardDeviation:
    """The standard deviation of a column: the root of ``variance``, for the same price.

    ``column``, ``bounds`` and ``weight`` are as in ``variance``.

    >>> std("days", bounds=(0, 60)).kind
    'std'
    """
    return StandardDeviation.of(column, bounds, weight)
