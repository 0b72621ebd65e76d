"""The questions a questionnaire can ask: yes or no, one of many, any of many, a number.

One kind per file; ``question`` says what they have in common.
"""

from discreet.survey.questions.choose_any import ChooseAny
from discreet.survey.questions.choose_one import ChooseOne
from discreet.survey.questions.number import Number
from discreet.survey.questions.question import Question
from discreet.survey.questions.yes_no import YesNo


def _by_name(*kinds: type[Question]) -> dict[str, type[Question]]:
    return {kind.kind: kind for kind in kinds}


KINDS = _by_name(YesNo, ChooseOne, ChooseAny, Number)  # a kind without a member is a type error

__all__ = ["KINDS", "ChooseAny", "ChooseOne", "Number", "Question", "YesNo"]
