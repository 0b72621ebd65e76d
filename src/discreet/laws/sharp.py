"""Evaluating a formula in ball arithmetic until its answer is sharp.

Subtracting nearly equal numbers costs digits, and how many depends on the parameters. So a
formula is evaluated with more and more bits until what is left is good enough.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball, precision

if TYPE_CHECKING:
    from flint import arb

_ACCURATE_BITS = 80
_PRECISIONS = tuple(128 << doubling for doubling in range(9))  # 128 to 32768 bits
_NEGLIGIBLE = Fraction(1, 1 << 1200)  # far below the least float, 2⁻¹⁰⁷⁴


def sharp(formula: Callable[[], arb]) -> arb:
    """The formula's value as a ball with at least 80 correct bits, or one within 2⁻¹²⁰⁰ of 0.

    Should even 32768 bits not suffice, the last ball is returned: wide, but it holds the value.

    >>> tiny = Fraction(1, 10**30)
    >>> print(sharp(lambda: ball(tiny).cosh() - 1).str(10, radius=False))   # tiny²/2
    5.000000000e-61
    """
    for bits in _PRECISIONS:
        with precision(bits):
            value = formula()
        if value.rel_accuracy_bits() >= _ACCURATE_BITS or abs(value) < ball(_NEGLIGIBLE):
            break
    return value


def certainly_at_most(formula: Callable[[], arb], limit: Fraction) -> bool:
    """Whether the formula's value is at most `limit`; an undecided tie counts as no.

    >>> certainly_at_most(lambda: ball(2).sqrt(), Fraction(3, 2))
    True
    """
    for bits in _PRECISIONS:
        with precision(bits):
            value, bound = formula(), ball(limit)
        if value <= bound:
            return True
        if value > bound:
            return False
    return False
