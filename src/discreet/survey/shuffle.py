"""What local privacy becomes when reports are shuffled: a much smaller ε, at some δ.

Each respondent randomizes with ε₀, and somebody removes the names and mixes the reports before
anybody looks. Then a report could be anyone's, and each person is hidden by the noise of all the
others (Erlingsson et al. 2019; Cheu et al. 2019).

**Theorem** (Feldman, McMillan and Talwar 2021, Theorem 3.2). *If every person's randomizer is
ε₀-private, no two surveys that differ in one person's answers are easier to tell apart by their
shuffled reports than the pair below.*

**Proof.** Let f₀ and f₁ be the laws of the report for the two answers of the person, and fᵢ that of
another person's. Let Q₀ = (e^ε₀·f₀ − f₁)/(e^ε₀ − 1) and Q₁ = (e^ε₀·f₁ − f₀)/(e^ε₀ − 1). Both are
laws: f₁ ≤ e^ε₀·f₀ and f₀ ≤ e^ε₀·f₁, and each adds up to 1.

1. f₀ = (e^ε₀·Q₀ + Q₁)/(e^ε₀ + 1) and f₁ = (Q₀ + e^ε₀·Q₁)/(e^ε₀ + 1).
2. fᵢ is at least e^−ε₀·f₀ and e^−ε₀·f₁, so at least e^−ε₀·(f₀ + f₁)/2, which is
   e^−ε₀·(Q₀ + Q₁)/2.
3. So each report can be drawn in two steps: a digit, 0 or 1 (or none, for the others), with the
   chances of the pair; then a report from Q₀, from Q₁, or from what is left of that person's own
   law. Given how many of the others have a digit, who they are is independent of everything else.
   So anyone who is told the numbers of zeros and ones, and knows all answers but the one that
   differs, can draw which of the others have a digit, take the second step and shuffle: the reports
   are a post-processing of the pair. ∎

The proof needs a digit for the person in every case. A sharper form in terms of total variation
lets the person go without one, with the law that f₀ and f₁ have in common, and counts digits all
the same; but then step 3 fails, since what fills in for the person is not what fills in for the
others. With three categories and two respondents, the δ of that form is too small by a factor of
three at e^ε = 5/2, as a test shows.

More respondents only help, as the additional ones could be simulated.

**The pair**, and its hockey-stick divergence. Each of the other n − 1 people adds a 0 with
probability r/2, a 1 with probability r/2, and nothing otherwise, with r = e^−ε₀. The person in
question adds a 0 with probability p·e^ε₀ and a 1 with probability p, or the other way round, with
p = 1/(e^ε₀ + 1). What is seen is the numbers of zeros and ones of all.

With M digits of the others, N = M + 1 digits in all, a of them zeros, and g = e^ε,

    P(a, M) − g·P′(a, M) = π_M·C(N, a)/2^M·(p/N)·((e^ε₀ − g)·a − (g·e^ε₀ − 1)·(N − a))

grows with a, so for each M it is summed from its first positive term on, at a = t. Pascal's rule
reduces the sum to one probability and one tail of a fair binomial:

    δ(ε) = Σ over M of π_M·p·((e^ε₀ − g)·B_M(t − 1) − (g − 1)·(e^ε₀ + 1)·T_M(t)),

with π_M the chance of M digits, B_M(j) = C(M, j)/2^M, and T_M(t) the sum of B_M from t on.

The formula is proven. It is computed in doubles, with tails by SciPy, whose error is *measured*,
not proven; a margin above the measured error is added (`_MARGIN`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from discreet.errors import InvalidArgument
from discreet.guarantees.approx import Approx
from discreet.guarantees.guarantee import Guarantee, unit_interval
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.numeric.balls import ball, lower_fraction, sharp, upper_fraction
from discreet.numeric.bands import FloatArray
from discreet.numeric.exact import Number, integer, non_negative, number

_MOST_RESPONDENTS = 10**8  # for more, the bound for this many is used: more only hide better
_LARGEST_EPSILON = 500  # above this, nothing is hidden and only the local guarantee is left
_NOTHING = 1e-12  # an ε that is as good as none
_CLOSE = 1e-7  # the relative distance from the least ε at which the search stops


@dataclass(frozen=True)
class Shuffled:
    """The guarantee for each respondent against anyone who sees only the shuffled reports.

    ``guarantee`` is the local one, of what a respondent sends, such as ``questionnaire.guarantee``
    of one wave; ``respondents`` is how many of them are shuffled together.

    It holds under *replace*: what one person answered is hidden, not that they answered. It assumes
    that

    - the number of respondents is public, and their reports are not known to the attacker: those
      who reveal their own, or who send made-up reports, do not hide anybody, so do not count them;
    - all of their reports, of one wave, are shuffled together, by somebody who is trusted to do it;
    - names, addresses, times and the ids of reports are removed.

    Even if an assumption fails, the local guarantee still stands.

    >>> from discreet.guarantees import Pure
    >>> local = Pure(epsilon=1)
    >>> central = Shuffled(local, respondents=10_000)
    >>> round(central.epsilon(delta=1e-6), 4)
    0.053
    >>> central.delta(1), round(central.delta(0), 5)          # never above the local ε
    (0.0, 0.00608)
    """

    guarantee: Guarantee  #: what each respondent's own randomization promises
    respondents: int

    @spelled
    def __init__(self, guarantee: Guarantee, *, respondents: int) -> None:
        if not isinstance(guarantee, Guarantee):
            raise InvalidArgument.of(
                "guarantee",
                "the local guarantee of one respondent",
                guarantee,
                hint="take questionnaire.guarantee, or dp.Pure(epsilon)",
            )
        count = integer(respondents, name="respondents", minimum=1)
        self.__dict__.update(guarantee=guarantee, respondents=count)
        if math.isinf(self.local):
            raise InvalidArgument(
                "guarantee",
                "a local guarantee with a finite ε at δ = 0",
                str(guarantee),
                hint="shuffling amplifies pure ε; randomized response and the other randomizers "
                "of this package have one",
            )

    @cached_property
    def local(self) -> float:
        """ε₀: the most that one report's log ratio can be, rounded up."""
        return self.guarantee.epsilon(0)

    @cached_property
    def _pair(self) -> ShufflePair:
        return pair(Fraction(self.local), min(self.respondents, _MOST_RESPONDENTS))

    def delta(self, epsilon: Number) -> float:
        """δ at ``epsilon``, 0 or above, rounded up; it is 0 from the local ε on."""
        x = non_negative(epsilon, name="epsilon")
        if x >= self.local:
            return 0.0
        alone = self.guarantee.delta(x)
        return alone if self.local > _LARGEST_EPSILON else min(alone, divergence(self._pair, x))

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 whose δ is at most ``delta``, rounded up; never above the local ε."""
        target = unit_interval(delta, name="delta")
        alone = self.guarantee.epsilon(target)
        if alone == 0 or self.local > _LARGEST_EPSILON:
            return alone
        # Find roughly where it is, then step up until it is certain.
        low, high = 0.0, alone
        if self._certain(low, target):
            return low
        while high - low > _CLOSE * high + _NOTHING:
            middle = (low + high) / 2
            fits = sketch(self._pair, Fraction(middle)) <= target
            low, high = (low, middle) if fits else (middle, high)
        step = _CLOSE
        while high < alone and not self._certain(high, target):
            high, step = high * (1 + step), step * 4
        return min(high, alone)

    def _certain(self, epsilon: float, target: Fraction) -> bool:
        # A float may be read as a binary number or as the decimal it prints: satisfy both.
        at = min(Fraction(epsilon), number(epsilon, name="epsilon"))
        return divergence(self._pair, at) <= target

    def approx(self, delta: Number) -> Approx:
        """The (ε, δ) promise at ``delta``, to be composed and compared like any other.

        >>> from discreet.guarantees import Pure
        >>> Shuffled(Pure(epsilon=1), respondents=10_000).approx(1e-6).within(Pure(0.1))
        False
        """
        return Approx(self.epsilon(delta), delta)

    def __str__(self) -> str:
        return (
            f"local ε = {self.local:.6g}, shuffled among {self.respondents:,} honest respondents "
            "(what one person answered is hidden; one wave, ids and times removed)"
        )


# -- the pair of laws, and its hockey-stick divergence ---------------------------------------------


# Measured up to 10⁸ trials, not proven: binomial probabilities below err by less than one part in
# 10¹⁰ and SciPy's tails by less than one in 10¹¹ (a test measures again). This margin is added.
_MARGIN = 2.0**-30
_SKETCHED = 256
_LEFT_OUT = 75.0  # the sum leaves out values of M of probability 2·e^−75 together


class ShufflePair(NamedTuple):
    """Exact numbers for a pair at least as far apart as the true one."""

    respondents: int
    growth: Fraction  #: e^ε₀ − 1, rounded up

    @property
    def own(self) -> Fraction:
        """p = 1/(e^ε₀ + 1)"""
        return 1 / (2 + self.growth)

    @property
    def others(self) -> Fraction:
        """r = e^−ε₀"""
        return 1 / (1 + self.growth)


def pair(epsilon: Fraction, respondents: int) -> ShufflePair:
    """The pair of a local randomizer with this ε₀ > 0; that of a larger ε₀ is a bound too."""
    growth = _above(upper_fraction(sharp(lambda: ball(epsilon).expm1())))
    return ShufflePair(respondents, growth)


def divergence(of: ShufflePair, epsilon: Fraction) -> float:
    """δ(ε) of the pair at ε ≥ 0, rounded up.

    >>> three = pair(Fraction(1), respondents=3)
    >>> round(divergence(three, Fraction(1, 2)), 9)
    0.191561203
    """
    return _summed(of, epsilon, _window(of.respondents - 1, of.others))


def sketch(of: ShufflePair, epsilon: Fraction) -> float:
    """An approximate δ(ε) from a few hundred of the terms: it says where to look, not a bound."""
    others = _window(of.respondents - 1, of.others)
    stride = 1 + others.size // _SKETCHED
    return _summed(of, epsilon, others[stride // 2 :: stride]) * stride


def _summed(of: ShufflePair, epsilon: Fraction, others: FloatArray) -> float:
    """The formula above summed over these M, rounded up, plus what the window leaves out."""
    n, e = of
    h = -_above(-lower_fraction(sharp(lambda: ball(epsilon).expm1())))  # g − 1, rounded down
    if h >= e:
        return 0.0
    # The first positive term: a above N·(g·e^ε₀ − 1)/((e^ε₀ − 1)·(g + 1)). Where rounding leaves
    # two candidates, both are tried.
    edge = (others + 1) * float((e + h + e * h) / (e * (2 + h)))
    first, second = (np.floor(edge * (1 + side * 2.0**-40)) + 1 for side in (-1, 1))
    tops = _top(others, first, of, h)
    unsure = first != second
    tops[unsure] = np.maximum(tops[unsure], _top(others[unsure], second[unsure], of, h))
    weights = binomial(others, n - 1, float(of.others), float(1 - of.others))
    total = float(np.sum(weights * tops)) * (1 + _MARGIN)
    return min(1.0, total + 2 * math.exp(-_LEFT_OUT))


def _top(others: FloatArray, start: FloatArray, of: ShufflePair, h: Fraction) -> FloatArray:
    """The factor of π_M above, summed from `start` on; rounded up and at least 0."""
    e, p = of.growth, of.own
    at = np.minimum(start, others + 1)
    one = binomial(at - 1, others, 0.5, 0.5)
    gain = float(p * (e - h)) * one
    loss = float(p * h * (2 + e)) * _tails(others, at, one) if h > 0 else 0.0
    bracket = gain * (1 + _MARGIN) - loss * (1 - _MARGIN)
    # Beyond N there is nothing to sum: P is nowhere above g·P′.
    return np.where(start <= others + 1, np.maximum(bracket, 0.0), 0.0)


def _tails(others: FloatArray, at: FloatArray, one: FloatArray) -> FloatArray:
    """T_M(t) for each M and its t, where `one` is B_M(t − 1).

    SciPy's tail is slow near the middle. So for many M in a row it is computed only for some of
    them, √M/8 apart, and the rest follow, as t grows by 0 or 1 while M grows by 1:
    T_(M+1)(t) = T_M(t) + B_M(t − 1)/2, and T(t + 1) = T(t) − B(t).
    """
    from scipy.special import betainc

    in_a_row = others.size > 1 and others[-1] - others[0] == others.size - 1
    size = max(1, int(math.sqrt(others[0]) / 8)) if in_a_row else 1
    steps = np.zeros(-(-others.size // size) * size)
    steps[1 : others.size] = 0.5 * one[:-1] - np.diff(at) * one[1:]
    blocks = steps.reshape(-1, size)
    m, t = others[::size], at[::size]
    blocks[:, 0] = np.where(t <= m, betainc(t, np.maximum(m - t + 1, 0.5), 0.5), 0.0)
    tails: FloatArray = np.cumsum(blocks, axis=1).ravel()[: others.size]
    return tails


def _window(trials: int, chance: Fraction) -> FloatArray:
    """The numbers of others with a digit, except for a probability of 2·e^−75 (Bernstein)."""
    mean = float(trials * chance)
    variance = mean * float(1 - chance)
    third = _LEFT_OUT / 3
    reach = third + math.sqrt(third**2 + 2 * _LEFT_OUT * variance) + 1
    lowest, highest = max(0.0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    return np.arange(lowest, highest + 1.0)


def binomial(k: FloatArray, trials: FloatArray | int, yes: float, no: float) -> FloatArray:
    """C(trials, k)·yes^k·no^(trials − k), to ten digits up to 10⁹ trials (Loader 2000).

    Factorials are computed by Stirling's formula with its error term, and the rest as two distances
    from the mean, which are small where the probability is not.

    >>> binomial(np.array([0.0, 1, 2]), 2, 0.5, 0.5)
    array([0.25, 0.5 , 0.25])
    """
    n = np.broadcast_to(np.asarray(trials, dtype=np.float64), k.shape)
    rest = n - k
    root = np.sqrt(n / (2 * np.pi * np.maximum(k, 1) * np.maximum(rest, 1)))
    # At an end, k! or (n−k)! is 0! = 1, which Stirling's formula does not give.
    root = np.where(k * rest > 0, root, 1.0)
    errors = np.where(k * rest > 0, _stirling(n) - _stirling(k) - _stirling(rest), 0.0)
    value: FloatArray = root * np.exp(errors - _apart(k, n * yes) - _apart(rest, n * no))
    return value


def _apart(k: FloatArray, mean: FloatArray) -> FloatArray:
    """k·log(k/mean) − k + mean, accurate also where k is near the mean; 0·log 0 is 0."""
    from scipy.special import xlog1py

    off = (k - mean) / np.where(mean > 0, mean, 1.0)
    value: FloatArray = mean * (xlog1py(1 + off, off) - off)
    return value


def _stirling(k: FloatArray) -> FloatArray:
    """log k! − log(√(2πk)·(k/e)^k), for k ≥ 1."""
    from scipy.special import gammaln

    few = np.minimum(np.maximum(k, 1), 16)
    exact = gammaln(few + 1) - (few + 0.5) * np.log(few) + few - math.log(2 * math.pi) / 2
    many = np.maximum(k, 16)
    series = (1 / 12 - (1 / 360 - (1 / 1260 - 1 / 1680 / many**2) / many**2) / many**2) / many
    value: FloatArray = np.where(k < 16, exact, series)
    return value


def _above(x: Fraction) -> Fraction:
    """Rounded up to about 64 bits, so that fractions made from it stay short."""
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 64)
    return math.ceil(x / unit) * unit
