"""What a row expression means, in plain Python: reads like the specification, knows no engine.

A value is None, bool, int, float, str, date or datetime. Nothing here can raise.
"""

import datetime
import math
import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from discreet.query.expressions import Typed
from discreet.query.limits import TEXT
from discreet.query.schema import Type

Row = Mapping[str, Any]
CAPITALS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SMALL = {ord(c): c.lower() for c in CAPITALS}
LARGE = {ord(c.lower()): c for c in CAPITALS}


def evaluate(value: Typed, row: Row) -> Any:
    """The value of an expression on a row."""
    match value.op:
        case "column":
            return stored(row[str(value.value)], value.type)
        case "literal":
            aware = isinstance(value.value, datetime.datetime) and value.value.tzinfo
            utc = datetime.UTC
            return value.value.astimezone(utc).replace(tzinfo=None) if aware else value.value
        case "and" | "or" | "not":
            return LOGIC[value.op](*(evaluate(arg, row) for arg in value.args))
        case "is_null":
            return evaluate(value.args[0], row) is None
        case "fill_null":
            first = evaluate(value.args[0], row)
            return evaluate(value.args[1], row) if first is None else first
        case "case":
            *branches, last = value.args
            for condition, then in zip(branches[::2], branches[1::2], strict=True):
                if evaluate(condition, row) is True:
                    return evaluate(then, row)
            return evaluate(last, row)
    if is_arithmetic(value):
        result = computed(value, row, bits_of(value))
        return floor(result) if value.op == "floordiv" else result
    if value.op in ("add", "sub", "neg"):
        return integer_sum(value, row)
    if value.op == "mul":
        return integer_product(value, row)
    args = [evaluate(arg, row) for arg in value.args]
    if None in args:
        return None
    return PLAIN[value.op](*args) if value.op in PLAIN else WITH[value.op](value, args[0])


def stored(cell: Any, kind: Type) -> Any:
    """A cell as it is read: NaN and the empty cell of a CSV file are missing."""
    if kind is Type.RAW and cell == "":
        return None
    return None if isinstance(cell, float) and math.isnan(cell) else cell


# -- three-valued logic ----------------------------------------------------------------------------


def both(a: bool | None, b: bool | None) -> bool | None:
    if a is False or b is False:
        return False
    return None if a is None or b is None else True


def negated(a: bool | None) -> bool | None:
    return None if a is None else not a


LOGIC: dict[str, Callable[..., bool | None]] = {
    "and": both,
    "or": lambda a, b: negated(both(negated(a), negated(b))),
    "not": negated,
}

# -- arithmetic ------------------------------------------------------------------------------------


def normal(x: float | None, bits: int = 333) -> float | None:
    """0, or a size from 2^−bits to 2^bits, and from 1e-100 to 1e100."""
    if x is None:
        return None
    large, small = min(1e100, 2.0**bits), max(1e-100, 2.0**-bits)
    return 0.0 if abs(x) < small else min(max(x, -large), large)


def is_arithmetic(value: Typed) -> bool:
    """On reals, that is."""
    whole = value.type is Type.INTEGER and value.op != "floordiv"
    return value.op in ("add", "sub", "mul", "div", "neg", "abs", "floordiv") and not whole


@cache
def bits_of(value: Typed) -> int:
    """Reals enter with as many bits as keep every step in range, whatever the row."""
    return max(b for b in range(1, 334) if b == 1 or max(exponents(value, b)[:2]) <= 1000)


def computed(value: Typed, row: Row, bits: int) -> float | None:
    if not is_arithmetic(value):
        return normal(evaluate(value, row), bits)
    numbers = [computed(arg, row, bits) for arg in value.args]
    a, b = numbers[0], numbers[-1]
    if a is None or b is None:
        return None
    if value.op in ("div", "floordiv"):
        return None if b == 0 else a / b
    return {"add": a + b, "sub": a - b, "mul": a * b, "neg": -a, "abs": abs(a)}[value.op]


def exponents(value: Typed, bits: int) -> tuple[int, int, int]:
    """(u, l, s): a result that is not 0 is at most 2^u, at least 2^−l, a multiple of 2^−s."""
    if not is_arithmetic(value):
        if value.op == "literal" and value.value is not None:
            top = math.frexp(value.value)[1]
            denominator = value.value.as_integer_ratio()[1]
            return min(max(top, 0), bits), min(max(1 - top, 0), bits), denominator.bit_length() - 1
        whole = value.op == "cast" and value.args[0].type is Type.INTEGER
        return (min(63, bits), 0, 0) if whole else (bits, bits, bits + 52)
    u, l, s = exponents(value.args[0], bits)  # noqa: E741
    if len(value.args) == 1:
        return u, l, s
    u2, l2, s2 = exponents(value.args[1], bits)
    match value.op:
        case "add" | "sub":
            return max(u, u2) + 1, max(s, s2), max(s, s2)
        case "mul":
            return u + u2, l + l2, min(s + s2, l + l2 + 52)
    return u + l2, l + u2, l + u2 + 52


def integer_sum(value: Typed, row: Row) -> int | None:
    """Terms that might not fit together are clamped to ±(2^63 − 1)/n."""
    terms = flat(value, 1)
    limit = 2**63 - 1
    if sum(size(term) for _, term in terms) > limit:
        limit //= len(terms)
    numbers = [evaluate(term, row) for _, term in terms]
    if None in numbers:
        return None
    pairs = zip(terms, numbers, strict=True)
    return sum(sign * min(max(number, -limit), limit) for (sign, _), number in pairs)


