"""Randomized response over k categories: the exact pair."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantees.document import NUMBER, WHOLE, named
from discreet.guarantees.guarantee import Guarantee, LossBound, N, group_size
from discreet.guarantees.pure import Pure, response_atoms
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import Atoms, Band, FloatArray, ends, widen
from discreet.numeric.exact import Number, integer, non_negative

_MOST = 10**18


@dataclass(frozen=True, init=False, repr=False)
class ResponsePair(LossBound):
    """k-ary randomized response: the truth is e^ε times as likely as each other category.

    ``epsilon`` is ε, and ``categories`` is k. With two categories it is `Pure(ε)`; with more, two
    true answers share the other k − 2.

    >>> ResponsePair(epsilon=1, categories=2).tv
    0.4621171572600098
    >>> ResponsePair(epsilon=1, categories=10).tv
    0.14663257409341549
    """

    kind = "response"
    fields = named(epsilon=NUMBER, categories=WHOLE)

    epsilon0: Fraction
    categories: int

    def __init__(self, epsilon: Number, categories: int) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))
        count = integer(categories, name="categories", minimum=2, maximum=_MOST)
        object.__setattr__(self, "categories", count)

    def group(self, k: int) -> Guarantee:
        """What is promised to k people who answer once each, together: k·ε₀."""
        return self if group_size(k) == 1 else Pure(self.epsilon0 * k)

    def _to(self, notion: type[N]) -> N:
        return notion._of_response(self.epsilon0, self.categories)

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        return response_atoms(self.epsilon0, categories=self.categories)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        # (e^ε − e^x)/(e^ε + k − 1): only the true category loses more than x.
        if x >= self.epsilon0:
            return ball(0)
        others = (self.categories - 1) * (-ball(self.epsilon0)).exp()
        return -ball(x - self.epsilon0).expm1() / (1 + others)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        low, high = (
            -np.expm1(np.minimum(x - end, 0.0)) / (1 + (self.categories - 1) * np.exp(-end))
            for end in ends(self.epsilon0)
        )
        return widen(low, high, units=32)
