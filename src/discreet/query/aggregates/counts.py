"""How many: rows, rows with a value, people."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.hints import spelled
from discreet.numeric.exact import Number
from discreet.query.aggregates.aggregate import (
    Aggregate,
    Bought,
    ColumnLike,
    Expected,
    Flag,
    Output,
    Told,
    Values,
    added_noise,
    count_error,
    count_part,
    read_column,
    read_count,
    read_weight,
)
from discreet.query.expressions import Typed
from discreet.query.measures import Units
from discreet.query.schema import Schema


@dataclass(frozen=True)
class Count(Aggregate):
    """The number of rows, or of rows in which a column is not missing."""

    column: ColumnLike | Typed | None
    weight: Fraction
    kind = "count"
    parts = ()

    @property
    def words(self) -> str:
        return "the number of rows" + ("" if self.column is None else f" with {self.value.words}")

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        return (Flag("count", "How many rows: n.", lambda asked: ("n", count())),)

    @classmethod
    def read(cls, told: Told) -> Count:
        column = None if told["column"] is None else told.column
        return count(column, weight=told["weight"])

    def resolve(self, schema: Schema) -> Count:
        if self.column is None:
            return self
        return self.on(read_column(self.column, schema, name="count"))

    @property
    def counts(self) -> tuple[Typed | None, ...]:
        return (None if self.column is None else self.value,)

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """The count and its error, the same in each group."""
        (value,) = self.counts
        found = read_count(bought, values, value)
        errors = np.full(len(found), count_error(bought, value))
        words = count_part(bought, value).words
        return [Output(name, "count", found, errors, (words,), integer=True)]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """The error, which is the same for groups of any size."""
        return [Expected(name, count_error(bought, self.counts[0]), "rows")]


@dataclass(frozen=True)
class CountUnits(Aggregate):
    """The number of distinct people."""

    weight: Fraction
    kind = "count units"
    words = "the number of people"
    column = None
    parts = (Units(),)

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        words = "How many people: people."
        return (Flag("count-units", words, lambda asked: ("people", count_units())),)

    @classmethod
    def read(cls, told: Told) -> CountUnits:
        return count_units(weight=told["weight"])

    def resolve(self, schema: Schema) -> CountUnits:
        """Unchanged: it has no column."""
        return self

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        (part,) = self.parts
        errors = np.full(len(values[part]), added_noise(bought, part).error)
        found = values[part]
        return [Output(name, "count", found, errors, (part.words,), integer=True)]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        return [Expected(name, added_noise(bought, self.parts[0]).error, "people")]


@spelled
def count(column: ColumnLike | None = None, *, weight: Number = 1) -> Count:
    """The number of rows of each group; with a column, of rows in which it is not missing.

    Released as an integer, which may be negative. Error: the same in each group.

    ``column`` is the name of a column, or a function of a row, as in
    ``lambda row: row.days * 24``; left out, all rows count.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> count(), count("days", weight=2).weight
    (Count(column=None, weight=Fraction(1, 1)), Fraction(2, 1))
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
