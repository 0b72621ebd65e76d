"""Rows, values and aggregates as they are typed, parsed into the language of queries.

Conditions, as in ``--where "age >= 18"``, are read by a parser of our own and never executed::

    condition  = term { "or" term }
    term       = factor { "and" factor }
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = column ("==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
               | column ["not"] "in" "(" value { "," value } ")"
               | column "is" ["not"] "null"
               | column                          (of true and false)

A column stands on the left, in double quotes if its name needs them. A value is a number, a date
such as 2026-01-31, true or false, or text in quotes. Aggregates are typed as in
``--mean income:0:200000`` or ``--mean pay=income:0:9``.
"""

from __future__ import annotations

import csv
import datetime
import glob
import operator
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from discreet.engines.files import no_such_file
from discreet.errors import InvalidArgument
from discreet.query.aggregates.aggregate import Aggregate, Flag
from discreet.query.row import Cell, Row
from discreet.query.schema import Schema, Type

# -- values and lists ------------------------------------------------------------------------------


INTEGER: Final = re.compile(r"[+-]?\d{1,19}")
REAL: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_HOW: Final = {
    Type.INTEGER: "a whole number such as 12",
    Type.BOOLEAN: "true or false",
    Type.DATE: "a date such as 2026-01-31",
    Type.TIMESTAMP: "a moment such as 2026-01-31T12:00:00",
}


def listed(text: str, *, option: str) -> list[str]:
    """The items of a list with commas; an item that holds a comma is put in double quotes.

    >>> listed('a, b,"c, d"', option="--keys")
    ['a', 'b', 'c, d']
    """
    try:
        rows = list(csv.reader([text], skipinitialspace=True, strict=True))
    except csv.Error:
        rows = []
    items = [item.strip() for item in rows[0]] if len(rows) == 1 else []
    if not items or "" in items:
        raise InvalidArgument.of(
            option,
            "a list with commas, without empty items",
            text,
            hint="as in a,b,c; put an item that holds a comma in double quotes, as in 'a,\"b, c\"'",
        )
    return items


def typed(text: str, kind: Type, *, option: str) -> Any:
    """Text as a value of a column's type; text stays text.

    >>> typed("12", Type.INTEGER, option="--keys"), typed("12", Type.TEXT, option="--keys")
    (12, '12')
    """
    value = _read_value(text, kind)
    if value is None:
        raise InvalidArgument.of(
            option,
            f"{_HOW[kind]}, since the column is of type {kind}",
            text,
            hint="--schema column=text reads the column as text",
        )
    return value


def _read_value(text: str, kind: Type) -> Any:
    match kind:
        case Type.INTEGER:
            return int(text) if INTEGER.fullmatch(text) else None
        case Type.BOOLEAN:
            return {"true": True, "false": False}.get(text.lower())
        case Type.DATE | Type.TIMESTAMP:
            reader = datetime.date if kind is Type.DATE else datetime.datetime
            with suppress(ValueError):
                return reader.fromisoformat(text)
            return None
    return text


# -- conditions on rows ----------------------------------------------------------------------------


