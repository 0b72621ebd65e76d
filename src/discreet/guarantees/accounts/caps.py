"""An (ε, δ) cap as a cap in another notion, rounded to the safe side: down.

A filter adds up ρ or μ², not (ε, δ). So a cap in (ε, δ) is turned, once, into the greatest ρ or
μ that is certain to imply it. A *charge* cannot go this way: see `conversions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.exact import Number, non_negative, number, probability
from discreet.guarantees.gdp import GDP, gaussian_profile
from discreet.guarantees.short import short_down
from discreet.guarantees.zcdp import ZCDP, zcdp_profile
from discreet.laws.sharp import certainly_at_most

if TYPE_CHECKING:
    from flint import arb

_LEAST, _GREATEST = 2.0**-63, 2.0**63


def zcdp_cap(*, epsilon: Number, delta: Number) -> ZCDP:
    """The greatest ρ for which ρ-zCDP is certain to give (ε, δ), by the profile of `ZCDP`.

    >>> cap = zcdp_cap(epsilon=1, delta="1e-6")
    >>> round(float(cap.rho), 9), cap.epsilon("1e-6")
    (0.02435597, 1.0)
    """
    return ZCDP(_greatest(zcdp_profile, epsilon, delta, name="rho"))


def gdp_cap(*, epsilon: Number, delta: Number) -> GDP:
    """The greatest μ for which μ-GDP is certain to give (ε, δ): 1/σ of the exact calibration.

    >>> cap = gdp_cap(epsilon=1, delta="1e-6")
    >>> round(float(1 / cap.mu), 9), cap.delta(1) <= 1e-6
    (4.224678889, True)
    """
    return GDP(_greatest(gaussian_profile, epsilon, delta, name="mu"))


def _greatest(
    profile: Callable[[Fraction, Fraction], arb], epsilon: Number, delta: Number, *, name: str
) -> Fraction:
    """The greatest parameter whose profile at epsilon is certainly at most delta, as a short
    fraction (so that all of it can be charged) within an ulp of the greatest float."""
    limit, target = non_negative(epsilon, name="epsilon"), probability(delta, name="delta")
    x = _readable(limit)

    def keeps(candidate: float) -> bool:
        # A float may be read as a binary number or as the decimal it prints: satisfy both.
        size = max(Fraction(candidate), number(candidate, name=name))
        return certainly_at_most(lambda: profile(size, x), target)

    greatest = _greatest_float(keeps)
    if greatest == 0:
        raise InvalidArgument(
            name="epsilon",
            expected=f"large enough, with this delta, for a {name} of at least 2⁻⁶³",
            given=InvalidArgument.describe_parameter(epsilon),
        )
    return short_down(Fraction(greatest))


def _readable(epsilon: Fraction) -> Fraction:
    """The most that is at most epsilon however a float of that size is read, so that asking the
    cap for its ε gives a float that is not above the one asked for."""
    nearest = float(min(epsilon, Fraction(2**1000)))
    while number(nearest, name="epsilon") > epsilon:
        nearest = math.nextafter(nearest, 0.0)
    return min(Fraction(nearest), number(nearest, name="epsilon"))


def _greatest_float(keeps: Callable[[float], bool]) -> float:
    """The greatest float from 2⁻⁶³ to 2⁶⁴ that keeps the promise, as all below it do; else 0."""
    low = 1.0
    while not keeps(low):
        if low == _LEAST:
            return 0.0
        low /= 2
    while low < _GREATEST and keeps(2 * low):
        low *= 2
    high = 2 * low  # from here on low keeps it and high does not, or is too large
    while math.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
