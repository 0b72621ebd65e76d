"""The least ρ of k-ary randomized response, for every k.

In the notation of `rho`, G(τ) = cosh(ετ) + C with C = (k − 2)·e^(−ε/2)/2. With y = ετ, the slope
of log G in s = τ² is

    S(y) = ε²·sinh(y)/(2y·(cosh(y) + C)),

and it rises while M(y) = (sinh(y)·cosh(y) − y)/(y·cosh(y) − sinh(y)) is below C and falls from
there on: M increases from M(0) = 2, as the quotients 4ⁿ/(2n) of its coefficients do. So log G
is convex first and concave then, and the steepest chord from s = ¼ (y = ε/2) on is

- the tangent at ¼ itself, α → 1, if M(ε/2) ≥ C already: always up to six categories, as
  Harrison and Manurangsi (2026) found, and ρ = ε·(e^ε − 1)/(e^ε + k − 1);
- else the tangent at the y* in the concave part whose tangent passes through s = ¼.

For a y a little before y* the tangent is a little steeper, so S(y) is an upper bound as soon as
two facts are certain: M(y) ≥ C, and the tangent at y is at or below log G at s = ¼.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, integer, non_negative
from discreet.guarantees.conversion.rho import rho_of_pure, up
from discreet.guarantees.search import least_float
from discreet.laws.sharp import certainly_at_most

if TYPE_CHECKING:
    from flint import arb

_NONE = Fraction(0)


def rho_of_response(epsilon: Number, *, categories: int) -> Fraction:
    """ρ of k-ary randomized response, rounded up by at most an ulp or so.

    >>> round(float(rho_of_response(1, categories=6)), 12)
    0.222624914022
    >>> round(float(rho_of_response(1, categories=1000)), 12)
    0.039074657904
    """
    e, k = non_negative(epsilon, name="epsilon"), integer(categories, name="categories", minimum=2)
    if e == 0 or k <= 6 or _concave_from(e, k, e / 2):
        # ε·(1 − e^(−ε))/(1 + (k − 1)·e^(−ε))
        return up(e, lambda: -ball(e) * (-ball(e)).expm1() / (1 + (k - 1) * (-ball(e)).exp()))
    y = _before_touching(e, k)
    if not (_concave_from(e, k, y) and _passes_below(e, k, y)):
        return rho_of_pure(e)  # holds for every k; not met so far
    return up(e, lambda: ball(e) ** 2 / 2 * _share(e, k, y))


def _constant(e: Fraction, k: int) -> arb:
    return ball(Fraction(k - 2, 2)) * (-ball(e / 2)).exp()


def _share(e: Fraction, k: int, y: Fraction) -> arb:
    """sinh(y)/(y·(cosh(y) + C))"""
    b = ball(y)
    return b.sinh() / (b * (b.cosh() + _constant(e, k)))


def _concave_from(e: Fraction, k: int, y: Fraction) -> bool:
    """Whether M(y) ≥ C for certain: C·(y·cosh − sinh) − (sinh·cosh − y) ≤ 0."""

    def excess() -> arb:
        b = ball(y)
        return _constant(e, k) * (b * b.cosh() - b.sinh()) - (b.sinh() * b.cosh() - b)

    return certainly_at_most(excess, _NONE)


def _passes_below(e: Fraction, k: int, y: Fraction) -> bool:
    """Whether log G(y) − (s − ¼)·S(y) ≤ log G(ε/2) for certain, with s − ¼ = (y² − ε²/4)/ε²."""

    def excess() -> arb:
        c = _constant(e, k)
        rise = ((ball(y).cosh() + c) / (ball(e / 2).cosh() + c)).log()
        return rise - ball((y * y - e * e / 4) / 2) * _share(e, k, y)

    return certainly_at_most(excess, _NONE)


def _before_touching(e: Fraction, k: int) -> Fraction:
    """A y just before the first float above ε/2 whose tangent is not certain to pass below."""
    first = least_float(lambda y: y > e / 2 and not _passes_below(e, k, y))
    return Fraction(first) * (1 - Fraction(1, 2**51))
