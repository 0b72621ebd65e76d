"""What a questionnaire costs and how well it measures, for the person who writes it."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

from discreet.guarantees.showing.printing import text
from discreet.survey.questions import Number, Question
from discreet.survey.questions.number import plain

if TYPE_CHECKING:
    from discreet.survey.questionnaire import Questionnaire

_NORMAL_95: Final = 1.959964


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
    return "\n\n".join([head, *(_question(form, question) for question in form.questions)])


def _question(form: Questionnaire, question: Question) -> str:
    why = question.why(form.respondents).splitlines()
    lines = [_cost(form, question), *(f"  {line}" for line in why)]
    if form.respondents is not None:
        lines.append(f"  expected: {_error(question, form.respondents)}")
    return "\n".join(lines)


def _cost(form: Questionnaire, question: Question) -> str:
    once = question.randomizer.epsilon
    cost = f"{question.name}: ε = {text(once)}"
    if form.waves == 1:
        return cost
    if question.permanent:
        return f"{cost}, once: the same randomized answer is sent in all {form.waves:,} waves"
    return f"{cost} in each of {form.waves:,} waves, {text(once * form.waves)} in all"


def _error(question: Question, respondents: int) -> str:
    half_width = _NORMAL_95 * sqrt(question.randomizer.variance() / respondents)
    people = f"at 95 % with {respondents:,} respondents"
    if isinstance(question, Number):
        width = half_width * float(question.upper - question.lower)
        unit = f" {question.unit}" if question.unit else ""
        return f"±{width:.3g}{unit} {people} for the mean of {plain(question.lower)} to " + (
            f"{plain(question.upper)}, at worst"
        )
    return f"±{100 * half_width:.3g} points {people}, if the answers are evenly spread"
