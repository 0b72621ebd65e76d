"""How far the answers of a reusable holdout can be from the population's, all of them at once.

The comparisons are those of one run of the sparse vector technique, with Laplace noise of scale
a on the threshold T, A for short, and of scale b on each compared score, L: see `thresholdout`.
In the order of the questions, and with h for the holdout's own mean,

    an answer t from training was no hit:  |h − t| + b·L < T + a·A,  so |t − h| ≤ T + a·A − b·L;
    an answer from the holdout is h ± (b·L − a·A), rounded: off by r more.

All noises are independent and each L is fresh, so the largest error of k answers is at most

    X = max(max(T, r) + W, W′ + r),   W = a·A + b·(the largest of k L's),  W′ with 2k L's,

as Laplace noise is symmetric. k, because of the two comparisons of a question only the one on the
side where h lies can leave a·A − b·L in an answer: as T + a·A − b·L when it is no hit, as r + a·A −
b·L when it is one, since a hit on the other side has b·L − a·A > T. 2k, because any of them may
become a hit that is off by b·L − a·A, and r.

From X to the population there are two ways, and the shorter one is taken beforehand:
by privacy, superquantile(X) + drift, as in `validity`; and by counting, a quantile of X and the
distance at which all questions that can ever come up are right, as in `counting`. With all
noise fixed, a question is decided by which of the earlier ones were hits and which of m + 1
values each hit was answered by: after j hits there are C(k, j + 1)·(m + 1)^j over all times.
The failure allowed is split evenly over j, so answers are the surer the fewer hits there were.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.adaptive import counting
from discreet.adaptive.validity import drift, superquantile
from discreet.guarantees import Pure
from discreet.lazy import cached_property
from discreet.mechanisms.query_values import UNIT
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.noise.grid import fine_exponent

_CELLS: Final = 128  # of the grid on which noise is rounded up, for each b
_LOW, _HIGH = 8.0, 30.0  # noise below −8a counts as −8a; above 30a it is added by its formula
_UP: Final = 1 + 1e-9  # far above the rounding of all sums here
_NICE: Final = ("1", "1.25", "1.6", "2", "2.5", "3.15", "4", "5", "6.3", "8")  # a tenth of a decade
_SHARES: Final = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 50))  # of the failure, for noise
MOST_HITS: Final = 10_000
_STEP: Final = 2.0**-32  # by which values are rounded


@dataclass(frozen=True)
class LargestNoise:
    """A bound on the law of a·A + b·max(L₁, …, L_k), with independent standard Laplace A, L.

    Both terms are rounded up to a grid, so that everything said about the sum is rounded up.

    >>> noise = LargestNoise(1.0, 2.0, 100)
    >>> noise.tail(20.0) < 0.01 < noise.tail(15.0)
    True
    """

    a: float
    b: float
    count: int

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], ...]:
        """The values x of the sum, P(sum ≥ x) and E(sum − x)₊; all terms added are positive."""
        step = self.b / _CELLS
        first, chance = _rounded_up(self.a, 1, -_LOW, step)
        largest, chances = _rounded_up(self.b, self.count, math.log(self.count) - _LOW, step)
        reached = np.convolve(chance, chances)[::-1].cumsum()[::-1]
        excess = step * np.append(reached[:0:-1].cumsum()[::-1], 0.0)
        values = first + largest + step * np.arange(reached.size, dtype=np.float64)
        return values, reached * _UP, excess * _UP

    def tail(self, x: float) -> float:
        """At least P(noise > x)."""
        values, reached, _ = self._law
        place = int(np.searchsorted(values, x, side="right"))
        return (float(reached[place]) if place < reached.size else 0.0) + math.exp(-_HIGH)

    def excess(self, s: float) -> float:
        """At least E(noise − s)₊."""
        # (u + v − s)₊ ≤ (min(u, U) + min(v, V) − s)₊ + (u − U)₊ + (v − V)₊
        values, _, excess = self._law
        below = max(0.0, float(values[0]) - s)  # the first is linear between values, and before
        beyond = (self.a + self.b) * math.exp(-_HIGH) / 2
        return float(np.interp(s, values, excess)) + below + beyond

    @property
    def most(self) -> float:
        """Beyond here there is next to nothing."""
        return (self.a + self.b) * _HIGH + self.b * math.log(self.count)


def _rounded_up(
    scale: float, count: int, low: float, step: float
) -> tuple[float, NDArray[np.float64]]:
    """The largest of `count` Laplace numbers of this scale, moved up to low, low + step, …"""
    high = math.log(count) + _HIGH
    size = math.ceil((high - low) * scale / step) + 1
    x = low + np.arange(size) * (step / scale)
    # P(max > x) = 1 − (1 − q)^k, with q = e^(−x)/2 above 0 and 1 − e^x/2 below.
    tail = np.exp(-np.abs(x)) / 2
    below = np.where(x < 0, np.log(tail), np.log1p(-tail))
    above = -np.expm1(count * below)
    above[-1] = 0.0  # what is beyond is counted as here, and its excess by its formula
    return low * scale, -np.diff(above, prepend=1.0)


@dataclass(frozen=True)
class Terms:
    """What the parties agree on beforehand."""

    n: int  # records of the holdout
    training: int
    queries: int
    hits: int
    failure: Fraction

    @property
    def false_alarm(self) -> float:
        """How likely a question fixed beforehand may be a hit: half of the hits on average."""
        return min(0.5, self.hits / (2 * self.queries))

    @property
    def fluctuation(self) -> float:
        """u: two samples disagree by more with probability false_alarm/2 at most (Hoeffding)."""
        variance = (1 / self.n + 1 / self.training) / 4
        return math.sqrt(2 * variance * math.log(4 / self.false_alarm))

    def questions(self, used: int, levels: int) -> int:
        """How many different questions there are that come after `used` hits."""
        return math.comb(self.queries, used + 1) * int((levels + 1) ** used)

    def exponent(self, used: int, levels: int, failure: Fraction) -> float:
        """L of both sides of each of them: the largest after `used` hits or fewer."""
        # Their number grows as long as (k − j − 1)·(m + 1) > j + 2, so up to one j and no more.
        turning = -((2 - (self.queries - 1) * (levels + 1)) // (levels + 2))
        most = self.questions(min(used, max(turning, 0)), levels)
        return counting.exponent(2 * min(self.hits, self.queries) * most, failure=failure)


@dataclass(frozen=True)
class Settings:
    """Noise, threshold and grid, and the width that follows from them."""

    terms: Terms
    epsilon: Fraction | None  #: None: no noise
    threshold: Fraction  #: in the units of the answers

    @cached_property
    def levels(self) -> int:
        """m: answers from the holdout are multiples of 1/m, off by T/2 for that at most."""
        least = max(self.threshold, Fraction(1, self.terms.n))
        return math.ceil(1 / least)

    @cached_property
    def mechanism(self) -> SparseVector | None:
        """What compares, in steps of 2^−32 of one record."""
        if self.epsilon is None:
            return None
        return SparseVector(
            sensitivity=UNIT,
            epsilon=self.epsilon,
            threshold=self.threshold * self.terms.n * UNIT,
            hits=self.terms.hits,
            gap=True,
        )

    @cached_property
    def _noise(self) -> tuple[LargestNoise, LargestNoise, float]:
        """W and W′ in units of 1/(n·ε), and that unit."""
        assert self.epsilon is not None
        a, b = _scales(self.terms.hits)
        unit = float(1 / (self.terms.n * self.epsilon)) * _UP
        k = self.terms.queries
        return _largest(a, b, k), _largest(a, b, 2 * k), unit

    @property
    def _rounding(self) -> float:
        """r: answers from the holdout are rounded to 1/m, and leads to a power of two."""
        lead = 0.0
        if self.mechanism is not None:
            step = Fraction(2) ** fine_exponent(self.mechanism.query_scale)
            lead = float(step / (2 * self.terms.n * UNIT))
        return (0.5 / self.levels + lead + _STEP) * _UP

    @property
    def _agreed(self) -> float:
        """max(T, r): how far an answer is off, but for noise on the side of W."""
        return max(float(self.threshold) * _UP + _STEP, self._rounding)

    def largest_error(self, failure: Fraction) -> float:
        """x such that all answers are within x of the holdout's values but for `failure`."""
        t = self._agreed
        if self.epsilon is None:
            return t
        w, wide, unit = self._noise

        def chance(x: float) -> float:
            return w.tail((x - t) / unit) + wide.tail((x - self._rounding) / unit)

        low, high = 0.0, wide.most * unit + t
        if chance(high) > failure:  # what is known of the noise does not reach so far
            return math.inf
        for _ in range(50):
            x = (low + high) / 2
            low, high = (low, x) if chance(x) <= failure else (x, high)
        return high

    @cached_property
    def by_privacy(self) -> float:
        """The width by privacy: superquantile of X plus drift."""
        if self.epsilon is None:
            return 1.0
        t = self._agreed
        w, wide, unit = self._noise

        def excess(s: float) -> float:
            return unit * (w.excess((s - t) / unit) + wide.excess((s - self._rounding) / unit))

        beta = self.terms.failure
        error = superquantile(excess, failure=beta, upper=w.most * unit + t)
        return min(1.0, error + drift(Pure(self.epsilon), failure=beta) + _STEP)

    @cached_property
    def _share(self) -> Fraction:
        """Which part of the failure goes to the noise: the one of least width."""
        if self.epsilon is None:
            return Fraction(0)
        return min(_SHARES, key=lambda share: self._counted(self.terms.hits - 1, share))

    def counted(self, used: int) -> float:
        """The width by counting for a question after `used` hits."""
        return self._counted(used, self._share)

    def _counted(self, used: int, share: Fraction) -> float:
        beta = self.terms.failure
        last = min(used, self.terms.queries - 1)
        distance = self.terms.exponent(last, self.levels, beta * (1 - share))
        error = self.largest_error(beta * share)
        return min(1.0, error + counting.radius(self.terms.n, distance) + _STEP)

    @cached_property
    def by_counting(self) -> float:
        """The width by counting after all hits but one: none before is wider."""
        return self.counted(self.terms.hits - 1)

    @property
    def width(self) -> float:
        """The smaller one, which is chosen beforehand."""
        return min(self.by_privacy, self.by_counting)


