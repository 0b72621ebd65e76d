"""How many respondents a survey needs for what it should find out.

The number is the least n whose interval is narrow enough at the share where intervals are widest
(or at the share that is expected). It is read from the very intervals that the result will have,
so plan and result agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.errors import InvalidArgument, Refused
from discreet.exact import Number, number, positive
from discreet.survey.estimating.intervals import (
    About,
    Spread,
    normal_quantile,
    read_about,
    read_confidence,
    score_interval,
)
from discreet.survey.questionnaire import Questionnaire
from discreet.survey.questions import Question

if TYPE_CHECKING:
    import pyarrow as pa

_CONFIDENCE: Final = Fraction(95, 100)
_EPSILONS: Final = tuple(Fraction(e) for e in ("1/4", "1/2", "1", "3/2", "2", "3", "4", "6"))
_MOST: Final = 10**15  # more people than there are: nothing is that sure


def plan(
    asked: Questionnaire | Question,
    *,
    half_width: Number,
    confidence: Number = _CONFIDENCE,
    share: Number | None = None,
    about: About = "population",
) -> Plan:
    """How many respondents make every interval at most value ± ``half_width``.

    0.01 is one point: of a share, or of the range of a number (a year, for ages up to 100). It
    holds at the worst share, or at the ``share`` that is expected.

    >>> from discreet.survey import YesNo, plan
    >>> plan(YesNo("smoker", "Do you smoke?", epsilon=1), half_width=0.01).respondents
    44968
    """
    width = positive(half_width, name="half_width")
    if width >= Fraction(1, 2):
        raise InvalidArgument(
            name="half_width",
            expected="below 1/2 (0.01 is one point)",
            given=InvalidArgument.describe_parameter(half_width),
        )
    made = Plan(
        asked,
        float(width),
        read_confidence(confidence),
        None if share is None else _read_share(share),
        read_about(about),
    )
    _ = made.respondents  # what cannot be reached is refused here
    return made


@dataclass(frozen=True, repr=False)
class Plan:
    """How many respondents are needed, for each question and for all of them, over ε."""

    asked: Questionnaire | Question
    half_width: float
    confidence: Fraction
    share: float | None
    about: About

    @property
    def respondents(self) -> int:
        """How many are enough for all questions."""
        return max(self.needed.values())

    @property
    def needed(self) -> Mapping[str, int]:
        """How many are enough for each question."""
        return {question.name: self._needed(question) for question in self._questions}

    def over(self, epsilons: Iterable[Number] = _EPSILONS) -> list[dict[str, Any]]:
        """For each total ε how many each question needs, and how many all of them.

        The questions keep their parts of the total. Mechanisms that are the best for their ε are
        chosen anew.
        """
        return [self._row(positive(epsilon, name="epsilons")) for epsilon in epsilons]

    def to_arrow(self) -> pa.Table:
        """The table over ε."""
        import pyarrow as pa

        return pa.Table.from_pylist(
            [{**row, "epsilon": float(row["epsilon"])} for row in self.over()]
        )

    @property
    def _questions(self) -> tuple[Question, ...]:
        return self.asked.questions if isinstance(self.asked, Questionnaire) else (self.asked,)

    def _needed(self, question: Question) -> int:
        return respondents_needed(
            question.randomizer, self.half_width, self.confidence, self.share, self.about
        )

    def _row(self, epsilon: Fraction) -> dict[str, Any]:
        total = (
            self.asked.epsilon
            if isinstance(self.asked, Questionnaire)
            else self.asked.randomizer.epsilon
        )
        parts = {q.name: _with_epsilon(q, epsilon / total) for q in self._questions}
        needed = {name: self._needed(question) for name, question in parts.items()}
        return {"epsilon": epsilon, **needed, "respondents": max(needed.values())}

    def __repr__(self) -> str:
        points = f"±{100 * self.half_width:g} points at {100 * float(self.confidence):g} %"
        where = "at the worst share" if self.share is None else f"at a share of {self.share:g}"
        lines = [f"{self.respondents:,} respondents for {points}, {where}, each question by itself"]
        if len(self._questions) > 1:
            lines += [f"  {name}: {count:,}" for name, count in self.needed.items()]
        lines += ["", f"{'ε in total':>12}  {'respondents':>15}"]
        lines += [f"{float(r['epsilon']):>12g}  {r['respondents']:>15,}" for r in self.over()]
        return "\n".join(lines)


def respondents_needed(
    randomizer: Any, half_width: float, confidence: Fraction, share: float | None, about: About
) -> int:
    """The least n whose interval is narrow enough, by bisection: widths fall as n grows."""
    reach = _mean_reach if randomizer.kind == "levels" else _share_reach
    reached = reach(randomizer, confidence, share, about)
    high = 1
    while reached(high) > half_width:
        high *= 2
        if high > _MOST:
            raise Refused(
                "no number of people is enough for this half_width: ask for a wider one, or "
                "allow more epsilon"
            )
    low = high // 2  # not enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) > half_width else (low, middle)
    return high


def _share_reach(
    randomizer: Any, confidence: Fraction, share: float | None, about: About
) -> Callable[[int], float]:
    """Half the width of the interval of a share, for n respondents."""
    z = normal_quantile(confidence)
    # of all respondents, this part says something about one category
    part = randomizer.drawn / randomizer.categories if randomizer.kind == "items" else 1.0
    drawn = 1.0 if about == "population" else 1.0 - part
    spread = Spread.of_share(inside=randomizer.inside, outside=randomizer.outside, drawn=drawn)
    at = spread.worst_share() if share is None else share

    def reach(n: int) -> float:
        low, high = score_interval(np.array([at]), n * part, spread, z)
        return float(high[0] - low[0]) / 2

    return reach


def _mean_reach(
    levels: Any, confidence: Fraction, share: float | None, about: About
) -> Callable[[int], float]:
    """Half the width of the interval of a mean, as a share of the range."""
    from scipy.special import stdtrit

    variance = levels.variance(share) if about == "population" else levels.own_variance()
    outside = float((1 - confidence) / 2)
    return lambda n: float(-stdtrit(max(n - 1, 1), outside)) * (variance / n) ** 0.5


def _with_epsilon(question: Any, factor: Fraction) -> Any:
    """The same question with this many times its ε."""
    fields = {name: value for name, value in question.fields().items() if name != "truth"}
    scaled = (question.randomizer.epsilon * factor).limit_denominator(10**6)
    fields["epsilon"] = max(scaled, Fraction(1, 10**6))
    return type(question)(question.name, question.text, **fields)


def _read_share(value: Number) -> float:
    share = number(value, name="share")
    if not 0 <= share <= 1:
        raise InvalidArgument(
            name="share",
            expected="from 0 to 1",
            given=InvalidArgument.describe_parameter(value),
        )
    return float(share)
