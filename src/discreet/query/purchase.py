"""What an analyst spends on an answer, and what a plan buys with it.

A spend is given in one of the field's notions. ε and ρ are divided in proportion to the shares;
for μ it is the square that is divided, since the squares of Gaussian mechanisms add up.

An aggregate says which parts it needs; equal parts are bought once, so that a count and a mean
share a count. *Additive* parts are integers for each group, to which noise is added. *Choices*
are made in each group by a mechanism of their own. Discovery finds the groups.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, Literal, TypeAlias

import numpy as np

from discreet.errors import InvalidArgument, Phrase, Refused, one_line
from discreet.guarantees import Guarantee
from discreet.guarantees.filters import gdp_cap, zcdp_cap
from discreet.lazy import cached_property
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantiles import Quantiles
from discreet.mechanisms.top_k import TopK
from discreet.neighbors import Relation
from discreet.numeric.balls import ball, lower
from discreet.numeric.exact import Number, positive, probability
from discreet.query.contribution import Contribution
from discreet.query.expressions import Typed
from discreet.query.measures import (
    AllRows,
    Binned,
    CategoryBins,
    GridBins,
    Measure,
    Present,
    Total,
    Units,
)
from discreet.query.schema import Type
from discreet.sensitivity import Sensitivity

# -- spends ----------------------------------------------------------------------------------------


_FINE = 2**40


@dataclass(frozen=True, slots=True)
class Spend:
    """ε, (ε, δ), ρ or μ, the last two with a δ where keys are to be discovered."""

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu: Fraction | None = None

    @classmethod
    def read(
        cls,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Spend:
        """Check what the caller gave: exactly one of epsilon, rho and mu.

        >>> Spend.read(epsilon=0.5)
        Spend(epsilon=Fraction(1, 2), delta=None, rho=None, mu=None)
        """
        given = {"epsilon": epsilon, "rho": rho, "mu": mu}
        names = [name for name, value in given.items() if value is not None]
        if len(names) != 1:
            raise InvalidArgument(
                "spend",
                Phrase("given as {epsilon=}, {epsilon=} and {delta=}, {rho=}, {mu=}, or {error=}"),
                " and ".join(names) or ("nothing" if delta is None else "delta alone"),
                hint="keep one of them"
                if names
                else Phrase("say how much privacy the answer may cost, as in {epsilon=0.5}"),
                code="conflicting-arguments" if names else "missing-argument",
            )
        exact = {name: positive(given[name], name=name) for name in names}
        return cls(**exact, delta=None if delta is None else probability(delta, name="delta"))

    def __str__(self) -> str:
        parts = [
            f"{symbol} = {float(value):.6g}"
            for symbol, value in (
                ("ε", self.epsilon),
                ("ρ", self.rho),
                ("μ", self.mu),
                ("δ", self.delta),
            )
            if value is not None
        ]
        return ", ".join(parts)


Kind = Literal["epsilon", "rho", "mu"]


@dataclass(frozen=True, slots=True)
class SpendAmount:
    """An amount of ε, ρ or μ, which can be divided into shares that add up to it."""

    kind: Kind
    amount: Fraction

    @property
    def noise(self) -> Literal["laplace", "gaussian"]:
        """The kind of noise to buy with it: Laplace for pure ε, Gaussian for the others."""
        return "laplace" if self.kind == "epsilon" else "gaussian"

    def share(self, share: Fraction, *, among: int = 1) -> SpendAmount:
        """One of `among` equal parts of this share.

        >>> SpendAmount("epsilon", Fraction(1)).share(Fraction(1, 2), among=5).amount
        Fraction(1, 10)
        """
        part = share / among
        if self.kind == "mu":
            # μ² is what adds up, so μ is multiplied by a root, rounded down to 40 bits
            root = Fraction(math.isqrt(int(part * _FINE**2)), _FINE)
            return SpendAmount("mu", self.amount * root)
        return SpendAmount(self.kind, self.amount * part)

    @property
    def pure(self) -> Fraction:
        """The largest ε, rounded down, whose pure promise is worth no more than this.

        - ρ: ε-differential privacy is ε²/2-zCDP (Bun and Steinke 2016).
        - μ: its trade-off curve has one kink, at (1/(1+e^ε), 1/(1+e^ε)), where a Gaussian one
          with Φ(−μ/2) = 1/(1+e^ε) meets it; between that and the ends the latter is convex, so
          it lies below the chords, which are the former.
        """
        match self.kind:
            case "epsilon":
                return self.amount
            case "rho":
                return Fraction(math.isqrt(int(2 * self.amount * _FINE**2)), _FINE)
            case "mu":
                return _epsilon_of_mu(self.amount)

    @property
    def for_choice(self) -> dict[str, Fraction]:
        """What a private choice is paid with: ε or ρ, and for μ the ε that it is worth."""
        return {"rho": self.amount} if self.kind == "rho" else {"epsilon": self.pure}


@lru_cache(maxsize=256)
def _epsilon_of_mu(mu: Fraction) -> Fraction:
    # ln(Φ(μ/2)/Φ(−μ/2)), with Φ(x) = erfc(−x/√2)/2
    half = ball(mu) / (2 * ball(Fraction(2)).sqrt())
    return Fraction(lower(((-half).erfc() / half.erfc()).log()))


@lru_cache(maxsize=256)
def gaussian_share(epsilon: Fraction, delta: Fraction, *, in_rho: bool) -> SpendAmount:
    """The largest μ, or ρ, that implies (ε, δ): what can be spent on Gaussian noise."""
    if in_rho:
        return SpendAmount("rho", zcdp_cap(epsilon=epsilon, delta=delta).rho)
    return SpendAmount("mu", gdp_cap(epsilon=epsilon, delta=delta).mu)


# -- parts -----------------------------------------------------------------------------------------


Columns: TypeAlias = Mapping[Measure, Any]


TIELESS = 2  # up to this many quantiles, the error does not depend on values that many rows share


@dataclass(frozen=True)
class RowCount:
    """The number of rows of each group."""

    measures = (AllRows(),)
    words = "rows"
    step = Fraction(1)

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds 1."""
        return contribution.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One integer per group."""
        return columns[AllRows()]


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
        """What a plan calls it."""
        return f"rows with {self.label}"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds 1."""
        return contribution.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One integer per group."""
        return columns[Present(self.value)]


@dataclass(frozen=True)
class PresenceCounts:
    """The numbers of rows with a value and of rows without it: two counts for the price of one, as
    no row is in both. Together they give the number of rows."""

    value: Typed
    label: str
    step = Fraction(1)

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (AllRows(), Present(self.value))

    @property
    def words(self) -> str:
        """What a plan calls it."""
        return f"rows with and without {self.label}"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds 1 to one of two cells."""
        return contribution.in_cells(2).moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """Two integers per group: rows with the value, and rows without it."""
        there = columns[Present(self.value)]
        return np.stack([there, columns[AllRows()] - there], axis=1)


