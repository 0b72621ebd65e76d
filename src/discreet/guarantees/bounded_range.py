"""Bounded range: all privacy losses of one pair lie in an interval of length ε."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.guarantee import LossBound, N, group_size
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import Band, FloatArray, ends, widen
from discreet.numeric.exact import Number, non_negative


@dataclass(frozen=True, init=False, repr=False)
class BoundedRange(LossBound):
    """ε-bounded range: what the exponential mechanism and Gumbel noise give; ``epsilon`` is ε.

    It is about half as revealing as `Pure(ε)`, which it implies: the losses may not be ε for
    one output and −ε for another. (Durfee and Rogers 2019; Dong, Durfee and Rogers 2020.)

    >>> BoundedRange(epsilon=1).tv          # tanh(ε/4)
    0.24491866240370913
    """

    kind = "bounded range"
    fields = named(epsilon=NUMBER)

    epsilon0: Fraction  #: the length of the interval; pure ε-differential privacy holds too

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))

    def group(self, k: int) -> BoundedRange:
        """What is promised to k people together: intervals add up to k·ε₀."""
        return BoundedRange(self.epsilon0 * group_size(k))

    def _to(self, notion: type[N]) -> N:
        return notion._of_bounded_range(self.epsilon0)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        """The worst pairs have two losses, t and t − ε, and the profile

            (1 − e^(t−ε))·(1 − e^(x−t))/(1 − e^(−ε)),

        largest at t = (x + ε)/2. The supremum is convex in e^x, so it is a profile itself:

            δ(x) = (1 − e^((x−ε)/2))²/(1 − e^(−ε)).
        """
        if x >= self.epsilon0:
            return ball(0)
        root = ball((x - self.epsilon0) / 2).expm1()
        return root * root / -(-ball(self.epsilon0)).expm1()

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        if self.epsilon0 == 0:
            return Band(np.zeros_like(x), np.zeros_like(x))
        low, high = (
            np.expm1(np.minimum(x - end, 0.0) / 2) ** 2 / -np.expm1(-end)
            for end in ends(self.epsilon0)
        )
        return widen(low, high, units=32)
