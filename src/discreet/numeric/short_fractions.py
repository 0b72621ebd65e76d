"""Short fractions: numerator and denominator have at most 64 bits each.

Budgets are exact rationals, and exact rationals may not grow without bound. So a charge is
short, and a running total is exact until its denominator passes 256 bits. Every rounding here
is named by its direction.

Rounding to the *nearest* short fraction on one side never passes another short fraction: what
is at most a short cap is still at most that cap when rounded up.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd, inf, lcm
from typing import TypeAlias

from discreet.errors import InternalError
from discreet.numeric.balls import arb, upper, upper_fraction
from discreet.numeric.exact import round_up

Ratio: TypeAlias = tuple[int, int]

LARGEST = 2**64 - 1  #: the greatest numerator, and denominator, of a short fraction
EXACT_BITS = 256
_COARSE = 2**128
_ULP = Fraction(1, 2**52)


def is_short(x: Fraction) -> bool:
    """Whether numerator and denominator fit in 64 bits each."""
    return x.numerator <= LARGEST and x.denominator <= LARGEST


def short_up(x: Fraction) -> Fraction:
    """The least short fraction at or above x, for 0 ≤ x < 2⁶⁴.

    >>> short_up(Fraction(1, 3)), short_up(1 - Fraction(1, 2**100))
    (Fraction(1, 3), Fraction(1, 1))
    """
    if is_short(x):
        return x
    if x > LARGEST:
        raise InternalError("a number above every short fraction was rounded up to one")
    return _neighbours(x)[1]


def short_down(x: Fraction) -> Fraction:
    """The greatest short fraction at or below x ≥ 0; 0 below 2⁻⁶⁴.

    >>> short_down(1 + Fraction(1, 2**100))
    Fraction(1, 1)
    """
    return x if is_short(x) else _neighbours(x)[0]


def _neighbours(x: Fraction) -> tuple[Fraction, Fraction]:
    """The two short fractions around x, which is not short itself.

    A walk down the Stern-Brocot tree, many steps at a time: between two neighbours a/b < c/d of
    the tree, every fraction has a numerator of at least a + c and a denominator of at least
    b + d. So when that mediant is too long, nothing short is left between them.
    """
    p, q = x.numerator, x.denominator
    a, b, c, d = 0, 1, 1, 0  # 0 and infinity
    while a + c <= LARGEST and b + d <= LARGEST:
        # The most steps from a/b towards c/d that stay below x, and then the other way round.
        steps = min((p * b - q * a) // (q * c - p * d), _room(a, c), _room(b, d))
        a, b = a + steps * c, b + steps * d
        steps = min((q * c - p * d) // (p * b - q * a), _room(c, a), _room(d, b))
        c, d = c + steps * a, d + steps * b
    return Fraction(a, b), Fraction(c, d) if d else Fraction(LARGEST + 1)


def _room(start: int, step: int) -> int:
    """How many steps fit below the largest."""
    return (LARGEST - start) // step if step else LARGEST


def bound_up(x: Fraction) -> Fraction:
    """A bound at or above x ≥ 0 and within an ulp: short, or a float where short is too coarse.

    >>> bound_up(Fraction(1, 10) - Fraction(1, 2**100))
    Fraction(1, 10)
    >>> tiny = Fraction(1, 3**50)  # 1.4e-24 is far below 2⁻⁶⁴
    >>> tiny < bound_up(tiny) < short_up(tiny)
    True
    """
    if x <= LARGEST and short_up(x) <= x * (1 + _ULP):
        return short_up(x)
    rounded = round_up(x)
    return Fraction(rounded) if rounded < inf else x


def ball_up(value: arb) -> Fraction:
    """A bound at or above every point of the ball: a float, and short wherever that can be.

    Floats share powers of two as denominators, so that sums of them stay small.
    """
    rounded = upper(value)
    return bound_up(Fraction(rounded)) if rounded < inf else upper_fraction(value)


def sum_up(total: Ratio, part: Fraction) -> Ratio:
    """total + part: exact until the common denominator passes 256 bits, then rounded up to a
    multiple of 2⁻¹²⁸, after which short parts are exact again.

    The total is a pair of integers in lowest terms, which add up twice as fast as fractions.

    >>> sum_up((1, 3), Fraction(1, 6))
    (1, 2)
    """
    (a, b), c, d = total, part.numerator, part.denominator
    common = lcm(b, d)
    exact = a * (common // b) + c * (common // d)
    if common.bit_length() > EXACT_BITS:
        exact, common = -(-exact * _COARSE // common), _COARSE
    shared = gcd(exact, common)
    return exact // shared, common // shared
