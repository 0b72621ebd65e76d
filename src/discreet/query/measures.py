"""What an engine is asked to compute for each group: exact integers, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from discreet.query.expressions import Typed
from discreet.query.grid import Grid

NARROW: Final = 2**23  # sums of values up to this fit 64 bits for 2^40 rows


@dataclass(frozen=True, slots=True)
class Rows:
    """The number of kept rows."""


@dataclass(frozen=True, slots=True)
class Present:
    """The number of kept rows in which a value is not missing (null and NaN are missing)."""

    value: Typed


@dataclass(frozen=True, slots=True)
class Units:
    """The number of distinct people with a kept row; without a unit, the number of rows."""


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of q = `grid.quantise(value)`, or of its square; missing values add nothing.

    A square is ⌊q²/2^shift + ½⌋ − offset, one by one.
    """

    value: Typed  # INTEGER or REAL
    grid: Grid
    squared: bool = False
    shift: int = 0
    offset: int = 0

    @property
    def largest(self) -> int:
        """How far from 0 a row can be."""
        if not self.squared:
            return self.grid.largest
        return max(self.offset, self.largest_square - self.offset)

    @property
    def wide(self) -> bool:
        """May its sums need more than 64 bits? Decided here, so that no value ever decides it."""
        return self.largest > NARROW

    @property
    def largest_square(self) -> int:
        """The largest square, before the offset is taken off."""
        return (self.grid.largest**2 + (1 << self.shift >> 1)) >> self.shift


@dataclass(frozen=True, slots=True)
class GridBins:
    """How often each grid point occurs: counts of `grid.quantise(value)`, from lower to upper.

    A row of the answer holds `size` counts; `grid.centre` is 0 here. Missing values are in no bin.
    """

    value: Typed  # INTEGER or REAL
    grid: Grid

    @property
    def size(self) -> int:
        """The number of bins."""
        return self.grid.upper - self.grid.lower + 1


@dataclass(frozen=True, slots=True)
class EdgeBins:
    """How many values lie in [edges[i], edges[i+1]); values outside count to the end bins."""

    value: Typed  # INTEGER or REAL
    edges: tuple[float, ...]  # rising, at least two

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.edges) - 1


@dataclass(frozen=True, slots=True)
class Categories:
    """How often each of the listed values occurs; others, and missing ones, are not counted."""

    value: Typed  # BOOLEAN, INTEGER, TEXT or DATE
    values: tuple[object, ...]  # distinct, of that type

    @property
    def size(self) -> int:
        """The number of bins."""
        return len(self.values)


Binned: TypeAlias = GridBins | EdgeBins | Categories
Measure: TypeAlias = Rows | Present | Units | Total | Binned
