"""A whole profile as the least promise of one notion that dominates it.

This is how a charge enters a filter. The theorems are in `rho` and `mu`; here each notion finds
its own. What has no theorem is refused: above all a single (ε, δ) point, which says nothing
about what happens with probability δ and so gives no finite ρ or μ.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TypeVar

from discreet.balls import ball
from discreet.errors import Refused
from discreet.exact import sqrt_up
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.composition import Composition
from discreet.guarantees.conversion.dominating import mu_of_outcomes, rho_of_outcomes
from discreet.guarantees.conversion.mu import (
    mu_of_bounded_range,
    mu_of_discrete_laplace,
    mu_of_laplace,
    mu_of_pure,
    mu_of_response,
)
from discreet.guarantees.conversion.rho import (
    rho_of_bounded_range,
    rho_of_discrete_laplace,
    rho_of_gaussian,
    rho_of_laplace,
    rho_of_pure,
)
from discreet.guarantees.conversion.rho_response import rho_of_response
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.least import Least
from discreet.guarantees.loss_distribution import LossDistribution
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import SampledPair
from discreet.guarantees.short import ball_up, bound_up
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.laws.sharp import sharp

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
                "Gaussian-like noise has no finite epsilon at delta = 0, so it is no pure "
                "promise: use Laplace noise, or an account in zCDP or GDP"
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
                "no theorem is known here that turns rho into a finite mu: ask the mechanism for "
                "its own guarantee, or use an account in zCDP"
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
    """What comes out of those facts that are not refused; the last reason if all of them are."""
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
        f"a single (epsilon, delta) point gives no finite {symbol}, since with probability delta "
        f"anything may come out: ask the mechanism for its own guarantee, or charge its delta to "
        f"the slack of the account"
    )


def _no_theorem(guarantee: Guarantee, symbol: str) -> Refused:
    return Refused(
        f"no theorem is known here that gives a {type(guarantee).__name__} a finite {symbol}: "
        f"charge the parts it was made of one by one"
    )
