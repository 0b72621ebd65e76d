"""Discovering keys by noise: keep a key whose noisy count of units reaches a threshold.

A key that only one person holds must stay unseen but for a small chance. With noise Z on whole
counts the threshold is the least whole T ≥ 1 with P(1 + Z ≥ T) at most that chance. A key is
kept when its noisy count is T *or more*: the same event in the rule and in the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet import laws
from discreet.laws.tails import least_half_width
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Reaches:
    """The law of "X is at least the threshold", for a noisy count X."""

    count: laws.DiscreteLaplace | laws.RoundedLaplace | laws.RoundedGaussian
    threshold: int

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
