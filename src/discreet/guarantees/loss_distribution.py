"""Any two laws, compared: multiplicative distance, hockey-stick divergence, total variation."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.guarantees.document import PAIRS, Kind, named
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import (
    Guarantee,
    N,
    epsilon_at,
    group_size,
    just_below,
    unit_interval,
)
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, sharp, upper
from discreet.numeric.bands import LARGEST, UNIT, Atoms, Band, FloatArray, atoms, band
from discreet.numeric.exact import Number, integer, number

_ABOVE_ONE = Fraction(1, 1000)  # densities are integrated numerically


def _read_outcomes(value: object, name: str, depth: int) -> Outcomes:
    pairs = PAIRS.read(value, name, depth)
    sums = [sum(column, Fraction(0)) for column in zip(*pairs, strict=True)]
    if not pairs or min(map(min, pairs)) < 0 or max(sums) > 1 + _ABOVE_ONE:
        raise InvalidArgument(
            name,
            "probabilities under two laws, 0 or above, each law's adding up to 1",
            f"{len(pairs)} pairs that do not",
        )
    return Outcomes(pairs)


_OUTCOMES = Kind(lambda table: PAIRS.write(table.pairs), _read_outcomes)


@dataclass(frozen=True, repr=False)
class LossDistribution(Guarantee):
    """What it takes to tell two given laws apart, whichever of them comes first.

    Made by `from_laws`. For continuous laws there are two tables of outcomes: a ``pessimistic``
    one, which is a little too easy to tell apart, and an ``optimistic`` one, which is a little too
    hard; `bracket` reads both, everything else the first.

    >>> g = LossDistribution.from_laws([0.5, 0.5], [0.25, 0.75])
    >>> g.tv, g.delta(0.5)
    (0.25, 0.08781968232496797)
    >>> g.epsilon(0)                       # the multiplicative distance, log 2
    0.6931471805599454
    """

    kind = "laws"
    fields = named(optimistic=_OUTCOMES, pessimistic=_OUTCOMES)

    pessimistic: Outcomes
    optimistic: Outcomes

    @staticmethod
    def from_laws(
        p: ArrayLike | Sequence[Number] | LogDensity,
        q: ArrayLike | Sequence[Number] | LogDensity,
        *,
        support: tuple[float, float] | None = None,
        cells: int = 4096,
    ) -> LossDistribution:
        """Compare two laws ``p`` and ``q`` of the output, one for each of two neighbours.

        Both are arrays, with the probabilities of the same outcomes in the same order, or both
        are log densities. Arrays are exact: the floats or fractions given are the probabilities,
        and what they lack to 1 beyond rounding counts as failure. Log densities are functions of
        an array of reals, over a ``support`` of two floats, infinite ones included. They are
        integrated numerically, over this many ``cells`` of the support: more cells make the bracket
        narrower and take longer in proportion. The answer is only as good as the integration: it
        is meant for laws that this package does not know.

        >>> import numpy as np
        >>> def laplace(shift):
        ...     return lambda x: -np.abs(x - shift) - np.log(2)
        >>> g = LossDistribution.from_laws(laplace(0), laplace(1), support=(-np.inf, np.inf))
        >>> round(g.tv, 5), round(g.epsilon(0), 9)         # 1 − e^(−1/2), and Δ/b
        (0.39347, 1.0)
        """
        if callable(p) and callable(q) and support is not None:
            count = integer(cells, name="cells", minimum=1)
            rough, smooth = cut(p, q, support=_interval(support), cells=count)
            return LossDistribution(rough, smooth)
        if callable(p) or callable(q) or support is not None:
            raise InvalidArgument(
                "p and q",
                "two arrays, or two functions together with a support (lower, upper)",
                "a mix of them",
            )
        outcomes = read_outcomes(p, q)
        return LossDistribution(outcomes, outcomes)

    @classmethod
    def _of_fields(cls, **values: Any) -> LossDistribution:
        if values["optimistic"] == values["pessimistic"]:  # one table of exact laws, not two bounds
            values["optimistic"] = values["pessimistic"]
        return cls(**values)

    def _to(self, notion: type[N]) -> N:
        return notion._of_outcomes(self.pessimistic) if self._bounded else super()._to(notion)

    def __repr__(self) -> str:
        return f"LossDistribution({len(self.pessimistic.pairs)} outcomes)"

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``, from the two tables."""
        upper = self.epsilon(delta)
        if self.optimistic is self.pessimistic:
            return just_below(upper), upper
        tables = (self.optimistic, self.optimistic.swapped)
        if unit_interval(delta, name="delta") == 0:
            lower = max(table.largest_loss for table in tables)
        else:
            orders = [(table.profile, table.profile) for table in tables]
            lower = epsilon_at(orders, delta, bounded=True)
        return min(just_below(lower), upper), upper

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at ``delta``, rounded up; at 0 the multiplicative distance."""
        if unit_interval(delta, name="delta") > 0:
            return super().epsilon(delta)
        largest = max(table.largest_loss for table in self._tables)
        return max(0.0, largest)

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together, if these laws are the worst neighbours."""
        return self if group_size(k) == 1 else GroupPrivacy(self, k)

    @cached_property
    def _mirrored(self) -> bool:
        """Whether exchanging the laws only renames the outcomes, so that both orders agree."""
        return Counter(self.pessimistic.pairs) == Counter(self.pessimistic.swapped.pairs)

    @property
    def _tables(self) -> tuple[Outcomes, Outcomes]:
        return self.pessimistic, self.pessimistic.swapped

    @property
    def _convex(self) -> bool:
        return self._mirrored or self.optimistic is not self.pessimistic

    @property
    def _bounded(self) -> bool:
        return all(table.failing == 0 for table in self._tables)

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return max(table.failing for table in self._tables)

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return max(table.largest_finite_loss for table in self._tables) * (1 + 2.0**-40)

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        exact = self.optimistic is self.pessimistic and self._mirrored
        return self.pessimistic.atoms if exact else None

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        # Which law is the one with the person may change from run to run: take the larger.
        first, second = (table.profile(x) for table in self._tables)
        return first.max(second)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        above = [table.band(x) for table in self._tables]
        below = above
        if self.optimistic is not self.pessimistic:
            below = [self.optimistic.band(x), self.optimistic.swapped.band(x)]
        return Band(
            np.maximum(below[0].lower, below[1].lower), np.maximum(above[0].upper, above[1].upper)
        )


