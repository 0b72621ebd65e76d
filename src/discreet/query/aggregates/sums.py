"""The sum of a bounded column, in exact integers."""

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
    read_bounds,
    read_number,
    read_weight,
    value_total,
)
from discreet.query.expressions import Typed
from discreet.query.purchase import AddedNoise, Counted, Counting, Part, Purchase, ValueSum
from discreet.query.schema import Schema


@dataclass(frozen=True)
class Sum:
    """The sum of values, each clamped to its bounds."""

    column: ColumnLike | Typed
    bounds: tuple[Fraction, Fraction]
    weight: Fraction
    label: str = ""
    counts_rows = False
    counted: tuple[Counted, ...] = ()

    def resolve(self, schema: Schema) -> Sum:
        """The aggregate with its column typed."""
        value, label = read_number(self.column, schema, name="sum")
        return replace(self, column=value, label=label)

    @property
    def part(self) -> ValueSum:
        """The part that must be bought."""
        return ValueSum(value_total(self.column, self.bounds, centred=False), self.label)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One sum."""
        return (self.part,)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column."""
        return [(name, f"{name}_error")]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """The sum and its error, the same in each group."""
        part = self.part
        steps = noisy.values[part]
        # Whole numbers, unless they might need more than 64 bits: doubles then, whose rounding is
        # far below the noise.
        whole = part.total.grid.exponent == 0 and not part.total.wide
        values = steps if whole else steps.astype(np.float64) * float(part.step)
        bought = noisy.bought[part]
        assert isinstance(bought, AddedNoise)
        errors = np.full(len(steps), bought.error)
        return [Output(name, "sum", values, errors, f"{name}_error", (part.words,), integer=whole)]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error, which is the same for groups of any size."""
        noise = bought[self.part]
        assert isinstance(noise, AddedNoise)
        return [Expected(name, noise.error, f"of {self.label}")]


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
    return Sum(column, read_bounds(bounds, name="sum"), read_weight(weight))