@dataclass(frozen=True)
class UnitCount:
    """The number of distinct people of each group."""

    measures = (Units(),)
    words = "people"
    step = Fraction(1)

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A person adds 1, however many rows they have."""
        return contribution.one_row().moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One integer per group."""
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
        """What a plan calls it."""
        square = "squares of " if self.total.squared else ""
        return f"sum of {square}{self.label}"

    @property
    def step(self) -> Fraction:
        """The size of one step."""
        step, total = self.total.grid.step, self.total
        return step**2 * 2**total.shift if total.squared else step

    @property
    def rounding(self) -> Fraction:
        """How far a value may be from its grid point; 0 for whole numbers on a grid of integers."""
        total = self.total
        if total.value.type is Type.INTEGER and total.grid.exponent >= 0 and not total.shift:
            return Fraction(0)
        if not total.squared:
            return self.step / 2
        # |x² − y²| ≤ |x − y|·2·largest, plus half a step for rounding the square itself
        return total.grid.step**2 * total.grid.largest + self.step / 2

    @property
    def extent(self) -> tuple[int, int]:
        """The smallest and the largest value that a row can add, in steps."""
        grid = self.total.grid
        if not self.total.squared:
            return grid.lower - grid.centre, grid.upper - grid.centre
        return -self.total.offset, self.total.largest_square - self.total.offset

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds a value within `extent`; one without a value adds nothing."""
        low, high = self.extent
        reach = max(high, 0) - min(low, 0)
        return contribution.moves(largest=Fraction(max(abs(low), abs(high))), reach=Fraction(reach))

    def exact(self, columns: Columns) -> Any:
        """One integer per group."""
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
        """What a plan calls it."""
        return f"rows in {self.bins.size} bins of {self.label}"

    def moves(self, contribution: Contribution) -> Sensitivity:
        """A row adds 1 to one of the bins."""
        bins = contribution.in_cells(self.bins.size)
        return bins.moves(largest=Fraction(1), reach=Fraction(1))

    def exact(self, columns: Columns) -> Any:
        """One row of integers per group."""
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
        """What a plan calls it."""
        shares = ", ".join(f"{float(p):g}" for p in self.probabilities)
        return f"quantile{'s' * (len(self.probabilities) > 1)} {shares} of {self.label}"


@dataclass(frozen=True)
class CommonestChoice:
    """The commonest of the listed values, in order: only the ranks of noisy counts are revealed."""

    bins: CategoryBins
    k: int
    label: str

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What the engine counts."""
        return (self.bins,)

    @property
    def words(self) -> str:
        """What a plan calls it."""
        return f"the {self.k} commonest {self.label}" if self.k > 1 else f"commonest {self.label}"