def _interval(support: tuple[float, float]) -> tuple[float, float]:
    lower, upper = (float(end) for end in support)
    if not lower < upper:
        raise InvalidArgument("support", "a pair (lower, upper), lower below upper", str(support))
    return lower, upper


# -- a table of outcomes under two laws, and its profile -------------------------------------------


_NEAR_ONE = Fraction(1, 10**6)
_ROUNDING = Fraction(1, 2**52)  # of one probability
_FEW = 64
_LOG_ERROR = 2.0**-48  # of a logarithm of a ratio, relative to 1 + |log|; some units


@dataclass(frozen=True)
class Outcomes:
    """Exact probabilities (under P, under Q), outcome by outcome."""

    pairs: tuple[tuple[Fraction, Fraction], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.pairs)  # of thousands of fractions: once is enough

    @cached_property
    def swapped(self) -> Outcomes:
        """The same outcomes with P and Q exchanged."""
        return Outcomes(tuple((q, p) for p, q in self.pairs))

    @cached_property
    def missing(self) -> Fraction:
        """What the probabilities under P lack to 1: it may be anything, so it fails."""
        return max(Fraction(0), 1 - self._sums[0][0])

    @cached_property
    def failing(self) -> Fraction:
        """The probability under P of what Q never gives."""
        return self.missing + sum((p for p, q in self.pairs if q == 0), Fraction(0))

    @cached_property
    def largest_loss(self) -> float:
        """The largest log ratio, rounded up; infinite if something is possible under P alone."""
        if self.failing:
            return math.inf
        ratio = max(p / q for p, q in self.pairs)
        return upper(sharp(lambda: ball(ratio).log()))

    @cached_property
    def largest_finite_loss(self) -> float:
        """Beyond it, only failures are left."""
        return max((float(loss) for loss in self._losses if math.isfinite(loss)), default=0.0)

    @cached_property
    def _sorted(self) -> tuple[list[tuple[Fraction, Fraction]], FloatArray]:
        losses = np.array([_loss(p, q) for p, q in self.pairs])
        order = np.argsort(losses, kind="stable")
        return [self.pairs[i] for i in order], losses[order]

    @property
    def _losses(self) -> FloatArray:
        return self._sorted[1]

    @cached_property
    def _sums(self) -> tuple[list[Fraction], list[Fraction]]:
        """P(loss at or after place i) and the same under Q, exactly; 0 at the end."""
        pairs, zero = self._sorted[0][::-1], Fraction(0)
        return (
            list(accumulate((p for p, _ in pairs), initial=zero))[::-1],
            list(accumulate((q for _, q in pairs), initial=zero))[::-1],
        )

    @cached_property
    def _float_sums(self) -> tuple[FloatArray, FloatArray]:
        above, below = (np.array([float(s) for s in sums]) for sums in self._sums)
        return above, below

    @property
    def losses(self) -> tuple[FloatArray, FloatArray]:
        """What is possible under P: probabilities and losses, in floats."""
        pairs = [(float(p), float(q)) for p, q in self.pairs if p]
        p = np.array([first for first, _ in pairs])
        return p, np.array([math.log(first) - math.log(second) for first, second in pairs])

    @cached_property
    def atoms(self) -> Atoms:
        """The finite losses that have mass under P."""
        finite = np.isfinite(self._losses)
        masses = np.array([float(p) for p, _ in self._sorted[0]])
        losses = self._losses[finite]
        return atoms(losses, masses[finite], rounding=_LOG_ERROR * (1 + np.abs(losses)))

    def profile(self, x: Fraction) -> arb:
        """Σ (p − e^x·q)⁺ plus what is missing, for any real x."""
        x = min(x, LARGEST)  # the profile never increases
        at = float(x)
        near = _LOG_ERROR * (1 + abs(at))
        # Losses surely above x are the best event; those too near to decide are looked at one by
        # one, or, where they are many, add at most their probability times twice the distance.
        sure = int(np.searchsorted(self._losses, at + near, side="right"))
        unsure = int(np.searchsorted(self._losses, at - near, side="left"))
        above, below = (sums[sure] for sums in self._sums)
        factor = ball(x).exp()
        total = ball(self.missing + above) - (factor * ball(below) if below else ball(0))
        if sure - unsure > _FEW:
            most = (self._sums[0][unsure] - above) * Fraction(4 * near)
            return total.union(total + ball(most))
        for p, q in self._sorted[0][unsure:sure]:
            total += ball(p) if q == 0 else (ball(p) - factor * ball(q)).max(ball(0))
        return total

    def band(self, x: FloatArray) -> Band:
        """Both bounds of the profile at many x, in floats."""
        above, below = self._float_sums
        place = np.searchsorted(self._losses, x, side="right")
        factor = np.exp(np.minimum(x, 700.0))
        first, second = above[place] + float(self.missing), factor * below[place]
        second = np.where(below[place] > 0, second, 0.0)
        near = 8 * _LOG_ERROR * (1 + x) * above[np.maximum(place - 1, 0)]
        return band(first - second, error=16 * UNIT * (first + second) + near)


