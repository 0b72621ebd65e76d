"""Does it fit? An order between profiles, never a subtraction."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees.approx import Approx
from discreet.guarantees.composition import Composition
from discreet.guarantees.conversions import to_gdp, to_zcdp
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.pure import Pure
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.laws.sharp import certainly_at_most

_DOTS = 4096


def within(guarantee: Guarantee, limit: Guarantee) -> bool:
    """Whether the whole profile of `guarantee` is certain to lie below that of `limit`.

    For the notions of a cap that is one number: an (ε, δ) limit holds if and only if δ(ε) is
    small enough, since its profile is the largest one through that point.
    """
    if not isinstance(limit, Guarantee):
        raise InvalidArgument(
            name="limit",
            expected="a guarantee, such as Approx(epsilon=1, delta=1e-6)",
            given=InvalidArgument.describe_parameter(limit),
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
    """Compare at many dots, each with the next one: both profiles fall between them."""
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
