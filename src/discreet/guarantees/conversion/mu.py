"""The least μ of a mechanism whose Gaussian trade-off curve lies below its own, one theorem a
function.

A trade-off curve with corners (aᵢ, bᵢ) (false alarms, misses) is linear between them, and
Gaussian curves are convex with the same ends, (0, 1) and (1, 0). So a Gaussian curve is below
it just when it is below each corner, and with z = Φ⁻¹(1 − ·)

    μ = max over corners of z(aᵢ) + z(bᵢ)      (Dong, Roth and Su 2022, Section 2).

z is a concave function of log a, as log Φ is concave. So among corners with the same product
a·b the one in the middle, where a and b are nearest, decides.

Each function rounds up, by at most an ulp.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, integer, non_negative, sqrt_up
from discreet.guarantees.short import ball_up, bound_up
from discreet.laws.sharp import sharp

if TYPE_CHECKING:
    from flint import arb

_FAR = Fraction(10**20)  # from here on the bound 2·√(2ε) is as good as any float


def mu_of_pure(epsilon: Number) -> Fraction:
    """μ = 2·z(1/(1 + e^ε)): randomized response, the worst pair, has one corner.

    >>> round(float(mu_of_pure(1)), 12)
    1.232035385345
    """
    return mu_of_response(epsilon, categories=2)


def mu_of_response(epsilon: Number, *, categories: int) -> Fraction:
    """μ = z(1/Z) + z((k − 1)/Z) with Z = e^ε + k − 1: one corner, mirrored.

    >>> round(float(mu_of_response(1, categories=10)), 12)
    0.637666210631
    """
    e, k = non_negative(epsilon, name="epsilon"), integer(categories, name="categories", minimum=2)

    def formula() -> arb:
        small = (-ball(e)).exp()
        share = small / (1 + (k - 1) * small)
        return _z(share) + _z((k - 1) * share)

    return _up(e, formula)


def mu_of_laplace(epsilon: Number) -> Fraction:
    """μ = 2·z(e^(−ε/2)/2) for real Laplace noise: the total variation decides.

    The curve is a·b = e^(−ε)/4 in the middle and continues along the two tangents there.

    >>> round(float(mu_of_laplace(1)), 12)
    1.030063997624
    """
    e = non_negative(epsilon, name="epsilon")
    return _up(e, lambda: 2 * _z((-ball(e / 2)).exp() / 2))


def mu_of_discrete_laplace(epsilon: Number, *, steps: int) -> Fraction:
    """μ = z(r^i/(1 + r)) + z(r^j/(1 + r)), r = e^(−ε/n), i and j the halves of n + 1 steps.

    The corners are r^(n−m)/(1 + r) and r^(m+1)/(1 + r), for m = 0 to n − 1: one product.

    >>> mu_of_discrete_laplace(1, steps=1) == mu_of_pure(1)
    True
    """
    e, n = non_negative(epsilon, name="epsilon"), integer(steps, name="steps", minimum=1)
    b, half = e / n, (n + 1) // 2

    def formula() -> arb:
        both = 1 + (-ball(b)).exp()
        return _z((-ball(half * b)).exp() / both) + _z((-ball((n + 1 - half) * b)).exp() / both)

    return _up(e, formula)


def mu_of_bounded_range(epsilon: Number) -> Fraction:
    """μ = 2·z(1/(1 + e^(ε/2))), that of pure ε/2.

    The worst pairs have two losses, t and t − ε, and one corner: there logit(1 − a) = ε − t and
    logit(1 − b) = t, for any t. As a function of that logit z is odd and concave above 0 (the
    normal law has lighter tails than the logistic, in van Zwet's order), so t = ε/2 decides.

    >>> mu_of_bounded_range(1) == mu_of_pure("1/2")
    True
    """
    return mu_of_pure(non_negative(epsilon, name="epsilon") / 2)


def _z(p: arb) -> arb:
    """Φ⁻¹(1 − p)"""
    return ball(2).sqrt() * (2 * p).erfcinv()


def _up(e: Fraction, formula: Callable[[], arb]) -> Fraction:
    """The formula rounded up; 0 at ε = 0, and far out a bound that holds for every pure ε.

    As 1 − Φ(x) ≤ e^(−x²/2)/2, z(1/(1 + e^ε)) ≤ √(2ε).
    """
    if e > _FAR:
        return bound_up(sqrt_up(8 * e))
    return ball_up(sharp(formula)) if e else Fraction(0)