def read_outcomes(p: object, q: object) -> Outcomes:
    """Check two arrays of probabilities that are passed in: floats, or exact numbers in lists."""
    first, second = _read(p, name="p"), _read(q, name="q")
    if len(first) != len(second):
        raise InvalidArgument(
            "q", f"{len(first)} probabilities, outcome by outcome as in p", str(len(second))
        )
    return Outcomes(tuple(pair for pair in zip(first, second, strict=True) if any(pair)))


def _read(values: object, *, name: str) -> list[Fraction]:
    if isinstance(values, list | tuple) and any(isinstance(v, Fraction | str) for v in values):
        return _checked([number(v, name=name) for v in values], name)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros((0,))
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise InvalidArgument.of(name, "a list of finite probabilities, one per outcome", values)
    return _checked([Fraction(v) for v in array.tolist()], name)


def _checked(masses: list[Fraction], name: str) -> list[Fraction]:
    total = sum(masses, Fraction(0))
    if min(masses) < 0 or abs(total - 1) > _NEAR_ONE:
        raise InvalidArgument(
            name,
            "probabilities of 0 or above that add up to 1",
            f"a sum of {float(total):.9g}, least {float(min(masses)):.3g}",
        )
    # What rounding can explain is evened out; what it cannot is missing.
    return [m / total for m in masses] if abs(total - 1) <= _ROUNDING * len(masses) else masses


def _loss(p: Fraction, q: Fraction) -> float:
    """log(p/q), infinite where one of them is 0."""
    if p == 0 or q == 0:
        return -math.inf if p == 0 else math.inf
    ratio = p / q
    if Fraction(1, 2) < ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)


# -- two continuous laws, cut into cells -----------------------------------------------------------


LogDensity: TypeAlias = Callable[[FloatArray], FloatArray]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_INTEGRAL_NEAR_ONE = 1e-4
_LEAST = Fraction(1, 2**1074)


