"""The Laplace law against its shifted self: the exact profile, on the reals and on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, integer, non_negative
from discreet.guarantees.profile import delta_at, epsilon_at, group_size

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class LaplacePair:
    """Laplace noise of scale t under a shift of Δ, with ε = Δ/t: tighter than `Pure(ε)`.

    With `steps=None` the noise is real. With `steps=n` it is the discrete law
    P(k) ∝ e^(−|k|/t) on a grid where the shift is n whole steps.

    >>> LaplacePair(epsilon=2).delta(0.5)              # scale 2, Δ = 4
    0.5276334472589853
    >>> LaplacePair(epsilon=2, steps=4).delta(0.5)
    0.5420200181710241
    >>> LaplacePair(epsilon=1, steps=1).tv             # one step: that of randomized response
    0.4621171572600098
    """

    epsilon0: Fraction  #: Δ/t, exact: pure ε-differential privacy holds too
    steps: int | None  #: Δ in grid steps; None on the reals

    def __init__(self, epsilon: Number, steps: int | None = None) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))
        object.__setattr__(
            self, "steps", None if steps is None else integer(steps, name="steps", minimum=1)
        )

    def __repr__(self) -> str:
        return f"LaplacePair(epsilon={self.epsilon0!r}, steps={self.steps!r})"

    def delta(self, epsilon: Number) -> float:
        """The exact profile, rounded up; 0 from ε₀ on."""
        return delta_at(self._profile, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at this δ, rounded up."""
        return epsilon_at(self._profile, delta, reaches_zero=True)

    @property
    def tv(self) -> float:
        """Total variation, rounded up: 1 − e^(−ε₀/2) on the reals."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """Hit rate minus false-alarm rate of the best attacker: the total variation."""
        return self.tv

    def group(self, k: int) -> LaplacePair:
        """What is promised to k people together: the same noise under k times the shift."""
        size = group_size(k)
        return LaplacePair(
            self.epsilon0 * size, steps=None if self.steps is None else self.steps * size
        )

    def _profile(self, x: Fraction) -> arb:
        if x >= self.epsilon0:
            return ball(0)
        if self.steps is None:
            # Outputs up to (Δ − x·t)/2 have a loss above x: 1 − e^((x − ε₀)/2)
            return -ball((x - self.epsilon0) / 2).expm1()
        return _discrete_profile(self.epsilon0, self.steps, x)


def _discrete_profile(epsilon: Fraction, steps: int, x: Fraction) -> arb:
    """δ(x) of the discrete Laplace law at 0 against the one at n = steps, for 0 ≤ x < ε.

    With r = e^(−1/t) = e^(−ε/n), the output k loses (|n − k| − |k|)/t, which is at least x up
    to m = ⌊(n − x·t)/2⌋. Those outputs are the best event, so with two geometric sums

        δ(x) = P(K ≤ m) − e^x·P(K ≤ m − n) = 1 − (r^(m+1) + e^x·r^(n−m))/(1 + r).
    """
    rate = epsilon / steps  # 1/t
    m = floor((steps - x / rate) / 2)
    r = (-ball(rate)).exp()
    above = (-ball((m + 1) * rate)).exp()
    below = ball(x - (steps - m) * rate).exp()
    return 1 - (above + below) / (1 + r)