@dataclass(frozen=True)
class Discovery:
    """Finds the groups that enough people are in."""

    measures = (Units(),)
    words = "discovered keys"


Additive: TypeAlias = RowCount | PresentCount | PresenceCounts | UnitCount | ValueSum | BinCounts
Choice: TypeAlias = QuantileChoice | CommonestChoice
Part: TypeAlias = Additive | Choice | Discovery


# -- which counts a query needs, and how to buy them once ------------------------------------------


@dataclass(frozen=True, slots=True)
class Counted:
    """A value, and what to call it: the rows in which it is present must be counted."""

    value: Typed
    label: str


@dataclass(frozen=True)
class Counting:
    """Which part gives the number of rows, and which the number of rows with a value.

    A value that cannot be missing shares the count of rows. If exactly one value can be missing,
    the counts of rows with and without it are bought together, for the price of one: the first
    serves a mean, and their sum, which has the noise of both, is the count of rows. Otherwise each
    has a count of its own.
    """

    split: Counted | None

    @classmethod
    def of(cls, *, rows: bool, values: Iterable[Counted]) -> Counting:
        """For a query that needs the number of rows, if `rows`, and of rows with these values."""
        distinct = {counted.value: counted for counted in values if counted.value.nullable}
        rows = rows or any(not counted.value.nullable for counted in values)
        return cls(next(iter(distinct.values())) if rows and len(distinct) == 1 else None)

    def rows(self) -> RowCount | PresenceCounts:
        """The part that gives the number of rows."""
        if self.split is None:
            return RowCount()
        return PresenceCounts(self.split.value, self.split.label)

    def present(self, counted: Counted) -> RowCount | PresentCount | PresenceCounts:
        """The part that gives the number of rows in which the value is present."""
        if not counted.value.nullable:
            return self.rows()
        if self.split is not None and self.split.value == counted.value:
            return self.rows()
        return PresentCount(counted.value, counted.label)


# -- a part with the mechanism that was bought for it ----------------------------------------------


# In steps. 64 bits hold more than 8,000 times this, so no draw ever reaches their limit.
_LARGEST_NOISE = 2**50
_SURE = Fraction(95, 100)


@dataclass(frozen=True)
class AddedNoise:
    """An additive part and the noise that is added to each of its integers."""

    part: Additive
    mechanism: Laplace | Gaussian
    sensitivity: Sensitivity
    share: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """What one person is promised for this part, all groups together."""
        return self.mechanism.guarantee

    @property
    def noise(self) -> Literal["laplace", "gaussian"]:
        """Which kind of noise it is."""
        return "laplace" if isinstance(self.mechanism, Laplace) else "gaussian"

    @property
    def size(self) -> Fraction:
        """The scale of Laplace noise or the σ of Gaussian noise, in the value's own unit."""
        match self.mechanism:
            case Laplace(scale=size) | Gaussian(sigma=size):
                return size * self.part.step
        raise AssertionError  # pragma: no cover

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of the noise, in the value's own unit."""
        return math.sqrt(self.mechanism.variance) * float(self.part.step)

    @cached_property
    def error(self) -> float:
        """The 95 % half-width of one noisy number, in the value's own unit."""
        return self.mechanism.error(_SURE) * float(self.part.step)

    def release(self, exact: Any) -> Any:
        """The exact integers plus noise, as integers."""
        if not exact.size:
            return exact
        if exact.dtype == np.int64:
            return self.mechanism.release(exact)
        # Noise on integers does not depend on what it is added to, so draw it around zeros of 64
        # bits and add it to integers of any length.
        drawn = self.mechanism.release(np.zeros(exact.shape, np.int64))
        return exact.astype(object) + drawn.astype(object)


