"""Gaussian differential privacy: no easier to tell apart than N(0, 1) and N(μ, 1)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees.guarantee import Guarantee, group_size
from discreet.hints import spelled
from discreet.numeric.balls import ball, certainly_at_most, least_float, sharp, upper, upper_normal
from discreet.numeric.bands import UNIT, Band, FloatArray, band
from discreet.numeric.exact import Number, non_negative, positive, probability

if TYPE_CHECKING:
    from flint import arb


# Arb's exponential has no ball beyond about e^(10³⁰). The profile never increases, so reading
# it here for a larger x is still an upper bound.
_LARGEST_EXPONENT = Fraction(10**25)
_UNDERFLOW = 1e-300  # what exp may have lost by returning 0


@dataclass(frozen=True, init=False, repr=False)
class GDP(Guarantee):
    """μ-Gaussian differential privacy: exactly what Gaussian noise of σ = Δ/μ gives.

    ``mu`` is μ, 0 or above: neighbours are as hard to tell apart as N(0, 1) and N(μ, 1); μ² adds
    up.

    >>> promise = GDP(mu=1)
    >>> promise.tv                   # 2Φ(μ/2) − 1
    0.38292492254802624
    >>> promise.delta(1)
    0.12693673750664397
    >>> promise.group(2)
    GDP(mu=Fraction(2, 1))
    """

    mu: Fraction

    @spelled
    def __init__(self, mu: Number) -> None:
        object.__setattr__(self, "mu", non_negative(mu, name="mu"))

    def __repr__(self) -> str:
        return f"GDP(mu={self.mu!r})"

    def group(self, k: int) -> GDP:
        """What is promised to k people together: k·μ (Dong, Roth and Su 2022, Theorem 2.14)."""
        return GDP(self.mu * group_size(k))

    @property
    def _bounded(self) -> bool:
        return self.mu == 0

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        # The tail beyond μ²/2 + z·μ is that of the normal law beyond z.
        mu = float(min(self.mu, Fraction(10**150)))
        return mu * (mu / 2 + math.sqrt(-2 * math.log(tail)))

    def _over(self, x: Fraction) -> arb:
        return gaussian_profile(self.mu, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        return gaussian_band(self.mu, x)


def gaussian_profile(mu: Fraction, x: Fraction) -> arb:
    """δ(x) of N(μ, 1) against N(0, 1), for x ≥ 0:

        Φ(−x/μ + μ/2) − e^x·Φ(−x/μ − μ/2)  (Balle and Wang 2018; Dong, Roth and Su 2022).

    >>> print(gaussian_profile(Fraction(1), Fraction(1)).str(10, radius=False))
    0.1269367375
    """
    if mu == 0:
        return ball(0)
    x = min(x, _LARGEST_EXPONENT)
    return upper_normal(x / mu - mu / 2) - ball(x).exp() * upper_normal(x / mu + mu / 2)


def gaussian_band(mu: Fraction, x: FloatArray) -> Band:
    """`gaussian_profile` in floats, at many x. With a = x/μ − μ/2, b = x/μ + μ/2 and
    w(z) = e^(z²/2)·Φ(−z),

        δ = e^(−a²/2)·(w(a) − w(b)),  since x = (b² − a²)/2,

    so that nothing overflows and far out nothing but the two tails cancels.
    """
    from scipy.special import erfcx, ndtr

    if mu == 0:
        return Band(np.zeros_like(x), np.zeros_like(x))
    m = float(mu)
    # Beyond 10¹⁰⁰ deviations nothing is left, and squares would overflow.
    z = np.minimum(x / m, 1e100)
    a, b = z - m / 2, z + m / 2
    front = np.exp(-a * a / 2) / 2
    root = np.sqrt(0.5)
    first = np.where(a > 0, front * erfcx(np.maximum(a, 0.0) * root), ndtr(-a))
    second = front * erfcx(b * root)
    # a is off by a few units of b, hence a² by some units of b²; erfcx and ndtr by 64 units.
    error = (80 + 8 * b * b) * UNIT * (first + second)
    return band(first - second, error=error + _UNDERFLOW)


# -- how much Gaussian noise an (ε, δ) promise needs -----------------------------------------------
# δ is the Gaussian profile at μ = Δ/σ, which increases with μ. The exact calibration solves
# δ = δ(μ; ε) for μ and so is valid, and best, at every ε (Balle and Wang 2018). The lecture's
# formula is a sufficient condition that is proved for small ε only.


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
        raise InvalidArgument.of(
            "epsilon", "large enough, with this delta, for a sigma below 1e301", epsilon
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