def choose(
    terms: Terms,
    *,
    private: bool,
    epsilon: Fraction | None,
    threshold: Fraction | None,
    error: Fraction | None,
) -> Settings:
    """Settings of least width by privacy or, if `error` is given, of least ε for that width.

    If none reaches the error, they are those that come nearest.
    """

    def settings(epsilon: Fraction | None) -> Settings:
        return Settings(
            terms, epsilon, _threshold(terms, epsilon) if threshold is None else threshold
        )

    if epsilon is not None or not private:
        return settings(epsilon)
    tried = [settings(epsilon) for epsilon in _epsilons()]
    if error is None:
        return min(tried, key=lambda one: one.by_privacy)
    reaching = (one for one in tried if one.width <= error)
    return next(reaching, None) or min(tried, key=lambda one: one.width)


def _threshold(terms: Terms, epsilon: Fraction | None) -> Fraction:
    """T, such that a question fixed beforehand is a hit with a chance of false_alarm or less.

    Its two values differ by u at most; and with a chance of at most false_alarm/4 on each side
    the noise of a comparison is above w, where P(a·A + b·L > w) is (b²·e^(−w/b) −
    a²·e^(−w/a))/(2·(b² − a²)). No guarantee rests on this rule: it decides how long hits last.
    """
    if epsilon is None:
        return Fraction(terms.fluctuation)
    a, b = _scales(terms.hits)
    low, high = 0.0, 60.0 * b
    for _ in range(50):
        w = (low + high) / 2
        tail = (b * b * math.exp(-w / b) - a * a * math.exp(-w / a)) / (2 * (b * b - a * a))
        low, high = (low, w) if tail <= terms.false_alarm / 4 else (w, high)
    return Fraction(min(1.0, terms.fluctuation + high / (terms.n * float(epsilon))))


def _epsilons() -> Iterator[Fraction]:
    for decade in range(-4, 2):
        for nice in _NICE:
            yield Fraction(nice) * Fraction(10) ** decade


def _scales(hits: int) -> tuple[float, float]:
    """a and b in units of 1/(n·ε): a smaller ε widens both."""
    unit = SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=hits)
    return float(unit.threshold_scale), float(unit.query_scale)


_kept: dict[tuple[float, float, int], LargestNoise] = {}


def _largest(a: float, b: float, count: int) -> LargestNoise:
    return _kept.setdefault((a, b, count), LargestNoise(a, b, count))
