"""k runs under one pure ε: the exact profile, by the binomial formula."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball

if TYPE_CHECKING:
    from flint import arb

MOST_RUNS = 4096  # beyond, the transform is faster and tight enough


def repeated_pure(epsilon: Fraction, runs: int, x: Fraction) -> arb:
    """δ(x) of k independent randomized responses, for x ≥ 0 (Kairouz, Oh, Viswanath 2015):

        Σ over i of C(k, i)·p^(k−i)·(1−p)^i·(1 − e^(x − (k−2i)·ε))⁺,  p = e^ε/(1 + e^ε).

    >>> print(repeated_pure(Fraction(1, 10), 100, Fraction(2)).str(12, radius=False))
    0.0201401784282
    """
    if x >= runs * epsilon:  # so too where nothing is spent
        return ball(0)
    # With r = e^(−ε), the term at i is C(k, i)·r^i/(1 + r)^k, and its loss is above x up to m.
    m = math.ceil((runs - x / epsilon) / 2) - 1
    r = (-ball(epsilon)).exp()
    # Σ C(k,i)·r^i − e^x·Σ C(k,i)·r^(k−i): two sums of positive terms.
    over, under = ball(0), ball(0)
    choose = 1
    power, mirror = ball(1), (ball(x) - ball(runs * epsilon)).exp()
    grow = ball(epsilon).exp()
    for i in range(m + 1):
        weight = ball(choose)
        over += weight * power
        under += weight * mirror
        power, mirror = power * r, mirror * grow
        choose = choose * (runs - i) // (i + 1)
    return (over - under) / (1 + r) ** runs
