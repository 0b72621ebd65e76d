"""The questions a questionnaire can ask: yes or no, one of many, any of many, a number.

One kind per file; ``question`` says what they have in common.
"""

from discreet.survey.questions.choose_any import ChooseAny
from discreet.survey.questions.choose_one import ChooseOne
from discreet.survey.questions.number import Number
from discreet.survey.questions.question import Question
from discreet.survey.questions.yes_no import YesNo

_KINDS: tuple[type[Question], ...] = (YesNo, ChooseOne, ChooseAny, Number)
KINDS = {kind.kind: kind for kind in _KINDS}

__all__ = ["KINDS", "ChooseAny", "ChooseOne", "Number", "Question", "YesNo"]
