"""How many respondents a survey needs for what it should find out.

The number is the least n whose interval is narrow enough at the share where intervals are widest
(or at the share that is expected). It is computed from the same intervals that the result will
have, so plan and result agree.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.hints import spelled
from discreet.numeric.exact import Number, number, positive
from discreet.survey.estimates.confidence import About, read_about, read_confidence
from discreet.survey.estimates.text import counted
from discreet.survey.questionnaire import Questionnaire
from discreet.survey.questions import Question

if TYPE_CHECKING:
    import pyarrow as pa


_EPSILONS: Final = tuple(Fraction(e) for e in ("1/4", "1/2", "1", "3/2", "2", "3", "4", "6"))
_WORTH: Final = 0.95  # another mechanism is mentioned if it needs at most this part of the people


@spelled
def plan(
    asked: Questionnaire | Question,
    *,
    half_width: Number,
    confidence: Number = Fraction(95, 100),
    share: Number | None = None,
    about: About = "population",
) -> SurveyPlan:
    """How many respondents make every interval at most value ± ``half_width``, on average.

    ``asked`` is a questionnaire or one question. A half width of 0.01 is one point: of a share, or
    of the range of a number (a year, for ages up to 100). It holds at the worst share, or at the
    ``share`` that is expected, between 0 and 1.
    ``about`` says what the intervals are about: the "population" that the respondents are
    a random sample of, if left out, or these "respondents" themselves. ``confidence`` is for
    each number by itself, between 0 and 1; 0.95 if left out.

    >>> from discreet.survey import YesNo, plan
    >>> plan(YesNo("smoker", "Do you smoke?", epsilon=1), half_width=0.01).respondents
    44968
    """
    width = positive(half_width, name="half_width")
    if width >= Fraction(1, 2):
        raise InvalidArgument.of("half_width", "below 1/2 (0.01 is one point)", half_width)
    sure, at = read_confidence(confidence), None if share is None else number(share, name="share")
    if at is not None and not 0 <= at <= 1:
        raise InvalidArgument.of("share", "from 0 to 1", share)
    expected = None if at is None else float(at)
    made = SurveyPlan(asked, float(width), sure, expected, read_about(about))
    _ = made.respondents  # refuses here what cannot be reached
    return made


@dataclass(frozen=True, repr=False)
class SurveyPlan:
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
        """For each total ε, how many respondents each question needs, and how many all of them.

        The questions keep their parts of the total. Mechanisms that were chosen as the best for
        their ε are chosen anew.
        """
        return [self._row(positive(epsilon, name="epsilons")) for epsilon in epsilons]

    def to_arrow(self) -> pa.Table:
        """The table over ε."""
        import pyarrow as pa

        rows = [{**row, "epsilon": float(row["epsilon"])} for row in self.over()]
        return pa.Table.from_pylist(rows)

    @property
    def _questions(self) -> tuple[Question, ...]:
        return self.asked.questions if isinstance(self.asked, Questionnaire) else (self.asked,)

    def _needed(self, question: Question) -> int:
        reach = question.reach(self.confidence, self.share, self.about)
        return respondents_needed(reach, self.half_width)

    def _row(self, epsilon: Fraction) -> dict[str, Any]:
        factor = epsilon / self._epsilon
        parts = {q.name: _with_epsilon(q, factor) for q in self._questions}
        needed = {name: self._needed(question) for name, question in parts.items()}
        return {"epsilon": epsilon, **needed, "respondents": max(needed.values())}

    @property
    def _epsilon(self) -> Fraction:
        asked = self.asked
        return asked.epsilon if isinstance(asked, Questionnaire) else asked.randomizer.epsilon

    def __repr__(self) -> str:
        points = f"±{counted(100 * self.half_width, 'point')} at {100 * float(self.confidence):g} %"
        needed = self.needed
        people = counted(max(needed.values()), "respondent")
        lines = [f"{people} for {points}, {self._where}, each question by itself"]
        sizes = {q.name: q.mean_width(self.half_width) for q in self._questions}
        if len(sizes) > 1 or any(sizes.values()):
            lines += [
                f"  {name}: {needed[name]:,}" + (size and f", for its mean {size}")
                for name, size in sizes.items()
            ]
        lines += filter(None, map(self._better, self._questions))
        lines += ["", f"{'ε in total':>12}  {'respondents':>15}"]
        rows = {f"{float(row['epsilon']):.4g}": f"{row['respondents']:>15,}" for row in self.over()}
        # the promised ε is rounded to what can be drawn, and shown with as many digits
        rows[f"{float(self._epsilon):.4g}"] = f"{max(needed.values()):>15,}  as it is now"
        lines += [f"{epsilon:>12}  {rows[epsilon]}" for epsilon in sorted(rows, key=float)]
        return "\n".join(lines)

    @property
    def _where(self) -> str:
        means = [bool(q.mean_width(self.half_width)) for q in self._questions]
        if self.share is None:
            return "at worst" if all(means) else "at the worst share"
        share = "" if all(means) else f"a share of {self.share:g}"
        mean = f"a mean at {self.share:g} of the range" if any(means) else ""
        return "at " + " or ".join(filter(None, [share, mean]))

    def _better(self, question: Question) -> str:
        """A line about a mechanism that needs fewer people at this share, if there is one: the
        question's own was chosen at an even share."""
        needed = {name: self._needed(other) for name, other in question.alternatives().items()}
        least = min(needed, key=lambda name: needed[name], default="")
        if not least or needed[least] >= _WORTH * self._needed(question):
            return ""
        return (
            f"  {question.name}: its mechanism is the best at a share of "
            f'1/{question.randomizer.answers:,}; here mechanism="{least}" needs {needed[least]:,}'
        )


def _with_epsilon(question: Question, factor: Fraction) -> Question:
    """The question with its ε multiplied by this factor."""
    fields = {name: value for name, value in question.fields().items() if name != "truth"}
    scaled = (question.randomizer.epsilon * factor).limit_denominator(10**6)
    fields["epsilon"] = max(scaled, Fraction(1, 10**6))
    return type(question)(question.name, question.text, **fields)


# -- how wide intervals are with n respondents -----------------------------------------------------


_MOST: Final = 10**15  # more people than have ever lived


def respondents_needed(reached: Callable[[int], float], half_width: float) -> int:
    """The least n whose interval is narrow enough, by bisection, as widths fall with n."""
    high = 1
    while reached(high) > half_width:
        high *= 2
        if high > _MOST:
            raise Refused(
                Phrase(
                    "more than 10^15 people would be needed for this {half_width=}: ask for a "
                    "wider one, or allow more epsilon"
                )
            )
    narrow = range(high // 2 + 1, high)  # half of it is not enough
    return narrow.start + bisect_left(narrow, True, key=lambda n: reached(n) <= half_width)
