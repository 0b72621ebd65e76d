"""Every exception that discreet raises on purpose.

::

    DiscreetError
    ├── InvalidArgument (ValueError)   the caller's mistake: name, expected, given, what to do
    ├── Refused                        well formed, but would break the promise
    │   ├── BudgetExceeded             asks for more than is left
    │   ├── RelationMismatch           holds under another neighbour relation than the stated one
    │   ├── UnboundedSensitivity       no finite noise can hide one person
    │   └── LedgerDamaged              the record of what was spent cannot be trusted
    ├── EngineError                    the database failed; carries no data values
    ├── EntropyFailed                  the operating system gave no randomness
    └── InternalError                  our bug: please report it

No message contains a value from the data. All of them survive pickling, so that they cross
process boundaries unchanged.

An error is data: a `Code` to switch on, the parameter, what was expected, what was given, and the
remedy. Its texts are plain, or a `Phrase` that refers to arguments, so that each front
end says it in its own words: `Words` are Python's, and a subclass has those of a command line.

One warning is ours too: LooseBound (UserWarning), an upper bound that is wider than asked for.
"""

from __future__ import annotations

import json
from ast import literal_eval
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from numbers import Number, Rational
from string import Formatter
from typing import Final, Literal, LiteralString, TypeAlias

_SHOWN_CHARACTERS = 40
_SHOWN_BITS = 512


# What kind of error it is, for programs: stable, and coarser than the sentences. docs/errors.md has
# the meanings. The last three are of the command line alone, which has errors that are not ours.
Code: TypeAlias = Literal[
    "invalid-argument",
    "missing-argument",
    "conflicting-arguments",
    "unknown-name",
    "not-found",
    "not-installed",
    "refused",
    "budget-exceeded",
    "notion-mismatch",
    "relation-mismatch",
    "unbounded-sensitivity",
    "already-there",
    "key-reused",
    "unanswered",
    "exhausted",
    "not-shared",
    "too-large",
    "unsupported",
    "ledger-damaged",
    "engine-failed",
    "entropy-failed",
    "internal",
    "file-failed",
    "usage",
    "interrupted",
]


# -- texts that each front end says in its own words -----------------------------------------------


Value: TypeAlias = bool | int | float | str | list[str] | tuple[int, ...] | dict[str, str]


@dataclass(frozen=True)
class Argument:
    """An argument, perhaps with a value: `create=True`, or `--create` in a shell."""

    name: str
    value: Value | None = None


@dataclass(frozen=True)
class Cast:
    """A column that is read as another type: `row.age.cast("real")`, or `--schema age=real`.
    Without a name it is any column."""

    column: str
    type: str


@dataclass(frozen=True)
class Shown:
    """A value that somebody passed, and its type, which is noise to whoever typed it as text."""

    text: str
    type: str


class Idiom(StrEnum):
    """What each front end says in words of its own; these are Python's."""

    ADD_ANALYST = "ledger.add_analyst(...), or discreet ledger, adds one"
    ADD_DATASET = "ledger.add_dataset(...), or discreet ledger, adds one"
    ADD_GROUP = "ledger.add_group(...), or discreet ledger, adds one"
    BOUND_BY_GROUP = ".bound(max_groups=3, max_rows_per_group=5)"
    BOUND_BY_ROWS = ".bound(max_rows=10)"
    BOUNDS = "bounds=(lower, upper)"
    BOUGHT_BOUNDS = "; session.release_bounds buys them privately"
    BUDGET = "budget=dp.Pure(3)"
    CAP_GIVEN = "Leave the budget out to go on with it"
    CAP_OF_APPROX = "for an (ε, δ) cap use Filter.from_epsilon_delta"
    CAP_WITH_DELTA = "open a session with a budget such as dp.Approx(epsilon, delta)"
    CAP_NOT_PURE = "open a session with a budget in ρ, μ or (ε, δ)"
    CAP_WITH_SLACK = "open one with slack, or use what needs no delta"
    CAST_TO_TEXT = 'cast one of them, as in .cast("text")'
    CERTIFICATE = "read the file that certificate.save(path) wrote"
    CLAIM = "claim=dp.Pure(1)"
    COUNT = "count()"
    DATABASE = "say dp.table(ibis.connect(address).table(name))"
    DAY = "datetime.date(2026, 1, 31)"
    EDGES = "edges=[0, 18, 65, 120]"
    GROUPS = 'group_by("ward", keys=["A", "B"])'
    KEY_FILE = "discreet.signing.create_key(path)"
    MEMORY = 'memory=Memory("answers.json")'
    NONE = "None"
    NEW_DATASET = "create=True and a budget"
    NULL = "row.x.is_null() or row.x.is_not_null()"
    NUMBERS = '3, 0.1, "1/3", Fraction(1, 3) or Decimal("0.1")'
    PAIR = "a pair (lower, upper)"
    SAME_TABLE = (
        "open the table with the same unit= and relation=; if these are other people, or a person "
        "has several rows, keep unit= and use another ledger= or dataset="
    )
    TRUTH = "True or False"
    UNIT = 'dp.table(..., unit="column")'
    WAVES = "say waves= in the questionnaire"
    YEAR = "take a number from the date first, as in .year()"
    YES_OR_NO = "yes or no (True or False)"


