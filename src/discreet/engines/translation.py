"""Row expressions as Ibis expressions: the meaning of `OPERATIONS`, the same on every engine.

A missing value is null. NaN is missing wherever a column is read; so is an empty cell of a CSV
file, and a date or timestamp outside the years 1 to 9999. Infinities compare as usual, and count
as ±1e100 in arithmetic.

Arithmetic gives the same number on every engine, whatever is in the row. Reals are first limited to
a size that keeps every later step in range, which is known from the expression alone.
"""

from __future__ import annotations

import datetime
import math
import operator
from bisect import bisect_right
from dataclasses import dataclass
from functools import reduce
from typing import Any, Final, cast

import ibis
import ibis.expr.types as ir

from discreet.engines.engine import IBIS, Engine, floor, real, whole
from discreet.query.expressions import (
    LARGEST_REAL,
    LARGEST_TERM,
    LARGEST_WHOLE,
    SMALLEST_REAL,
    Typed,
)
from discreet.query.limits import TEXT
from discreet.query.schema import Type

LONGEST: Final = 2**30  # characters: no text has more, and PostgreSQL counts them in 32 bits


def translate(value: Typed, table: ir.Table, engine: Engine) -> ir.Value:
    """The expression on the rows of a table."""
    if value.op == "column":
        return _column(table[str(value.value)], value.type, engine)
    if value.op == "literal":
        return literal(value.value, value.type)
    if is_result(value):
        result = _arithmetic(value, real_bits(value), table, engine)
        return floored(result) if value.op == "floordiv" else result
    if value.type is Type.INTEGER and value.op in ("add", "sub", "neg"):
        return total(value, [translate(term, table, engine) for _, term in terms(value)])
    if value.type is Type.INTEGER and value.op == "mul":
        return product(value, [translate(factor, table, engine) for factor in factors(value)])
    args = [translate(arg, table, engine) for arg in value.args]
    match value.op:
        case "eq" | "ne" | "lt" | "le" | "gt" | "ge":
            if value.args[0].type is Type.TEXT and value.op not in ("eq", "ne"):
                args = [engine.in_order(arg) for arg in args]
            return getattr(operator, value.op)(*args)
        case "and" | "or":
            return getattr(operator, f"{value.op}_")(*args)
        case "not":
            return is_false(args[0])
        case "floor":
            return floored(args[0])
        case "abs":
            large = magnitude(value.args[0]) > LARGEST_INTEGER  # |−2^63| is 2^63 − 1
            return (within(args[0], LARGEST_INTEGER) if large else args[0]).abs()
        case "clip":
            lower, upper = (literal(limit, value.type) for limit in cast(Any, value.value))
            return clamped(args[0], lower, upper)
        case "is_null":
            return in_parentheses(args[0].isnull())
        case "fill_null":
            return ibis.coalesce(*args)
        case "cast":
            return cast_to(args[0], value.args[0].type, value.type, engine)
        case "is_in":
            return _is_in(args[0], value)
        case "case":
            pairs = zip(args[:-1:2], args[1:-1:2], strict=True)
            return ibis.cases(*pairs, else_=args[-1])
    return _on_text_or_date(value, args, engine)


def literal(value: object, kind: Type) -> ir.Value:
    """A constant of this type."""
    if value is None:
        return ibis.null(IBIS[kind])
    match kind:
        case Type.REAL:
            return real(cast(float, value))
        case Type.INTEGER:
            return whole(cast(int, value))
        case Type.TIMESTAMP:
            return ibis.literal(without_zone(value), type="timestamp")
    return ibis.literal(value)


