"""What every question has, whatever it asks, and how its arguments are read.

Names, texts and options are single lines: they appear on a card, in a column's head and in a file
with one option per line. No message contains an answer.
"""

from __future__ import annotations

import csv
import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import exactly_one
from discreet.numeric.exact import Number, integer, positive, probability
from discreet.survey.estimates.confidence import About
from discreet.survey.estimates.estimate import QuestionEstimate
from discreet.survey.estimates.shares import estimate_shares, share_reach
from discreet.survey.estimates.tally import Tally
from discreet.survey.estimates.text import counted
from discreet.survey.randomizers import Choice, Randomizer

_LISTED: Final = 30  # answers; if there are more, the exact text is asked for on a terminal


class Question(ABC):
    """A question as a frozen value: what is asked, and all that others need to know about it.

    A kind of question says how an answer is randomized (``choose``), read (``read``, ``truths``)
    and asked on a page (``page_field``, ``document``). The rest is as for a choice of one answer,
    whose shares are estimated, unless a kind says otherwise. A member that is missing in a new kind
    is a type error. Its arguments are its fields in a file.
    """

    kind: ClassVar[str]  #: in files and on pages: "yes_no", "choose_one", ...
    exclusive: ClassVar[bool] = True  #: one answer excludes the others
    opposite: ClassVar[str] = "the other one"  #: of two answers, as the card calls it
    answers: ClassVar[str] = "A,B,C"  #: after NAME=TEXT= on a command line; "" if there is nothing

    name: str
    text: str
    epsilon: Fraction | None  #: the ε asked for; the law keeps ``randomizer.epsilon``, at most this
    truth: Fraction | None  #: the lecture's q, if the question was given by it
    prior: Fraction | None  #: how sure somebody might be of an answer beforehand, for the card
    permanent: bool  #: whether the first randomized answer is sent again in every wave

    def __init__(
        self,
        name: str,
        text: str,
        *,
        epsilon: Number | None,
        truth: Number | None = None,
        prior: Number | None,
        permanent: bool,
    ) -> None:
        """Read what every question has. What it promises has no default."""
        self.__dict__.update(name=read_name(name), text=read_text(text, name="text"))
        exactly_one(epsilon=epsilon, truth=truth)
        if not isinstance(permanent, bool):
            raise InvalidArgument.of("permanent", Idiom.TRUTH, permanent)
        self.__dict__.update(
            epsilon=None if epsilon is None else positive(epsilon, name="epsilon"),
            truth=None if truth is None else probability(truth, name="truth"),
            prior=None if prior is None else probability(prior, name="prior"),
            permanent=permanent,
        )

    # -- how an answer is read and randomized ------------------------------------------------------

    @property
    @abstractmethod
    def categories(self) -> Sequence[str]:
        """The possible answers as texts; for a number, the levels it is rounded to."""

    @abstractmethod
    def choose(self) -> Choice | Randomizer:
        """What randomizes an answer: the mechanism that was named, or the choice of the best."""

    @abstractmethod
    def read(self, answer: object) -> Any:
        """The true answer of one person as a code; a refusal never quotes the answer."""

    @abstractmethod
    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The true answers of many people as codes, for the randomizer."""

    @property
    def promise(self) -> dict[str, Any]:
        """The one of ``epsilon`` and ``truth`` that was given, by name."""
        return {"epsilon": self.epsilon} if self.truth is None else {"truth": self.truth}

    @cached_property
    def _chosen(self) -> Choice | Randomizer:
        return self.choose()

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
        because = "as asked for" if self.truth is None else "because truth was given"
        return f"{chosen.name}, {because}"

    @cached_property
    def codes(self) -> dict[str, int]:
        """The code of each answer."""
        return {answer: code for code, answer in enumerate(self.categories)}

    # -- as a file, on a page and on a card --------------------------------------------------------

    def fields(self) -> dict[str, Any]:
        """The arguments the question was made from, besides name and text, if they were given."""
        parameters = inspect.signature(type(self)).parameters
        defaults = {key: parameter.default for key, parameter in parameters.items()}
        values = {each.name: getattr(self, each.name) for each in fields(self)[2:]}  # type: ignore[arg-type]
        return {k: v for k, v in values.items() if k not in defaults or v != defaults[k]}

    @staticmethod
    @abstractmethod
    def page_field() -> str:
        """The field of a page: an entry of ``makers`` in page_parts/fields.js, under the name of
        the kind, that makes it from the question's ``document`` and an id."""

    @abstractmethod
    def document(self) -> dict[str, Any]:
        """What the page and the collector need: texts and whole numbers."""

    def changed(self) -> str:
        """What the card says happens to an answer."""
        return self.randomizer.changed(self.opposite)

    # -- what reports say, and how well ------------------------------------------------------------

    def estimate(self, tally: Tally, *, confidence: Fraction, about: About) -> QuestionEstimate:
        """What the reports of a ``tally`` say, at this ``confidence`` and ``about`` whom it is."""
        return estimate_shares(self, tally, confidence=confidence, about=about)

    def reach(
        self, confidence: Fraction, share: float | None, about: About
    ) -> Callable[[int], float]:
        """Half the width of an interval at this ``confidence`` and ``about`` whom it is, as a part
        of all or of the range, for n respondents; at the worst ``share`` if none is given."""
        return share_reach(self.randomizer, confidence, share, about)

    def expected(self, half_width: float, people: str) -> str:
        """What the interval will be, given its ``half_width``; ``people`` says with how many."""
        points = counted(float(f"{100 * half_width:.3g}"), "point")
        return f"±{points} {people}, if the answers are evenly spread"

    def mean_width(self, half_width: float) -> str:
        """``half_width``, a part of the range, in units, if a mean is estimated; "" for shares."""
        return ""

    def alternatives(self) -> Mapping[str, Question]:
        """The same question with other mechanisms, where the best was chosen at an even share."""
        return {}

    # -- on a terminal -----------------------------------------------------------------------------

    @classmethod
    def arguments(cls, answers: str) -> dict[str, Any]:
        """The arguments that are written as ``answers`` on a command line: options with commas
        between them; one that has a comma itself is in quotes.

        >>> from discreet.survey import ChooseOne
        >>> ChooseOne.arguments('Aford, "Beeham, upper part",Ceton')
        {'options': ['Aford', 'Beeham, upper part', 'Ceton']}
        """
        try:
            (row,) = csv.reader([answers], skipinitialspace=True, strict=True)
        except (csv.Error, ValueError):
            raise InvalidArgument(
                "options",
                "options with commas between them",
                "quotes that do not match",
                hint='an option with a comma is written in quotes, as in "A, B",C',
            ) from None
        return {"options": [answer.strip() for answer in row]}

    @cached_property
    def choices(self) -> Sequence[str]:
        """The answers that are listed, to be chosen by their numbers; not if they are too many."""
        return self.categories if len(self.categories) <= _LISTED else ()

    def prompt(self) -> str:
        """What to type."""
        return (
            "the number of one of them" if self.choices else "the exact text of one of the options"
        )

    def typed(self, line: str) -> Any:
        """The answer that was typed: a choice by its number, or else the text itself."""
        if line.isdecimal() and 1 <= int(line) <= len(self.choices):
            return self.choices[int(line) - 1]
        return line


