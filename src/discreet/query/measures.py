"""What an engine computes for each group, and how far one person moves it: exact integers."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from discreet.errors import InvalidArgument
from discreet.query.contribution import Contribution
from discreet.query.expressions import Tree, Typed, tree
from discreet.query.schema import Type
from discreet.sensitivity import Sensitivity

NARROW: Final = 2**23  # sums of values up to this fit 64 bits for 2^40 rows


class Additive(ABC):
    """Integers for each group, to which each row adds: noise is added to them too.

    Unless it says otherwise, a row adds 1 to one of the `size` numbers of its group.
    """

    __slots__ = ()
    step = Fraction(1)  # what 1 of them stands for

    @property
    @abstractmethod
    def words(self) -> str:
        """What a plan calls it."""

    @property
    @abstractmethod
    def kind(self) -> str:
        """What documents call it."""

    @property
    def document(self) -> Tree:
        """What a document says is counted or added up."""
        value: Typed | None = getattr(self, "value", None)
        return {"kind": self.kind} | ({} if value is None else {"column": tree(value)})

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine computes: itself, where it is a measure."""
        return (self,)  # type: ignore[return-value]

    def moves(self, contribution: Contribution) -> Sensitivity:
        """How far one person moves it."""
        cells = contribution.in_cells(getattr(self, "size", 1))
        return cells.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Mapping[Measure, Any]) -> Any:
        """One integer per group, or a row of them, from what the engine computed."""
        (measure,) = self.measures
        return columns[measure]


@dataclass(frozen=True, slots=True)
class AllRows(Additive):
    """The number of kept rows."""

    kind = words = "rows"


@dataclass(frozen=True, slots=True)
class Present(Additive):
    """The number of kept rows in which a value is not missing (null and NaN are missing)."""

    value: Typed
    kind = "rows with a value"

    @property
    def words(self) -> str:
        return f"rows with {self.value.words}"


@dataclass(frozen=True, slots=True)
class PresenceCounts(Additive):
    """The numbers of rows with a value and of rows without it: two counts for the price of one, as
    no row is in both. Together they give the number of rows."""

    value: Typed
    kind = "rows with and without a value"
    size = 2

    @property
    def words(self) -> str:
        return f"rows with and without {self.value.words}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return (AllRows(), Present(self.value))

    def exact(self, columns: Mapping[Measure, Any]) -> Any:
        """Two integers per group: rows with the value, and rows without it."""
        there = columns[Present(self.value)]
        return np.stack([there, columns[AllRows()] - there], axis=1)


@dataclass(frozen=True, slots=True)
class Units(Additive):
    """The number of distinct people with a kept row; without a unit, the number of rows."""

    kind = words = "people"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A person adds 1, however many rows they have."""
        return contribution.one_row().moves(largest=Fraction(1), reach=Fraction(1))


@dataclass(frozen=True, slots=True)
class Total(Additive):
    """The sum of q = `grid.quantise(value)`, or of its square; missing values add nothing.

    A square is ⌊q²/2^shift + ½⌋ − offset, computed for each row.
    """

    value: Typed  # INTEGER or REAL
    grid: Grid
    squared: bool = False
    shift: int = 0
    offset: int = 0

    @property
    def words(self) -> str:
        return f"sum of {'squares of ' * self.squared}{self.value.words}"

    @property
    def kind(self) -> str:
        return "sum of squares" if self.squared else "sum"

    @property
    def document(self) -> Tree:
        """What a document says is added up, and on which grid: a step is 2^(−exponent)."""
        grid = {"shift": self.shift, "offset": self.offset, **asdict(self.grid)}
        return {**super(Total, self).document, "grid": grid}

    @property
    def step(self) -> Fraction:  # type: ignore[override]
        return self.grid.step**2 * 2**self.shift if self.squared else self.grid.step

    @property
    def rounding(self) -> Fraction:
        """How far a value may be from its grid point; 0 for whole numbers on a grid of integers."""
        if self.value.type is Type.INTEGER and self.grid.exponent >= 0 and not self.shift:
            return Fraction(0)
        if not self.squared:
            return self.step / 2
        # |x² − y²| ≤ |x − y|·2·largest, plus half a step for rounding the square itself
        return self.grid.step**2 * self.grid.largest + self.step / 2

    @property
    def extent(self) -> tuple[int, int]:
        """The smallest and the largest value that a row can add, in steps."""
        if self.squared:
            return -self.offset, self.largest_square - self.offset
        return self.grid.lower - self.grid.centre, self.grid.upper - self.grid.centre

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds a value within `extent`; one without a value adds nothing."""
        low, high = self.extent
        reach = max(high, 0) - min(low, 0)
        return contribution.moves(largest=Fraction(self.largest), reach=Fraction(reach))

    @property
    def largest(self) -> int:
        """How far from 0 the value of a row can be, in steps."""
        return max(map(abs, self.extent))

    @property
    def half(self) -> float:
        """How far from 0 the value of a row can be, in its own unit."""
        return self.largest * float(self.step)

    @property
    def wide(self) -> bool:
        """May its sums need more than 64 bits? This depends on the grid, never on the data."""
        return self.largest > NARROW

    @property
    def largest_square(self) -> int:
        """The largest square, before the offset is subtracted."""
        return (self.grid.largest**2 + (1 << self.shift >> 1)) >> self.shift


