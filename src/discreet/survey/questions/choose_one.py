"""A question with one answer out of many: a handful of options, or a million."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.numeric.exact import Number
from discreet.survey.questions.question import (
    Promise,
    array_of,
    codes,
    given,
    looked_up,
    named,
    read_mechanism,
    read_name,
    read_options,
    read_promise,
    read_text,
    wrong,
)
from discreet.survey.randomizers.projective import Projective
from discreet.survey.randomizers.randomizer import Randomizer
from discreet.survey.randomizers.response import Response
from discreet.survey.randomizers.selection import Choice, best
from discreet.survey.randomizers.unary import Unary

_MECHANISMS: Final = ("best", "response", "unary", "projective")


@dataclass(frozen=True, init=False)
class ChooseOne:
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
        self.__dict__.update(name=read_name(name), text=read_text(text, name="text"))
        self.__dict__.update(read_promise(epsilon, truth, prior, permanent)._asdict())
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

    @cached_property
    def _chosen(self) -> Choice | Randomizer:
        if self.truth is not None:
            return Response(categories=self.count, truth=self.truth)
        assert self.epsilon is not None
        if self.mechanism == "best":
            return best(self.count, self.epsilon)
        kind = {"response": Response, "unary": Unary, "projective": Projective}[self.mechanism]
        made: Randomizer = kind(categories=self.count, epsilon=self.epsilon)
        return made

    @property
    def randomizer(self) -> Randomizer:
        """The mechanism that was named, or the best."""
        chosen = self._chosen
        return chosen.randomizer if isinstance(chosen, Choice) else chosen

    def why(self, respondents: int | None = None) -> str:
        """Which mechanism it is, and why. The same one is best however many answer. With
        ``respondents``, the number expected, errors are given in points; without it, as the
        variance of one answer."""
        chosen = self._chosen
        if isinstance(chosen, Choice):
            return str(replace(chosen, respondents=respondents))
        why = "as asked for" if self.truth is None else "because truth was given"
        return f"{chosen.name}, {why}"

    @cached_property
    def categories(self) -> tuple[str, ...]:
        """The options as texts."""
        if isinstance(self.options, int):
            return tuple(map(str, range(self.options)))
        return self.options

    @cached_property
    def _codes(self) -> dict[str, int]:
        return {option: code for code, option in enumerate(self.categories)}

    def read(self, answer: object) -> int:
        """The place of the option ``answer``, from 0; if options are numbers, the number itself may
        be given. Anything else is refused."""
        found = self._numbered(answer) if isinstance(self.options, int) else None
        if found is None and isinstance(answer, str):
            found = self._codes.get(answer)
        if found is None:
            raise wrong(self._expected, answer=answer)
        return found

    @property
    def _expected(self) -> str:
        if isinstance(self.options, int):
            return f"one of the options, a whole number from 0 to {self.count - 1:,}"
        return f"one of the options{named(self.options)}, as it is written there"

    def _numbered(self, answer: object) -> int | None:
        """The answer to a question whose options are numbers."""
        if isinstance(answer, int | np.integer) and not isinstance(answer, bool):
            return int(answer) if 0 <= answer < self.count else None
        return None

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The places of many people's options: ``column`` holds texts, or places 0, 1, 2, ... in
        the list of options."""
        array = array_of(column)
        if array.dtype.kind not in "iu":
            return looked_up(array.tolist(), self._codes, self._expected)
        if isinstance(self.options, tuple) and self._written_as_numbers:
            raise wrong(
                "texts, because the options are written as numbers",
                answer=column,
                hint='pass "1" and not 1, which could mean the second option',
            )
        return codes(array, self.count)

    @cached_property
    def _written_as_numbers(self) -> bool:
        return any(option.isdecimal() for option in self.categories)

    def fields(self) -> dict[str, Any]:
        """The arguments it was made from."""
        mechanism = None if self.mechanism == "best" else self.mechanism
        return given(options=self.options, mechanism=mechanism, **Promise.of(self)._asdict())

    def document(self) -> dict[str, Any]:
        """For the page and the collector."""
        return {"options": self.options if isinstance(self.options, int) else list(self.options)}
