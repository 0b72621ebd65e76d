"""Approximate differential privacy: pure ε, except with probability δ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.guarantees.guarantee import Guarantee, group_size, unit_interval
from discreet.guarantees.pure import Pure, pure_band, pure_profile, response_atoms
from discreet.hints import spelled
from discreet.numeric.balls import ball, sharp, upper_fraction
from discreet.numeric.bands import LARGEST, Atoms, Band, FloatArray, ends, widen
from discreet.numeric.exact import Number, non_negative

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class Approx(Guarantee):
    """(ε, δ)-differential privacy: P(E) ≤ e^ε·Q(E) + δ for every event E and all neighbours.

    ``epsilon`` is ε, 0 or above. ``delta`` is δ, from 0 to 1; to mean anything it should be far
    below one over the number of people: 1e-6, say.

    >>> promise = Approx(epsilon=1, delta=1e-5)
    >>> promise.delta(1), promise.delta(2)       # δ₀ never goes away
    (1e-05, 1e-05)
    >>> promise.epsilon(0)
    inf
    """

    epsilon0: Fraction  #: the promised ε, exact
    delta0: Fraction  #: the promised δ, exact

    @spelled
    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))
        object.__setattr__(self, "delta0", unit_interval(delta, name="delta"))

    def __repr__(self) -> str:
        return f"Approx(epsilon={self.epsilon0!r}, delta={self.delta0!r})"

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at ``delta``, rounded up; infinite below δ₀."""
        target = unit_interval(delta, name="delta")
        if target < self.delta0:
            return math.inf
        if target == 1:
            return 0.0
        # δ₀ + (1 − δ₀)·p(ε) ≤ δ, solved exactly for the profile p of the pure part.
        return Pure(self.epsilon0).epsilon((target - self.delta0) / (1 - self.delta0))

    def group(self, k: int) -> Approx:
        """What is promised to k people together: k·ε₀ and δ₀·(1 + e^ε₀ + … + e^((k−1)·ε₀)).

        >>> Approx(epsilon=0, delta=0.01).group(3)
        Approx(epsilon=Fraction(0, 1), delta=Fraction(3, 100))
        """
        size = group_size(k)
        if self.epsilon0 == 0 or self.delta0 == 0 or size == 1:
            return Approx(self.epsilon0 * size, min(Fraction(1), self.delta0 * size))
        # By the triangle inequality for hockey-stick divergences (Vadhan 2017, Lemma 2.2).
        if self.epsilon0 * size > 10**6:  # e^(k·ε₀) is beyond any δ₀ that was typed in
            return Approx(self.epsilon0 * size, 1)
        grown = sharp(lambda: ball(self.epsilon0 * size).expm1() / ball(self.epsilon0).expm1())
        return Approx(self.epsilon0 * size, min(Fraction(1), self.delta0 * upper_fraction(grown)))

    @property
    def _bounded(self) -> bool:
        return self.delta0 == 0

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return self.delta0

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return float(min(self.epsilon0, LARGEST))

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        return response_atoms(self.epsilon0, categories=2, share=ends(1 - self.delta0)[1])

    def _over(self, x: Fraction) -> arb:
        # The worst pair fails outright with probability δ₀ and is randomized response otherwise
        # (Kairouz, Oh and Viswanath 2015).
        return ball(self.delta0) + ball(1 - self.delta0) * pure_profile(self.epsilon0, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        pure, (low, high) = pure_band(self.epsilon0, x), ends(self.delta0)
        return widen(low + (1 - low) * pure.lower, high + (1 - high) * pure.upper, units=8)
