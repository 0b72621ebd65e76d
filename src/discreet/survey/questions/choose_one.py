"""A question with one answer out of many: a handful of options, or a million."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.numeric.exact import Number
from discreet.survey.questions.question import (
    Question,
    array_of,
    looked_up,
    named,
    read_codes,
    read_mechanism,
    read_options,
    wrong,
)
from discreet.survey.randomizers.projective import Projective
from discreet.survey.randomizers.randomizer import Randomizer
from discreet.survey.randomizers.response import Response
from discreet.survey.randomizers.selection import LONGEST_ROW, Choice, best
from discreet.survey.randomizers.unary import Unary

_MECHANISMS: Final = ("best", "response", "unary", "projective")
_FIELD: Final = """\
choose_one({ options }, id) {
    if (!Array.isArray(options)) return numbered(options, id);
    return options.length > LISTED ? oneSearched(options, id) \
: oneOf(options, id, (place) => place);
  }"""


@dataclass(frozen=True, init=False)
class ChooseOne(Question):
    """One of the options: texts, or a number of them (then answers are 0, 1, 2, ...).

    ``name`` heads a column of the reports: letters, digits and ``_``. ``text`` is what is asked, in
    one line. Give either ``epsilon``, the ε of one answer, or ``truth``, the lecture's q, which is
    that of randomized response: the chance that the true answer is sent; otherwise a random one of
    the ``options`` is. ``mechanism`` is "response", "unary" or "projective"; left out, it is the
    one with the least variance.

    ``prior`` is how sure somebody might be of an answer beforehand, between 0 and 1: the card says
    how sure they can be afterwards. Left out, it says so for 1 %, 10 % and 50 %.
    ``permanent=True`` keeps the first randomized answer on the respondent's machine and sends it
    again in every wave, so it costs once and shows no change; False if left out.

    >>> question = ChooseOne("party", "Which party?", options=["A", "B", "C"], epsilon=1)
    >>> question.read("B"), question.randomizer.name
    (1, 'randomized response')
    """

    kind: ClassVar[str] = "choose_one"
    name: str
    text: str
    options: tuple[str, ...] | int = field(repr=False)
    mechanism: str
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
        options: Sequence[str] | int,
        epsilon: Number | None = None,
        truth: Number | None = None,
        mechanism: str = "best",
        prior: Number | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(name, text, epsilon=epsilon, truth=truth, prior=prior, permanent=permanent)
        self.__dict__.update(
            options=read_options(options), mechanism=read_mechanism(mechanism, _MECHANISMS)
        )
        if self.truth is not None and mechanism not in ("best", "response"):
            raise InvalidArgument.of(
                "truth",
                Phrase('with {mechanism="response"}, whose chance it is'),
                mechanism,
                hint=Phrase("say {epsilon=} for another mechanism"),
            )
        _ = self.randomizer  # a promise that cannot be kept is refused here

    @cached_property
    def count(self) -> int:
        """How many options there are."""
        return self.options if isinstance(self.options, int) else len(self.options)

    def choose(self) -> Choice | Randomizer:
        """Randomized response if ``truth`` was given, else the mechanism named, or the best."""
        if self.epsilon is None:
            return Response(categories=self.count, truth=self.truth)
        if self.mechanism == "best":
            return best(self.count, self.epsilon)
        kind = {"response": Response, "unary": Unary, "projective": Projective}[self.mechanism]
        made: Randomizer = kind(categories=self.count, epsilon=self.epsilon)
        return made

    def alternatives(self) -> Mapping[str, Question]:
        """The same question with each mechanism, if the best of them was taken."""
        if self.truth is not None or self.mechanism != "best":
            return {}
        names = ["response", "projective", *(["unary"] if self.count <= LONGEST_ROW else [])]
        same = self.fields()
        return {name: ChooseOne(self.name, self.text, **same, mechanism=name) for name in names}

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The options as texts."""
        if isinstance(self.options, int):
            return tuple(map(str, range(self.options)))
        return self.options

    def read(self, answer: object) -> int:
        """The place of the option ``answer``, from 0; if options are numbers, the number itself may
        be given. Anything else is refused."""
        found = self.codes.get(answer) if isinstance(answer, str) else None
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
            numbered = isinstance(self.options, int) and 0 <= answer < self.count
            found = int(answer) if numbered else None
        if found is None:
            raise wrong(self._expected, answer=answer)
        return found

    @property
    def _expected(self) -> str:
        if isinstance(self.options, int):
            return f"one of the options, a whole number from 0 to {self.count - 1:,}"
        return f"one of the options{named(self.options)}, as it is written there"

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The places of many people's options: ``column`` holds texts, or places 0, 1, 2, ... in
        the list of options."""
        array = array_of(column)
        if array.dtype.kind not in "iu":
            return looked_up(array.tolist(), self.codes, self._expected)
        if isinstance(self.options, tuple) and self._written_as_numbers:
            raise wrong(
                "texts, because the options are written as numbers",
                answer=column,
                hint='pass "1" and not 1, which could mean the second option',
            )
        return read_codes(array, self.count)

    @cached_property
    def _written_as_numbers(self) -> bool:
        return any(option.isdecimal() for option in self.categories)

    @staticmethod
    def page_field() -> str:
        """Boxes to tick, a search in a long list, or a number."""
        return _FIELD

    def document(self) -> dict[str, Any]:
        return {"options": self.options if isinstance(self.options, int) else list(self.options)}