Part: TypeAlias = str | Argument | Cast | Shown | Idiom


class Words:
    """The words of a front end: Python's. Another one overrides what it says differently."""

    idioms: Mapping[Idiom, str] = {}

    def parameter(self, name: str) -> str:
        """What is wrong: the name of an argument, or a description."""
        return name

    def argument(self, one: Argument) -> str:
        """As it is written in a call."""
        return f"{one.name}={'' if one.value is None else self.literal(one.value)}"

    def literal(self, value: Value) -> str:
        """A value as it is written."""
        match value:
            case str() | dict():
                return json.dumps(value, ensure_ascii=False)
            case list():
                return f"[{', '.join(map(self.literal, value))}]"
            case float():
                return f"{value:g}".replace("e-0", "e-")  # 1e-6, as people write it
        return str(value)

    def cast(self, one: Cast) -> str:
        """How to read a column as another type."""
        named = f"row.{one.column}" if one.column.isidentifier() else f'row["{one.column}"]'
        return f'{named if one.column else ""}.cast("{one.type}")'

    def shown(self, one: Shown) -> str:
        """A value that was given."""
        return f"{one.text} ({one.type})" if one.type else one.text

    def __call__(self, text: Part) -> str:
        """The text, with what it refers to in these words.

        >>> Words()(Phrase("pass {create=True} to start one"))
        'pass create=True to start one'
        """
        match text:
            case Phrase():
                return self.filled(text.template, text.parts)
            case Idiom():
                return self.idioms.get(text, text.value)
            case Argument():
                return self.argument(text)
            case Cast():
                return self.cast(text)
            case Shown():
                return self.shown(text)
        return text

    def filled(self, template: str, parts: Sequence[Part]) -> str:
        """The template of a phrase, with these parts in its holes."""
        rest, told = iter(parts), ""
        for text, hole, _, _ in Formatter().parse(template):
            told += text
            if hole:
                name, _, value = hole.partition("=")
                told += self.argument(Argument(name, literal_eval(value) if value else None))
            elif hole is not None:
                told += self(next(rest))
        return told


PYTHON: Final = Words()


class Phrase(str):
    """A sentence that refers to arguments, written as ``{create=True}``, and to the parts that fill
    its other holes: idioms, what was given, or text.

    It is Python's sentence to whoever reads it as text; the `Words` of a front end say the same in
    its own way. An f-string of a phrase is text, and refers to nothing.

    >>> Phrase("say {delimiter=} for another, or {}", Idiom.DATABASE)
    'say delimiter= for another, or say dp.table(ibis.connect(address).table(name))'
    """

    template: str
    parts: tuple[Part, ...]

    def __new__(cls, template: LiteralString, *parts: Part) -> Phrase:
        """Fill the holes of the template, which is written out where it is used."""
        phrase = super().__new__(cls, PYTHON.filled(template, parts))
        phrase.template, phrase.parts = template, parts
        return phrase

    def __reduce__(self) -> tuple[object, ...]:
        return Phrase, (self.template, *self.parts)


