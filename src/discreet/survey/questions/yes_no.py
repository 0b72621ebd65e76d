"""A question that is answered with yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Idiom
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.numeric.exact import Number
from discreet.survey.questions.question import (
    Promise,
    array_of,
    codes,
    given,
    looked_up,
    read_name,
    read_promise,
    read_text,
    wrong,
)
from discreet.survey.randomizers.response import Response

_WORDS: Final = {"no": 0, "yes": 1, False: 0, True: 1}
_EXPECTED: Final = Idiom.YES_OR_NO


@dataclass(frozen=True, init=False)
class YesNo:
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
        self.__dict__.update(name=read_name(name), text=read_text(text, name="text"))
        self.__dict__.update(read_promise(epsilon, truth, prior, permanent)._asdict())
        _ = self.randomizer  # a promise that cannot be kept is refused here

    @cached_property
    def randomizer(self) -> Response:
        """Randomized response on two categories."""
        return Response(categories=2, **Promise.of(self).asked)

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
            return codes(array, 2)
        return looked_up([_bare(answer) for answer in array.tolist()], _WORDS, _EXPECTED)

    def fields(self) -> dict[str, Any]:
        """The arguments it was made from."""
        return given(**Promise.of(self)._asdict())

    def document(self) -> dict[str, Any]:
        """For the page and the collector."""
        return {"options": list(self.categories)}


def _bare(answer: object) -> object:
    return answer.strip().lower() if isinstance(answer, str) else answer
