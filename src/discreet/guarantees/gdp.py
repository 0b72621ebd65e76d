"""Gaussian differential privacy: no easier to tell apart than N(0, 1) and N(μ, 1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.guarantee import N, group_size
from discreet.guarantees.notion import Notion
from discreet.hints import spelled
from discreet.numeric.balls import (
    arb,
    ball,
    certainly_at_most,
    least_float,
    sharp,
    upper,
    upper_normal,
)
from discreet.numeric.bands import UNIT, Band, FloatArray, band
from discreet.numeric.exact import Number, positive, probability, root_down, sqrt_up
from discreet.numeric.short_fractions import ball_up, bound_up

if TYPE_CHECKING:
    from discreet.guarantees.loss_distribution import Outcomes


# Arb's exponential has no ball beyond about e^(10³⁰). The profile never increases, so reading
# it here for a larger x is still an upper bound.
_LARGEST_EXPONENT = Fraction(10**25)
_FAR = Fraction(10**20)  # from here on the bound 2·√(2ε) is as good as any float
_SAFE = 1 + 1e-9  # far more than the rounding of a table
_UNDERFLOW = 1e-300  # what exp may have lost by returning 0


@dataclass(frozen=True, init=False, repr=False)
class GDP(Notion):
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

    kind = "gdp"
    fields = named(mu=NUMBER)
    parameter, symbol, sum_symbol = "mu", "μ", "μ²"
    closed = gaussian = True
    typed_exactly = False  # μ is computed more often than typed: from ρ, or from ε and δ

    mu: Fraction

    @spelled
    def __init__(self, mu: Number) -> None:
        super().__init__(mu)

    def group(self, k: int) -> GDP:
        """What is promised to k people together: k·μ (Dong, Roth and Su 2022, Theorem 2.14)."""
        return GDP(self.mu * group_size(k))

    @property
    def amount(self) -> Fraction:
        """μ², which adds up."""
        return self.mu * self.mu

    @classmethod
    def of_amount(cls, amount: Fraction, *, down: bool = False) -> GDP:
        """The promise whose μ² is ``amount``, rounded up, or ``down`` to 40 bits."""
        return cls(root_down(amount) if down else sqrt_up(amount))

    # -- the least μ of a mechanism ----------------------------------------------------------------
    # The least whose Gaussian trade-off curve lies below the mechanism's own, one theorem per
    # function. Each rounds up, by at most an ulp.
    #
    # A trade-off curve with corners (aᵢ, bᵢ) (false alarms, misses) is linear between them, and
    # Gaussian curves are convex with the same ends, (0, 1) and (1, 0). So a Gaussian curve is below
    # it just when it is below each corner, and with z = Φ⁻¹(1 − ·)
    #
    #     μ = max over corners of z(aᵢ) + z(bᵢ)      (Dong, Roth and Su 2022, Section 2).
    #
    # z is a concave function of log a, as log Φ is concave. So among corners with the same product
    # a·b the one in the middle, where a and b are nearest, decides.

    @classmethod
    def _of_gaussian(cls, mu: Fraction) -> GDP:
        """Gaussian noise itself: ``mu``, as it is."""
        return cls(mu)

    @classmethod
    def _of_pure(cls, epsilon: Fraction) -> GDP:
        """μ = 2·z(1/(1 + e^ε)) at ``epsilon``: randomized response, the worst pair, has one corner.

        >>> round(float(GDP._of_pure(Fraction(1)).mu), 12)
        1.232035385345
        """
        return cls._of_response(epsilon, 2)

    @classmethod
    def _of_response(cls, epsilon: Fraction, categories: int) -> GDP:
        """μ = z(1/Z) + z((k − 1)/Z) with Z = e^ε + k − 1 at ``epsilon``, for k ``categories``: one
        corner, mirrored.

        >>> round(float(GDP._of_response(Fraction(1), 10).mu), 12)
        0.637666210631
        """

        def formula() -> arb:
            small = (-ball(epsilon)).exp()
            share = small / (1 + (categories - 1) * small)
            return _z(share) + _z((categories - 1) * share)

        return cls._up(epsilon, formula)

    @classmethod
    def _of_laplace(cls, epsilon: Fraction, steps: int | None) -> GDP:
        """For real noise μ = 2·z(e^(−ε/2)/2) at ``epsilon``: the total variation decides, as the
        curve is a·b = e^(−ε)/4 in the middle and continues along the two tangents there.

        With n ``steps`` it is μ = z(r^i/(1 + r)) + z(r^j/(1 + r)), r = e^(−ε/n), i and j the halves
        of n + 1 steps. The corners are r^(n−m)/(1 + r) and r^(m+1)/(1 + r), for m = 0 to n − 1: one
        product.

        >>> round(float(GDP._of_laplace(Fraction(1), None).mu), 12)
        1.030063997624
        >>> GDP._of_laplace(Fraction(1), 1) == GDP._of_pure(Fraction(1))
        True
        """
        if steps is None:
            return cls._up(epsilon, lambda: 2 * _z((-ball(epsilon / 2)).exp() / 2))
        b, i, j = epsilon / steps, (steps + 1) // 2, steps // 2 + 1

        def formula() -> arb:
            both = 1 + (-ball(b)).exp()
            return _z((-ball(i * b)).exp() / both) + _z((-ball(j * b)).exp() / both)

        return cls._up(epsilon, formula)

    @classmethod
    def _of_bounded_range(cls, epsilon: Fraction) -> GDP:
        """μ = 2·z(1/(1 + e^(ε/2))), that of half of ``epsilon``.

        The worst pairs have two losses, t and t − ε, and one corner: there logit(1 − a) = ε − t and
        logit(1 − b) = t, for any t. As a function of that logit z is odd and concave above 0 (the
        normal law has lighter tails than the logistic, in van Zwet's order), so t = ε/2 decides.
        """
        return cls._of_pure(epsilon / 2)

    @classmethod
    def _of_outcomes(cls, outcomes: Outcomes) -> GDP:
        """The least μ whose trade-off curve lies below the corners of the ``outcomes``, rounded up.

        The corners are (false alarms Q(L > l), misses P(L ≤ l)), and μ = max of Φ⁻¹(1 − a) − Φ⁻¹(b)
        over corners (a, b).

        >>> from discreet.guarantees.loss_distribution import read_outcomes
        >>> round(float(GDP._of_outcomes(read_outcomes([0.75, 0.25], [0.25, 0.75])).mu), 6)
        1.34898
        """
        p, losses = outcomes.losses
        order = np.argsort(losses)
        if order.size == 1:
            return cls(0)
        hits = _quantile_above(p[order])
        false_alarms = _quantile_above((p * np.exp(-losses))[order])
        largest = float(np.max(false_alarms - hits))
        if not math.isfinite(largest):
            raise Refused("probabilities below 1e-300 are too small to find a mu for")
        return cls(bound_up(Fraction(max(largest, 0.0) * _SAFE + 1e-12)))

    @classmethod
    def _up(cls, e: Fraction, formula: Callable[[], arb]) -> GDP:
        """The formula rounded up; 0 at ε = 0, and far out a bound that holds for every pure ε.

        As 1 − Φ(x) ≤ e^(−x²/2)/2, z(1/(1 + e^ε)) ≤ √(2ε).
        """
        if e > _FAR:
            return cls(bound_up(sqrt_up(8 * e)))
        return cls(ball_up(sharp(formula)) if e else 0)

    def _to(self, notion: type[N]) -> N:
        return notion._of_gaussian(self.mu) if self.mu else notion(0)

    # -- the profile -------------------------------------------------------------------------------

    @property
    def _bounded(self) -> bool:
        return self.mu == 0

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        # The tail beyond μ²/2 + z·μ is that of the normal law beyond z.
        mu = float(min(self.mu, Fraction(10**150)))
        return mu * (mu / 2 + math.sqrt(-2 * math.log(tail)))

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
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


def _z(p: arb) -> arb:
    """Φ⁻¹(1 − p)"""
    return ball(2).sqrt() * (2 * p).erfcinv()


def _quantile_above(masses: FloatArray) -> FloatArray:
    """Φ⁻¹(1 − t) for the tails t beyond each place but the last, from the smaller side."""
    from scipy.special import ndtri

    at_most = np.cumsum(masses)[:-1]
    above = np.cumsum(masses[::-1])[::-1][1:]
    result: FloatArray = np.where(above < at_most, -ndtri(above), ndtri(np.minimum(at_most, 0.5)))
    return result


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