# -- names, texts and options ----------------------------------------------------------------------


RESERVED: Final = ("survey", "id", "wave")  # columns of every report
LONGEST_NAME: Final = 60
LONGEST_TEXT: Final = 2000
MOST_OPTIONS: Final = 1 << 22

_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_BROKEN: Final = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def read_name(value: object) -> str:
    """A question's name: it heads a column of the reports, so it is a plain identifier.

    >>> read_name("smoker")
    'smoker'
    """
    named = isinstance(value, str) and _NAME.fullmatch(value) and len(value) <= LONGEST_NAME
    if not named or str(value).lower() in RESERVED:
        raise InvalidArgument.of(
            "name",
            f"a letter and then letters, digits or _, at most {LONGEST_NAME} of them, and "
            f"none of {', '.join(RESERVED)}, which every report has already",
            value,
            hint='as in "smoker" or "town_2"',
        )
    return str(value)


def read_text(value: object, *, name: str) -> str:
    """A line of text that is not empty."""
    if not isinstance(value, str):
        hint = "write it in quotes"
    elif value != value.strip():
        hint = "it begins or ends with a space or a line break"
    elif _BROKEN.search(value):
        hint = "it has a line break in it, or a sign that cannot be shown"
    elif not 0 < len(value) <= LONGEST_TEXT:
        hint = f"it has {len(value):,} characters"  # of which a message shows only the first
    else:
        return value
    expected = f"one line of text, at most {LONGEST_TEXT} characters, without spaces around it"
    raise InvalidArgument.of(name, expected, value, hint=hint)


def check_form(form: Any) -> Any:
    """Refuse what is not a questionnaire, such as reports passed in its place."""
    if hasattr(form, "questions") and hasattr(form, "waves"):
        return form
    raise InvalidArgument.of_data(
        "questionnaire",
        "a Questionnaire",
        form,
        hint='it comes first; read one from a file with Questionnaire.from_toml("health.toml")',
    )


