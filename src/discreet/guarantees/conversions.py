"""A whole profile as the least promise of one notion that dominates it.

This is how a charge enters a filter, and how a guarantee is compared with a limit in ρ or μ. The
theorems follow, one per function; each notion finds its own. What has no theorem is refused: above
all a single (ε, δ) point, which says nothing about what happens with probability δ and so gives
no finite ρ or μ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.composition import Composition, Least
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.loss_distribution import LossDistribution, Outcomes
from discreet.guarantees.pure import Pure
from discreet.guarantees.randomized_response import ResponsePair
from discreet.guarantees.sampled import SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.numeric.balls import ball, certainly_at_most, least_float, sharp
from discreet.numeric.bands import FloatArray
from discreet.numeric.exact import Number, integer, non_negative, sqrt_up
from discreet.numeric.short_fractions import ball_up, bound_up

if TYPE_CHECKING:
    from flint import arb


T = TypeVar("T")


def to_pure(guarantee: Guarantee) -> Pure:
    """The least ε for which it is pure ε-differential privacy.

    >>> from discreet.guarantees import LaplacePair
    >>> to_pure(LaplacePair(epsilon=1))
    Pure(epsilon=Fraction(1, 1))
    """
    match guarantee:
        case Pure():
            return guarantee
        case LaplacePair(epsilon0=e) | BoundedRange(epsilon0=e) | ResponsePair(epsilon0=e):
            return Pure(e)
        case Approx(epsilon0=e, delta0=Fraction(numerator=0)):
            return Pure(e)
        case TotalVariation(tv0=no) | GDP(mu=no) | ZCDP(rho=no) | SampledPair(rate=no) if no == 0:
            return Pure(0)
        case SampledPair(base=base, rate=q):
            return Pure(epsilon_of_sampled(to_pure(base).epsilon0, rate=q))
        case Composition(parts=parts):
            return Pure(_sum(count * to_pure(g).epsilon0 for g, count in parts))
        case Least(facts=facts):
            return min(proved(to_pure, facts), key=lambda g: g.epsilon0)
        case LossDistribution() if guarantee._bounded:
            return Pure(bound_up(Fraction(guarantee.epsilon(0))))
        case Approx() | TotalVariation():
            raise _no_finite("epsilon")
        case GDP() | ZCDP():
            raise Refused(
                "Gaussian-like noise has no finite epsilon at delta = 0, so it is no pure promise",
                remedy="use Laplace noise, or an account in zCDP or GDP",
                code="notion-mismatch",
            )
    raise _no_theorem(guarantee, "pure epsilon")


def to_zcdp(guarantee: Guarantee) -> ZCDP:
    """The least ρ for which it is ρ-zCDP; the least proved here for samples, lists and tables.

    >>> to_zcdp(GDP(mu=1)), round(float(to_zcdp(Pure(epsilon=1)).rho), 6)
    (ZCDP(rho=Fraction(1, 2)), 0.462117)
    """
    match guarantee:
        case ZCDP():
            return guarantee
        case GDP(mu=mu):
            return ZCDP(rho_of_gaussian(mu))
        case LaplacePair(epsilon0=e, steps=None):
            return ZCDP(rho_of_laplace(e))
        case LaplacePair(epsilon0=e, steps=int(n)):
            return ZCDP(rho_of_discrete_laplace(e, steps=n))
        case BoundedRange(epsilon0=e):
            return ZCDP(rho_of_bounded_range(e))
        case ResponsePair(epsilon0=e, categories=k):
            return ZCDP(rho_of_response(e, categories=k))
        case Pure(epsilon0=e) | Approx(epsilon0=e, delta0=Fraction(numerator=0)):
            return ZCDP(rho_of_pure(e))
        case TotalVariation(tv0=no) | SampledPair(rate=no) if no == 0:
            return ZCDP(0)
        case SampledPair(base=base):
            # Sampling only helps, so what holds for the base holds for the sample too; and for
            # Gaussian noise it is the least: D_α/α tends to μ²/2 at any rate above 0.
            unsampled = to_zcdp(base)
            if not base._bounded:
                return unsampled
            return min(unsampled, to_zcdp(to_pure(guarantee)), key=lambda g: g.rho)
        case Composition(parts=parts):
            return ZCDP(_sum(count * to_zcdp(g).rho for g, count in parts))
        case Least(facts=facts):
            return min(proved(to_zcdp, facts), key=lambda g: g.rho)
        case LossDistribution(pessimistic=table) if guarantee._bounded:
            return ZCDP(bound_up(rho_of_outcomes(table)))
        case Approx() | TotalVariation():
            raise _no_finite("rho")
    raise _no_theorem(guarantee, "rho")


def to_gdp(guarantee: Guarantee) -> GDP:
    """The least μ for which it is μ-GDP; the least proved here for samples, lists and tables.

    >>> round(float(to_gdp(Pure(epsilon=1)).mu), 6), round(float(to_gdp(LaplacePair(1)).mu), 6)
    (1.232035, 1.030064)
    """
    match guarantee:
        case GDP():
            return guarantee
        case LaplacePair(epsilon0=e, steps=None):
            return GDP(mu_of_laplace(e))
        case LaplacePair(epsilon0=e, steps=int(n)):
            return GDP(mu_of_discrete_laplace(e, steps=n))
        case BoundedRange(epsilon0=e):
            return GDP(mu_of_bounded_range(e))
        case ResponsePair(epsilon0=e, categories=k):
            return GDP(mu_of_response(e, categories=k))
        case Pure(epsilon0=e) | Approx(epsilon0=e, delta0=Fraction(numerator=0)):
            return GDP(mu_of_pure(e))
        case TotalVariation(tv0=no) | ZCDP(rho=no) | SampledPair(rate=no) if no == 0:
            return GDP(0)
        case SampledPair(base=base):
            unsampled = to_gdp(base)  # as above
            if not base._bounded:
                return unsampled
            return min(unsampled, to_gdp(to_pure(guarantee)), key=lambda g: g.mu)
        case Composition(parts=parts):
            return GDP(bound_up(sqrt_up(_sum(count * to_gdp(g).mu ** 2 for g, count in parts))))
        case Least(facts=facts):
            return min(proved(to_gdp, facts), key=lambda g: g.mu)
        case LossDistribution(pessimistic=table) if guarantee._bounded:
            return GDP(bound_up(mu_of_outcomes(table)))
        case Approx() | TotalVariation():
            raise _no_finite("mu")
        case ZCDP():
            raise Refused(
                "no theorem is known here that turns rho into a finite mu",
                remedy="ask the mechanism for its own guarantee, or use an account in zCDP",
                code="notion-mismatch",
            )
    raise _no_theorem(guarantee, "mu")


def epsilon_of_sampled(epsilon: Fraction, *, rate: Fraction) -> Fraction:
    """log(1 + q·(e^ε − 1)), rounded up: pure ε on a sample of rate q (Li, Qardaji and Su 2012).

    >>> round(float(epsilon_of_sampled(Fraction(1), rate=Fraction(1, 100))), 12)
    0.017036863236
    """
    if epsilon == 0 or rate in (0, 1):
        return epsilon * rate
    # ε + log(q + (1 − q)·e^(−ε)): nothing overflows.
    value = sharp(
        lambda: ball(epsilon) + (ball(rate) + ball(1 - rate) * (-ball(epsilon)).exp()).log()
    )
    return min(epsilon, ball_up(value))


def _sum(parts: Iterable[Fraction]) -> Fraction:
    return bound_up(sum(parts, Fraction(0)))


def proved(convert: Callable[[Guarantee], T], facts: Iterable[Guarantee]) -> list[T]:
    """What the facts convert to, except those refused; if all are, the last refusal is raised."""
    found: list[T] = []
    reason: Refused | None = None
    for fact in facts:
        try:
            found.append(convert(fact))
        except Refused as error:
            reason = error
    if reason and not found:
        raise reason
    return found


def _no_finite(symbol: str) -> Refused:
    return Refused(
        f"a single (epsilon, delta) point gives no finite {symbol}, since with probability "
        "delta anything may come out",
        remedy="ask the mechanism for its own guarantee, or charge its delta to the slack of the "
        "account",
        code="notion-mismatch",
    )


def _no_theorem(guarantee: Guarantee, symbol: str) -> Refused:
    return Refused(
        f"no theorem is known here that gives a {type(guarantee).__name__} a finite {symbol}",
        remedy="charge the parts it was made of one by one",
        code="notion-mismatch",
    )


# -- the least ρ of a mechanism --------------------------------------------------------------------
# The supremum over orders α > 1 of D_α/α, one theorem per function. Each rounds up, by at most an
# ulp.
#
# All pairs here but the bounded range are symmetric, and then with τ = α − ½
#
#     D_α = log(G(τ)/G(½))/(α − 1)  for an even function G,   and   α·(α − 1) = τ² − ¼,
#
# so D_α/α is the slope of a chord of log G, as a function of s = τ², from s = ¼ on. Where log G is
# concave in s, the steepest chord is the tangent at ¼: α → 1, the Kullback-Leibler divergence.
# If G(τ) = Σ mₙ·τ²ⁿ/(2n)!, it is concave whenever mₙ₊₁/((2n + 1)·mₙ) never increases with n, since
# log G has the slope G′/(2τG) in s, and a quotient of power series with positive coefficients
# moves the way their quotients do (Biernacki and Krzyż 1955).


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
    return _rho_up(e, lambda: ball(e) * (ball(e) / 2).tanh())


def rho_of_laplace(epsilon: Number) -> Fraction:
    """ρ = ε + e^(−ε) − 1 for real Laplace noise (Harrison and Manurangsi 2026).

    Here G = 2·cosh(ετ) + sinh(ετ)/τ and mₙ = ε²ⁿ·(2 + ε/(2n + 1)): α → 1 again.

    >>> round(float(rho_of_laplace(1)), 12)
    0.367879441171
    """
    e = non_negative(epsilon, name="epsilon")
    return _rho_up(e, lambda: ball(e) + (-ball(e)).expm1())


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
    return _rho_up(
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

    return _rho_up(e, formula)


def _rho_up(e: Fraction, formula: Callable[[], arb]) -> Fraction:
    """The formula rounded up; nothing is spent where ε is 0, which formulas divide by."""
    return ball_up(sharp(formula)) if e else Fraction(0)


# -- the least ρ of k-ary randomized response, for every k -----------------------------------------
# In the notation above, G(τ) = cosh(ετ) + C with C = (k − 2)·e^(−ε/2)/2. With y = ετ, the slope
# of log G in s = τ² is
#
#     S(y) = ε²·sinh(y)/(2y·(cosh(y) + C)),
#
# and it rises while M(y) = (sinh(y)·cosh(y) − y)/(y·cosh(y) − sinh(y)) is below C and falls from
# there on: M increases from M(0) = 2, as the quotients 4ⁿ/(2n) of its coefficients do. So log G
# is first convex and then concave, and the steepest chord from s = ¼ (y = ε/2) on is
#
# - the tangent at ¼ itself, α → 1, if M(ε/2) ≥ C already: always up to six categories, as
#   Harrison and Manurangsi (2026) found, and ρ = ε·(e^ε − 1)/(e^ε + k − 1);
# - else the tangent at the y* in the concave part whose tangent passes through s = ¼.
#
# For a y a little before y* the tangent is a little steeper, so S(y) is an upper bound as soon as
# two facts are certain: M(y) ≥ C, and the tangent at y is at or below log G at s = ¼.


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
        return _rho_up(e, lambda: -ball(e) * (-ball(e)).expm1() / (1 + (k - 1) * (-ball(e)).exp()))
    y = _before_touching(e, k)
    if not (_concave_from(e, k, y) and _passes_below(e, k, y)):
        return rho_of_pure(e)  # holds for every k; this case has not come up so far
    return _rho_up(e, lambda: ball(e) ** 2 / 2 * _share(e, k, y))


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


# -- the least μ of a mechanism --------------------------------------------------------------------
# The least whose Gaussian trade-off curve lies below the mechanism's own, one theorem per function.
# Each rounds up, by at most an ulp.
#
# A trade-off curve with corners (aᵢ, bᵢ) (false alarms, misses) is linear between them, and
# Gaussian curves are convex with the same ends, (0, 1) and (1, 0). So a Gaussian curve is below
# it just when it is below each corner, and with z = Φ⁻¹(1 − ·)
#
#     μ = max over corners of z(aᵢ) + z(bᵢ)      (Dong, Roth and Su 2022, Section 2).
#
# z is a concave function of log a, as log Φ is concave. So among corners with the same product
# a·b the one in the middle, where a and b are nearest, decides.


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

    return _mu_up(e, formula)


def mu_of_laplace(epsilon: Number) -> Fraction:
    """μ = 2·z(e^(−ε/2)/2) for real Laplace noise: the total variation decides.

    The curve is a·b = e^(−ε)/4 in the middle and continues along the two tangents there.

    >>> round(float(mu_of_laplace(1)), 12)
    1.030063997624
    """
    e = non_negative(epsilon, name="epsilon")
    return _mu_up(e, lambda: 2 * _z((-ball(e / 2)).exp() / 2))


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

    return _mu_up(e, formula)


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


def _mu_up(e: Fraction, formula: Callable[[], arb]) -> Fraction:
    """The formula rounded up; 0 at ε = 0, and far out a bound that holds for every pure ε.

    As 1 − Φ(x) ≤ e^(−x²/2)/2, z(1/(1 + e^ε)) ≤ √(2ε).
    """
    if e > _FAR:
        return bound_up(sqrt_up(8 * e))
    return ball_up(sharp(formula)) if e else Fraction(0)


# -- the least ρ and μ of a table of outcomes, rounded up ------------------------------------------


_RATIO = 2.0**-11  # between neighbouring orders: how far ρ may be above the least one
_SAFE = 1 + 1e-9  # far more than the rounding below


def rho_of_outcomes(outcomes: Outcomes) -> Fraction:
    """The supremum over orders α > 1 of D_α/α, in both orders of the laws; at most 0.05 % more.

    D_α never decreases with α, so on an interval of orders from a to b, D_α/α ≤ D_b/a. Beyond
    the order where D_∞/α falls below what was found, nothing larger can come.

    >>> from discreet.guarantees.loss_distribution import read_outcomes
    >>> coin = read_outcomes([0.75, 0.25], [0.25, 0.75])       # randomized response, ε = log 3
    >>> round(float(rho_of_outcomes(coin)), 3)                 # ε·tanh(ε/2)
    0.55
    """
    return Fraction(max(_rho(outcomes), _rho(outcomes.swapped)) * _SAFE)


def _rho(outcomes: Outcomes) -> float:
    if outcomes.failing:
        raise Refused(
            "one law gives an outcome that the other never does, so no finite rho or mu dominates"
        )
    p, losses = _columns(outcomes)
    largest = outcomes.largest_loss
    best, order = 0.0, 1.0
    while order == 1.0 or largest / order > best:
        orders = order * (1 + _RATIO) ** np.arange(257)
        # e^((α−1)·D_α) = Σ p·e^((α−1)·l), with the largest loss taken out.
        powers = np.exp(np.outer(orders[1:] - 1, losses - largest))
        divergence = np.log(powers @ p) / (orders[1:] - 1) + largest
        best = max(best, float(np.max(divergence / orders[:-1])))
        order = float(orders[-1])
    return best


def mu_of_outcomes(outcomes: Outcomes) -> Fraction:
    """The least μ whose trade-off curve lies below the corners of this one, rounded up.

    The trade-off curve is linear between its corners (false alarms Q(L > l), misses P(L ≤ l)),
    and a Gaussian curve is convex, so it is enough to be below the corners (Dong, Roth and Su
    2022): μ = max of Φ⁻¹(1 − a) − Φ⁻¹(b) over corners (a, b).

    >>> from discreet.guarantees.loss_distribution import read_outcomes
    >>> round(float(mu_of_outcomes(read_outcomes([0.75, 0.25], [0.25, 0.75]))), 6)
    1.34898
    """
    if outcomes.failing or outcomes.swapped.failing:
        raise Refused(
            "one law gives an outcome that the other never does, so no finite rho or mu dominates"
        )
    p, losses = _columns(outcomes)
    order = np.argsort(losses)
    if order.size == 1:
        return Fraction(0)
    hits = _quantile_above(p[order])
    false_alarms = _quantile_above((p * np.exp(-losses))[order])
    largest = float(np.max(false_alarms - hits))
    if not math.isfinite(largest):
        raise Refused("probabilities below 1e-300 are too small to find a mu for")
    return Fraction(max(largest, 0.0) * _SAFE + 1e-12)


def _quantile_above(masses: FloatArray) -> FloatArray:
    """Φ⁻¹(1 − t) for the tails t beyond each place but the last, from the smaller side."""
    from scipy.special import ndtri

    at_most = np.cumsum(masses)[:-1]
    above = np.cumsum(masses[::-1])[::-1][1:]
    result: FloatArray = np.where(above < at_most, -ndtri(above), ndtri(np.minimum(at_most, 0.5)))
    return result


def _columns(outcomes: Outcomes) -> tuple[FloatArray, FloatArray]:
    pairs = [(float(p), float(q)) for p, q in outcomes.pairs if p]
    p = np.array([first for first, _ in pairs])
    losses = np.array([math.log(first) - math.log(second) for first, second in pairs])
    return p, losses


# -- whether a guarantee lies within a limit -------------------------------------------------------
# An order between profiles, never a subtraction.


_DOTS = 4096


def within(guarantee: Guarantee, limit: Guarantee) -> bool:
    """Whether the whole profile of `guarantee` is certain to lie below that of `limit`.

    For the notions of a cap that is one number: an (ε, δ) limit holds if and only if δ(ε) is
    small enough, since its profile is the largest one through that point.
    """
    if not isinstance(limit, Guarantee):
        raise InvalidArgument.of(
            "limit", "a guarantee, such as Approx(epsilon=1, delta=1e-6)", limit
        )
    if guarantee == limit:
        return True
    match limit:
        case Pure(epsilon0):
            return _at_most(guarantee, epsilon0, Fraction(0))
        case Approx(epsilon0, delta0):
            return _at_most(guarantee, epsilon0, delta0)
        case TotalVariation(tv0):
            return _at_most(guarantee, Fraction(0), tv0)
        case ZCDP(rho):
            try:
                return to_zcdp(guarantee).rho <= rho
            except Refused:
                return False
        case GDP(mu):
            try:
                return to_gdp(guarantee).mu <= mu
            except Refused:
                return False
        case Composition():
            raise Refused(
                "a composition is no limit: state one as Pure, Approx, ZCDP, GDP or TotalVariation"
            )
        case _:
            return _below(guarantee, limit)


def _at_most(guarantee: Guarantee, x: Fraction, delta: Fraction) -> bool:
    """δ(x) ≤ delta for certain."""
    if isinstance(guarantee, Composition) and guarantee._closed is None:
        if delta == 0:
            return guarantee._largest is not None and guarantee._largest <= x
        return guarantee.epsilon(delta) <= x
    return all(
        certainly_at_most(lambda p=profile: p(x), delta)  # type: ignore[misc]
        for profile, _ in guarantee._orders
    )


def _below(guarantee: Guarantee, limit: Guarantee) -> bool:
    """Compare at many points, one profile at each with the other at the next: both decrease."""
    reach = max(limit._reach(1e-12, swapped=side) for side in (False, True))
    x = np.linspace(0.0, max(reach, 1e-12), _DOTS)
    for swapped in (False, True):
        low = limit._band(x, swapped=swapped).lower
        if isinstance(guarantee, Composition):
            high = np.array([guarantee.delta(float(point)) for point in x])
        else:
            high = guarantee._band(x, swapped=swapped).upper
        if not (np.all(high[:-1] <= low[1:]) and high[-1] <= 0):
            return False
    return math.isfinite(reach)
