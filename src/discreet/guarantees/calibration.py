"""How much Gaussian noise an (ε, δ) promise needs.

δ is the Gaussian profile at μ = Δ/σ, which increases with μ. The exact calibration solves
δ = δ(μ; ε) for μ and so is valid, and best, at every ε (Balle and Wang 2018). The lecture's
formula is a sufficient condition that is proved for small ε only.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.balls import ball, upper
from discreet.errors import InvalidArgument, Refused
from discreet.exact import Number, positive, probability
from discreet.guarantees.gdp import gaussian_profile
from discreet.guarantees.search import least_float
from discreet.laws.sharp import certainly_at_most, sharp


def gaussian_sigma(*, sensitivity: Number, epsilon: Number, delta: Number) -> Fraction:
    """Δ times the least float σ₁ that is certain to give (ε, δ) at sensitivity 1.

    >>> float(gaussian_sigma(sensitivity=1, epsilon=1, delta="1e-6"))
    4.224678889326836
    """
    shift = positive(sensitivity, name="sensitivity")
    eps, target = positive(epsilon, name="epsilon"), probability(delta, name="delta")
    unit = least_float(
        lambda s: s > 0 and certainly_at_most(lambda: gaussian_profile(1 / s, eps), target)
    )
    if math.isinf(unit):
        raise InvalidArgument(
            name="epsilon",
            expected="large enough, with this delta, for a sigma below 1e301",
            given=InvalidArgument.describe_parameter(epsilon),
        )
    return shift * Fraction(unit)


def classic_sigma(*, sensitivity: Number, epsilon: Number, delta: Number) -> Fraction:
    """The lecture's σ = Δ·√(2·ln(2/δ))/ε, rounded up; refused where it is not proved.

    >>> float(classic_sigma(sensitivity=1, epsilon=1, delta="1e-6"))
    5.386772268905419
    """
    shift = positive(sensitivity, name="sensitivity")
    eps, target = positive(epsilon, name="epsilon"), probability(delta, name="delta")
    if eps > 1 or target > Fraction(1, 2):
        raise Refused(
            f"the classic formula is proved for epsilon up to 1 and delta up to 1/2 only; "
            f"beyond that its true delta can exceed the claim; got epsilon = {epsilon} and "
            f"delta = {delta}: use the exact calibration, which holds for all"
        )
    return shift / eps * Fraction(upper(sharp(lambda: (2 * ball(2 / target).log()).sqrt())))
