"""Approximate differential privacy: pure ε, except with probability δ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, non_negative
from discreet.guarantees.profile import delta_at, unit_interval
from discreet.guarantees.pure import Pure, pure_profile

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class Approx:
    """(ε, δ)-differential privacy.

    >>> promise = Approx(epsilon=1, delta=1e-5)
    >>> promise.delta(1), promise.delta(2)       # δ₀ never goes away
    (1e-05, 1e-05)
    >>> promise.epsilon(0)
    inf
    """

    epsilon0: Fraction  #: the promised ε, exact
    delta0: Fraction  #: the promised δ, exact

    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))
        object.__setattr__(self, "delta0", unit_interval(delta, name="delta"))

    def __repr__(self) -> str:
        return f"Approx(epsilon={self.epsilon0!r}, delta={self.delta0!r})"

    def delta(self, epsilon: Number) -> float:
        """δ₀ from ε₀ on; below, the profile of the worst pair (Kairouz, Oh, Viswanath 2015)."""
        return delta_at(self._profile, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at this δ, rounded up; infinite below δ₀."""
        target = unit_interval(delta, name="delta")
        if target < self.delta0:
            return math.inf
        if target == 1:
            return 0.0
        # δ₀ + (1 − δ₀)·p(ε) ≤ δ, solved exactly for the profile p of the pure part.
        return Pure(self.epsilon0).epsilon((target - self.delta0) / (1 - self.delta0))

    @property
    def tv(self) -> float:
        """δ₀ + (1 − δ₀)·tanh(ε₀/2), rounded up."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """Hit rate minus false-alarm rate of the best attacker: the total variation."""
        return self.tv

    def _profile(self, x: Fraction) -> arb:
        # The worst pair fails outright with probability δ₀ and is randomized response otherwise.
        return ball(self.delta0) + ball(1 - self.delta0) * pure_profile(self.epsilon0, x)