_TOKEN: Final = re.compile(
    r"\s*(?:(?P<sign>==|!=|<>|<=|>=|=|<|>|[()\[\],])"
    r"|'(?P<single>(?:[^']|'')*)'|\"(?P<double>(?:[^\"]|\"\")*)\"|`(?P<back>[^`]*)`"
    r"|(?P<word>[^\s=!<>()\[\],'\"`]+))"
)
_COMPARE: Final[dict[str, Callable[[Any, Any], Cell]]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_QUOTES: Final = {"single": "'", "double": '"', "back": "`"}
_LONGEST, _DEEPEST = 4_000, 50
_SHAPE = "a condition such as age >= 18, city == 'A' or city in ('A', 'B')"


def condition(text: str, schema: Schema) -> Callable[[Row], Cell]:
    """The condition as a function of a row, for ``Table.where``.

    >>> from discreet.query.expressions import in_words
    >>> schema = Schema.of({"age": "integer", "city": "text"})
    >>> adults = condition("age >= 18 and city in ('A', 'B')", schema)
    >>> in_words(adults(Row(schema)).expression)
    "(age >= 18) & (city in ('A', 'B'))"
    """
    return lambda row: _ConditionReader(text, schema, row).whole()


class _ConditionReader:
    """Reads tokens from the left; each method takes the tokens it understands, or refuses."""

    def __init__(self, text: str, schema: Schema, row: Row) -> None:
        self._text, self._schema, self._row = text, schema, row
        self._tokens = self._split()
        self._place = self._depth = 0

    def whole(self) -> Cell:
        made = self._condition()
        if self._kind() != "end":
            before = self._tokens[self._place - 1][1][:20]
            raise self._refused(f'what stands after "{before}" is not understood')
        return made

    # -- the grammar -------------------------------------------------------------------------------

    def _condition(self) -> Cell:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._refused("it has too many parentheses")
        made = self._term()
        while self._takes("or"):
            made = made | self._term()
        self._depth -= 1
        return made

    def _term(self) -> Cell:
        made = self._factor()
        while self._takes("and"):
            made = made & self._factor()
        return made

    def _factor(self) -> Cell:
        negated = False
        while self._takes("not"):
            negated = not negated
        if self._takes("("):
            made = self._condition()
            if not self._takes(")"):
                raise self._refused('a ")" is missing')
        else:
            made = self._comparison()
        return ~made if negated else made

    def _comparison(self) -> Cell:
        kind, name = self._next()
        if kind not in ("word", "quoted"):
            raise self._refused("a column's name is missing")
        cell, column = self._row[name], self._schema[name].type
        if self._takes("is"):
            absent = not self._takes("not")
            if not self._takes("null"):
                raise self._refused('"is" is followed by null or not null')
            return cell.is_null() if absent else cell.is_not_null()
        negated = self._takes("not")
        if self._takes("in"):
            listed = cell.is_in(self._values(column))
            return ~listed if negated else listed
        if not negated and (self._kind() == "end" or self._comes("and", "or", ")")):
            if column is not Type.BOOLEAN:  # cells of a CSV file have no type until they are used
                raise self._refused(f'if "{name}" holds true and false, say {name} == true')
            return _COMPARE["="](cell, True)
        kind, sign = self._next()
        if negated or kind != "sign" or sign not in _COMPARE:
            raise self._refused("after the column comes ==, !=, <, <=, >, >=, in or is")
        return _COMPARE[sign](cell, self._value(column))

    def _values(self, column: Type) -> list[Any]:
        closing = {"(": ")", "[": "]"}.get(self._next()[1], "")
        if not closing:
            raise self._refused('"in" is followed by a list such as (1, 2)')
        values = [self._value(column)]
        while self._takes(","):
            values.append(self._value(column))
        if not self._takes(closing):
            raise self._refused(f'a "{closing}" is missing')
        return values

    def _value(self, column: Type) -> Any:
        kind, text = self._next()
        if kind == "quoted":
            dated = column in (Type.DATE, Type.TIMESTAMP)
            return typed(text, column, option="--where") if dated else text
        value = _bare(text) if kind == "word" else None
        if column is Type.TIMESTAMP and type(value) is datetime.date:
            return datetime.datetime.combine(value, datetime.time())  # the start of the day
        if value is None:
            raise self._refused("a value is a number, a date, true, false, or text in quotes")
        return value

    # -- tokens ------------------------------------------------------------------------------------

    def _split(self) -> list[tuple[str, str]]:
        text = self._text.strip()
        if not text or len(text) > _LONGEST:
            raise self._refused(f"it has from 1 to {_LONGEST:,} characters")
        tokens, place = [], 0
        while place < len(text):
            found = _TOKEN.match(text, place)
            if found is None:
                raise self._refused("a quote is opened and not closed, or a sign is unknown")
            kind, part = str(found.lastgroup), found[str(found.lastgroup)]
            if (mark := _QUOTES.get(kind)) is not None:
                kind, part = "quoted", part.replace(mark * 2, mark)
            tokens.append((kind, part))
            place = found.end()
        return tokens

    def _kind(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else "end"

    def _next(self) -> tuple[str, str]:
        if self._kind() == "end":
            raise self._refused("it ends too early")
        self._place += 1
        return self._tokens[self._place - 1]

    def _comes(self, *parts: str) -> bool:
        """Is the next token one of these words and signs?"""
        plain = self._kind() in ("word", "sign")
        return plain and self._tokens[self._place][1].lower() in parts

    def _takes(self, part: str) -> bool:
        found = self._comes(part)
        self._place += found
        return found

    def _refused(self, hint: str) -> InvalidArgument:
        return InvalidArgument.of("--where", _SHAPE, self._text, hint=hint)


def _bare(word: str) -> Any:
    """A value without quotes: a number, a date, a moment, true or false; otherwise None."""
    if INTEGER.fullmatch(word):
        return int(word)
    if REAL.fullmatch(word):
        return float(word)
    for reader in (datetime.date, datetime.datetime):
        with suppress(ValueError):
            return reader.fromisoformat(word)
    return {"true": True, "false": False}.get(word.lower())


# -- aggregates ------------------------------------------------------------------------------------


Named = tuple[str, Aggregate]


def asked(flag: Flag, text: str, schema: Schema) -> Named:
    """The aggregate that was typed after a flag, and its name.

    >>> from discreet.cli.release import flags
    >>> schema = Schema.of({"income": "integer"})
    >>> name, mean = asked(flags()["mean"], "pay=income:0:0.5", schema)
    >>> name, mean.bounds
    ('pay', (Fraction(0, 1), Fraction(1, 2)))
    >>> asked(flags()["quantile"], "income:0.9:0:9", schema)[0]
    'p90_income'
    """
    if not flag.metavar:
        return flag.build(AskedText(flag, "", {}, schema))
    name, rest = _name(text)
    parts = ("column", *flag.parts)
    # Numbers are on the right of a column, whose name may hold colons; lists may hold some too.
    split = rest.split if flag.metavar.endswith("...") else rest.rsplit
    found = [part.strip() for part in split(":", len(parts) - 1)]
    if len(found) != len(parts) or "" in found:
        option = f"--{flag.option}"
        raise InvalidArgument.of(
            option,
            ":".join(parts),
            text,
            hint=f"as in {option} {flag.example}, or with a name, {option} name={flag.example}",
        )
    given = AskedText(flag, found[0], dict(zip(parts, found, strict=True)), schema)
    about = "the bounds of " * (flag.parts == ("lower", "upper")) + f"--{flag.option}"
    try:
        unnamed, made = flag.build(given)
    except InvalidArgument as error:
        if "--" in error.name:
            raise
        raise error.about(about) from None
    return name or unnamed, made


@dataclass(frozen=True)
class AskedText:
    """What was typed after a flag, as aggregates read it."""

    flag: Flag
    column: str
    parts: dict[str, str]
    schema: Schema

    @property
    def kind(self) -> Type:
        return self.schema.field(self.column, argument=f"the column of --{self.flag.option}").type

    def __getitem__(self, part: str) -> str:
        return self.parts[part]

    def items(self, part: str) -> list[str]:
        return listed(self.parts[part], option=f"--{self.flag.option}")

    def values(self, part: str) -> list[Any]:
        """The items of a list with commas, as values of the column's type."""
        option, kind = f"--{self.flag.option}", self.kind
        return [typed(item, kind, option=option) for item in self.items(part)]


def once(pairs: list[Named]) -> dict[str, Aggregate]:
    """All aggregates by name; the names must differ."""
    named: dict[str, Aggregate] = {}
    for name, aggregate in pairs:
        if name in named:
            raise InvalidArgument(
                f'the name "{name}"',
                "that of one aggregate",
                "that of two",
                hint="put a name before one of them, as in --mean pay=income:0:200000",
            )
        named[name] = aggregate
    return named


def _name(text: str) -> tuple[str, str]:
    name, sign, rest = text.partition("=")
    return (name.strip(), rest) if sign and ":" not in name else ("", text)


# -- files of data that cannot be read -------------------------------------------------------------


_OTHERS: Final = {",": ",", ";": "';'", "\t": "tab", "|": "'|'"}


def check_data(data: str) -> None:
    if not Path(data).exists() and not glob.has_magic(data):
        raise InvalidArgument(
            "DATA",
            "a file, or a pattern in quotes that files match",
            f"a missing one: there is no file {data}",
            hint=no_such_file(data),
            code="not-found",
        )


@contextmanager
def delimiter_hinted(data: str, delimiter: str) -> Iterator[None]:
    """Suggest another delimiter for a mistake about columns, if a CSV file seems to have only one
    column."""
    try:
        yield
    except InvalidArgument as error:
        other = _other_delimiter(data, delimiter)
        if other is None:
            raise
        hint = (
            f"the first line of {Path(data).name} looks as if cells were separated by another "
            f"character: try --delimiter {other}"
        )
        raise error.about(error.name, hint=hint) from None


def _other_delimiter(data: str, delimiter: str) -> str | None:
    """The delimiter that occurs in the name of the only column, if any does."""
    import discreet as dp

    try:
        names = dp.table(data, delimiter=delimiter).schema.names
    except InvalidArgument:
        return None
    found = (other for sign, other in _OTHERS.items() if len(names) == 1 and sign in names[0])
    return next(found, None)