# -- the tree --------------------------------------------------------------------------------------


class DiscreetError(Exception):
    """The root: catches everything discreet raises on purpose."""

    code: Code = "internal"
    parameter: str = ""
    expected: str = ""
    given: str = ""
    remedy: str = ""

    def __init__(self, message: str = "", *, remedy: str = "", code: Code | None = None) -> None:
        super().__init__(message)
        if remedy:
            self.remedy = remedy
        if code is not None:
            self.code = code

    def sentence(self, words: Words) -> str:
        """The message in the ``words`` of a front end."""
        told, remedy = words(self.args[0]), words(self.remedy)
        if not remedy:
            return told
        return f"{told}{'. ' if remedy[0].isupper() else ': '}{remedy}"

    def __str__(self) -> str:
        return self.sentence(PYTHON)


class InvalidArgument(DiscreetError, ValueError):
    """The caller's mistake, in one sentence.

    `given` is a description, not the value: use `describe_parameter` for what an analyst typed
    and `describe_data` for anything that may hold records, as `of` and `of_data` do.

    >>> str(InvalidArgument(name="epsilon", expected="above 0", given="-1 (int)"))
    'epsilon must be above 0, got -1 (int)'
    """

    code: Code = "invalid-argument"

    def __init__(
        self,
        name: str,
        expected: str,
        given: str,
        *,
        hint: str = "",
        code: Code = "invalid-argument",
    ) -> None:
        super().__init__(remedy=hint, code=code)
        self.name = self.parameter = name
        self.expected = expected
        self.given = given
        self.hint = self.remedy = hint
        self.args = (str(self),)

    @classmethod
    def of(
        cls,
        name: str,
        expected: str,
        value: object,
        *,
        hint: str = "",
        code: Code = "invalid-argument",
    ) -> InvalidArgument:
        """The parameter ``name`` is not as ``expected``: its ``value`` is shown, and ``hint`` says
        what to do. A ``code`` is given where a program may want to know more.

        >>> str(InvalidArgument.of("epsilon", "above 0", -1))
        'epsilon must be above 0, got -1 (int)'
        """
        code = "missing-argument" if value is None else code
        return cls(name, expected, cls.describe_parameter(value), hint=hint, code=code)

    @classmethod
    def of_data(cls, name: str, expected: str, value: object, *, hint: str = "") -> InvalidArgument:
        """The same for a ``value`` that may hold records: only its type is shown, with ``name``,
        ``expected`` and ``hint``."""
        return cls(name, expected, cls.describe_data(value), hint=hint)

    @classmethod
    def missing(cls, name: str, expected: str = "given", *, hint: str = "") -> InvalidArgument:
        """The parameter ``name`` has to be given, as ``expected`` and ``hint`` say."""
        return cls(name, expected, "nothing", hint=hint, code="missing-argument")

    @classmethod
    def conflict(
        cls, name: str, expected: str = "one of them", given: str = "both", *, hint: str = ""
    ) -> InvalidArgument:
        """Parameters, in ``name``, that exclude each other, or one of them ``given`` without the
        other; ``expected`` and ``hint`` say what would do."""
        return cls(name, expected, given, hint=hint, code="conflicting-arguments")

    @classmethod
    def unknown(
        cls, name: str, known: Iterable[str], value: object, *, hint: str = ""
    ) -> InvalidArgument:
        """The ``value`` of ``name`` is none of the ``known``; ``hint`` may say which was meant."""
        return cls.of(name, f"one of {', '.join(known)}", value, hint=hint, code="unknown-name")

    def about(self, name: str, *, hint: str = "") -> InvalidArgument:
        """The same about ``name``, as a caller knows it, or with a ``hint`` of theirs."""
        hint = hint or self.hint
        other = InvalidArgument(name, self.expected, self.given, hint=hint, code=self.code)
        for note in getattr(self, "__notes__", ()):
            other.add_note(note)
        return other

    def sentence(self, words: Words) -> str:
        """What must be what, what it was, and what to do, in these ``words``."""
        name = words.parameter(self.name)
        told = f"{name} must be {words(self.expected)}, got {words(self.given)}"
        return f"{told}; {hint}" if (hint := words(self.hint)) else told

    def __reduce__(self) -> tuple[object, ...]:
        # The default would call the class with the finished sentence; the dict keeps the notes.
        build = partial(type(self), self.name, self.expected, self.given, hint=self.hint)
        return build, (), self.__dict__

    @staticmethod
    def describe_data(value: object) -> str:
        """Describe anything by its type alone, which is safe for records.

        >>> InvalidArgument.describe_data([3, 1, 4])
        'a value of type list'
        """
        # A class is one, whatever its metaclass.
        return f"a value of type {'type' if isinstance(value, type) else type(value).__name__}"

    @staticmethod
    def describe_parameter(value: object) -> str:
        """Describe a parameter by value and type; anything but a number or text by type alone.

        >>> InvalidArgument.describe_parameter(-1)
        '-1 (int)'
        >>> InvalidArgument.describe_parameter("one")
        "'one' (str)"
        >>> InvalidArgument.describe_parameter([3, 1, 4])
        'a value of type list'
        """
        if value is None:
            return Idiom.NONE
        if not isinstance(value, Number | str) or _is_long(value):
            return InvalidArgument.describe_data(value)
        text = repr(value[:_SHOWN_CHARACTERS]) if isinstance(value, str) else str(value)
        return Phrase("{}", Shown(text[: _SHOWN_CHARACTERS + 2], type(value).__name__))


