"""Gaussian noise on a whole count that is only compared with a threshold.

With noise Z of σ = 1/μ steps, rounded, the coin P(n + Z ≥ T) moves with n to n + 1. In
c = T − n − 1, a whole number, its profile in either order is

    h(c) = Φ(−(c − ½)·μ) − e^x·Φ(−(c + ½)·μ).

Over all real c, h rises up to c = x/μ² and falls from there on, since h′ has the sign of
e^(x − c·μ²) − 1; its value there is the profile of μ-GDP. So over whole c it is largest at one
of the two next to x/μ².
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from discreet.balls import ball
from discreet.guarantees.bands import UNIT, Band, FloatArray, band
from discreet.laws.normal import upper_normal

if TYPE_CHECKING:
    from flint import arb

_LARGEST_EXPONENT = Fraction(10**25)  # reading a falling profile earlier is safe
_HALF = Fraction(1, 2)


def whole_gaussian_profile(mu: Fraction, x: Fraction) -> arb:
    """δ(x) of the worst coin, for x ≥ 0 and μ > 0.

    >>> print(whole_gaussian_profile(Fraction(1, 4), Fraction(0)).str(10, radius=False))
    0.09947644966
    >>> print(whole_gaussian_profile(Fraction(1, 4), Fraction(1, 32)).str(10, radius=False))
    0.08519976456
    """
    x = min(x, _LARGEST_EXPONENT)
    best, factor = ball(0), ball(x).exp()
    below = floor(x / mu**2)
    for c in (below, below + 1):
        coin = upper_normal((c - _HALF) * mu) - factor * upper_normal((c + _HALF) * mu)
        best = best.max(coin)
    return best


def whole_gaussian_band(mu: Fraction, x: FloatArray) -> Band:
    """The same in floats, at many x; see `gaussian_band`.

    Where x/μ² rounds to the other side of a whole number, that number is the best one, and it
    is tried from both sides.
    """
    from scipy.special import erfcx, ndtr

    m, root = float(mu), np.sqrt(0.5)
    lower, upper = np.zeros_like(x), np.zeros_like(x)
    below = np.floor(x / m / m)
    for c in (below, below + 1):
        a, b = (c - 0.5) * m, (c + 0.5) * m
        inside = np.maximum(a, 0.0)
        first = np.where(a > 0, np.exp(-inside * inside / 2) / 2 * erfcx(inside * root), ndtr(-a))
        second = np.exp(x - b * b / 2) / 2 * erfcx(b * root)
        # x − b²/2 is off by some units of x and b².
        coin = band(first - second, error=(80 + 8 * (b * b + x)) * UNIT * (first + second))
        lower, upper = np.maximum(lower, coin.lower), np.maximum(upper, coin.upper)
    return Band(lower, upper)
