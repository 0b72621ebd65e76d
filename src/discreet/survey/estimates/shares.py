"""From counted reports to shares: unbiased, with standard errors and intervals.

``about`` says what an interval is about. "population": the respondents are a random sample of
many, and the interval holds the share among those many; it counts the sampling of the people and
the randomization. "respondents": the interval holds the share among these very people, and counts
the randomization alone. Either way it does so with the stated confidence for each answer by
itself, if the answer was named beforehand (see confidence.py for how exactly). For all answers
at once, and so for the largest of them, there are ``simultaneous`` intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.hints import meant
from discreet.lazy import cached_property
from discreet.release.adjustment import nearest_with_total
from discreet.survey.estimates.confidence import (
    About,
    Evidence,
    FloatArray,
    VarianceFunction,
    cut,
    enough,
    normal_quantile,
    score_interval,
    share_interval,
)
from discreet.survey.estimates.estimate import QuestionEstimate, table_of
from discreet.survey.estimates.tally import Tally
from discreet.survey.estimates.text import MOST_ANSWERS, percent, short
from discreet.survey.randomizers.randomizer import Randomizer

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.survey.questions import Question


@dataclass(frozen=True, eq=False, repr=False)
class Shares(QuestionEstimate):
    """The share of each answer to a question.

    ``values`` are unbiased, so they may lie below 0 or above 1 and need not add up to 1.
    ``intervals`` (one per row: low, high) are cut to 0 … 1. One that lies wholly outside is left
    there: of those about answers that nobody gave, up to one in forty does; if more do, the reports
    do not follow the law.

    95 % intervals cover 94.2 to 95.8 % where the number of reports that support an answer has a
    variance of 50 or more, and at least 95 % where fewer are expected (confidence.py).
    """

    name: str
    labels: Sequence[str]
    values: FloatArray
    standard_errors: FloatArray
    intervals: FloatArray
    respondents: int
    confidence: float
    about: About
    exclusive: bool = field(kw_only=True)  #: one answer excludes the others
    evidence: Evidence = field(kw_only=True)  #: the counts that all of this comes from
    together: bool = field(default=False, kw_only=True)  #: intervals hold for all answers at once

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, label: str) -> Share:
        """The share of one answer."""
        if label not in self.labels:
            known = ", ".join(self.labels[:20]) + (", …" if len(self.labels) > 20 else "")
            hint = meant(str(label), self.labels, '"{}"')
            raise InvalidArgument.of("label", f"one of {known}", label, hint=hint)
        at = self.labels.index(label)
        low, high = self.intervals[at].tolist()
        return Share(float(self.values[at]), float(self.standard_errors[at]), (low, high))

    @cached_property
    def noise(self) -> FloatArray:
        """How large the estimate of an answer that nobody gave may be by noise; see ``found``."""
        return self.evidence.noise(1 - Fraction(self.confidence))

    def simultaneous(self) -> Shares:
        """These shares with intervals that hold for all answers at once, however some are chosen.

        They are Clopper and Pearson's exact ends at 1 − (1 − confidence)/k for each of the k
        answers (Bonferroni): all of them hold with at least the stated confidence. With
        about="respondents" they are wider than necessary.
        """
        low, high = self.evidence.exact_interval((1 - Fraction(self.confidence)) / self.answers)
        return replace(self, intervals=cut(low, high), together=True)

    @property
    def answers(self) -> int:
        """How many answers there are to the question, shown here or not."""
        return self.evidence.answers

    def top(self, count: int = 10) -> Shares:
        """The largest estimated shares, the largest first, with ``simultaneous`` intervals.

        Answers that were lucky are more often among them, so their estimates are too large on
        average, and intervals for one answer would not hold for them. ``found`` says whether
        anybody gave such an answer at all.
        """
        return self._some(np.argsort(-self.values, kind="stable")[:count]).simultaneous()

    def found(self) -> Shares:
        """The answers that some people surely gave, the largest first, intervals as in ``top``.

        The probability that noise alone lifts any other answer this high is at most 1 − confidence
        for all of them together, by the exact tail of the binomial at (1 − confidence)/k for each
        of k answers.
        """
        order = np.argsort(-self.values, kind="stable")
        return self._some(order[self.values[order] > self.noise[order]]).simultaneous()

    def _some(self, chosen: NDArray[np.intp]) -> Shares:
        return replace(
            self,
            labels=tuple(self.labels[at] for at in chosen.tolist()),
            values=self.values[chosen],
            standard_errors=self.standard_errors[chosen],
            intervals=self.intervals[chosen],
            exclusive=False,  # a part of the answers need not add up to 1
            evidence=self.evidence.some(chosen),
        )

    def projected(self) -> Projected:
        """The nearest proper shares: at least 0, with sum 1 where one answer excludes the others.

        They are labelled as post-processing: biased, and without intervals.
        """
        nearest = to_simplex(self.values) if self.exclusive else to_box(self.values)
        return Projected(tuple(self.labels), nearest)

    def to_arrow(self) -> pa.Table:
        """A table with one row for each answer."""
        low, high = map(np.ascontiguousarray, self.intervals.T)
        return table_of(self.name, list(self.labels), self.values, self.standard_errors, low, high)

    @property
    def at_once(self) -> int:
        """How many answers the intervals hold for at once, as they are printed."""
        return self.answers if self.together or len(self) > MOST_ANSWERS else 0

    def rows(self) -> Iterator[tuple[str, str, str]]:
        """All answers; of many, the largest that were surely given."""
        many = len(self) > MOST_ANSWERS
        found = self.found() if many else self
        shown = found.top(MOST_ANSWERS) if many else self
        for label, value, (low, high) in zip(
            shown.labels, shown.values.tolist(), shown.intervals.tolist(), strict=True
        ):
            half = (high - low) / 2
            yield (
                short(label),
                percent(value, half),
                f"{percent(low, half)} … {percent(high, half)}",
            )
        if left := len(found) - len(shown):
            yield f"… and {left:,} smaller one{'s' * (left > 1)}", "", ""
        if hidden := len(self) - len(found):
            least = min(float(self.noise.max()), 1.0)
            yield f"{hidden:,} that may be noise alone", f"≤ {percent(least, least)}", ""

    def chart(self, most: int) -> tuple[Any, str]:
        """A bar for each share; the largest of many, which are too large on average."""
        from discreet.survey.estimates.plot import bars

        shown = self.top(most) if len(self) > most else self
        many = f"the largest {len(shown)} of {self.answers:,}, " if len(shown) > 1 else ""
        note = f"{many}too large on average; intervals for all {self.answers:,} answers at once"
        return bars(shown), note if shown.together else ""


@dataclass(frozen=True)
class Share:
    """The estimated share of one answer."""

    value: float
    standard_error: float
    interval: tuple[float, float]


def estimate_shares(
    question: Question, tally: Tally, *, confidence: Fraction, about: About
) -> Shares:
    """Shares from the supports that were counted."""
    evidence = Evidence.of(tally.randomizer, tally.supports, tally.asked)
    found = from_evidence(evidence, tally.respondents, confidence=confidence, about=about)
    name, labels = question.name, question.categories
    facts = tally.respondents, float(confidence), about
    return Shares(name, labels, *found, *facts, exclusive=question.exclusive, evidence=evidence)


def from_evidence(
    evidence: Evidence, respondents: int, *, confidence: Fraction, about: About
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values, standard errors and intervals, from the evidence that was counted."""
    values = evidence.estimated(evidence.supports)
    part = (respondents - evidence.asked) / max(respondents - 1, 1)
    spread = VarianceFunction.of_share(
        inside=evidence.inside,
        outside=evidence.outside,
        drawn=1.0 if about == "population" else part,
    )
    ends = share_interval(evidence, spread, confidence)
    # At the estimate, or at the nearest possible share, so it is never 0 by an unlucky draw.
    nearest = np.clip(np.nan_to_num(values), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        errors = np.sqrt(spread.at(nearest) / evidence.asked)
    return values, errors, cut(*ends)


def share_reach(
    randomizer: Randomizer, confidence: Fraction, share: float | None, about: About
) -> Callable[[int], float]:
    """Half the width of the interval of a share, for n respondents; at the worst if none is
    given."""
    inside, outside, part = randomizer.inside, randomizer.outside, randomizer.part
    gain, z = float(inside - outside), normal_quantile(confidence)
    drawn = 1.0 if about == "population" else 1.0 - part
    spread = VarianceFunction.of_share(inside=inside, outside=outside, drawn=drawn)
    least = enough(confidence)
    at = spread.worst_share() if share is None else share

    def reach(n: int) -> float:
        if n * part * gain**2 * spread.at(at) >= least:
            low, high = score_interval(np.array([at]), n * part, spread, z)
            return float(high[0] - low[0]) / 2
        asked = max(round(n * part), 1)
        supports = round(asked * (float(outside) + gain * at))
        counts = np.array([supports]), np.array([asked])
        low, high = share_interval(Evidence(*counts, inside, outside, 1), spread, confidence)
        return float(max(high[0] - at, at - low[0]))  # one end may be cut off at 0 or 1

    return reach


# -- projection to proper shares: none below 0, a sum of 1 if one answer excludes the others -------
# Unbiased estimates may lie below 0 or add up to 1.03. Those who need proper shares, to draw them
# or to simulate from them, take the nearest proper ones. That is post-processing. It costs nothing,
# but small shares come out too large on average and large ones too small, so the result carries a
# label and no intervals.


LABEL: Final = "projected: post-processing, biased, no intervals"


@dataclass(frozen=True, eq=False)
class Projected:
    """Proper shares near unbiased estimates, and the label that goes with them.

    >>> Projected(("red", "blue", "green"), np.array([0.8, 0.3, 0.0]))
    red 80.0 %, blue 30.0 %, green 0.0 % (projected: post-processing, biased, no intervals)
    """

    labels: tuple[str, ...]
    values: FloatArray
    label: str = LABEL

    def __repr__(self) -> str:
        shown = list(zip(self.labels, self.values.ravel().tolist(), strict=False))[:8]
        more = [f"… and {self.values.size - 8:,} more"] if self.values.size > 8 else []
        parts = [*(f"{label} {100 * value:.1f} %" for label, value in shown), *more]
        return f"{', '.join(parts)} ({self.label})"


def to_simplex(values: FloatArray) -> FloatArray:
    """The nearest shares that are at least 0 and add up to 1 (Duchi et al. 2008).

    >>> to_simplex(np.array([0.9, 0.3, -0.1])).round(3).tolist()
    [0.8, 0.2, 0.0]
    """
    flat = nearest_with_total(values.ravel(), np.ones(values.size), 1.0)
    return flat.reshape(values.shape)


def to_box(values: FloatArray) -> FloatArray:
    """The nearest shares between 0 and 1, for answers that do not exclude each other."""
    return np.clip(values, 0.0, 1.0)
