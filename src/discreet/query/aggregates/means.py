"""The mean of a bounded column: a noisy sum over a noisy count, centred on the middle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from discreet.hints import spelled
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
from discreet.query.purchase import Counted, Counting, Part, Purchase, ValueSum
from discreet.query.schema import Schema


@dataclass(frozen=True)
class Mean:
    """The mean of values, each clamped to its bounds."""

    column: ColumnLike | Typed
    bounds: tuple[Fraction, Fraction]
    weight: Fraction
    label: str = ""
    counts_rows = False

    def resolve(self, schema: Schema) -> Mean:
        """The aggregate with its column typed."""
        value, label = read_number(self.column, schema, name="mean")
        return replace(self, column=value, label=label)

    @property
    def counted(self) -> tuple[Counted, ...]:
        """The value that must be present for a row to count."""
        assert isinstance(self.column, Typed)
        return (Counted(self.column, self.label),)

    @property
    def total(self) -> ValueSum:
        """The sum of distances from the middle: half the noise of a sum from one end."""
        return ValueSum(value_total(self.column, self.bounds, centred=True), self.label)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """A sum and a count."""
        return (self.total, counting.present(self.counted[0]))

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column."""
        return [(name, f"{name}_error")]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """middle + sum/count, clamped to the bounds."""
        total, counted = self.parts(counting)
        ratio = Ratio.of(noisy.bought, self.total, counted)
        sums = as_floats(noisy.values[total], self.total)
        counts = np.asarray(read_count(noisy, counted, everything=False), np.float64)
        lower, upper = map(float, self.bounds)
        grid = self.total.total.grid
        means = np.clip(float(grid.centre * grid.step) + ratio.value(sums, counts), lower, upper)
        return [
            Output(
                name=name,
                kind="mean",
                values=means,
                error=ratio.error(sums, counts),
                error_name=f"{name}_error",
                sources=(total.words, counted.words),
                bounds=(lower, upper),
            )
        ]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error for a group of this size."""
        ratio = Ratio.of(bought, self.total, counting.present(self.counted[0]))
        return [Expected(name, ratio.expected(size), f"of {self.label}", by_size=True)]


@spelled
def mean(
    column: ColumnLike, *, bounds: tuple[Number, Number] | None = None, weight: Number = 1
) -> Mean:
    """The mean of a column, each value clamped to ``bounds``; missing values are left out.

    Released as a noisy sum over a noisy count, which is shared with a ``count()`` in the same
    query. The error of each group is computed from its noisy count: large groups have small errors.

    ``column`` is the name of a column, or a function of a row, as in ``lambda row: row.days * 24``.
    ``bounds`` are (lower, upper), from what is known of the column and not from the data; they
    must be given.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> mean("days", bounds=(0, 60)).weight
    Fraction(1, 1)
    """
    return Mean(column, read_bounds(bounds, name="mean"), read_weight(weight))
