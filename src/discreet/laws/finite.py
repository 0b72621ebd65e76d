"""A law on finitely many outcomes, given by their weights."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING

from discreet.balls import ball, precision
from discreet.errors import InvalidArgument
from discreet.exact import Number, non_negative

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False)
class Finite:
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
                name="weights",
                expected="one for each of the distinct outcomes, not all 0",
                given=f"{len(exact)} weights and {distinct} distinct outcomes",
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
    """NaN equals nothing, not even itself, but as an outcome it is one."""
    return _NAN if isinstance(outcome, Real) and outcome != outcome else outcome
