"""Arithmetic that cannot fail: the same number on every engine, whatever is in the row.

Reals enter with a size that keeps every later step in range; how large that may be is known from
the expression alone (`limits`).
"""

from __future__ import annotations

from functools import reduce
from operator import mul

import ibis
import ibis.expr.types as ir

from discreet.engines.calls import floor, is_number, real, whole
from discreet.engines.dialects import Dialect
from discreet.engines.limits import (
    LARGEST_INTEGER,
    NORMAL_BITS,
    magnitude,
    product_size,
    term_sizes,
    terms,
)
from discreet.query.expressions import (
    LARGEST_REAL,
    LARGEST_TERM,
    LARGEST_WHOLE,
    SMALLEST_REAL,
    Typed,
)
from discreet.query.schema import Type


def clamped(x: ir.Value, lower: ir.Value, upper: ir.Value) -> ir.Value:
    """min(max(x, lower), upper), null where x is: least() and greatest() would forget it."""
    return ibis.cases((x > upper, upper), (x < lower, lower), else_=x)


def within(x: ir.Value, limit: int) -> ir.Value:
    """An integer clamped to ±limit."""
    return clamped(x, whole(-limit), whole(limit))


def in_whole_range(x: ir.Value) -> ir.Value:
    """A real clamped to ±2^53, where every integer is a double."""
    return clamped(x, real(-LARGEST_WHOLE), real(LARGEST_WHOLE))


def floored(x: ir.Value) -> ir.Value:
    """The largest integer below, of at most 2^53."""
    return floor(in_whole_range(x)).cast("int64")


def normal(x: ir.Value, bits: int, dialect: Dialect) -> ir.Value:
    """A real as arithmetic takes it, 0 or from 2^(−bits) to 2^bits; null and NaN give null."""
    small, large = max(SMALLEST_REAL, 2.0**-bits), min(LARGEST_REAL, 2.0**bits)
    return ibis.cases(
        (x.abs().between(real(small), real(large)), x),
        (x.abs() < real(small), real(0.0)),
        (x < real(0.0), real(-large)),
        (is_number(x, dialect), real(large)),
        else_=ibis.null("float64"),
    )


# -- reals -----------------------------------------------------------------------------------------


def on_reals(op: str, left: ir.Value, right: ir.Value) -> ir.Value:
    """+ − × ÷ and signs of reals, which are as large as `Span` says; `right` is the last one."""
    match op:
        case "add":
            return left + right
        case "sub":
            return left - right
        case "mul":
            return left * right
        case "div" | "floordiv":
            return left / right.nullif(real(0.0))
        case "neg":
            return -left
    return left.abs()


def enters_as_it_is(value: Typed, bits: int) -> bool:
    """Is a real that arithmetic did not make normal anyway?"""
    match value.op:
        case "literal" if isinstance(value.value, float):
            size = abs(value.value)
            least = max(SMALLEST_REAL, 2.0**-bits)
            return size == 0 or least <= size <= min(LARGEST_REAL, 2.0**bits)
        case "cast" if value.args[0].type is Type.INTEGER:
            return bits >= 63
        case "cast":  # from a text
            return bits == NORMAL_BITS
    return False


# -- integers --------------------------------------------------------------------------------------


def total(value: Typed, operands: list[ir.Value]) -> ir.Value:
    """A sum of integers: n terms that might not fit are clamped to ±(2^63 − 1)/n each."""
    sizes, limit = term_sizes(value)
    signed = [
        (minus, within(x, limit) if size > limit else x)
        for (minus, _), size, x in zip(terms(value), sizes, operands, strict=True)
    ]
    (minus, first), *rest = signed
    start = -first if minus else first
    return reduce(lambda acc, term: acc - term[1] if term[0] else acc + term[1], rest, start)


def product(value: Typed, operands: list[ir.Value]) -> ir.Value:
    """A product of integers; one that might not fit stops at ±(2^62 − 1)."""
    if product_size(value) <= LARGEST_INTEGER:
        return reduce(mul, operands)
    doubles = [x.cast("float64") for x in operands]
    # The size is seen on doubles, and no factor makes it smaller: then no step can overflow.
    size = reduce(mul, [ibis.greatest(real(1.0), x.abs()) for x in doubles])
    # What does not fit is never multiplied: its first factor is null.
    first = ibis.ifelse(size <= real(2.0**62), operands[0], ibis.null("int64"))
    sign = reduce(mul, doubles).sign().cast("int64")
    return ibis.coalesce(reduce(mul, [first, *operands[1:]]), sign * whole(LARGEST_TERM))


def absolute(value: Typed, x: ir.Value) -> ir.Value:
    """|x|, which for −2^63 is 2^63 − 1."""
    return (within(x, LARGEST_INTEGER) if magnitude(value.args[0]) > LARGEST_INTEGER else x).abs()
