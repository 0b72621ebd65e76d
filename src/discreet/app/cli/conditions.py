"""Conditions on rows, as in ``--where "age >= 18"``: read by a parser of our own, never run.

::

    condition  = term { "or" term }
    term       = factor { "and" factor }
    factor     = "not" factor | "(" condition ")" | comparison
    comparison = column ("==" | "=" | "!=" | "<>" | "<" | "<=" | ">" | ">=") value
               | column ["not"] "in" "(" value { "," value } ")"
               | column "is" ["not"] "null"
               | column                          (of true and false)

A column stands on the left, in double quotes if its name needs them. A value is a number, a date
such as 2026-01-31, true or false, or text in quotes.
"""

from __future__ import annotations

import datetime
import operator
import re
from collections.abc import Callable
from typing import Any, Final

from discreet.app.cli.values import INTEGER, REAL, typed
from discreet.errors import InvalidArgument
from discreet.query.row import Cell, Row
from discreet.query.schema import Schema, Type

_TOKEN: Final = re.compile(
    r"\s*(?:(?P<sign>==|!=|<>|<=|>=|=|<|>|[()\[\],])"
    r"|'(?P<single>(?:[^']|'')*)'|\"(?P<double>(?:[^\"]|\"\")*)\"|`(?P<back>[^`]*)`"
    r"|(?P<word>[^\s=!<>()\[\],'\"`]+))"
)
_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
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
    return lambda row: _Reader(text, schema, row).whole()


class _Reader:
    """Reads tokens from the left; each method takes what it understands, or refuses."""

    def __init__(self, text: str, schema: Schema, row: Row) -> None:
        self._text, self._schema, self._row = text, schema, row
        self._tokens = self._split()
        self._place = self._depth = 0

    def whole(self) -> Cell:
        made = self._condition()
        if self._kind() != "end":
            raise self._refused(f"what stands after {self._before()} is not understood")
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
        if self._takes_sign("("):
            made = self._condition()
            if not self._takes_sign(")"):
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
        if not negated and self._ends():
            if column is not Type.BOOLEAN:  # cells of a CSV file have no type before they are used
                raise self._refused(f'if "{name}" holds true and false, say {name} == true')
            alone: Cell = operator.eq(cell, True)
            return alone
        kind, sign = self._next()
        if negated or kind != "sign" or sign not in _COMPARE:
            raise self._refused("after the column comes ==, !=, <, <=, >, >=, in or is")
        made: Cell = _COMPARE[sign](cell, self._value(column))
        return made

    def _values(self, column: Type) -> list[Any]:
        closing = {"(": ")", "[": "]"}.get(self._next()[1], "")
        if not closing:
            raise self._refused('"in" is followed by a list such as (1, 2)')
        values = [self._value(column)]
        while self._takes_sign(","):
            values.append(self._value(column))
        if not self._takes_sign(closing):
            raise self._refused(f'a "{closing}" is missing')
        return values

    def _value(self, column: Type) -> Any:
        kind, text = self._next()
        if kind == "quoted":
            dated = column in (Type.DATE, Type.TIMESTAMP)
            return typed(text, column, option="--where") if dated else text
        value = _bare(text) if kind == "word" else None
        if column is Type.TIMESTAMP and type(value) is datetime.date:
            return datetime.datetime.combine(value, datetime.time())  # the day begins then
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
            mark = {"single": "'", "double": '"'}.get(kind, "")
            quoted = kind in ("single", "double", "back")
            part = part.replace(mark * 2, mark) if mark else part
            tokens.append(("quoted" if quoted else kind, part))
            place = found.end()
        return tokens

    def _ends(self) -> bool:
        """Is the column followed by nothing that belongs to it?"""
        if self._kind() == "end":
            return True
        kind, part = self._tokens[self._place]
        return (kind, part.lower()) in (("word", "and"), ("word", "or"), ("sign", ")"))

    def _kind(self) -> str:
        return self._tokens[self._place][0] if self._place < len(self._tokens) else "end"

    def _next(self) -> tuple[str, str]:
        if self._kind() == "end":
            raise self._refused("it ends too early")
        self._place += 1
        return self._tokens[self._place - 1]

    def _takes(self, word: str) -> bool:
        return self._takes_if("word", word)

    def _takes_sign(self, sign: str) -> bool:
        return self._takes_if("sign", sign)

    def _takes_if(self, kind: str, part: str) -> bool:
        found = self._kind() == kind and self._tokens[self._place][1].lower() == part
        self._place += found
        return found

    def _before(self) -> str:
        return f'"{self._tokens[self._place - 1][1][:20]}"'

    def _refused(self, hint: str) -> InvalidArgument:
        given = InvalidArgument.describe_parameter(self._text)
        return InvalidArgument(name="--where", expected=_SHAPE, given=given, hint=hint)


def _bare(word: str) -> Any:
    """A value without quotes: a number, a date, a moment, true or false; None if it is none."""
    if INTEGER.fullmatch(word):
        return int(word)
    if REAL.fullmatch(word):
        return float(word)
    for reader in (datetime.date, datetime.datetime):
        try:
            return reader.fromisoformat(word)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(word.lower())
