"""Gaussian differential privacy: no easier to tell apart than N(0, 1) and N(μ, 1)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, non_negative
from discreet.guarantees.profile import delta_at, epsilon_at, group_size
from discreet.laws.normal import upper_normal

if TYPE_CHECKING:
    from flint import arb

# Arb's exponential has no ball beyond about e^(10³⁰). The profile never increases, so reading
# it here for a larger x is still an upper bound.
_LARGEST_EXPONENT = Fraction(10**25)


@dataclass(frozen=True, init=False, repr=False)
class GDP:
    """μ-Gaussian differential privacy: exactly what Gaussian noise of σ = Δ/μ gives.

    >>> promise = GDP(mu=1)
    >>> promise.tv                   # 2Φ(μ/2) − 1
    0.38292492254802624
    >>> promise.delta(1)
    0.12693673750664397
    >>> promise.group(2)
    GDP(mu=Fraction(2, 1))
    """

    mu: Fraction

    def __init__(self, mu: Number) -> None:
        object.__setattr__(self, "mu", non_negative(mu, name="mu"))

    def __repr__(self) -> str:
        return f"GDP(mu={self.mu!r})"

    def delta(self, epsilon: Number) -> float:
        """Φ(−ε/μ + μ/2) − e^ε·Φ(−ε/μ − μ/2) (Balle and Wang 2018; Dong, Roth and Su 2022)."""
        return delta_at(self._profile, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at this δ, rounded up; infinite at δ = 0."""
        return epsilon_at(self._profile, delta, reaches_zero=self.mu == 0)

    @property
    def tv(self) -> float:
        """2Φ(μ/2) − 1, rounded up."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """Hit rate minus false-alarm rate of the best attacker: the total variation."""
        return self.tv

    def group(self, k: int) -> GDP:
        """What is promised to k people together: k·μ (Dong, Roth and Su 2022, Theorem 2.14)."""
        return GDP(self.mu * group_size(k))

    def _profile(self, x: Fraction) -> arb:
        return gaussian_profile(self.mu, x)


def gaussian_profile(mu: Fraction, x: Fraction) -> arb:
    """δ(x) of N(μ, 1) against N(0, 1), for x ≥ 0.

    >>> print(gaussian_profile(Fraction(1), Fraction(1)).str(10, radius=False))
    0.1269367375
    """
    if mu == 0:
        return ball(0)
    x = min(x, _LARGEST_EXPONENT)
    # Φ(−x/μ + μ/2) − e^x·Φ(−x/μ − μ/2)
    return upper_normal(x / mu - mu / 2) - ball(x).exp() * upper_normal(x / mu + mu / 2)
