"""Casts that cannot fail: what is not of the type becomes null.

A cast that can raise only ever sees values that it takes. It is applied to a value that is null
unless it fits, rather than guarded by a condition that an optimiser might evaluate later.
Spaces around a text do not matter; every other character does.
"""

from __future__ import annotations

from typing import Final

import ibis
import ibis.expr.types as ir

from discreet.engines.arithmetic import in_whole_range, normal
from discreet.engines.calls import matches, trimmed, truncated, whole, written
from discreet.engines.dialects import Dialect
from discreet.engines.limits import NORMAL_BITS
from discreet.query.schema import Type

CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
INTEGER: Final = "[+-]?[0-9]{1,18}"
REAL: Final = "[+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?"
# The days there are, from 0001-01-01 to 9999-12-31; PostgreSQL raises on any other.
_MONTHS: Final = (
    "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
    "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
    "02-(0[1-9]|1[0-9]|2[0-8])",
)
_YEAR: Final = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DAY: Final = f"{_YEAR}-({'|'.join(_MONTHS)})|{_LEAP}-02-29"


def cast(x: ir.Value, source: Type, target: Type, dialect: Dialect) -> ir.Value:
    """The value as another type; null stays null."""
    match source, target:
        case Type.TEXT | Type.RAW, Type.TEXT:
            return x
        case Type.TEXT | Type.RAW, _:
            return _read(trimmed(x, dialect), target, dialect)
        case Type.REAL, Type.INTEGER:
            return truncated(in_whole_range(x), dialect)
        case Type.INTEGER, Type.BOOLEAN:
            return x != whole(0)
        case Type.BOOLEAN, Type.INTEGER:
            return ibis.cases((x, whole(1)), (~x, whole(0)), else_=ibis.null("int64"))
        case Type.BOOLEAN, Type.TEXT:
            return ibis.cases((x, "true"), (~x, "false"), else_=ibis.null("string"))
        case Type.DATE, Type.TEXT:
            return written(x, dialect)
        case Type.TIMESTAMP, Type.DATE:
            return x.date()
    return x.cast("float64" if target is Type.REAL else "string")  # of integers


def _read(text: ir.Value, target: Type, dialect: Dialect) -> ir.Value:
    if target is Type.BOOLEAN:
        small = text.translate(CAPITALS, CAPITALS.lower())
        return ibis.cases(
            (small.isin(["true", "1"]), True),
            (small.isin(["false", "0"]), False),
            else_=ibis.null("boolean"),
        )
    pattern = {Type.INTEGER: INTEGER, Type.REAL: REAL, Type.DATE: DAY}[target]
    fitting = ibis.ifelse(matches(text, pattern, dialect), text, ibis.null("string"))
    match target:
        case Type.REAL:
            return normal(fitting.cast("float64"), NORMAL_BITS, dialect)
        case Type.DATE:
            return fitting.cast("date")
    return fitting.cast("int64")
