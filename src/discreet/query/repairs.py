"""What to write where the types of a row expression do not fit: calls that would be taken."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from discreet.query.expressions import Typed
from discreet.query.schema import Type

_ALIKE: Final = "values of one type"
_CELLS: Final = 'the cells of a CSV file take the type they are used as; say it with .cast("real")'
DAY: Final = "write a day, as in datetime.date(2026, 1, 31)"
NUMBER_OF_DATE: Final = "take a number from the date first, as in .year()"


def repair(wanted: str, args: Sequence[Typed]) -> str:
    """The next step for arguments that should have been, say, "numbers".

    >>> ward = Typed("column", (), "ward", Type.TEXT, True)
    >>> repair("numbers", [ward])
    'read the text as numbers, as in row.ward.cast("real")'
    """
    kinds = {arg.type for arg in args}
    if Type.RAW in kinds:
        return _CELLS
    if wanted == "numbers":
        return _as_numbers(args)
    if wanted != _ALIKE:
        return ""
    if Type.TIMESTAMP in kinds and kinds & {Type.DATE, Type.TEXT}:
        literal = any(arg.op == "literal" and arg.type is Type.TIMESTAMP for arg in args)
        return DAY if literal else _cast(args, Type.TIMESTAMP, "date", "timestamps as dates")
    if kinds == {Type.DATE, Type.TEXT}:
        return _cast(args, Type.TEXT, "date", "text as dates")
    if any(kind.is_number for kind in kinds):
        return _as_numbers(args, compared=True)
    return 'cast one of them, as in .cast("text")'  # of truths and dates, both can be


def _as_numbers(args: Sequence[Typed], *, compared: bool = False) -> str:
    others = [arg for arg in args if not arg.type.is_number]
    literal = next((arg for arg in args if arg.op == "literal"), None)
    match others[0].type:
        case Type.TEXT if literal and literal.type is Type.TEXT:
            return "write numbers without quotes"
        case Type.TEXT:
            told = _cast(others, Type.TEXT, "real", "text as numbers")
            return f"write text in quotes, or {told}" if compared and literal else told
        case Type.BOOLEAN:
            return _cast(others, Type.BOOLEAN, "integer", "truths as 0 and 1")
        case Type.DATE | Type.TIMESTAMP:
            return NUMBER_OF_DATE
    return ""


def _cast(args: Sequence[Typed], kind: Type, to: str, what: str) -> str:
    """How the first column of this type is read as another."""
    names = (arg.value for arg in args if arg.op == "column" and arg.type is kind)
    name = next(names, "x")
    cell = f"row.{name}" if str(name).isidentifier() else f'row["{name}"]'
    return f'read the {what}, as in {cell}.cast("{to}")'
