"""Row expressions and literals as JSON values."""

from __future__ import annotations

import datetime
from enum import Enum
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import InternalError
from discreet.query.expressions import Typed

Tree: TypeAlias = dict[str, Any]


def tree(value: Typed) -> Tree:
    """A typed expression; a literal's own type is beside it, so its text is never ambiguous.

    >>> from discreet.query.schema import Type
    >>> tree(Typed("column", (), "age", Type.INTEGER, True))
    {'op': 'column', 'value': 'age', 'type': 'integer', 'nullable': True}
    """
    told: Tree = {"op": value.op}
    if value.args:
        told["args"] = [tree(arg) for arg in value.args]
    if value.value is not None:
        told["value"] = plain_value(value.value)
    return {**told, "type": str(value.type), "nullable": value.nullable}


def plain_value(value: object) -> Any:
    """A literal, a parameter or a list of them, without floats.

    >>> plain_value((1, 0.5, Fraction(1, 3), datetime.date(2026, 1, 31), None))
    [1, '0.5', '1/3', '2026-01-31', None]
    """
    match value:
        case Typed():
            return tree(value)
        case Enum():
            return str(value)
        case None | bool() | int() | str():
            return value
        case float():
            return repr(value)
        case Fraction():
            return str(value)
        case datetime.date():  # moments are dates too
            return value.isoformat()
        case tuple() | list():
            return [plain_value(each) for each in value]
    raise InternalError(f"a question holds a value of type {type(value).__name__}")
