"""The sum of a bounded column, in exact integers."""

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
    added_noise,
    as_floats,
    value_total,
)
from discreet.query.measures import Total


@dataclass(frozen=True)
class Sum(Bounded):
    """The sum of values, each clamped to its bounds."""

    kind = "sum"
    noun = "sum"

    @property
    def parts(self) -> tuple[Total]:
        return (value_total(self.value, self.bounds, centred=False),)

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """The sum and its error, the same in each group."""
        (total,) = self.parts
        # Whole numbers, unless they might need more than 64 bits: doubles then, whose rounding is
        # far below the noise.
        whole = total.grid.exponent == 0 and not total.wide
        found = values[total] if whole else as_floats(values, total)
        errors = np.full(len(found), added_noise(bought, total).error)
        return [Output(name, "sum", found, errors, (total.words,), integer=whole)]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """The error, which is the same for groups of any size."""
        error = added_noise(bought, self.parts[0]).error
        return [Expected(name, error, f"of {self.value.words}")]


@spelled
def sum(  # the field's name
    column: ColumnLike, *, bounds: tuple[Number, Number] | None = None, weight: Number = 1
) -> Sum:
    """The sum of a column, each value clamped to ``bounds``; missing values add nothing.

    Values are quantised to a grid of at most 2^30 steps and summed as integers, so the exact
    answer does not depend on the order of rows. Error: the same in each group, in proportion to
    the larger bound.

    ``column`` is the name of a column, or a function of a row, as in ``lambda row: row.days * 24``.
    ``bounds`` are (lower, upper), from what is known of the column and not from the data; they
    must be given.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> sum("days", bounds=(0, 60)).bounds
    (Fraction(0, 1), Fraction(60, 1))
    """
    return Sum.of(column, bounds, weight)
