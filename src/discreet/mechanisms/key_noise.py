"""Discovering keys by noise: keep a key whose noisy count of units reaches a threshold.

A key that only one person holds must stay unseen but for a small chance. With noise Z on whole
counts the threshold is the least whole T ≥ 1 with P(1 + Z ≥ T) at most that chance. A key is
kept when its noisy count is T *or more*: the same event in the rule and in the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet import laws
from discreet.balls import upper
from discreet.guarantees import GDP, Pure
from discreet.guarantees.key_pair import KeyPair
from discreet.laws.tails import least_half_width
from discreet.lazy import cached_property
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Reaches:
    """The law of "X is at least the threshold", for a noisy count X."""

    count: laws.DiscreteLaplace | laws.RoundedLaplace | laws.RoundedGaussian
    threshold: int

    @property
    def outcomes(self) -> tuple[bool, bool]:
        """Not kept, kept."""
        return False, True

    def mass(self, outcome: bool) -> arb:
        """P(outcome) as a ball."""
        if not outcome:
            return self.count.cdf(self.threshold - 1)
        # By symmetry P(X ≥ T) = P(X ≤ 2c − T): a small number, not one minus a large one.
        return self.count.cdf(2 * self.count.center - self.threshold)

    def pmf(self, outcome: bool) -> float:
        """P(outcome) as a float."""
        return float(self.mass(outcome))


@dataclass(frozen=True)
class KeyNoise:
    """Keeps a key with probability P(n + Z ≥ T), n its count and Z the mechanism's noise."""

    mechanism: Laplace | Gaussian
    chance: Fraction  #: that a key of one unit is kept, at most

    @cached_property
    def threshold(self) -> int:
        """The least whole T ≥ 1 with P(1 + Z ≥ T) ≤ chance."""
        zero = self.mechanism.law(0)
        # P(1 + Z ≥ 1 + w) = P(Z ≥ w) = P(Z ≤ −w)
        return 1 + least_half_width(lambda w: zero.cdf(-w), 1 - self.chance)

    @cached_property
    def lone_chance(self) -> Fraction:
        """The probability that a key of one unit is kept, rounded up."""
        return min(self.chance, Fraction(upper(self.law(1).mass(True))))

    @property
    def hides(self) -> Pure | GDP:
        """What the noise promises for a count that one unit moves from n ≥ 1 to n + 1.

        Comparing with a threshold takes nothing from it. For Laplace noise it adds nothing
        either: at n = T − 1 ≥ 1 the coins are r/(1 + r) and 1/(1 + r), r = e^(−1/scale), which
        is randomized response. For Gaussian noise see `pair`.
        """
        if isinstance(self.mechanism, Laplace):
            return Pure(1 / self.mechanism.scale)
        return GDP(1 / self.mechanism.sigma)

    @property
    def pair(self) -> KeyPair:
        """What one key tells: it is the unit's alone, or it is not. Exact for T ≥ 2.

        The noise alone would allow coins at any distance c = T − n − 1 from the threshold. Of
        those with n < 1 there are none, but they are no worse than the lone key: with the unit
        first, such a coin's profile is at most P(Z ≥ c) ≤ P(Z ≥ T − 1).
        """
        gaussian = isinstance(self.hides, GDP)
        return KeyPair(coins=[(0, self.lone_chance)], base=self.hides, stepwise=gaussian)

    def keep(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Compare each count plus noise with the threshold; a key without units is not kept."""
        kept: NDArray[np.bool_] = self.mechanism.release(counts) >= self.threshold
        kept &= counts > 0
        return kept

    def law(self, n: int) -> Reaches | laws.Finite:
        """The law of "kept" for a key of n units."""
        if n <= 0:
            return laws.Finite((False, True), (1, 0))
        return Reaches(self.mechanism.law(n), self.threshold)

    def least_size(self, confidence: Fraction) -> int:
        """The least n that is kept with at least this probability."""
        zero = self.mechanism.law(0)
        # P(n + Z < T) = P(Z ≤ T − 1 − n), which falls with n
        n = least_half_width(lambda n: zero.cdf(self.threshold - 1 - n), confidence)
        return max(1, n)
