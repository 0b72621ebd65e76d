"""The law of the exponential mechanism: candidates weighted by e^(rate·score)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball, precision
from discreet.exact import Number, non_negative
from discreet.laws.value import Value, exact_scores
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

_BITS = 192  # sums of positive terms lose no more than a bit a doubling: 160 are left at 2³²


@dataclass(frozen=True, init=False)
class Gibbs:
    """P(i) ∝ e^(rate·scores[i]) over the indices of the scores.

    Also the law of the argmax of scores plus Gumbel noise of scale 1/rate, and, with the scores
    1, 0, ..., 0, that of k-ary randomized response with ε = rate.

    >>> Gibbs(scores=(0, 1), rate=1).pmf(1)
    0.7310585786300049
    >>> Gibbs(scores=(0, 10**6), rate=1).pmf(1)       # nothing under- or overflows
    1.0
    """

    scores: tuple[Fraction, ...]
    rate: Fraction

    def __init__(self, scores: Sequence[Value], rate: Number) -> None:
        object.__setattr__(self, "scores", exact_scores(scores))
        object.__setattr__(self, "rate", non_negative(rate, name="rate"))

    def mass(self, index: int) -> arb:
        """P(index) as a ball; 0 for what is not an index."""
        with precision(_BITS):
            if not 0 <= index < len(self.scores):
                return ball(0)
            return self._weight(self.scores[index]) / self._total

    def pmf(self, index: int) -> float:
        """P(index) as a float."""
        return float(self.mass(index))

    @property
    def outcomes(self) -> range:
        """The indices."""
        return range(len(self.scores))

    def log_weight(self, index: int) -> tuple[Fraction, Hashable]:
        """log P(index) up to what laws with the same scores in another order share."""
        return self.rate * self.scores[index], ("Gibbs", self.rate, tuple(sorted(self.scores)))

    def _weight(self, score: Fraction) -> arb:
        # Relative to the best: at most 1, and Arb's exponents do not underflow.
        return ball(self.rate * (score - self._best)).exp()

    @cached_property
    def _best(self) -> Fraction:
        return max(self.scores)

    @cached_property
    def _total(self) -> arb:
        with precision(_BITS):
            return sum((self._weight(score) for score in self.scores), start=ball(0))
