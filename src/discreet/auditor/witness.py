"""A witness: the event that shows it, and how to see it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from discreet.auditor.region import Counts, corners
from discreet.auditor.statistical.events import Event
from discreet.auditor.statistical.parameters import Question
from discreet.auditor.statistical.sampling import BatchRaised, Run, Sampler
from discreet.auditor.subject import Subject
from discreet.exact import integer


@dataclass(frozen=True, eq=False)
class Witness:
    """An event that is likelier under pair[first] than the claim allows, or came nearest to it.

    The probabilities are bounds, valid together with the finding's confidence.
    """

    first: int  #: pair[first] is the input under which the event is likelier
    event: Event
    counts: Counts = field(repr=False)
    probability: float  #: at least this under pair[first] ...
    other_probability: float  #: ... and at most this under the other
    epsilon: float  #: a lower bound on ε at the claimed δ
    delta: float  #: a lower bound on δ at the claimed ε
    question: Question = field(repr=False)
    risk: float = field(repr=False)
    pair: tuple[Any, Any] = field(repr=False)

    @property
    def hits(self) -> tuple[int, int]:
        """How often it was seen under pair[first], and in how many runs."""
        return self.counts.hits, self.counts.n

    @property
    def other_hits(self) -> tuple[int, int]:
        """The same under the other input."""
        return self.counts.other_hits, self.counts.other_n

    @property
    def one_sided(self) -> bool:
        """Whether it was never seen under the other input, as when ε is infinite."""
        return self.counts.other_hits == 0 < self.counts.hits

    def replay(self, run: Run, *, samples: int = 100_000, batched: bool = False) -> Replayed:
        """Draw anew from both inputs and test this event alone, at the same confidence.

        ``run`` is what was audited, or what was repaired since.
        """
        many = integer(samples, name="samples", minimum=1)
        run, batched = Subject.of(run).drawn(batched)
        sampler = Sampler(run, self.pair, batched, reader=self.event.reader)
        try:
            counts = self._counted(sampler, many)
        except BatchRaised:
            counts = self._counted(sampler.one_by_one(), many)
        # In batches there may be two attempts, of which one counts: each at half the risk.
        bound, violated = judge(self.question, counts, self.risk / 2 if batched else self.risk)
        return Replayed(violated, bound, counts)

    def _counted(self, sampler: Sampler, many: int) -> Counts:
        found = [0, 0]
        for side in (self.first, 1 - self.first):
            left = many
            while left:
                size = min(left, sampler.chunk)
                found[side] += int(self.event.mask(sampler.draw(side, size)).sum())
                left -= size
        return Counts(found[self.first], many, found[1 - self.first], many)


@dataclass(frozen=True)
class Replayed:
    """What a witness showed when it was tried again."""

    violated: bool
    lower_bound: float  #: in the claim's own parameter
    counts: Counts


def judge(question: Question, counts: Counts, risk: float) -> tuple[float, bool]:
    """The bound on the claim's own parameter, and whether the claim is contradicted."""
    p, q = corners(counts, risk)
    bound = float(question.reported.least(p, q).min())
    deciding = question.parameters[0]
    return bound, deciding.exceeded_by(float(deciding.least(p, q).min()))