def cut(
    log_p: LogDensity, log_q: LogDensity, *, support: tuple[float, float], cells: int
) -> tuple[Outcomes, Outcomes]:
    """The pessimistic and the optimistic table of two laws over `cells` pieces of the support.

    In a cell with probabilities P and Q and losses from a to b, the pair that is easiest to
    tell apart has two outcomes, one of loss a and one of loss b; the hardest has one, of loss
    log(P/Q). The extremes of the loss are looked for at the ends and at 8 points between.
    """
    edges, places, widths = _points(*support, cells)
    losses_p, losses_q = _evaluate(log_p, places, "p"), _evaluate(log_q, places, "q")
    mass_p, mass_q = (
        (np.exp(values) * widths * _WEIGHTS).sum(axis=1) / 2 for values in (losses_p, losses_q)
    )
    for name, mass in (("p", mass_p), ("q", mass_q)):
        if abs(mass.sum() - 1) > _INTEGRAL_NEAR_ONE:
            raise InvalidArgument(
                name,
                "the log of a density that integrates to 1 over the support",
                f"an integral of about {mass.sum():.6g}",
                hint="give the whole support, or more cells",
            )
    with np.errstate(invalid="ignore"):  # −∞ − (−∞) at an infinite end: no loss to look at
        at_edges = _evaluate(log_p, edges, "p") - _evaluate(log_q, edges, "q")
    inside = losses_p - losses_q
    lows = np.nanmin(np.column_stack((inside, at_edges[:-1], at_edges[1:])), axis=1)
    highs = np.nanmax(np.column_stack((inside, at_edges[:-1], at_edges[1:])), axis=1)
    rough, smooth = [], []
    for p, q, low, high in zip(mass_p, mass_q, lows, highs, strict=True):
        if p > 0 or q > 0:
            smooth.append((Fraction(p), Fraction(q)))
            rough.extend(_split(float(p), float(q), float(low), float(high)))
    at_infinity = np.isnan(at_edges[:-1]) | np.isnan(at_edges[1:])
    rough.extend(_far(lows, highs, (mass_p == 0) & (mass_q == 0), at_infinity))
    return Outcomes(tuple(rough)), Outcomes(tuple(smooth))


def _far(
    lows: FloatArray, highs: FloatArray, unseen: NDArray[np.bool_], at_infinity: NDArray[np.bool_]
) -> list[tuple[Fraction, Fraction]]:
    """Where densities are too small for floats, losses still count: with next to no mass.

    A loss that still changes in a cell that reaches to infinity is taken to have no bound.
    """
    changing = at_infinity & (highs - lows > 1e-9 * (1 + np.abs(highs)))
    if changing.any():
        return [(_LEAST, Fraction(0)), (Fraction(0), _LEAST)]
    if not unseen.any():
        return []
    high, low = min(highs[unseen].max(), 700.0), max(lows[unseen].min(), -700.0)
    return [
        (_LEAST, _LEAST * Fraction(math.exp(-high))),
        (_LEAST * Fraction(math.exp(low)), _LEAST),
    ]


def _split(p: float, q: float, low: float, high: float) -> list[tuple[Fraction, Fraction]]:
    """One cell as two outcomes with losses low and high, or as it is if it has one loss.

    From a + b = P and a·e^(−low) + b·e^(−high) = Q.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or p == 0 or q == 0:
        return [(Fraction(p), Fraction(q))]
    gap = -math.expm1(low - high)
    if gap < 1e-12:
        return [(Fraction(p), Fraction(p * math.exp(-high)))]
    b = min(max((p - q * math.exp(low)) / gap, 0.0), p)
    a = p - b
    return [
        (Fraction(mass), Fraction(mass * math.exp(-loss)))
        for mass, loss in ((a, low), (b, high))
        if mass > 0
    ]


def _points(lower: float, upper: float, cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Edges of the cells, quadrature points in them, and dx times the width at each.

    Infinite ends are brought near by x = t/(1 − t²), or x = lower + t/(1 − t), on t.
    """
    low, high = math.isinf(lower), math.isinf(upper)
    ends = np.linspace(-1.0 if low else 0.0, 0.0 if low and not high else 1.0, cells + 1)
    width = np.diff(ends)[:, None]
    t = ends[:-1, None] + width / 2 * (1 + _NODES)

    def place(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x and dx/dt at t = s."""
        if low and high:
            return s / (1 - s**2), (1 + s**2) / (1 - s**2) ** 2
        if high:
            return lower + s / (1 - s), 1 / (1 - s) ** 2
        if low:
            return upper + s / (1 + s), 1 / (1 + s) ** 2
        return lower + (upper - lower) * s, np.full_like(s, upper - lower)

    with np.errstate(divide="ignore", invalid="ignore"):
        edges, (inside, slope) = place(ends)[0], place(t)
    return edges, inside, slope * width


def _evaluate(log_density: LogDensity, places: FloatArray, name: str) -> FloatArray:
    with np.errstate(all="ignore"):
        values = np.asarray(log_density(places.ravel()), dtype=np.float64)
    if values.shape != (places.size,):
        raise InvalidArgument(
            name,
            "a function that returns one log density for each number of an array",
            f"an array of shape {values.shape} for {places.size} numbers",
        )
    return values.reshape(places.shape)
