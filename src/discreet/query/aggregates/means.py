"""The mean of a bounded column: a noisy sum over a noisy count, centred on the middle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.hints import spelled
from discreet.numeric.exact import Number
from discreet.query.aggregates.aggregate import (
    Bought,
    Bounded,
    ColumnLike,
    Expected,
    Output,
    Values,
    as_floats,
    count_part,
    expected_ratio_error,
    ratio,
    ratio_error,
    read_count,
    value_total,
)
from discreet.query.expressions import Typed
from discreet.query.measures import Total


@dataclass(frozen=True)
class Mean(Bounded):
    """The mean of values, each clamped to its bounds."""

    kind = "mean"
    noun = "mean"

    @property
    def parts(self) -> tuple[Total]:
        """The sum of distances from the middle: half the noise of a sum from one end."""
        return (value_total(self.value, self.bounds, centred=True),)

    @property
    def counts(self) -> tuple[Typed]:
        return (self.value,)

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """middle + sum/count, clamped to the bounds."""
        (total,) = self.parts
        sums = as_floats(values, total)
        counts = np.asarray(read_count(bought, values, self.value), np.float64)
        lower, upper = map(float, self.bounds)
        middle = float(total.grid.centre * total.grid.step)
        return [
            Output(
                name=name,
                kind="mean",
                values=np.clip(middle + ratio(total, sums, counts), lower, upper),
                error=ratio_error(bought, total, sums, counts),
                sources=(total.words, count_part(bought, self.value).words),
                bounds=(lower, upper),
            )
        ]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        error = expected_ratio_error(bought, self.parts[0], size, 0.95)
        return [Expected(name, error, f"of {self.value.words}", by_size=True)]


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
    return Mean.of(column, bounds, weight)
