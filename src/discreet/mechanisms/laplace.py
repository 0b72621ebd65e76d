"""The Laplace mechanism: noise in proportion to how far one person can move the answer."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Integral
from typing import Any

from numpy.typing import ArrayLike

from discreet import laws
from discreet.exact import Number, positive
from discreet.guarantees import LaplacePair, Pure
from discreet.mechanisms.choice import exactly_one, positive_sensitivity
from discreet.mechanisms.grids import Noise, Step, check_noise, read_step, step_exponent
from discreet.noise import laplace as noise
from discreet.sensitivity import Sensitivity


@dataclass(frozen=True, init=False)
class Laplace:
    """Adds Laplace noise of scale sensitivity/ε to each number: ε-differential privacy.

    ``sensitivity`` is in the L1 norm: for a vector, how much all of its coordinates together
    can move when one person's data changes. Give the promise (``epsilon``) or the noise
    (``scale``), not both. Integers in give integers out (discrete Laplace noise); floats in
    give floats on a fine power-of-two grid, the exact rounding of the textbook mechanism.
    ``step`` fixes the grid: 1 for integers, "fine" for floats, or a power of two.

    Cost: ``guarantee``. Error: ``error(0.95)`` for a 95 % half-width, about 3·scale.

    >>> mechanism = Laplace(sensitivity=1, epsilon=0.5)
    >>> mechanism.scale, mechanism.error(confidence=0.95)
    (Fraction(2, 1), 6.0)
    >>> type(mechanism.release(1234)), type(mechanism.release(12.5))
    (<class 'int'>, <class 'float'>)
    """

    sensitivity: Fraction
    scale: Fraction
    step: Step

    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number | None = None,
        scale: Number | None = None,
        step: Number | None = None,
    ) -> None:
        size = positive_sensitivity(sensitivity, norm="l1")
        chosen, given = exactly_one(epsilon=epsilon, scale=scale)
        exact = positive(given, name=chosen)
        exact = size / exact if chosen == "epsilon" else exact
        object.__setattr__(self, "sensitivity", size)
        object.__setattr__(self, "scale", check_noise(exact, name=chosen))
        object.__setattr__(self, "step", read_step(step, noise=self.scale))

    @property
    def epsilon(self) -> Fraction:
        """The ε of the pure guarantee, exact."""
        return self.sensitivity / self.scale

    def release(self, value: ArrayLike) -> Any:
        """Return ``value`` plus noise, in the same shape. Each call spends ``guarantee``."""
        return self._noise.add_to(value)

    @cached_property
    def _noise(self) -> Noise:
        return Noise(self.scale, self.step, noise.DiscreteLaplace, noise.Laplace)

    @cached_property
    def guarantee(self) -> Pure | LaplacePair:
        """ε-differential privacy; with a stated ``step`` the tighter profile of that grid."""
        if self.step is None:
            return Pure(self.epsilon)
        if not self._noise.keeps_integers:  # real noise, rounded
            return LaplacePair(self.epsilon)
        # Integers get the discrete law, whose profile is the larger one at the same ε. But ints
        # move by whole steps and floats by any amount, so a fractional Δ has no single pair.
        whole = self.sensitivity.denominator == 1
        return (
            LaplacePair(self.epsilon, steps=int(self.sensitivity)) if whole else Pure(self.epsilon)
        )

    def error(self, confidence: Number = Fraction(95, 100)) -> float:
        """Return w such that |released − true| ≤ w with at least this probability.

        It holds for integers and for floats. With ``step=1`` it is the least such w for
        integers, and floats may be off by 1 more.
        """
        return self._noise.error(self.law, confidence)

    @property
    def variance(self) -> float:
        """The variance of the noise at a value on the grid, rounded up: 2·scale² and a little."""
        return self._noise.variance(self.law)

    def law(self, value: int | float | Fraction) -> laws.DiscreteLaplace | laws.RoundedLaplace:
        """Return the exact law of ``release(value)`` for one number, far from int64's edges."""
        if isinstance(value, Integral) and self._noise.keeps_integers:
            return laws.DiscreteLaplace(center=int(value), scale=self.scale)
        step = Fraction(2) ** step_exponent(self.scale, self.step)
        return laws.RoundedLaplace(center=value, scale=self.scale, step=step)
