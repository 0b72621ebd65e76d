"""Row expressions as Ibis expressions: the meaning of `OPERATIONS`, the same on every engine.

A missing value is null. NaN is missing wherever a column is read; so is an empty cell of a CSV
file, and a date or timestamp outside the years 1 to 9999. Infinities compare as usual, and count
as ±1e100 in arithmetic.
"""

from __future__ import annotations

import datetime
from typing import Any, Final, cast

import ibis
import ibis.expr.types as ir

from discreet.engines import casts
from discreet.engines.arithmetic import (
    absolute,
    clamped,
    enters_as_it_is,
    floored,
    normal,
    on_reals,
    product,
    total,
)
from discreet.engines.calls import (
    in_order,
    in_parentheses,
    is_false,
    part,
    present,
    real,
    trimmed,
    whole,
)
from discreet.engines.dialects import Dialect
from discreet.engines.limits import factors, is_result, real_bits, terms
from discreet.query.expressions import Typed
from discreet.query.limits import TEXT
from discreet.query.schema import Type

_NULLS: Final = {
    Type.BOOLEAN: "boolean",
    Type.INTEGER: "int64",
    Type.REAL: "float64",
    Type.DATE: "date",
    Type.TIMESTAMP: "timestamp",
}
_FIRST_DAY: Final = datetime.date.min
_LAST_DAY: Final = datetime.date.max


def translate(value: Typed, table: ir.Table, dialect: Dialect) -> ir.Value:
    """The expression on the rows of a table."""
    if value.op == "column":
        return _column(table[str(value.value)], value.type, dialect)
    if value.op == "literal":
        return literal(value.value, value.type)
    if is_result(value):
        result = _arithmetic(value, real_bits(value), table, dialect)
        return floored(result) if value.op == "floordiv" else result
    if value.type is Type.INTEGER and value.op in ("add", "sub", "neg"):
        return total(value, [translate(term, table, dialect) for _, term in terms(value)])
    if value.type is Type.INTEGER and value.op == "mul":
        return product(value, [translate(factor, table, dialect) for factor in factors(value)])
    args = [translate(arg, table, dialect) for arg in value.args]
    match value.op:
        case "eq" | "ne" | "lt" | "le" | "gt" | "ge":
            return _comparison(value, args, dialect)
        case "and":
            return args[0] & args[1]
        case "or":
            return args[0] | args[1]
        case "not":
            return is_false(args[0])
        case "floor":
            return floored(args[0])
        case "abs":
            return absolute(value, args[0])
        case "clip":
            lower, upper = (literal(limit, value.type) for limit in cast(Any, value.value))
            return clamped(args[0], lower, upper)
        case "is_null":
            return in_parentheses(args[0].isnull())
        case "fill_null":
            return ibis.coalesce(*args)
        case "cast":
            return casts.cast(args[0], value.args[0].type, value.type, dialect)
        case "is_in":
            return _is_in(args[0], value)
        case "case":
            pairs = zip(args[:-1:2], args[1:-1:2], strict=True)
            return ibis.cases(*pairs, else_=args[-1])
    return _on_text_or_date(value, args, dialect)


def literal(value: object, kind: Type) -> ir.Value:
    """A constant of a type."""
    if value is None:
        return ibis.null(_NULLS.get(kind, "string"))
    match kind:
        case Type.REAL:
            return real(cast(float, value))
        case Type.INTEGER:
            return whole(cast(int, value))
        case Type.TIMESTAMP:
            moment = cast(datetime.datetime, value)
            if moment.tzinfo is not None:
                moment = moment.astimezone(datetime.UTC).replace(tzinfo=None)
            return ibis.literal(moment, type="timestamp")
    return ibis.literal(value)


def _column(column: ir.Value, kind: Type, dialect: Dialect) -> ir.Value:
    match kind:
        case Type.REAL:
            return present(column, dialect)
        case Type.RAW:
            return column.nullif("")
        case Type.DATE:
            there = column.between(ibis.literal(_FIRST_DAY), ibis.literal(_LAST_DAY))
            return ibis.ifelse(there, column, ibis.null("date"))
        case Type.TIMESTAMP:
            first = literal(datetime.datetime.min, kind)
            there = column.between(first, literal(datetime.datetime.max, kind))
            return ibis.ifelse(there, column, ibis.null("timestamp"))
    return column


def _arithmetic(value: Typed, bits: int, table: ir.Table, dialect: Dialect) -> ir.Value:
    """Arithmetic on reals, which enter it with at most so many bits."""
    if is_result(value):
        args = [_arithmetic(arg, bits, table, dialect) for arg in value.args]
        return on_reals(value.op, args[0], args[-1])
    if value.op == "column":  # NaN is seen to here
        return normal(table[str(value.value)], bits, dialect)
    x = translate(value, table, dialect)
    return x if enters_as_it_is(value, bits) else normal(x, bits, dialect)


def _comparison(value: Typed, args: list[ir.Value], dialect: Dialect) -> ir.Value:
    left, right = args
    if value.args[0].type is Type.TEXT and value.op not in ("eq", "ne"):
        left, right = in_order(left, dialect), in_order(right, dialect)
    match value.op:
        case "eq":
            return left == right
        case "ne":
            return left != right
        case "lt":
            return left < right
        case "le":
            return left <= right
        case "gt":
            return left > right
    return left >= right


def _is_in(x: ir.Value, value: Typed) -> ir.Value:
    kind, values = value.args[0].type, cast(tuple[object, ...], value.value)
    if not values:  # for Ibis, an empty list is never missing
        return ibis.cases((x.notnull(), False), else_=ibis.null("boolean"))
    if kind is Type.BOOLEAN:
        branches = (x, True in values), (is_false(x), False in values)
        return ibis.cases(*branches, else_=ibis.null("boolean"))
    return in_parentheses(x.isin([literal(item, kind) for item in values]))


def _on_text_or_date(value: Typed, args: list[ir.Value], dialect: Dialect) -> ir.Value:
    (x, *others), given = args, cast(Any, value.value)
    match value.op:
        case "lower":
            return x.translate(casts.CAPITALS, casts.CAPITALS.lower())
        case "upper":
            return x.translate(casts.CAPITALS.lower(), casts.CAPITALS)
        case "strip":
            return trimmed(x, dialect)
        case "length":
            return x.length().cast("int64")
        case "startswith":
            return x.startswith(given)
        case "endswith":
            return x.endswith(given)
        case "contains":
            return x.contains(given)
        case "substring":
            return part(x, given[0], given[1], dialect)
        case "concat":  # each as long as a text may be, else a few doublings need gigabytes
            left, right = (part(text, 0, TEXT, dialect) for text in (x, others[0]))
            return left + right
        case "weekday":
            return x.day_of_week.index().cast("int64")
    # The rest are parts of a date, which Ibis calls as we do.
    return getattr(x, value.op)().cast("int64")
