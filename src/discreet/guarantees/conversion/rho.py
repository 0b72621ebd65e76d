"""The least ρ of a mechanism: the supremum over orders α > 1 of D_α/α, one theorem a function.

All pairs here but the bounded range are symmetric, and then with τ = α − ½

    D_α = log(G(τ)/G(½))/(α − 1)  for an even function G,   and   α·(α − 1) = τ² − ¼,

so D_α/α is the slope of a chord of log G, as a function of s = τ², from s = ¼ on. Where log G is
concave in s, the steepest chord is the tangent at ¼: α → 1, the Kullback-Leibler divergence.
If G(τ) = Σ mₙ·τ²ⁿ/(2n)!, it is concave whenever mₙ₊₁/((2n + 1)·mₙ) never increases with n, since
log G has the slope G′/(2τG) in s, and a quotient of power series with positive coefficients
moves the way their quotients do (Biernacki and Krzyż 1955).

Each function rounds up, by at most an ulp.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, integer, non_negative
from discreet.guarantees.short import ball_up, bound_up
from discreet.laws.sharp import sharp

if TYPE_CHECKING:
    from flint import arb


def rho_of_gaussian(mu: Number) -> Fraction:
    """ρ = μ²/2, as D_α = α·μ²/2 between two Gaussians (Bun and Steinke 2016, Prop. 1.6).

    >>> rho_of_gaussian(1)
    Fraction(1, 2)
    """
    return bound_up(non_negative(mu, name="mu") ** 2 / 2)


def rho_of_pure(epsilon: Number) -> Fraction:
    """ρ = ε·tanh(ε/2), less than ε²/2 and exact for randomized response, the worst pair.

    Here G = cosh(ετ) and mₙ = ε²ⁿ, so the supremum is at α → 1.

    >>> round(float(rho_of_pure(1)), 12)
    0.46211715726
    """
    e = non_negative(epsilon, name="epsilon")
    return up(e, lambda: ball(e) * (ball(e) / 2).tanh())


def rho_of_laplace(epsilon: Number) -> Fraction:
    """ρ = ε + e^(−ε) − 1 for real Laplace noise (Harrison and Manurangsi 2026).

    Here G = 2·cosh(ετ) + sinh(ετ)/τ and mₙ = ε²ⁿ·(2 + ε/(2n + 1)): α → 1 again.

    >>> round(float(rho_of_laplace(1)), 12)
    0.367879441171
    """
    e = non_negative(epsilon, name="epsilon")
    return up(e, lambda: ball(e) + (-ball(e)).expm1())


def rho_of_discrete_laplace(epsilon: Number, *, steps: int) -> Fraction:
    """ρ = ε − b/sinh(b)·(1 − e^(−ε)) with b = ε/steps (Harrison and Manurangsi 2026).

    Here mₙ = ε²ⁿ·(2 + (1 − e^(−b))·Σ|1 − 2k/steps|²ⁿ) with k from 1 to steps − 1: α → 1 again,
    and the Kullback-Leibler divergence is (E|K − steps| − E|K|)/t for noise K of scale t. At one
    step it is ε·tanh(ε/2), with many it falls to the ρ of real noise.

    >>> rho_of_discrete_laplace(1, steps=1) == rho_of_pure(1)
    True
    """
    e, n = non_negative(epsilon, name="epsilon"), integer(steps, name="steps", minimum=1)
    b = e / n
    if n == 1:
        return rho_of_pure(e)
    # b/sinh(b) = 2b·e^(−b)/(1 − e^(−2b)): nothing overflows.
    return up(
        e,
        lambda: (
            ball(e) - 2 * ball(b) * (-ball(b)).exp() * (-ball(e)).expm1() / (-ball(2 * b)).expm1()
        ),
    )


def rho_of_bounded_range(epsilon: Number) -> Fraction:
    """ρ = log((e^ε − 1)/ε) + ε/(e^ε − 1) − 1, at most ε²/8 (Cesar and Rogers 2021).

    The worst pairs have two losses, t and t − ε. With λ(x) = log(sinh(xε/2)/(xε/2)), the best t
    at each α makes (α − 1)·D_α = ν(α) − ν(α − 1) − ν(1) where ν(x) = x·λ(x). As ν′ is a concave
    function of x², from 0 up, that is at most α·(α − 1)·ν′(1) (it holds for each min(x², c), of
    which ν′ is a mixture), and ρ = ν′(1) = λ(1) + λ′(1), reached as α → 1: the Kullback-Leibler
    divergence at the worst t (also Harrison and Manurangsi 2026).

    >>> round(float(rho_of_bounded_range(1)), 12), round(float(rho_of_bounded_range(0.01)), 12)
    (0.123301561482, 1.2499983e-05)
    """
    e = non_negative(epsilon, name="epsilon")

    # With r = 1 − e^(−ε):  ε + log(r/ε) + ε·e^(−ε)/r − 1
    def formula() -> arb:
        r = -(-ball(e)).expm1()
        return ball(e) + (r / ball(e)).log() + ball(e) * (-ball(e)).exp() / r - 1

    return up(e, formula)


def up(e: Fraction, formula: Callable[[], arb]) -> Fraction:
    """The formula rounded up; nothing is spent where ε is 0, which formulas divide by."""
    return ball_up(sharp(formula)) if e else Fraction(0)