def flat(value: Typed, sign: int) -> list[tuple[int, Typed]]:
    if value.op == "neg":
        return flat(value.args[0], -sign)
    if value.op not in ("add", "sub"):
        return [(sign, value)]
    left, right = value.args
    return flat(left, sign) + flat(right, sign if value.op == "add" else -sign)


def size(value: Typed) -> int:
    """How large an integer can be, from its expression alone."""
    args = value.args
    match value.op:
        case "literal":
            return abs(value.value or 0)
        case "clip":
            return max(map(abs, value.value))
        case "case":
            return max(size(arg) for arg in (*args[1:-1:2], args[-1]))
        case "fill_null":
            return max(map(size, args))
        case "add" | "sub" | "neg":
            sizes = [size(term) for _, term in flat(value, 1)]
            limit = (2**63 - 1) // len(sizes)
            return sum(sizes) if sum(sizes) < 2**63 else sum(min(s, limit) for s in sizes)
        case "mul":
            return min(math.prod(size(f) or 1 for f in factors(value)), 2**62 - 1 + 2**12)
        case "abs":
            return min(size(args[0]), 2**63 - 1)
        case "cast":
            return {Type.BOOLEAN: 1, Type.REAL: 2**53}.get(args[0].type, 10**18)
        case "floor" | "floordiv":
            return 2**53
        case "length":
            return 2**31
        case "year" | "month" | "day" | "weekday" | "hour":
            return 9999
    return 2**63


def integer_product(value: Typed, row: Row) -> int | None:
    """Exact where its size as a double is at most 2^62, else ±(2^62 − 1)."""
    numbers = [evaluate(factor, row) for factor in factors(value)]
    if None in numbers:
        return None
    exact = math.prod(numbers)
    if math.prod(size(factor) or 1 for factor in factors(value)) < 2**63:
        return exact
    rough = math.prod(max(1.0, abs(float(number))) for number in numbers)
    return exact if rough <= 2.0**62 else (2**62 - 1) * ((exact > 0) - (exact < 0))


def factors(value: Typed) -> list[Typed]:
    if value.op != "mul":
        return [value]
    both = factors(value.args[0]) + factors(value.args[1])
    return both if len(both) <= 15 else list(value.args)


def whole(x: float) -> float:
    return min(max(x, -(2.0**53)), 2.0**53)


def floor(x: float | None) -> int | None:
    return None if x is None else math.floor(whole(x))


# -- casts -----------------------------------------------------------------------------------------


def cast(value: Typed, x: Any) -> Any:
    match value.args[0].type, value.type:
        case ((Type.TEXT | Type.RAW), Type.TEXT):
            return x
        case ((Type.TEXT | Type.RAW), target):
            return READ[target](x.strip(" "))
        case Type.REAL, Type.INTEGER:
            return math.trunc(whole(x))
        case Type.BOOLEAN, Type.TEXT:
            return "true" if x else "false"
        case Type.DATE, Type.TEXT:
            return x.isoformat()
        case Type.TIMESTAMP, Type.DATE:
            return x.date()
        case _, Type.TEXT:
            return str(x)
    return {Type.BOOLEAN: bool, Type.INTEGER: int, Type.REAL: float}[value.type](x)


def read_integer(text: str) -> int | None:
    return int(text) if re.fullmatch("[+-]?[0-9]{1,18}", text) else None


def read_real(text: str) -> float | None:
    digits = r"([0-9]{1,30}(\.[0-9]{0,30})?|\.[0-9]{1,30})"
    found = re.fullmatch(rf"[+-]?{digits}([eE][+-]?[0-9]{{1,2}})?", text)
    return normal(float(text)) if found else None


def read_date(text: str) -> datetime.date | None:
    if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        try:
            return datetime.date.fromisoformat(text)
        except ValueError:
            pass
    return None


READ: dict[Type, Callable[[str], Any]] = {
    Type.INTEGER: read_integer,
    Type.REAL: read_real,
    Type.DATE: read_date,
    Type.BOOLEAN: lambda text: {"true": True, "1": True, "false": False, "0": False}.get(
        text.translate(SMALL)
    ),
}

# -- all others: missing if an argument is ---------------------------------------------------------

PLAIN: dict[str, Callable[..., Any]] = {
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "abs": lambda a: min(abs(a), 2**63 - 1),
    "floor": floor,
    "lower": lambda text: text.translate(SMALL),
    "upper": lambda text: text.translate(LARGE),
    "strip": lambda text: text.strip(" "),
    "length": len,
    "concat": lambda a, b: a[:TEXT] + b[:TEXT],
    "year": lambda day: day.year,
    "month": lambda day: day.month,
    "day": lambda day: day.day,
    "weekday": lambda day: day.weekday(),
    "hour": lambda moment: moment.hour,
}
WITH: dict[str, Callable[[Typed, Any], Any]] = {
    "clip": lambda value, x: min(max(x, value.value[0]), value.value[1]),
    "cast": cast,
    "is_in": lambda value, x: x in value.value,
    "startswith": lambda value, text: text.startswith(value.value),
    "endswith": lambda value, text: text.endswith(value.value),
    "contains": lambda value, text: value.value in text,
    "substring": lambda value, text: text[value.value[0] : sum(value.value)],
}