def without_zone(value: object) -> object:
    """A timestamp with a zone as the same moment in UTC; anything else as it is."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _column(column: ir.Value, kind: Type, engine: Engine) -> ir.Value:
    match kind:
        case Type.REAL:
            return ibis.ifelse(engine.is_number(column), column, ibis.null("float64"))
        case Type.RAW:
            return column.nullif("")
        case Type.DATE | Type.TIMESTAMP:
            ours = datetime.date if kind is Type.DATE else datetime.datetime
            there = column.between(literal(ours.min, kind), literal(ours.max, kind))
            return ibis.ifelse(there, column, literal(None, kind))
    return column


def _arithmetic(value: Typed, bits: int, table: ir.Table, engine: Engine) -> ir.Value:
    """Arithmetic on reals, which enter it with at most this many bits."""
    if is_result(value):
        args = [_arithmetic(arg, bits, table, engine) for arg in value.args]
        if value.op in ("div", "floordiv"):
            return args[0] / args[1].nullif(real(0.0))
        return args[0].abs() if value.op == "abs" else getattr(operator, value.op)(*args)
    if value.op == "column":  # NaN is taken care of here
        return normal(table[str(value.value)], bits, engine)
    x = translate(value, table, engine)
    return x if enters_as_it_is(value, bits) else normal(x, bits, engine)


def _is_in(x: ir.Value, value: Typed) -> ir.Value:
    kind, values = value.args[0].type, cast(tuple[object, ...], value.value)
    if not values:  # for Ibis, an empty list is never missing
        return ibis.cases((x.notnull(), False), else_=ibis.null("boolean"))
    if kind is Type.BOOLEAN:
        branches = (x, True in values), (is_false(x), False in values)
        return ibis.cases(*branches, else_=ibis.null("boolean"))
    return in_parentheses(x.isin([literal(item, kind) for item in values]))


def _on_text_or_date(value: Typed, args: list[ir.Value], engine: Engine) -> ir.Value:
    (x, *others), given = args, cast(Any, value.value)
    match value.op:
        case "lower":
            return x.translate(CAPITALS, CAPITALS.lower())
        case "upper":
            return x.translate(CAPITALS.lower(), CAPITALS)
        case "strip":
            return engine.trimmed(x)
        case "length":
            return x.length().cast("int64")
        case "startswith" | "endswith" | "contains":
            return getattr(x, value.op)(given)
        case "substring":
            return engine.part(x, *(min(number, LONGEST) for number in given))
        case "concat":  # each is cut to the longest text, or a few doublings would take gigabytes
            left, right = (engine.part(text, 0, TEXT) for text in (x, others[0]))
            return left + right
        case "weekday":
            return x.day_of_week.index().cast("int64")
    # The rest are parts of a date, for which Ibis has the same names.
    return getattr(x, value.op)().cast("int64")


def in_parentheses(condition: ir.Value) -> ir.Value:
    """The condition in parentheses, which Ibis would leave out around IN and IS NULL."""
    return ibis.coalesce(condition)


def is_false(condition: ir.Value) -> ir.Value:
    """The negation, written as a comparison: NOT (a) = b would be read as NOT ((a) = b)."""
    return condition == ibis.literal(False)


# -- arithmetic that cannot fail -------------------------------------------------------------------


def clamped(x: ir.Value, lower: ir.Value, upper: ir.Value) -> ir.Value:
    """min(max(x, lower), upper), null where x is: least() and greatest() would ignore nulls."""
    return ibis.cases((x > upper, upper), (x < lower, lower), else_=x)


def within(x: ir.Value, limit: int) -> ir.Value:
    """An integer clamped to ±limit."""
    return clamped(x, whole(-limit), whole(limit))


def in_whole_range(x: ir.Value) -> ir.Value:
    """A real clamped to ±2^53, where every integer is a double."""
    return clamped(x, real(-LARGEST_WHOLE), real(LARGEST_WHOLE))


def floored(x: ir.Value) -> ir.Value:
    """The largest integer not above x, of at most 2^53."""
    return floor(in_whole_range(x)).cast("int64")


def normal(x: ir.Value, bits: int, engine: Engine) -> ir.Value:
    """A real as arithmetic takes it, 0 or from 2^(−bits) to 2^bits; null and NaN give null."""
    small, large = max(SMALLEST_REAL, 2.0**-bits), min(LARGEST_REAL, 2.0**bits)
    return ibis.cases(
        (x.abs().between(real(small), real(large)), x),
        (x.abs() < real(small), real(0.0)),
        (x < real(0.0), real(-large)),
        (engine.is_number(x), real(large)),
        else_=ibis.null("float64"),
    )


# -- reals -----------------------------------------------------------------------------------------


def enters_as_it_is(value: Typed, bits: int) -> bool:
    """Is a real that is not a result of arithmetic already normal?"""
    match value.op:
        case "literal" if isinstance(value.value, float):
            size = abs(value.value)
            least = max(SMALLEST_REAL, 2.0**-bits)
            return size == 0 or least <= size <= min(LARGEST_REAL, 2.0**bits)
        case "cast" if value.args[0].type is Type.INTEGER:
            return bits >= 63
        case "cast":  # from text
            return bits == NORMAL_BITS
    return False


# -- integers --------------------------------------------------------------------------------------


def total(value: Typed, operands: list[ir.Value]) -> ir.Value:
    """A sum of integers; if n terms might not fit, each is clamped to ±(2^63 − 1)/n."""
    sizes, limit = term_sizes(value)
    signed = [
        (minus, within(x, limit) if size > limit else x)
        for (minus, _), size, x in zip(terms(value), sizes, operands, strict=True)
    ]
    (minus, first), *rest = signed
    start = -first if minus else first
    return reduce(lambda acc, term: acc - term[1] if term[0] else acc + term[1], rest, start)


def product(value: Typed, operands: list[ir.Value]) -> ir.Value:
    """A product of integers; one that might not fit is clamped to ±(2^62 − 1)."""
    if product_size(value) <= LARGEST_INTEGER:
        return reduce(operator.mul, operands)
    doubles = [x.cast("float64") for x in operands]
    # The size is computed in doubles, and no factor makes it smaller, so no step can overflow.
    size = reduce(operator.mul, [ibis.greatest(real(1.0), x.abs()) for x in doubles])
    # What does not fit is never multiplied: its first factor is null.
    first = ibis.ifelse(size <= real(2.0**62), operands[0], ibis.null("int64"))
    sign = reduce(operator.mul, doubles).sign().cast("int64")
    return ibis.coalesce(reduce(operator.mul, [first, *operands[1:]]), sign * whole(LARGEST_TERM))


# -- casts that cannot fail ------------------------------------------------------------------------
# What cannot be read as the type becomes null.
#
# A cast that can raise only ever sees values that it accepts. It is applied to a value that is null
# unless it fits, rather than guarded by a condition that an optimiser might evaluate later. Spaces
# around a text do not matter; every other character does.


CAPITALS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
INTEGER: Final = "[+-]?[0-9]{1,18}"
REAL: Final = "[+-]?([0-9]{1,30}([.][0-9]{0,30})?|[.][0-9]{1,30})([eE][+-]?[0-9]{1,2})?"
# The days that exist, from 0001-01-01 to 9999-12-31; PostgreSQL raises on any other.
_MONTHS: Final = (
    "(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])",
    "(0[469]|11)-(0[1-9]|[12][0-9]|30)",
    "02-(0[1-9]|1[0-9]|2[0-8])",
)
_YEAR: Final = "([0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP: Final = "([0-9]{2}(0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DAY: Final = f"{_YEAR}-({'|'.join(_MONTHS)})|{_LEAP}-02-29"


def cast_to(x: ir.Value, source: Type, target: Type, engine: Engine) -> ir.Value:
    """The value as another type; null stays null."""
    match source, target:
        case Type.TEXT | Type.RAW, Type.TEXT:
            return x
        case Type.TEXT | Type.RAW, _:
            return _read(engine.trimmed(x), target, engine)
        case Type.REAL, Type.INTEGER:
            return engine.truncated(in_whole_range(x))
        case Type.INTEGER, Type.BOOLEAN:
            return x != whole(0)
        case Type.BOOLEAN, Type.INTEGER:
            return ibis.cases((x, whole(1)), (~x, whole(0)), else_=ibis.null("int64"))
        case Type.BOOLEAN, Type.TEXT:
            return ibis.cases((x, "true"), (~x, "false"), else_=ibis.null("string"))
        case Type.DATE, Type.TEXT:
            return engine.written(x)
        case Type.TIMESTAMP, Type.DATE:
            return x.date()
    return x.cast("float64" if target is Type.REAL else "string")  # x is an integer


def _read(text: ir.Value, target: Type, engine: Engine) -> ir.Value:
    if target is Type.BOOLEAN:
        small = text.translate(CAPITALS, CAPITALS.lower())
        return ibis.cases(
            (small.isin(["true", "1"]), True),
            (small.isin(["false", "0"]), False),
            else_=ibis.null("boolean"),
        )
    pattern = {Type.INTEGER: INTEGER, Type.REAL: REAL, Type.DATE: DAY}[target]
    fitting = ibis.ifelse(engine.matches(text, pattern), text, ibis.null("string"))
    match target:
        case Type.REAL:
            return normal(fitting.cast("float64"), NORMAL_BITS, engine)
        case Type.DATE:
            return fitting.cast("date")
    return fitting.cast("int64")


# -- how large a value can be, from its expression alone -------------------------------------------
# What cannot get too large need not be checked.
#
# Reals take part in arithmetic as 0 or with a size from 2^(−L) to 2^L. L is the largest number of
# bits, up to about 1e±100, with which no step of the expression can overflow or underflow; it is
# smaller only where more than three numbers are multiplied. Integers are bounded by magnitude.


LARGEST_INTEGER: Final = 2**63 - 1
NORMAL_BITS: Final = 333  # 1e100 is below 2^333
_SAFE_BITS: Final = 1000
# A product is exact where that of its factors as doubles is at most 2^62; then it is at most this.
_LARGEST_PRODUCT: Final = LARGEST_TERM + 2**12
MOST_FACTORS: Final = 15  # whose product as doubles cannot overflow


# -- reals -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """A real that is not 0 is at most 2^up, at least 2^(−low), and a multiple of 2^(−step)."""

    up: int
    low: int
    step: int


def is_result(value: Typed) -> bool:
    """Is it made by arithmetic on reals?"""
    return value.op in ("div", "floordiv") or (
        value.type is Type.REAL and value.op in ("add", "sub", "mul", "neg", "abs")
    )


def real_bits(value: Typed) -> int:
    """L for a result, such that no double in between is above 2^1000 or below 2^(−1000).

    >>> from discreet.query.expressions import column, Expression
    >>> from discreet.query.expressions import typed
    >>> from discreet.query.schema import Schema
    >>> square = Expression("mul", (column("x"), column("x")))
    >>> fourth = Expression("mul", (square, square))
    >>> [real_bits(typed(power, Schema.of({"x": "real"}))) for power in (square, fourth)]
    [333, 250]
    """

    def largest(bits: int) -> int:
        span = _span(value, bits)
        return max(span.up, span.low)

    # Spans grow with L, and from the leaves to the root.
    return max(bisect_right(range(1, NORMAL_BITS + 1), _SAFE_BITS, key=largest), 1)


def _span(value: Typed, bits: int) -> Span:
    if not is_result(value):
        return _leaf(value, bits)
    left = _span(value.args[0], bits)
    if value.op in ("neg", "abs"):
        return left
    right = _span(value.args[1], bits)
    match value.op:
        case "add" | "sub":
            step = max(left.step, right.step)
            return Span(max(left.up, right.up) + 1, step, step)
        case "mul":
            low = left.low + right.low
            return Span(left.up + right.up, low, min(left.step + right.step, low + 52))
    low = left.low + right.up  # a quotient
    return Span(left.up + right.low, low, low + 52)


def _leaf(value: Typed, bits: int) -> Span:
    if value.op == "literal" and isinstance(value.value, float):
        # m·2^e with m in [1/2, 1): at most 2^e, at least 2^(e−1)
        exponent = math.frexp(value.value)[1]
        step = value.value.as_integer_ratio()[1].bit_length() - 1
        return Span(min(max(exponent, 0), bits), min(max(1 - exponent, 0), bits), step)
    if value.op == "cast" and value.args[0].type is Type.INTEGER:
        return Span(min(63, bits), 0, 0)
    return Span(bits, bits, bits + 52)


# -- integers --------------------------------------------------------------------------------------


def magnitude(value: Typed) -> int:
    """The largest absolute value that an integer can have."""
    match value.op:
        case "literal":
            return abs(cast(int, value.value or 0))
        case "clip":
            lower, upper = cast(tuple[int, int], value.value)
            return max(abs(lower), abs(upper))
        case "case":
            return max(map(magnitude, (*value.args[1:-1:2], value.args[-1])))
        case "fill_null":
            return max(map(magnitude, value.args))
        case "add" | "sub" | "neg":
            sizes, limit = term_sizes(value)
            return sum(min(size, limit) for size in sizes)
        case "mul":
            return min(product_size(value), _LARGEST_PRODUCT)
        case "abs":
            return min(magnitude(value.args[0]), LARGEST_INTEGER)
        case "cast" if value.args[0].type is Type.BOOLEAN:
            return 1
        case "cast" if value.args[0].type is not Type.REAL:
            return 10**18
        case "cast" | "floor" | "floordiv":
            return LARGEST_WHOLE
        case "length":
            return 2**31
        case "year" | "month" | "day" | "weekday" | "hour":
            return 9999
    return 2**63


def term_sizes(value: Typed) -> tuple[list[int], int]:
    """How large the terms of a sum can be, and how large they are allowed to be."""
    sizes = [magnitude(term) for _, term in terms(value)]
    fits = sum(sizes) <= LARGEST_INTEGER
    return sizes, LARGEST_INTEGER if fits else LARGEST_INTEGER // len(sizes)


def terms(value: Typed) -> list[tuple[bool, Typed]]:
    """The terms of a sum of integers, in order, and whether they are subtracted."""
    match value.op:
        case "add":
            return terms(value.args[0]) + terms(value.args[1])
        case "sub":
            return terms(value.args[0]) + [(not minus, t) for minus, t in terms(value.args[1])]
        case "neg":
            return [(not minus, term) for minus, term in terms(value.args[0])]
    return [(False, value)]


def product_size(value: Typed) -> int:
    """The largest absolute value that a product of integers can have, if it is not clamped."""
    return math.prod(max(magnitude(factor), 1) for factor in factors(value))


def factors(value: Typed) -> list[Typed]:
    """The factors of a product of integers, in order; a long one counts as one factor itself."""
    if value.op != "mul":
        return [value]
    left, right = map(factors, value.args)
    if len(left) + len(right) <= MOST_FACTORS:
        return left + right
    return list(value.args)
