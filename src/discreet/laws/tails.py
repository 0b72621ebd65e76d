"""How far from its centre a law reaches: the least half-width that holds a given confidence."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.laws.sharp import certainly_at_most

if TYPE_CHECKING:
    from flint import arb


def least_half_width(outside: Callable[[int], arb], confidence: Fraction) -> int:
    """The least whole w ≥ 0 with outside(w) ≤ 1 − confidence, for a decreasing `outside`.

    >>> from discreet.balls import ball
    >>> least_half_width(lambda w: ball(-w).exp(), Fraction(99, 100))   # e^(−w) ≤ 0.01
    5
    """

    def holds(w: int) -> bool:
        return certainly_at_most(lambda: outside(w), 1 - confidence)

    if holds(0):
        return 0
    high = 1
    while not holds(high):
        high *= 2
    low = high // 2  # from here on high holds and low does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
