"""Values as TOML text, so that reading gives the same value again.

Texts are basic strings, numbers are exact: integers and decimals where they are, else a text such
as "1/3", which every number of a questionnaire may be.
"""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction

from discreet.errors import InternalError

_LARGEST = 2**63  # integers in TOML; larger ones are texts
_FEW = 10  # options on one line


def assignment(key: str, value: object) -> str:
    """One line (or more, for a long list): ``key = value``.

    >>> print(assignment("options", ("red", "blue")))
    options = ["red", "blue"]
    """
    return f"{key} = {_value(value)}"


def _value(value: object) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case int() | Fraction():
            return _number(Fraction(value))
        case tuple() if len(value) <= _FEW:
            return "[" + ", ".join(map(_value, value)) + "]"
        case tuple():
            return "[\n" + "".join(f"    {_value(each)},\n" for each in value) + "]"
        case _:
            raise InternalError(f"a questionnaire holds a value of type {type(value).__name__}")


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for DEL, which JSON leaves as it is
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _number(value: Fraction) -> str:
    """
    >>> _number(Fraction(1, 10)), _number(Fraction(3)), _number(Fraction(1, 3))
    ('0.1', '3', '"1/3"')
    """
    if value.denominator == 1 and abs(value) < _LARGEST:
        return str(value)
    decimal = Decimal(repr(float(value))) if abs(value) < _LARGEST else None
    if decimal is not None and value.denominator != 1 and Fraction(decimal) == value:
        return repr(float(value))
    return f'"{value}"'