class Bins(Additive):
    """Counts of rows by bin."""

    __slots__ = ()
    value: Typed
    kind = "bins"

    @property
    @abstractmethod
    def size(self) -> int:
        """The number of bins."""

    @property
    def words(self) -> str:
        return f"rows in {self.size} bins of {self.value.words}"

    @property
    def document(self) -> Tree:
        return {**super().document, "bins": self.size}


@dataclass(frozen=True, slots=True)
class GridBins(Bins):
    """How often each grid point occurs: counts of `grid.quantise(value)`, from lower to upper.

    A row of the answer holds `size` counts; `grid.centre` is 0 here. Missing values are in no bin.
    """

    value: Typed  # INTEGER or REAL
    grid: Grid

    @property
    def size(self) -> int:
        return self.grid.upper - self.grid.lower + 1


@dataclass(frozen=True, slots=True)
class EdgeBins(Bins):
    """How many values lie in [edges[i], edges[i+1]); values outside are counted in the end bins."""

    value: Typed  # INTEGER or REAL
    edges: tuple[float, ...]  # rising, at least two

    @property
    def size(self) -> int:
        return len(self.edges) - 1


@dataclass(frozen=True, slots=True)
class CategoryBins(Bins):
    """How often each of the listed values occurs; others, and missing ones, are not counted."""

    value: Typed  # BOOLEAN, INTEGER, TEXT or DATE
    values: tuple[object, ...]  # distinct, of that type

    @property
    def size(self) -> int:
        return len(self.values)


Binned: TypeAlias = GridBins | EdgeBins | CategoryBins
Measure: TypeAlias = AllRows | Present | Units | Total | Binned


# -- the grid that values are summed on ------------------------------------------------------------
# Clamp, quantise, and only then add, in integers.
#
# A sum of doubles depends on the order of its terms, and one record can move it by more than its
# own size (Casacuberta et al. 2022). So each record's value x becomes the integer
#
#     q(x) = ⌊min(max(x, lower), upper)·2^k + ½⌋ − centre
#
# before anything is added. That is a function of one record, and sums of integers are exact.


# A value is at most 2^30 steps large. In the worst case all n records of a group are rounded the
# same way, by half a step, which is n·Δ/2^31 in all. Next to Laplace noise of deviation √2·Δ/ε this
# increases the error by less than a thousandth as long as n·ε is below a hundred million (then
# it is 4 % of the deviation, and errors add up in squares). If rounding is random, n may be
# squared.
FINE_BITS: Final = 30
SMALLEST_EXPONENT: Final = 1074  # every double is a multiple of 2^(−1074)


@dataclass(frozen=True, slots=True)
class Grid:
    """Integers from `lower` to `upper`, each standing for a multiple of 2^(−exponent)."""

    exponent: int  #: k: a step is 2^(−k)
    lower: int  #: in steps
    upper: int
    centre: int = 0  #: subtracted from each value, in steps

    @property
    def step(self) -> Fraction:
        """The size of one step."""
        return Fraction(2) ** -self.exponent

    @property
    def largest(self) -> int:
        """How far a value can be from 0, in steps."""
        return max(abs(self.lower - self.centre), abs(self.upper - self.centre))

    def quantise(self, x: float | int | None) -> int | None:
        """q(x); None where the value is missing. Every engine must compute exactly this.

        >>> Grid(exponent=1, lower=0, upper=120, centre=60).quantise(12.25)
        -35
        """
        if x is None or (isinstance(x, float) and math.isnan(x)):
            return None
        if isinstance(x, int) and self.exponent == 0:
            return min(max(x, self.lower), self.upper) - self.centre
        # Both ends are exact doubles, and so is a product with a power of two.
        low, high = math.ldexp(self.lower, -self.exponent), math.ldexp(self.upper, -self.exponent)
        clamped = min(max(float(x), low), high)
        return math.floor(math.ldexp(clamped, self.exponent) + 0.5) - self.centre


def choose_grid(bounds: tuple[Fraction, Fraction], *, whole: bool, centred: bool) -> Grid:
    """The finest grid on which values are at most 2^30 steps large; whole numbers need no finer one
    than the integers, or halves.

    >>> choose_grid((Fraction(0), Fraction(60)), whole=True, centred=False)
    Grid(exponent=0, lower=0, upper=60, centre=0)
    >>> choose_grid((Fraction(0), Fraction(1)), whole=False, centred=True).exponent
    31
    """
    lower, upper = bounds
    middle = (lower + upper) / 2 if centred else Fraction(0)
    size = max(abs(lower - middle), abs(upper - middle))
    # Doubles have 53 bits: the ends themselves must be exact ones.
    farthest = max(abs(lower), abs(upper))
    exponent = min(FINE_BITS - log2_up(size), 51 - log2_up(farthest), SMALLEST_EXPONENT)
    if whole:
        # Whole numbers need no finer grid than the integers, or halves if the middle is one.
        exponent = min(exponent, 1 if (middle.denominator == 2 and centred) else 0)
    scale = Fraction(2) ** exponent
    low, high = math.ceil(lower * scale), math.floor(upper * scale)
    if low >= high:
        raise InvalidArgument(
            "bounds",
            "far enough apart for their size",
            "bounds that differ in their last digits only",
            hint="subtract a constant from the column first, as in lambda row: row.x - 1e9",
        )
    return Grid(exponent, low, high, (low + high) // 2 if centred else 0)


def log2_up(size: Fraction) -> int:
    """The least integer m with size ≤ 2^m."""
    bits = size.numerator.bit_length() - size.denominator.bit_length()
    return bits if size <= Fraction(2) ** bits else bits + 1
