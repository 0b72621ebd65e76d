"""Validity by counting: how many different questions could ever have been asked.

An analyst, human or not, is a function from the answers so far to the next question (whatever
coins it tosses are independent of the sample: fix them first). If only N different questions
can ever come up, over all answers that there could be, then each of the N has a mean over the
sample that is near its mean over the population, as if it had been asked alone, but for a
failure of β/N; and all N at once but for β, whichever of them is asked. For independent
records, not necessarily alike, and values in [0, 1] (Hoeffding 1963, Theorem 1)

    P(the sample's mean p̂ is on one side of the true mean p with n·KL(p̂‖p) ≥ L)  ≤  e^(−L),

KL(p̂‖p) = p̂·ln(p̂/p) + (1 − p̂)·ln((1 − p̂)/(1 − p)) ≥ 2·(p̂ − p)². So L = ln(N/β) for each side.

This is the argument of the Ladder (Blum and Hardt 2015) and of description length (Dwork,
Feldman, Hardt, Pitassi, Reingold and Roth, NIPS 2015). It needs no noise, and protects nobody.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from discreet.balls import ball, upper

# Far above the rounding of KL in float64 (a few 10⁻¹⁶), far below any L/n (10⁻⁹ at the least).
_ROUNDING: Final = 1e-13


def exponent(count: int | Fraction, *, failure: Fraction) -> float:
    """L = ln(N/β), rounded up.

    >>> round(exponent(1, failure=Fraction(1, 20)), 12)
    2.995732273554
    """
    return upper(ball(Fraction(count) / failure).log())


def radius(n: int, exponent: float) -> float:
    """√(L/2n), rounded up: Hoeffding's distance, which holds for every mean.

    >>> round(radius(10**4, exponent(1, failure=Fraction(1, 20))), 6)
    0.012239
    """
    return min(1.0, upper(ball(Fraction(exponent) / (2 * n)).sqrt()))


def upper_end(mean: float, n: int, exponent: float) -> float:
    """The largest true mean that this mean of the sample allows: n·KL(p̂‖p) ≤ L; rounded up.

    >>> round(upper_end(0.9, 10**4, 3.0), 4), round(0.9 + radius(10**4, 3.0), 4)
    (0.9072, 0.9122)
    """
    limit = exponent / n + _ROUNDING
    low, high = min(max(mean, 0.0), 1.0), 1.0
    while (middle := (low + high) / 2) not in (low, high):
        if _relative_entropy(mean, middle) >= limit:
            high = middle
        else:
            low = middle
    return high


def lower_end(mean: float, n: int, exponent: float) -> float:
    """The least true mean that this mean of the sample allows, rounded down.

    >>> round(lower_end(0.9, 10**4, 3.0), 4)
    0.8925
    """
    # 1 − mean is exact from ½ on and off by 2⁻⁵⁴ below, which the last factor makes up for.
    return max(0.0, 1.0 - upper_end(1.0 - mean, n, exponent) * (1 + 2.0**-50))


def _relative_entropy(mean: float, other: float) -> float:
    if other >= 1.0:
        return math.inf if mean < 1.0 else 0.0
    first = mean * math.log(mean / other) if mean > 0 else 0.0
    rest = (1 - mean) * math.log((1 - mean) / (1 - other)) if mean < 1 else 0.0
    return first + rest
