"""How many: rows, rows with a value, people."""

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
    count_error,
    read_column,
    read_count,
    read_weight,
)
from discreet.query.expressions import Typed
from discreet.query.purchase import Counted, Counting, Part, Purchase, UnitCount
from discreet.query.schema import Schema


@dataclass(frozen=True)
class Count:
    """The number of rows, or of rows in which a column is not missing."""

    column: ColumnLike | Typed | None
    weight: Fraction
    label: str = ""

    def resolve(self, schema: Schema) -> Count:
        """The aggregate with its column typed."""
        if self.column is None:
            return self
        value, label = read_column(self.column, schema, name="count")
        return replace(self, column=value, label=label)

    @property
    def counts_rows(self) -> bool:
        """Does it count all rows, rather than those with a value?"""
        return self.column is None

    @property
    def counted(self) -> tuple[Counted, ...]:
        """The value that must be present for a row to count."""
        return (Counted(self.column, self.label),) if isinstance(self.column, Typed) else ()

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One count."""
        return (counting.present(self.counted[0]) if self.counted else counting.rows(),)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column."""
        return [(name, f"{name}_error")]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """The count and its error, the same in each group."""
        (part,) = self.parts(counting)
        values = read_count(noisy, part, everything=not self.counted)
        error = count_error(noisy.bought[part], everything=not self.counted)
        return [
            Output(
                name=name,
                kind="count",
                values=values,
                error=np.full(len(values), error),
                error_name=f"{name}_error",
                sources=(part.words,),
                integer=True,
            )
        ]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error, which is the same for groups of any size."""
        (part,) = self.parts(counting)
        return [Expected(name, count_error(bought[part], everything=not self.counted), "rows")]


@dataclass(frozen=True)
class CountUnits:
    """The number of distinct people."""

    weight: Fraction
    counts_rows = False
    counted: tuple[Counted, ...] = ()

    def resolve(self, schema: Schema) -> CountUnits:
        """Unchanged: it has no column."""
        return self

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One count."""
        return (UnitCount(),)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column."""
        return [(name, f"{name}_error")]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """The count and its error, the same in each group."""
        part = UnitCount()
        values = noisy.values[part]
        error = count_error(noisy.bought[part], everything=True)
        errors = np.full(len(values), error)
        return [Output(name, "count", values, errors, f"{name}_error", (part.words,), integer=True)]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error, which is the same for groups of any size."""
        return [Expected(name, count_error(bought[UnitCount()], everything=True), "people")]


@spelled
def count(column: ColumnLike | None = None, *, weight: Number = 1) -> Count:
    """The number of rows of each group; with a column, of rows in which it is not missing.

    Released as an integer, which may be negative. Error: the same in each group.

    ``column`` is the name of a column, or a function of a row, as in
    ``lambda row: row.days * 24``; left out, all rows count.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> count(), count("days", weight=2).weight
    (Count(column=None, weight=Fraction(1, 1), label=''), Fraction(2, 1))
    """
    return Count(column, read_weight(weight))


@spelled
def count_units(*, weight: Number = 1) -> CountUnits:
    """The number of distinct people in each group: each counts once, however many rows they have.

    Error: the same in each group, in proportion to max_groups and not to the number of rows.

    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> import discreet as dp, pyarrow as pa
    >>> visits = dp.table(pa.table({"who": [1, 1, 2], "days": [3, 5, 9]}), unit="who")
    >>> query = visits.bound(max_rows=2).agg(people=dp.count_units())
    >>> dp.Session(visits, budget=dp.Pure(1)).release(query, epsilon=1).value("people").error
    3.0
    """
    return CountUnits(read_weight(weight))