@dataclass(frozen=True)
class Chooser:
    """A choice and the mechanism that makes it in each group."""

    part: Choice
    mechanism: Quantiles | TopK
    times: int  # how many such choices one person influences
    share: Fraction

    @cached_property
    def guarantee(self) -> Guarantee:
        """What one person is promised for this part, all groups together."""
        return self.mechanism.guarantee.repeat(self.times)

    def errors(self, heaviest: int = 1) -> Any:
        """How far each choice is from the best one at 95 %, in rows.

        With three or more quantiles it also depends on how many rows share a value, which are at
        most `heaviest`.
        """
        size = self.part.bins.size
        match self.mechanism:
            case Quantiles() as quantiles:
                return quantiles.error(_SURE, candidates=size, heaviest=heaviest)
            case TopK() as top:
                return np.full(self._asked, top.error(_SURE, candidates=size))

    @property
    def _asked(self) -> int:
        part = self.part
        return len(part.probabilities) if isinstance(part, QuantileChoice) else part.k

    def release(self, exact: Any) -> Any:
        """For each group, the indices of the candidates that were chosen."""
        (measure,) = self.part.measures
        rows = [self.mechanism.release(row) for row in exact[measure]]
        width = (
            len(self.part.probabilities) if isinstance(self.part, QuantileChoice) else self.part.k
        )
        return np.array(rows, np.int64).reshape(-1, width)


@dataclass(frozen=True)
class Finder:
    """The discovery of keys and the mechanism that does it."""

    part: Discovery
    mechanism: KeyThreshold
    share: Fraction

    @property
    def guarantee(self) -> Guarantee:
        """What one person is promised for this part."""
        return self.mechanism.guarantee


Purchase: TypeAlias = AddedNoise | Chooser | Finder


def buy(
    part: Part,
    money: SpendAmount,
    *,
    share: Fraction,
    contribution: Contribution,
    delta: Fraction | None,
) -> Purchase:
    """The part with the mechanism of least noise that this share of the spend pays for."""
    match part:
        case Discovery():
            if delta is None:
                raise InvalidArgument.missing(
                    "delta",
                    Phrase('given with {keys="discover"}'),
                    hint=Phrase(
                        "a key that one person has may be revealed with this probability, as in "
                        "{delta=1e-6}"
                    ),
                )
            groups = contribution.groups * contribution.relation.add_remove_steps
            epsilon = money.share(share).pure
            return Finder(
                part, KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups), share
            )
        case QuantileChoice(probabilities=probabilities):
            # Replacing a person takes their rows out of a choice and puts another's in: twice the
            # rows. (If the other is in another group, each of the two choices is influenced by half
            # of that.)
            each = money.share(share, among=contribution.choices)
            quantiles = Quantiles(
                probabilities=probabilities,
                rows=contribution.rows * contribution.relation.add_remove_steps,
                **each.for_choice,
            )
            quantiles.check(part.bins.size)
            return Chooser(part, quantiles, contribution.choices, share)
        case CommonestChoice(k=k):
            each = money.share(share, among=contribution.choices)
            # Adding a person moves all counts the same way; replacing one moves some up, some down.
            monotone = contribution.relation is Relation.ADD_REMOVE
            top = TopK(k=k, rows=contribution.rows, monotone=monotone, **each.for_choice)
            return Chooser(part, top, contribution.choices, share)
        case _:
            moved = part.moves(contribution)
            noise = AddedNoise(part, _noise(moved, money.share(share)), moved, share)
            if noise.size / part.step > _LARGEST_NOISE:
                raise Refused(
                    f"the noise for {part.words} would be {float(noise.size):.2g}, far beyond any "
                    "answer",
                    remedy="spend more, or keep fewer groups and rows of each person",
                )
            return noise


def _noise(moved: Sensitivity, money: SpendAmount) -> Laplace | Gaussian:
    if money.kind == "epsilon":
        return Laplace(sensitivity=moved, epsilon=money.amount, step=1)
    return Gaussian(sensitivity=moved, step=1, **{money.kind: money.amount})


def protects(relation: Relation, unit: str | None) -> str:
    """Whom a guarantee protects, in words."""
    who = "one row" if unit is None else f"all rows of one {one_line(unit)}"
    how = "added or removed" if relation is Relation.ADD_REMOVE else "replaced"
    return f"{who}, {how}"
