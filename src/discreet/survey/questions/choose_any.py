"""A question with any number of answers: tick what applies."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.numeric.exact import Number, integer
from discreet.survey.questions.question import (
    Question,
    array_of,
    named,
    read_mechanism,
    read_options,
    wrong,
)
from discreet.survey.randomizers.items import Items
from discreet.survey.randomizers.randomizer import Randomizer
from discreet.survey.randomizers.selection import Choice, best_any
from discreet.survey.randomizers.unary import Unary

MOST_TICKS: Final = 1 << 16  # a report has one character for each
_MECHANISMS: Final = ("best", "unary", "items")
_FIELD: Final = """\
choose_any({ options, most }, id) {
    const limit = most ?? options.length;
    return options.length > 2 * LISTED
      ? anySearched(options, id, limit) : anyOf(options, id, limit);
  }"""


@dataclass(frozen=True, init=False)
class ChooseAny(Question):
    """Any of the ``options``, at most ``most`` of them if that is given.

    ``name`` heads a column of the reports: letters, digits and ``_``. ``text`` is what is asked, in
    one line. ``epsilon`` is the ε of the whole list of ticks at once, not of each of them.
    ``mechanism`` is "unary", whose noise grows with ``most``, or "items", where a few options are
    drawn by chance and only these are answered; left out, it is the one with the least variance.

    ``prior`` is how sure somebody might be of an answer beforehand, between 0 and 1: the card says
    how sure they can be afterwards. Left out, it says so for 1 %, 10 % and 50 %.
    ``permanent=True`` keeps the first randomized answer on the respondent's machine and sends it
    again in every wave, so it costs once and shows no change; False if left out.

    >>> question = ChooseAny("had", "Which have you had?", options=["flu", "mumps"], epsilon=1)
    >>> question.read(["mumps"])
    array([False,  True])
    """

    kind: ClassVar[str] = "choose_any"
    exclusive: ClassVar[bool] = False
    name: str
    text: str
    options: tuple[str, ...] = field(repr=False)
    most: int | None
    mechanism: str
    epsilon: Fraction | None
    prior: Fraction | None
    permanent: bool

    @spelled
    def __init__(
        self,
        name: str,
        text: str,
        *,
        options: Sequence[str],
        most: int | None = None,
        epsilon: Number,
        mechanism: str = "best",
        prior: Number | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(name, text, epsilon=epsilon, prior=prior, permanent=permanent)
        texts = read_options(options)
        if isinstance(texts, int) or len(texts) > MOST_TICKS:
            raise InvalidArgument.of("options", f"a list of at most {MOST_TICKS:,} texts", options)
        limit = None if most is None else integer(most, name="most", minimum=1)
        if limit is not None and limit > len(texts):
            raise InvalidArgument.of(
                "most",
                f"at most {len(texts)}, the number of options",
                most,
                hint="leave it out where all of them may be ticked",
            )
        named_mechanism = read_mechanism(mechanism, _MECHANISMS)
        self.__dict__.update(options=texts, most=limit, mechanism=named_mechanism)
        if mechanism == "unary" and self.most is None:
            raise InvalidArgument.of(
                "most",
                "said where the mechanism is unary",
                None,
                hint="its noise grows with the number of ticks a person may make",
            )
        _ = self.randomizer  # a promise that cannot be kept is refused here

    def choose(self) -> Choice | Randomizer:
        count = len(self.options)
        assert self.epsilon is not None
        if self.mechanism == "best":
            return best_any(count, self.epsilon, most=self.most)
        if self.mechanism == "unary":
            return Unary(categories=count, epsilon=self.epsilon, most=self.most or count)
        return Items(categories=count, epsilon=self.epsilon)

    @property
    def categories(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    def read(self, answer: object) -> NDArray[np.bool_]:
        """``answer``, the list of options that apply, as a row of ticks; it may be empty."""
        # a dict of bools would be read as all its keys, whatever they are set to; and an array
        # without dimensions has no length
        other = isinstance(answer, str | Mapping) or getattr(answer, "ndim", 1) != 1
        if other or not isinstance(answer, Collection):
            raise wrong("a list of the options that apply, which may be empty", answer=answer)
        places = [self.codes.get(each, -1) if isinstance(each, str) else -1 for each in answer]
        if -1 in places or len(set(places)) < len(places):
            among = named(self.options)
            raise wrong(f"a list of the options that apply, each once{among}", answer=answer)
        if self.most is not None and len(places) > self.most:
            raise wrong(f"at most {self.most} of the options", answer=answer)
        ticks = np.zeros(len(self.options), np.bool_)
        ticks[places] = True
        return ticks

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The ticks of many people, one row each: ``column`` holds bools with a column for each
        option, or a list of options for each person."""
        array, count = array_of(column, dimensions=2), len(self.options)
        if array.ndim == 2 and array.dtype.kind in "biu":
            if array.shape[1] != count:
                raise wrong(f"rows of {count} ticks, one for each option")
            numbers = array.dtype.kind != "b" and array.size
            if numbers and not 0 <= array.min() <= array.max() <= 1:
                raise wrong("ticks: True or False, 1 or 0")
            ticks = array.astype(np.bool_, copy=False)
        elif array.ndim == 2 and array.size == 0:  # empty lists: nobody chose anything
            ticks = np.zeros((len(array), count), np.bool_)
        elif array.dtype.kind in "OU":
            rows = [self.read(list(row) if isinstance(row, np.ndarray) else row) for row in array]
            ticks = np.array(rows, np.bool_).reshape(len(rows), count)
        else:
            raise wrong("a list of options for each person", answer=column)
        if self.most is not None and ticks.size and ticks.sum(axis=1).max() > self.most:
            raise wrong(f"at most {self.most} of the options for each person", answer=column)
        return ticks

    @staticmethod
    def page_field() -> str:
        """Boxes to tick, or a search in a long list."""
        return _FIELD

    def document(self) -> dict[str, Any]:
        return {"options": list(self.options), "most": self.most}

    def prompt(self) -> str:
        if not self.choices:
            return super().prompt()
        most = f", at most {self.most}" if self.most else ""
        return f"the numbers of all that apply{most}, with spaces between; or nothing"

    def typed(self, line: str) -> list[str]:
        """Numbers separated by spaces or commas, or texts separated by commas.

        >>> sports = ChooseAny("s", "Which?", options=["golf", "chess", "tennis"], epsilon=1)
        >>> sports.typed("3 1"), sports.typed("golf, 2")
        (['tennis', 'golf'], ['golf', 'chess'])
        """
        if not self.choices or (line in self.choices and not line.isdecimal()):
            return [line]  # a text may have commas itself
        found: list[str] = []
        for part in filter(None, map(str.strip, line.split(","))):
            numbered = [super(ChooseAny, self).typed(word) for word in part.split()]
            found += numbered if set(numbered) <= set(self.choices) else [part]
        return found
