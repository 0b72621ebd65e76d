"""What every question has, whatever it asks, and how its arguments are read.

Names, texts and options are single lines: they appear on a card, in a column's head and in a file
with one option per line. No message contains an answer.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, ClassVar, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.mechanisms.mechanism import exactly_one
from discreet.numeric.exact import Number, integer, positive, probability
from discreet.survey.randomizers.randomizer import Randomizer


class Question(Protocol):
    """A question as a frozen value: what is asked, and how an answer to it is randomized."""

    kind: ClassVar[str]  #: "yes_no", "choose_one", "choose_any" or "number"

    @property
    def name(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def epsilon(self) -> Fraction | None:
        """The ε asked for; the law keeps ``randomizer.epsilon``, which is not above it."""

    @property
    def truth(self) -> Fraction | None:
        """The lecture's q, if the question was given by it."""

    @property
    def prior(self) -> Fraction | None:
        """How sure somebody might be of an answer beforehand, for the card."""

    @property
    def permanent(self) -> bool:
        """Whether the first randomized answer is sent again in every wave."""

    @property
    def randomizer(self) -> Randomizer: ...

    @property
    def categories(self) -> Sequence[str]:
        """The possible answers as texts; for a number, the levels it is rounded to."""

    def why(self, respondents: int | None = None) -> str:
        """Which mechanism randomizes the answer, and why: by variances, or by errors with this many
        respondents."""

    def read(self, answer: object) -> Any:
        """The true answer of one person as a code; a refusal never quotes the answer."""

    def truths(self, column: ArrayLike) -> NDArray[Any]:
        """The true answers of many people as codes, for the randomizer."""

    def fields(self) -> dict[str, Any]:
        """The arguments the question was made from, besides name and text, if they were given."""

    def document(self) -> dict[str, Any]:
        """What the page and the collector need: texts and whole numbers."""


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
    if isinstance(value, str) and _fits(value):
        return value
    raise InvalidArgument.of(
        name,
        f"one line of text, at most {LONGEST_TEXT} characters, without spaces around it",
        value,
        hint=_what_is_wrong(value) if isinstance(value, str) else "write it in quotes",
    )


def _what_is_wrong(text: str) -> str:
    """What is wrong, for a message that shows only the beginning of a long text."""
    if text != text.strip():
        return "it begins or ends with a space or a line break"
    if _BROKEN.search(text):
        return "it has a line break in it, or a sign that cannot be shown"
    return f"it has {len(text):,} characters"


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


def read_wave(form: Any, value: int) -> int:
    """Read the number of a wave of this questionnaire."""
    wave = integer(value, name="wave", minimum=1)
    if wave > form.waves:
        raise InvalidArgument.of(
            "wave",
            f"at most {form.waves}, for which the promise was made",
            value,
            hint=Phrase("more waves reveal more: {} before anybody answers", Idiom.WAVES),
        )
    return wave


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
        count = integer(value, name="options", minimum=2)
        _check_count(count)
        return count
    options = tuple(value)
    _check_count(len(options))
    if not _look_fine(options):
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


def _check_count(count: int) -> None:
    if not 2 <= count <= MOST_OPTIONS:
        raise InvalidArgument(
            "options",
            f"between 2 and {MOST_OPTIONS:,} of them",
            f"{count:,}",
            hint="a single thing to tick is a yes/no question"
            if count == 1
            else 'as in ["north", "south"]',
        )


def _look_fine(options: tuple[object, ...]) -> bool:
    """Whether one quick check of all options finds nothing wrong; fast for a million."""
    if set(map(type, options)) != {str}:
        return False
    texts: tuple[str, ...] = options  # type: ignore[assignment]
    return (
        not _BROKEN.search("".join(texts))
        and all(texts)
        and texts == tuple(map(str.strip, texts))
        and max(map(len, texts)) <= LONGEST_TEXT
    )


def _fits(text: str) -> bool:
    return 0 < len(text) <= LONGEST_TEXT and text == text.strip() and not _BROKEN.search(text)


def read_mechanism(value: object, known: tuple[str, ...]) -> str:
    """Read the name of a mechanism."""
    if value not in known:
        raise InvalidArgument.unknown(
            "mechanism", known, value, hint='"best" has the least variance'
        )
    return str(value)


# -- how much a question may reveal ----------------------------------------------------------------
# Its ε or the lecture's q, and what goes with it on the card.


class Promise(NamedTuple):
    """Exactly one of `epsilon` and `truth`, a prior for the card, and whether it is permanent."""

    epsilon: Fraction | None
    truth: Fraction | None
    prior: Fraction | None
    permanent: bool

    @classmethod
    def of(cls, question: Any) -> Promise:
        """The promise of a question."""
        return cls(question.epsilon, question.truth, question.prior, question.permanent)

    @property
    def asked(self) -> dict[str, Fraction]:
        """The one of `epsilon` and `truth` that was given, by name."""
        if self.truth is not None:
            return {"truth": self.truth}
        assert self.epsilon is not None
        return {"epsilon": self.epsilon}


def read_promise(
    epsilon: Number | None, truth: Number | None, prior: Number | None, permanent: bool
) -> Promise:
    """Read what a question promises; there is no default.

    >>> read_promise(None, 0.5, None, False).asked
    {'truth': Fraction(1, 2)}
    """
    exactly_one(epsilon=epsilon, truth=truth)
    if not isinstance(permanent, bool):
        raise InvalidArgument.of("permanent", Idiom.TRUTH, permanent)
    return Promise(
        epsilon=None if epsilon is None else positive(epsilon, name="epsilon"),
        truth=None if truth is None else probability(truth, name="truth"),
        prior=None if prior is None else probability(prior, name="prior"),
        permanent=permanent,
    )


def given(**fields: Any) -> dict[str, Any]:
    """The fields that say something: neither None nor False nor an empty text."""
    silent = (None, False, "")
    return {name: value for name, value in fields.items() if not any(value is x for x in silent)}


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


def codes(column: NDArray[Any], count: int) -> NDArray[np.int64]:
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
    found = [_code(entry, words) for entry in entries]
    places = np.array(found, np.int64)
    if -1 in found:
        raise wrong_rows(expected, places < 0)
    return places


def _code(entry: object, words: Mapping[Any, int]) -> int:
    return words.get(entry, -1) if isinstance(entry, str | bool) else -1


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