def _is_long(value: object) -> bool:
    """Whether writing the number out would be slow, or refused by the interpreter."""
    if not isinstance(value, Rational):
        return False
    return max(int(value.numerator).bit_length(), int(value.denominator).bit_length()) > _SHOWN_BITS


class Refused(DiscreetError):
    """The request is well formed, but granting it would break the promise."""

    code: Code = "refused"


class BudgetExceeded(Refused):
    """The request asks for more than is left.

    >>> str(BudgetExceeded(requested="ε = 2", spent="ε = 1.5", limit="ε = 3"))
    'the request needs ε = 2, but ε = 1.5 of ε = 3 is already spent'
    """

    code: Code = "budget-exceeded"

    def __init__(
        self,
        requested: object,
        spent: object,
        limit: object,
        left: object | None = None,
        account: str | None = None,
    ) -> None:
        super().__init__()
        self.args = (requested, spent, limit, left, account)
        self.requested, self.spent, self.limit = requested, spent, limit
        self.left, self.account = left, account

    def sentence(self, words: Words) -> str:
        """The same in all ``words``: it names no argument."""
        rest = "" if self.left is None else f", so {self.left} is left"
        whose = "" if self.account is None else f" ({self.account})"
        return (
            f"the request needs {self.requested}, but {self.spent} of {self.limit} is already "
            f"spent{rest}{whose}"
        )


class RelationMismatch(Refused):
    """The statement holds under another neighbour relation than the stated one."""

    code: Code = "relation-mismatch"


class UnboundedSensitivity(Refused):
    """One person can move the answer without limit, so no finite noise hides them."""

    code: Code = "unbounded-sensitivity"


class LedgerDamaged(Refused):
    """The record of what was spent is truncated, reordered or edited."""

    code: Code = "ledger-damaged"


class EngineError(DiscreetError):
    """The database failed.

    Engines quote cells in their messages, so the text is ours alone, and it is raised outside
    the `except` block that caught theirs: neither `__cause__` nor `__context__` may remain.
    """

    code: Code = "engine-failed"


class EntropyFailed(DiscreetError):
    """The operating system gave no randomness, so nothing can be released."""

    code: Code = "entropy-failed"


class InternalError(DiscreetError):
    """Our bug: a state that cannot happen. Please report it."""


class LooseBound(UserWarning):
    """An answer that holds but is not as tight as asked for: more memory or time would help."""


# -- texts that somebody else wrote ----------------------------------------------------------------


def one_line(text: str) -> str:
    """One line that a terminal shows and does not obey: unprintable characters are replaced.

    >>> one_line("patient\\nProved:\\x1b[2J")
    'patient�Proved:�[2J'
    """
    return "".join(c if c.isprintable() else "�" for c in text)
