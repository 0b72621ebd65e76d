"""Laws on finitely many outcomes, given by their weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real

from discreet.errors import InvalidArgument
from discreet.laws.value import DiscreteLaw, Value, exact_scores
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, precision
from discreet.numeric.exact import Number, non_negative


@dataclass(frozen=True, init=False)
class Finite(DiscreteLaw):
    """P(outcome) = its weight over the sum of the weights; exact.

    >>> law = Finite(outcomes=("yes", "no"), weights=(3, 1))      # randomized response, ε = ln 3
    >>> law.probability("yes")
    Fraction(3, 4)
    >>> law.pmf("perhaps")
    0.0
    """

    outcomes: tuple[Hashable, ...]
    weights: tuple[Fraction, ...]

    def __init__(self, outcomes: Sequence[Hashable], weights: Sequence[Number]) -> None:
        exact = tuple(non_negative(weight, name="weights") for weight in weights)
        distinct = len(set(map(_name, outcomes)))
        if len(outcomes) != len(exact) or distinct != len(exact) or not any(exact):
            raise InvalidArgument(
                "weights",
                "one for each of the distinct outcomes, not all 0",
                f"{len(exact)} weights and {distinct} distinct outcomes",
            )
        object.__setattr__(self, "outcomes", tuple(outcomes))
        object.__setattr__(self, "weights", exact)

    def probability(self, outcome: Hashable) -> Fraction:
        """P(X = outcome), exact; 0 for what is not an outcome."""
        outcomes = self.outcomes
        if (name := _name(outcome)) is not outcome:
            outcome, outcomes = name, tuple(map(_name, outcomes))
        if outcome not in outcomes:
            return Fraction(0)
        return self.weights[outcomes.index(outcome)] / sum(self.weights)

    def mass(self, outcome: Hashable) -> arb:
        """P(X = outcome) as a ball."""
        with precision(128):
            return ball(self.probability(outcome))

    def pmf(self, outcome: Hashable) -> float:
        """P(X = outcome) as the nearest float."""
        return float(self.probability(outcome))


_NAN = object()


def _name(outcome: Hashable) -> Hashable:
    """A key to look an outcome up by: NaN does not equal itself, but it is one outcome."""
    return _NAN if isinstance(outcome, Real) and outcome != outcome else outcome


# -- the law of the exponential mechanism ----------------------------------------------------------


_BITS = 192  # a sum of positive terms loses at most one bit per doubling: 160 are left at 2³²


@dataclass(frozen=True, init=False)
class Gibbs(DiscreteLaw):
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

    @property
    def outcomes(self) -> range:
        """The indices."""
        return range(len(self.scores))

    def log_weight(self, index: int) -> tuple[Fraction, Hashable]:
        """log P(index), less a term shared by all laws with these scores in any order."""
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
