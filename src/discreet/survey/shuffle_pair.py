"""The pair of laws that shuffled reports come down to, and its hockey-stick divergence.

Each of the other n − 1 people adds a 0 with probability r/2, a 1 with probability r/2, and nothing
otherwise, with r = e^−ε₀. The person in question adds a 0 with probability p·e^ε₀ and a 1 with
probability p, or the other way round, with p = 1/(e^ε₀ + 1). What is seen is the numbers of zeros
and ones of all. `shuffle` says why no two neighbouring surveys are easier to tell apart than this.

With M digits of the others, N = M + 1 digits in all, a of them zeros, and g = e^ε,

    P(a, M) − g·P′(a, M) = π_M·C(N, a)/2^M·(p/N)·((e^ε₀ − g)·a − (g·e^ε₀ − 1)·(N − a))

grows with a, so for each M it is summed from its first positive term on, at a = t. Pascal's rule
leaves one probability and one tail of a fair binomial:

    δ(ε) = Σ over M of π_M·p·((e^ε₀ − g)·B_M(t − 1) − (g − 1)·(e^ε₀ + 1)·T_M(t)),

with π_M the chance of M digits, B_M(j) = C(M, j)/2^M, and T_M(t) the sum of B_M from t on.

The formula is proven. It is computed in doubles, with tails by SciPy, and how far those are off is
*measured*, not proven; a margin above what was measured is added (`_MARGIN`).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from discreet.balls import ball, lower_fraction, upper_fraction
from discreet.guarantees.bands import FloatArray
from discreet.laws.sharp import sharp

# Measured up to 10⁸ trials, not proven: binomial probabilities below err by less than one part in
# 10¹⁰ and SciPy's tails by less than one in 10¹¹ (a test measures again). Charged at this rate.
_MARGIN = 2.0**-30
_SKETCHED = 256
_LEFT_OUT = 75.0  # the sum leaves out values of M of probability 2·e^−75 together


class Pair(NamedTuple):
    """Exact numbers that stand for a pair at least as far apart as the true one."""

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


def pair(epsilon: Fraction, respondents: int) -> Pair:
    """The pair of a local randomizer with this ε₀ > 0; one with a larger ε₀ is a bound too."""
    growth = _above(upper_fraction(sharp(lambda: ball(epsilon).expm1())))
    return Pair(respondents, growth)


def divergence(of: Pair, epsilon: Fraction) -> float:
    """δ(ε) of the pair at ε ≥ 0, rounded up.

    >>> three = pair(Fraction(1), respondents=3)
    >>> round(divergence(three, Fraction(1, 2)), 9)
    0.191561203
    """
    return _summed(of, epsilon, _window(of.respondents - 1, of.others))


def sketch(of: Pair, epsilon: Fraction) -> float:
    """About the same, from a few hundred of the terms: where to look, not a bound."""
    others = _window(of.respondents - 1, of.others)
    stride = 1 + others.size // _SKETCHED
    return _summed(of, epsilon, others[stride // 2 :: stride]) * stride


def _summed(of: Pair, epsilon: Fraction, others: FloatArray) -> float:
    """The formula above over these M, rounded up, with what the window leaves out."""
    n, e = of
    h = _below(lower_fraction(sharp(lambda: ball(epsilon).expm1())))  # g − 1
    if h >= e:
        return 0.0
    # The first positive term: a above N·(g·e^ε₀ − 1)/((e^ε₀ − 1)·(g + 1)). Where rounding may have
    # hidden which it is, both are tried.
    edge = (others + 1) * float((e + h + e * h) / (e * (2 + h)))
    first, second = (np.floor(edge * (1 + side * 2.0**-40)) + 1 for side in (-1, 1))
    tops = _top(others, first, of, h)
    unsure = first != second
    tops[unsure] = np.maximum(tops[unsure], _top(others[unsure], second[unsure], of, h))
    weights = binomial(others, n - 1, float(of.others), float(1 - of.others))
    total = float(np.sum(weights * tops)) * (1 + _MARGIN)
    return min(1.0, total + 2 * math.exp(-_LEFT_OUT))


def _top(others: FloatArray, start: FloatArray, of: Pair, h: Fraction) -> FloatArray:
    """What π_M is multiplied with above, summed from `start` on; rounded up and at least 0."""
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

    SciPy's is slow near the middle. So for many M in a row it is asked for some of them, √M/8
    apart, and the rest follows, as t grows by 0 or 1 while M grows by 1:
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
    """The numbers of others with a digit, but for a probability of 2·e^−75 (Bernstein)."""
    mean = float(trials * chance)
    variance = mean * float(1 - chance)
    third = _LEFT_OUT / 3
    reach = third + math.sqrt(third**2 + 2 * _LEFT_OUT * variance) + 1
    lowest, highest = max(0.0, math.floor(mean - reach)), min(trials, math.ceil(mean + reach))
    return np.arange(lowest, highest + 1.0)


def binomial(k: FloatArray, trials: FloatArray | int, yes: float, no: float) -> FloatArray:
    """C(trials, k)·yes^k·no^(trials − k), to ten digits up to 10⁹ trials (Loader 2000).

    The factorials by Stirling's formula with its error term, and what is left as two distances
    from the mean that are small where the probability is not.

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
    """k·log(k/mean) − k + mean, where k is near the mean too; 0·log 0 is 0."""
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
    """Rounded up to about 64 bits, so that fractions made of it stay short."""
    unit = Fraction(2) ** (x.numerator.bit_length() - x.denominator.bit_length() - 64)
    return math.ceil(x / unit) * unit


def _below(x: Fraction) -> Fraction:
    """Rounded down likewise."""
    return -_above(-x)
