"""Values typed on a command line: lists with commas, and text that takes the type of a column."""

from __future__ import annotations

import csv
import datetime
import re
from typing import Any, Final

from discreet.errors import InvalidArgument
from discreet.query.schema import Type

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
        raise InvalidArgument(
            name=option,
            expected="a list with commas, without empty items",
            given=InvalidArgument.describe_parameter(text),
            hint="as in a,b,c; put an item that holds a comma in double quotes, as in 'a,\"b, c\"'",
        )
    return items


def typed(text: str, kind: Type, *, option: str) -> Any:
    """Text as a value of a column's type; text stays text.

    >>> typed("12", Type.INTEGER, option="--keys"), typed("12", Type.TEXT, option="--keys")
    (12, '12')
    """
    value = _read(text, kind)
    if value is None:
        raise InvalidArgument(
            name=option,
            expected=f"{_HOW[kind]}, since the column is of type {kind}",
            given=InvalidArgument.describe_parameter(text),
            hint="--schema column=text reads the column as text",
        )
    return value


def _read(text: str, kind: Type) -> Any:
    match kind:
        case Type.INTEGER:
            return int(text) if INTEGER.fullmatch(text) else None
        case Type.BOOLEAN:
            return {"true": True, "false": False}.get(text.lower())
        case Type.DATE | Type.TIMESTAMP:
            reader = datetime.date if kind is Type.DATE else datetime.datetime
            try:
                return reader.fromisoformat(text)
            except ValueError:
                return None
    return text
