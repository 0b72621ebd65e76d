"""The law of the winner of a noisy race together with its lead over the runner-up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball, precision
from discreet.errors import InvalidArgument
from discreet.exact import Number, positive
from discreet.laws.noisy_argmax import NoisyArgmax
from discreet.laws.value import Value, exact_scores, exact_value

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False)
class NoisyLead:
    """Which of at least two scores plus Laplace noise is largest, and by how many steps.

    To lead by more than g is to win with a score that is lower by g, so every probability is a
    difference of two of `NoisyArgmax`.

    >>> law = NoisyLead(scores=(0, 1), scale=1, step=1)
    >>> law.pmf((1, 0)), law.pmf((1, 2))
    (0.10317208144181415, 0.18384277219051978)
    """

    scores: tuple[Fraction, ...]
    scale: Fraction
    step: Fraction

    def __init__(self, scores: Sequence[Value], scale: Number, step: Number) -> None:
        object.__setattr__(self, "scores", exact_scores(scores))
        object.__setattr__(self, "scale", positive(scale, name="scale"))
        object.__setattr__(self, "step", positive(step, name="step"))
        if len(self.scores) < 2:
            raise InvalidArgument(name="scores", expected="at least two", given="one")

    def mass(self, outcome: tuple[int, Value]) -> arb:
        """P(index, gap) as a ball; 0 for what is not an index or not a multiple of the step."""
        index, gap = outcome[0], exact_value(outcome[1], name="gap")
        if not 0 <= index < len(self.scores) or gap < 0 or gap % self.step:
            return ball(0)
        nearest, farthest = max(Fraction(0), gap - self.step / 2), gap + self.step / 2
        with precision(192):
            return self.leads_by(index, nearest) - self.leads_by(index, farthest)

    def pmf(self, outcome: tuple[int, Value]) -> float:
        """P(index, gap) as a float."""
        return float(self.mass(outcome))

    def leads_by(self, index: int, lead: Fraction) -> arb:
        """P(index wins by `lead` or more, before any rounding) as a ball."""
        scores = list(self.scores)
        scores[index] -= lead
        return NoisyArgmax(scores, scale=self.scale, noise="laplace").mass(index)
