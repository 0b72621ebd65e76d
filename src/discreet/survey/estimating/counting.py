"""What counts of reports prove by themselves: binomial tails, exact, without a normal curve.

An answer that nobody gave is supported by N ~ Bin(m, o) of m reports. In general N is a sum of m
independent coins whose mean is m·p, p = o + d·s, and its tails are no heavier than those of
Bin(m, p) (Hoeffding 1956). That holds for these very respondents, with H coins of probability i
and m − H of o, and also where chance chose who was asked: a hypergeometric number of holders is
a sum of independent coins too (Vatutin and Mikhailov 1982). So the ends of Clopper and Pearson
(1934) cover at least as stated, whatever m and s are, and for many answers at once
(Bonferroni), where normal tails would be far off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.survey.estimating.intervals import FloatArray
from discreet.survey.randomizers.randomizer import Counts


@dataclass(frozen=True, eq=False)
class Evidence:
    """N reports of m support each answer; ``answers`` is how many there are in all."""

    supports: Counts
    asked: Counts
    inside: Fraction
    outside: Fraction
    answers: int

    def some(self, chosen: NDArray[np.intp]) -> Evidence:
        """That about some of the answers, which were chosen among all of them."""
        return replace(self, supports=self.supports[chosen], asked=self.asked[chosen])

    def estimated(self, supports: Any) -> FloatArray:
        """ŝ = (N/m − o)/d"""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = supports / self.asked
        return self.shares(parts)

    def shares(self, parts: FloatArray) -> FloatArray:
        """s = (p − o)/d"""
        return np.asarray((parts - float(self.outside)) / float(self.inside - self.outside))

    def exact_interval(self, doubt: Fraction) -> tuple[FloatArray, FloatArray]:
        """Clopper and Pearson's ends: each is passed with a probability of at most doubt/2."""
        keys = self.supports * (int(self.asked.max(initial=0)) + 1) + self.asked
        _, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
        counts = self.supports[firsts], self.asked[firsts]  # of a million answers most are alike
        low, high = clopper_pearson(*counts, float(doubt) / 2)
        return self.shares(low[places]), self.shares(high[places])

    def noise(self, doubt: Fraction) -> FloatArray:
        """What the estimates of all answers that nobody gave stay within, but for ``doubt``."""
        sizes, places = np.unique(self.asked, return_inverse=True)
        most = largest_by_chance(sizes, float(self.outside), float(doubt) / self.answers)
        return np.where(self.asked > 0, self.estimated(most[places]), np.inf)


def clopper_pearson(supports: Counts, asked: Counts, tail: float) -> tuple[FloatArray, FloatArray]:
    """The p with P(Bin(m, p) ≥ N) = tail, and those with P(Bin(m, p) ≤ N) = tail.

    >>> low, high = clopper_pearson(np.array([0, 3]), np.array([10, 10]), 0.025)
    >>> [f"{a:.3f} to {b:.3f}" for a, b in zip(low, high)]
    ['0.000 to 0.308', '0.067 to 0.652']
    """
    from scipy.special import betaincinv

    n, m = np.asarray(supports, float), np.asarray(asked, float)
    # P(Bin(m, p) ≥ N) = I_p(N, m − N + 1)
    low = np.where(n > 0, betaincinv(np.maximum(n, 1), m - n + 1, tail), 0.0)
    high = np.where(n < m, betaincinv(n + 1, np.maximum(m - n, 1), 1 - tail), 1.0)
    return low, high


def largest_by_chance(sizes: Counts, p: float, tail: float) -> Counts:
    """The least x with P(Bin(m, p) > x) ≤ tail, for each m, by bisection.

    >>> largest_by_chance(np.array([10, 1000]), 0.5, 1e-6).tolist()
    [10, 575]
    """
    low = np.full(sizes.shape, -1, np.int64)  # more than −1 is certain
    high = sizes.astype(np.int64)
    while (high - low > 1).any():
        middle = (low + high) // 2
        fine = at_least(middle + 1, sizes, p) <= tail
        low, high = np.where(fine, low, middle), np.where(fine, middle, high)
    return high


def at_least(count: Any, size: Any, p: float) -> FloatArray:
    """P(Bin(size, p) ≥ count), for any whole count."""
    from scipy.special import betainc

    inner = (count >= 1) & (count <= size)
    x, m = np.where(inner, count, 1), np.where(inner, size, 1)
    return np.where(inner, betainc(x, m - x + 1, p), np.where(count < 1, 1.0, 0.0))
