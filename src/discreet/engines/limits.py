"""How large a value can be, from its expression alone: what arithmetic need not check.

Reals take part in arithmetic as 0 or with a size from 2^(−L) to 2^L. L is the largest number of
bits, up to about 1e±100, with which no step of the expression can overflow or underflow; it is
smaller only where more than three numbers are multiplied. Integers are bounded by magnitude.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass
from typing import Final, cast

from discreet.query.expressions import LARGEST_TERM, LARGEST_WHOLE, Typed
from discreet.query.schema import Type

LARGEST_INTEGER: Final = 2**63 - 1
NORMAL_BITS: Final = 333  # 1e100 is below 2^333
_SAFE_BITS: Final = 1000
# A product is exact where that of its factors as doubles is at most 2^62: then it is this at most.
_LARGEST_PRODUCT: Final = LARGEST_TERM + 2**12
MOST_FACTORS: Final = 15  # whose product as doubles cannot overflow


# -- reals -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """What a real is if it is not 0: at most 2^up, at least 2^(−low), a multiple of 2^(−step)."""

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
    >>> from discreet.query.checking import typed
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
    """The largest size of an integer."""
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
    """How large the terms of a sum are, and how large they may be."""
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
    """The largest size of a product of integers that is not cut off."""
    return math.prod(max(magnitude(factor), 1) for factor in factors(value))


def factors(value: Typed) -> list[Typed]:
    """The factors of a product of integers, in order; a long one counts as one factor itself."""
    if value.op != "mul":
        return [value]
    left, right = map(factors, value.args)
    if len(left) + len(right) <= MOST_FACTORS:
        return left + right
    return list(value.args)
