"""Coarse answers: a mean over the whole sample, without noise, rounded to one of m + 1 values.

An analyst that gets one of m + 1 answers to each question can, over all answers there could be,
ask at most N = 1 + (m+1) + … + (m+1)^(k−1) different questions. All N means over the sample are
near those over the population at once, by Hoeffding's inequality and the union bound:

    width = 1/(2m) + √(ln(2N/β)/(2n))

(description length: Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, NIPS 2015). It protects
nobody: an answer can tell about a single record.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.adaptive import counting
from discreet.exact import round_up


def rounding_width(n: int, *, queries: int, failure: Fraction, levels: int) -> float:
    """How far k answers can be off, all at once; rounded up.

    >>> round(rounding_width(10**4, queries=100, failure=Fraction(1, 20), levels=22), 4)
    0.1481
    """
    # N = ((m+1)^k − 1)/m is below (m+1)^k/m, whose logarithm has no long numbers in it.
    once = Fraction(counting.exponent(Fraction(2, levels), failure=failure))
    each = Fraction(counting.exponent(levels + 1, failure=Fraction(1)))
    told = round_up(once + queries * each)
    return min(1.0, round_up(Fraction(1, 2 * levels) + Fraction(counting.radius(n, told))))


def best_levels(n: int, *, queries: int, failure: Fraction) -> int:
    """The number of steps with the least width."""
    m = np.unique(np.geomspace(1, 10 * math.isqrt(n) + 10, 2000).astype(np.int64))
    told = np.log(2 / (m * float(failure))) + queries * np.log(m + 1)
    return int(m[np.argmin(1 / (2 * m) + np.sqrt(np.maximum(told, 0) / (2 * n)))])
