"""What a questionnaire costs and how well it measures, for the person who writes it."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

from discreet.numeric.decimals import text
from discreet.survey.estimates.text import counted
from discreet.survey.questions import Question

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire

_NORMAL_95: Final = 1.959964
_LITTLE: Final = 10  # at this ε, odds of 1 to 99 may become e^10 = 22,026 to 99
_NAMED: Final = 5  # questions in a note


def explain(form: Questionnaire) -> str:
    """The cost of each question and of all, the mechanisms and why, and the expected error.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> smoker = YesNo("smoker", "Do you smoke?", truth=0.5)
    >>> print(Questionnaire("Health", [smoker], respondents=10_000).explain())
    Health: ε = 1.1 for everything one respondent sends, by 1 question.
    <BLANKLINE>
    smoker: ε = 1.1
      randomized response, which is best for two answers
      expected: ±1.96 points at 95 % with 10,000 respondents, if the answers are evenly spread
    """
    count = len(form.questions)
    waves = f" in {form.waves:,} waves" if form.waves > 1 else ""
    head = (
        f"{form.title}: ε = {text(form.epsilon)} for everything one respondent sends{waves}, by "
        f"{count} question{'s' if count > 1 else ''}."
    )
    parts = [head, *(_question(form, question) for question in form.questions)]
    return "\n\n".join([*parts, *hides_little(form)])


def hides_little(form: Questionnaire) -> list[str]:
    """Notes, one sentence each, where ε is so large that a promise is next to none.

    >>> from discreet.survey import Questionnaire, YesNo
    >>> print(*hides_little(Questionnaire("Health", [YesNo("s", "Do you smoke?", epsilon=12)])))
    note: an ε above 10, as for s, hides next to nothing: somebody who is 1 % sure of the answer \
beforehand may be more than 99 % sure afterwards
    """
    bare = [q.name for q in form.questions if q.randomizer.epsilon * form.times_drawn(q) > _LITTLE]
    if bare:
        names = ", ".join(bare[:_NAMED])
        more = f" and {len(bare) - _NAMED:,} more" if len(bare) > _NAMED else ""
        return [
            f"note: an ε above {_LITTLE}, as for {names}{more}, hides next to nothing: somebody "
            "who is 1 % sure of the answer beforehand may be more than 99 % sure afterwards"
        ]
    if form.epsilon > _LITTLE:
        return [
            f"note: an ε above {_LITTLE} for all answers together hides next to nothing that can "
            "be told from all of them; each by itself is hidden better"
        ]
    return []


def _question(form: Questionnaire, question: Question) -> str:
    why = question.why(form.respondents).splitlines()
    lines = [_cost(form, question), *(f"  {line}" for line in why)]
    if form.respondents is not None:
        half_width = _NORMAL_95 * sqrt(question.randomizer.variance() / form.respondents)
        people = f"at 95 % with {counted(form.respondents, 'respondent')}"
        lines.append(f"  expected: {question.expected(half_width, people)}")
    return "\n".join(lines)


def _cost(form: Questionnaire, question: Question) -> str:
    once = question.randomizer.epsilon
    cost = f"{question.name}: ε = {text(once)}"
    if form.waves == 1:
        return cost
    if question.permanent:
        return (
            f"{cost}, once: the same randomized answer is sent in all {form.waves:,} waves, by "
            "which reports of one person may be recognised"
        )
    return f"{cost} in each of {form.waves:,} waves, {text(once * form.waves)} in all"
