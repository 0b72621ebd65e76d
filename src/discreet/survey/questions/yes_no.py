"""A question that is answered with yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Idiom
from discreet.hints import spelled
from discreet.numeric.exact import Number
from discreet.survey.questions.question import Question, array_of, looked_up, read_codes, wrong
from discreet.survey.randomizers.response import Response

_WORDS: Final = {"no": 0, "yes": 1, False: 0, True: 1}
_EXPECTED: Final = Idiom.YES_OR_NO


@dataclass(frozen=True, init=False)
class YesNo(Question):
    """Yes or no, by randomized response: the lecture's coins.

    ``name`` heads a column of the reports: letters, digits and ``_``. ``text`` is what is asked, in
    one line. Give either ``epsilon``, the ε of one answer, or ``truth``, the lecture's q: the
    chance that the true answer is sent; otherwise a fair coin decides. q = 1/2 is ε = ln 3.

    ``prior`` is how sure somebody might be of an answer beforehand, between 0 and 1: the card says
    how sure they can be afterwards. Left out, it says so for 1 %, 10 % and 50 %.
    ``permanent=True`` keeps the first randomized answer on the respondent's machine and sends it
    again in every wave, so it costs once and shows no change; False if left out.

    >>> question = YesNo("smoker", "Do you smoke?", truth=0.5)
    >>> question.categories, question.read("yes")
    (('no', 'yes'), 1)
    >>> question.randomizer.inside                     # the truth is told three times in four
    Fraction(3, 4)
    """

    kind: ClassVar[str] = "yes_no"
    opposite: ClassVar[str] = "the opposite"
    answers: ClassVar[str] = ""
    choices: ClassVar[tuple[str, ...]] = ()
    name: str
    text: str
    epsilon: Fraction | None
    truth: Fraction | None
    prior: Fraction | None
    permanent: bool

    @spelled
    def __init__(
        self,
        name: str,
        text: str,
        *,
        epsilon: Number | None = None,
        truth: Number | None = None,
        prior: Number | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(name, text, epsilon=epsilon, truth=truth, prior=prior, permanent=permanent)
        _ = self.randomizer  # a promise that cannot be kept is refused here

    def choose(self) -> Response:
        """Randomized response on two categories."""
        return Response(categories=2, **self.promise)

    def why(self, respondents: int | None = None) -> str:
        """There is no choice to explain, however many ``respondents`` there are."""
        return "randomized response, which is best for two answers"

    @property
    def categories(self) -> tuple[str, ...]:
        """No is 0 and yes is 1."""
        return ("no", "yes")

    def read(self, answer: object) -> int:
        """1 if ``answer`` is yes or True, 0 if it is no or False; anything else is refused."""
        answer = _bare(answer)
        if isinstance(answer, bool | np.bool_):
            return int(answer)
        if not isinstance(answer, str) or answer not in _WORDS:
            raise wrong(_EXPECTED, answer=answer)
        return _WORDS[answer]

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The answers of many people as 0 and 1: ``column`` holds bools, zeros and ones, or the
        texts yes and no."""
        array = array_of(column)
        if array.dtype.kind in "biu":
            return read_codes(array, 2)
        return looked_up([_bare(answer) for answer in array.tolist()], _WORDS, _EXPECTED)

    @classmethod
    def arguments(cls, answers: str) -> dict[str, Any]:
        return {}

    def prompt(self) -> str:
        return "yes or no"

    def typed(self, line: str) -> str:
        """The answer that was typed; a letter will do."""
        return {"y": "yes", "n": "no"}.get(line.lower(), line)

    @staticmethod
    def page_field() -> str:
        """Yes first, which is 1."""
        return 'yes_no: (question, id) => oneOf(["Yes", "No"], id, (place) => 1 - place)'

    def document(self) -> dict[str, Any]:
        return {"options": list(self.categories)}


def _bare(answer: object) -> object:
    return answer.strip().lower() if isinstance(answer, str) else answer
