"""Group privacy of any profile."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantees.document import GUARANTEE, WHOLE, named
from discreet.guarantees.guarantee import Guarantee, group_size
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import Band, FloatArray, widen


@dataclass(frozen=True, repr=False)
class GroupPrivacy(Guarantee):
    """What a guarantee for one person promises to k people together.

    Going from one neighbour to the next k times, hockey-stick divergences add up with weights
    1, e^x, …, e^((k−1)·x) (Vadhan 2017, Lemma 2.2), so

        δ_k(k·x) ≤ δ(x)·(e^(k·x) − 1)/(e^x − 1).
    """

    kind = "grouped"
    fields = named(single=GUARANTEE, size=WHOLE)
    _convex = False

    single: Guarantee
    size: int

    def group(self, k: int) -> Guarantee:
        """What is promised to k such groups together: that of one group k times as large."""
        return GroupPrivacy(self.single, self.size * group_size(k))

    @property
    def _symmetric(self) -> bool:
        return self.single._symmetric

    @property
    def _bounded(self) -> bool:
        return self.single._bounded

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return Fraction(0)  # what is known for certain; the bound itself may stay above

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return self.size * self.single._reach(tail, swapped=swapped)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        share = x / self.size
        one = self.single._over(share, swapped=swapped)
        if x == 0:
            return (self.size * one).min(ball(1))
        if one == 0:
            return ball(0)
        if x > 10**6:
            return ball(1)
        return (one * ball(x).expm1() / ball(share).expm1()).min(ball(1))

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        # x/k may round to either side: read the profile a little to each.
        share = x / self.size
        low = self.single._band(share * (1 + 2**-50), swapped=swapped).lower
        high = self.single._band(share * (1 - 2**-50), swapped=swapped).upper
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            grown = np.expm1(np.minimum(x, 709.0)) / np.expm1(share)
        growth = np.where(x > 0, grown, float(self.size))
        grown_high = np.where(high <= 0, 0.0, high * growth)
        return widen(np.minimum(low * growth, 1.0), grown_high, units=32)
