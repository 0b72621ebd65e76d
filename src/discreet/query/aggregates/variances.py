"""Variance and standard deviation of a bounded column: means of squares and of values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np

from discreet.hints import spelled
from discreet.mechanisms.ratio_error import std_error, variance_error
from discreet.numeric.exact import Number
from discreet.query.aggregates.aggregate import (
    ColumnLike,
    Expected,
    Noisy,
    Output,
    Ratio,
    as_floats,
    read_bounds,
    read_count,
    read_number,
    read_weight,
    value_total,
)
from discreet.query.expressions import Typed
from discreet.query.measures import FINE_BITS, Total, choose_grid
from discreet.query.purchase import Counted, Counting, Part, Purchase, ValueSum
from discreet.query.schema import Schema, Type

_EACH = 0.975  # of the two errors, so that both hold with 95 %


@dataclass(frozen=True)
class Spread:
    """The variance of values, each clamped to its bounds, or its root."""

    column: ColumnLike | Typed
    bounds: tuple[Fraction, Fraction]
    weight: Fraction
    kind: Literal["variance", "std"]
    label: str = ""
    counts_rows = False

    def resolve(self, schema: Schema) -> Spread:
        """The aggregate with its column typed."""
        value, label = read_number(self.column, schema, name=self.kind)
        return replace(self, column=value, label=label)

    @property
    def counted(self) -> tuple[Counted, ...]:
        """The value that must be present for a row to count."""
        assert isinstance(self.column, Typed)
        return (Counted(self.column, self.label),)

    @property
    def total(self) -> ValueSum:
        """The sum of distances from the middle, which a mean of the same column shares."""
        return ValueSum(value_total(self.column, self.bounds, centred=True), self.label)

    @property
    def squares(self) -> ValueSum:
        """The sum of squared distances from the middle, each reduced by half of the largest
        square, so that a row moves it by half as much."""
        assert isinstance(self.column, Typed)
        whole = self.column.type is Type.INTEGER
        grid = choose_grid(self.bounds, whole=whole, centred=True)
        shift = max(2 * grid.largest.bit_length() - FINE_BITS, 0)  # back to 2^30 steps at most
        square = Total(self.column, grid, squared=True, shift=shift)
        return ValueSum(replace(square, offset=square.largest_square // 2), self.label)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """Two sums and a count."""
        return (self.total, self.squares, counting.present(self.counted[0]))

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column."""
        return [(name, f"{name}_error")]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """mean of squares − square of mean, within what the bounds allow."""
        total, squares, counted = self.parts(counting)
        first, second = self._ratios(noisy.bought, counted)
        counts = np.asarray(read_count(noisy, counted, everything=False), np.float64)
        sums = as_floats(noisy.values[total], self.total)
        square_sums = as_floats(noisy.values[squares], self.squares)
        m = first.value(sums, counts)
        most = self._most
        variance = np.clip(self._offset + second.value(square_sums, counts) - m**2, 0.0, most)
        error = variance_error(
            sums,
            square_sums,
            counts,
            scale_s1=float(first.sum_noise.size),
            scale_s2=float(second.sum_noise.size),
            scale_n=float(first.count_noise.size),
            half_width=first.half,
            noise=first.sum_noise.noise,
            step1=float(self.total.step),
            step2=float(self.squares.step),
        )
        error = np.minimum(error + self._rounding, most)
        if self.kind == "std":
            error = std_error(variance, error, half_width=first.half)
            variance, most = np.sqrt(variance), first.half
        return [
            Output(
                name=name,
                kind=self.kind,
                values=variance,
                error=error,
                error_name=f"{name}_error",
                sources=(total.words, squares.words, counted.words),
                bounds=(0.0, most),
            )
        ]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error for a group of this size whose values are spread evenly over the bounds."""
        first, second = self._ratios(bought, counting.present(self.counted[0]))
        # |a − b² − (A − B²)| ≤ |a − A| + |b² − B²|, and here B = 0
        error = second.expected(size, _EACH) + first.expected(size, _EACH) ** 2
        error = min(error + self._rounding, self._most)
        if self.kind == "std":
            error = float(std_error(first.half**2 / 3, error, half_width=first.half))
        square = "²" if self.kind == "variance" else ""
        return [Expected(name, error, f"of {self.label}{square}", by_size=True)]

    def _ratios(self, bought: Mapping[Part, Purchase], counted: Part) -> tuple[Ratio, Ratio]:
        return Ratio.of(bought, self.total, counted), Ratio.of(bought, self.squares, counted)

    @property
    def _offset(self) -> float:
        return float(self.squares.total.offset * self.squares.step)

    @property
    def _most(self) -> float:
        lower, upper = self.bounds
        return float((upper - lower) / 2) ** 2

    @property
    def _rounding(self) -> float:
        """How far the square of a rounded value may be from that of the value itself."""
        return float(self.squares.rounding)


@spelled
def variance(
    column: ColumnLike, *, bounds: tuple[Number, Number] | None = None, weight: Number = 1
) -> Spread:
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
    return Spread(column, read_bounds(bounds, name="variance"), read_weight(weight), "variance")


@spelled
def std(
    column: ColumnLike, *, bounds: tuple[Number, Number] | None = None, weight: Number = 1
) -> Spread:
    """The standard deviation of a column: the root of ``variance``, for the same price.

    ``column``, ``bounds`` and ``weight`` are as in ``variance``.

    >>> std("days", bounds=(0, 60)).kind
    'std'
    """
    return Spread(column, read_bounds(bounds, name="std"), read_weight(weight), "std")
