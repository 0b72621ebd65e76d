"""The laws of the sparse vector technique: which scores come out above a noisy threshold.

Given the noisy threshold y, the answers are independent. With Laplace noise of scale a on the
threshold T and of scale b on each score, the answers have the probability

    ∫ e^(−|y − T|/a)/(2a) · Π_i P(scoreᵢ + bNᵢ − y lies where answer i says) dy,

where, piece by piece, the integrand is a sum of terms c·e^(ky). Such sums are kept as a map from
k to c and integrated term by term: exact except for the balls' rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from typing import TypeAlias

from discreet.laws.noisy_argmax import between, density, integral
from discreet.laws.value import DiscreteLaw, Value, exact_scores, exact_value
from discreet.numeric.balls import arb, ball, sharp
from discreet.numeric.exact import Number, integer, number, positive

Answer: TypeAlias = bool | float | Fraction | None
Lead = tuple[Fraction | None, Fraction | None]  # from, to; None means unbounded


@dataclass(frozen=True, init=False)
class SparseAnswers(DiscreteLaw):
    """The law of the answers to a list of scores, which end with the last of `hits` hits.

    An answer is True (at or above the noisy threshold) or False. Where a `step` is given, a hit
    is answered by its lead over the threshold, rounded to a multiple of the step, and anything
    else by None.

    >>> law = SparseAnswers((0, 3), threshold=2, threshold_scale=1, query_scale=2, hits=1)
    >>> law.pmf((True,)), law.pmf((False, True)), law.pmf((False, False))
    (0.2226970802415261, 0.4877057105564366, 0.2895972092020373)
    >>> law.pmf((True, False))                  # never asked after the only hit
    0.0
    """

    scores: tuple[Fraction, ...]
    threshold: Fraction
    threshold_scale: Fraction  #: a
    query_scale: Fraction  #: b
    hits: int
    step: Fraction | None

    def __init__(
        self,
        scores: Sequence[Value],
        *,
        threshold: Number,
        threshold_scale: Number,
        query_scale: Number,
        hits: int,
        step: Number | None = None,
    ) -> None:
        exact_step = None if step is None else positive(step, name="step")
        object.__setattr__(self, "scores", exact_scores(scores))
        object.__setattr__(self, "threshold", number(threshold, name="threshold"))
        object.__setattr__(
            self, "threshold_scale", positive(threshold_scale, name="threshold_scale")
        )
        object.__setattr__(self, "query_scale", positive(query_scale, name="query_scale"))
        object.__setattr__(self, "hits", integer(hits, name="hits", minimum=1))
        object.__setattr__(self, "step", exact_step)

    def mass(self, answers: Sequence[Answer]) -> arb:
        """P(answers) as a ball; 0 for answers that cannot occur."""
        leads = [lead for lead in map(self._lead, answers) if lead is not None]
        return self.leads(leads) if len(leads) == len(answers) else ball(0)

    def leads(self, leads: Sequence[Lead]) -> arb:
        """P(each score, noise included, leads the noisy threshold by `from` to `to`) as a ball.

        (None, 0) is no hit; (a, b) with a ≥ 0 is a hit, where b is None if it is unbounded.
        """
        if not self.can_end([lead[0] is not None for lead in leads]):
            return ball(0)
        factors = [density(self.threshold, rate=1 / self.threshold_scale)]
        knots = {self.threshold}
        for score, (start, end) in zip(self.scores, leads, strict=False):
            ends = tuple(None if lead is None else score - lead for lead in (start, end))
            factors.append(between(*ends, rate=1 / self.query_scale))
            knots.update(end for end in ends if end is not None)
        return sharp(lambda: integral(factors, sorted(knots)))

    @property
    def outcomes(self) -> Iterator[tuple[bool, ...]]:
        """Every list of True and False with which a run can end."""
        for size in range(1, len(self.scores) + 1):
            for answers in product((False, True), repeat=size):
                if self.can_end(answers):
                    yield answers

    def _lead(self, answer: Answer) -> Lead | None:
        """The range of score + noise − threshold; None if there is no such answer."""
        if self.step is None:
            return _lead_of(answer) if isinstance(answer, bool) else None
        if answer is None:
            return _lead_of(False)
        lead = exact_value(answer, name="answers")
        if isinstance(answer, bool) or lead < 0 or lead % self.step:
            return None
        return max(Fraction(0), lead - self.step / 2), lead + self.step / 2

    def can_end(self, hits: Sequence[bool]) -> bool:
        """Whether a run can end with these hits: after the last one, or with the scores."""
        if len(hits) > len(self.scores) or sum(hits[:-1]) >= self.hits:
            return False
        return sum(hits) == self.hits or len(hits) == len(self.scores)


@dataclass(frozen=True)
class FirstAbove(DiscreteLaw):
    """The law of the index of the first score above a noisy threshold; None if there is none.

    >>> answers = SparseAnswers((0, 3), threshold=2, threshold_scale=1, query_scale=2, hits=1)
    >>> FirstAbove(answers).pmf(1), FirstAbove(answers).pmf(None)
    (0.4877057105564366, 0.2895972092020373)
    """

    answers: SparseAnswers

    def mass(self, index: int | None) -> arb:
        """P(index) as a ball; 0 for what is not an index."""
        size = len(self.answers.scores)
        if index is None:
            return self.answers.mass((False,) * size)
        return self.answers.mass((False,) * index + (True,)) if 0 <= index < size else ball(0)

    @property
    def outcomes(self) -> tuple[int | None, ...]:
        """The indices and None."""
        return (*range(len(self.answers.scores)), None)


def _lead_of(above: Answer) -> Lead:
    return (Fraction(0), None) if above else (None, Fraction(0))
