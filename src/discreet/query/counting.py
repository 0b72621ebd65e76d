"""Which counts a query needs, and how to buy them once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.query.expressions import Typed
from discreet.query.parts import PresenceCounts, PresentCount, RowCount


@dataclass(frozen=True, slots=True)
class Counted:
    """A value whose present rows must be counted, and what to call it."""

    value: Typed
    label: str


@dataclass(frozen=True)
class Counting:
    """Where to read the number of rows, and of rows with a value.

    A value that cannot be missing shares the count of rows. If just one value can be missing,
    rows with and without it are bought together, for the price of one count: a mean's count and
    the count of rows, whose noise is then that of two. Otherwise each has a count of its own.
    """

    split: Counted | None

    @classmethod
    def of(cls, *, rows: bool, values: Iterable[Counted]) -> Counting:
        """For a query that asks for rows, and for the present rows of these values."""
        distinct = {counted.value: counted for counted in values if counted.value.nullable}
        rows = rows or any(not counted.value.nullable for counted in values)
        return cls(next(iter(distinct.values())) if rows and len(distinct) == 1 else None)

    def rows(self) -> RowCount | PresenceCounts:
        """The part that tells the number of rows."""
        if self.split is None:
            return RowCount()
        return PresenceCounts(self.split.value, self.split.label)

    def present(self, counted: Counted) -> RowCount | PresentCount | PresenceCounts:
        """The part that tells in how many rows the value is there."""
        if not counted.value.nullable:
            return self.rows()
        if self.split is not None and self.split.value == counted.value:
            return self.rows()
        return PresentCount(counted.value, counted.label)