def read_options(value: object) -> tuple[str, ...] | int:
    """Read options as texts, or how many there are: then they are the numbers 0, 1, 2, ...

    >>> read_options(["red", "blue"]), read_options(10_000)
    (('red', 'blue'), 10000)
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        if isinstance(value, str) and not value.strip().isdecimal():
            raise InvalidArgument.of(
                "options",
                "a list of texts, or a number of options",
                value,
                hint='as in ["north", "south"]',
            )
        return _checked_count(integer(value, name="options", minimum=2))
    options = tuple(value)
    _checked_count(len(options))
    for option in options:
        read_text(option, name="options")
    if len(set(options)) < len(options):
        seen: set[str] = set()
        twice = next(option for option in options if option in seen or seen.add(option))  # type: ignore[func-returns-value]
        raise InvalidArgument(
            "options",
            "different from each other",
            Phrase("{} twice", InvalidArgument.describe_parameter(twice)),
            hint="list each option once",
        )
    return options


def _checked_count(count: int) -> int:
    if not 2 <= count <= MOST_OPTIONS:
        raise InvalidArgument(
            "options",
            f"between 2 and {MOST_OPTIONS:,} of them",
            f"{count:,}",
            hint="a single thing to tick is a yes/no question"
            if count == 1
            else 'as in ["north", "south"]',
        )
    return count


def read_mechanism(value: object, known: tuple[str, ...]) -> str:
    """Read the name of a mechanism."""
    if value not in known:
        raise InvalidArgument.unknown(
            "mechanism", known, value, hint='"best" has the least variance'
        )
    return str(value)


# -- columns of true answers, as arrays ------------------------------------------------------------


_NAMED: Final = 12  # options that a message lists
_LONG: Final = 200  # characters of them


def array_of(column: ArrayLike, *, dimensions: int = 1) -> NDArray[Any]:
    """The column as an array; lists of lists of different lengths are arrays of lists."""
    if isinstance(column, np.ma.MaskedArray):  # an array would fill its gaps
        raise wrong("a column with an answer from everybody, without a mask")
    try:
        array = np.asarray(column)
    except ValueError:  # rows of different lengths
        array = np.empty(len(column), object)  # type: ignore[arg-type]
        array[:] = list(column)  # type: ignore[arg-type]
    if array.dtype.kind in "mM" or array.ndim not in (1, dimensions):
        raise wrong(f"a column with one entry per person, not an array of {array.ndim} dimensions")
    return array


def read_codes(column: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Whole numbers (or bools) from 0 to count − 1, as they are."""
    if column.dtype.kind not in "biu":
        raise wrong(f"whole numbers from 0 to {count - 1:,}")
    if column.size and not (column.min() >= 0 and column.max() < count):
        astray = (column < 0) | (column >= count)
        raise wrong_rows(f"whole numbers from 0 to {count - 1:,}, all of them", astray)
    return column.astype(np.int64, copy=False)


def looked_up(
    entries: Sequence[object], words: Mapping[Any, int], expected: str
) -> NDArray[np.int64]:
    """The code of each text or bool."""
    found = [words.get(one, -1) if isinstance(one, str | bool) else -1 for one in entries]
    places = np.array(found, np.int64)
    if -1 in found:
        raise wrong_rows(expected, places < 0)
    return places


def wrong(expected: str, *, answer: object = None, hint: str = "") -> InvalidArgument:
    """The error for a wrong answer, or a column with one in it, which does not quote it."""
    given = "something else"
    if answer is not None:
        given = f"{InvalidArgument.describe_data(answer)} that is not; it is not repeated here"
    return InvalidArgument("answer", expected, given, hint=hint)


def wrong_rows(expected: str, astray: NDArray[np.bool_]) -> InvalidArgument:
    """The error for a column with wrong answers: where the first one is, and how many there are."""
    first, count = int(astray.argmax()), int(astray.sum())
    more = f", and {count - 1:,} more" if count > 1 else ""
    given = f"something else at place {first:,}, counted from 0{more}"
    return InvalidArgument("answer", expected, given)


def named(options: Sequence[str]) -> str:
    """The options of a question, which are not secret, if they are few and short.

    >>> named(("red", "blue"))
    " ('red', 'blue')"
    """
    few = len(options) <= _NAMED and sum(map(len, options)) <= _LONG
    return f" ({', '.join(map(repr, options))})" if few else ""
