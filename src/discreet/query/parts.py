"""What a plan buys: noisy numbers and private choices, each of them once.

An aggregate says which parts it needs; equal parts are bought once, so that a count and a mean
share a count. *Additive* parts are integers for each group, to which noise is added. *Choices*
are made in each group by a mechanism of their own. Discovery finds the groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from discreet.query.contribution import Contribution
from discreet.query.expressions import Typed
from discreet.query.measures import (
    Binned,
    Categories,
    GridBins,
    Measure,
    Present,
    Rows,
    Total,
    Units,
)
from discreet.query.schema import Type
from discreet.sensitivity import Sensitivity

Columns: TypeAlias = Mapping[Measure, Any]


TIELESS = 2  # so many quantiles do not mind values that many rows share


@dataclass(frozen=True)
class RowCount:
    """The number of rows of each group."""

    measures = (Rows(),)
    words = "rows"
    step = Fraction(1)

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row counts 1."""
        return contribution.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One integer a group."""
        return columns[Rows()]


@dataclass(frozen=True)
class PresentCount:
    """The number of rows of each group in which a value is not missing."""

    value: Typed
    label: str
    step = Fraction(1)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (Present(self.value),)

    @property
    def words(self) -> str:
        """In the plan."""
        return f"rows with {self.label}"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row counts 1."""
        return contribution.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One integer a group."""
        return columns[Present(self.value)]


@dataclass(frozen=True)
class PresenceCounts:
    """Rows with a value and rows without it: two counts for the price of one, as no row is in
    both. Together they are the number of rows."""

    value: Typed
    label: str
    step = Fraction(1)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (Rows(), Present(self.value))

    @property
    def words(self) -> str:
        """In the plan."""
        return f"rows with and without {self.label}"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row counts 1, in one of two cells."""
        return contribution.in_cells(2).moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """Two integers a group: with, without."""
        there = columns[Present(self.value)]
        return np.stack([there, columns[Rows()] - there], axis=1)


@dataclass(frozen=True)
class UnitCount:
    """The number of distinct people of each group."""

    measures = (Units(),)
    words = "people"
    step = Fraction(1)

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A person counts 1, however many rows they have."""
        return contribution.one_row().moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One integer a group."""
        return columns[Units()]


@dataclass(frozen=True)
class ValueSum:
    """The sum of a value, or of its square, in whole steps of a grid."""

    total: Total
    label: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine sums."""
        return (self.total,)

    @property
    def words(self) -> str:
        """In the plan."""
        square = "squares of " if self.total.squared else ""
        return f"sum of {square}{self.label}"

    @property
    def step(self) -> Fraction:
        """What one step is worth."""
        step, total = self.total.grid.step, self.total
        return step**2 * 2**total.shift if total.squared else step

    @property
    def rounding(self) -> Fraction:
        """How far a value may be from its grid point; whole numbers are on it."""
        total = self.total
        if total.value.type is Type.INTEGER and total.grid.exponent >= 0 and not total.shift:
            return Fraction(0)
        if not total.squared:
            return self.step / 2
        # |x² − y²| ≤ |x − y|·2·largest, and then half a step of the square itself
        return total.grid.step**2 * total.grid.largest + self.step / 2

    @property
    def extent(self) -> tuple[int, int]:
        """The least and the largest that a row adds, in steps."""
        grid = self.total.grid
        if not self.total.squared:
            return grid.lower - grid.centre, grid.upper - grid.centre
        return -self.total.offset, self.total.largest_square - self.total.offset

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds at most its extent; one without a value adds nothing."""
        low, high = self.extent
        reach = max(high, 0) - min(low, 0)
        return contribution.moves(largest=Fraction(max(abs(low), abs(high))), reach=Fraction(reach))

    def exact(self, columns: Columns) -> Any:
        """One integer a group."""
        return columns[self.total]


@dataclass(frozen=True)
class BinCounts:
    """How many rows fall into each bin."""

    bins: Binned
    label: str
    step = Fraction(1)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (self.bins,)

    @property
    def words(self) -> str:
        """In the plan."""
        return f"rows in {self.bins.size} bins of {self.label}"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row counts 1, in one of the bins."""
        bins = contribution.in_cells(self.bins.size)
        return bins.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """A row of integers a group."""
        return columns[self.bins]


@dataclass(frozen=True)
class QuantileChoice:
    """Grid points near given ranks: an exponential mechanism on each group's counts."""

    bins: GridBins
    probabilities: tuple[Fraction, ...]  # rising
    label: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (self.bins,)

    @property
    def words(self) -> str:
        """In the plan."""
        shares = ", ".join(f"{float(p):g}" for p in self.probabilities)
        return f"quantile{'s' * (len(self.probabilities) > 1)} {shares} of {self.label}"


@dataclass(frozen=True)
class CommonestChoice:
    """The commonest of the listed values, in order: noisy counts of which only ranks are told."""

    bins: Categories
    k: int
    label: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (self.bins,)

    @property
    def words(self) -> str:
        """In the plan."""
        return f"the {self.k} commonest {self.label}" if self.k > 1 else f"commonest {self.label}"


@dataclass(frozen=True)
class Discovery:
    """Which groups there are: those that enough people are in."""

    measures = (Units(),)
    words = "discovered keys"


Additive: TypeAlias = RowCount | PresentCount | PresenceCounts | UnitCount | ValueSum | BinCounts
Choice: TypeAlias = QuantileChoice | CommonestChoice
Part: TypeAlias = Additive | Choice | Discovery
