"""Row expressions as frozen trees: what may be computed from one row, and nothing else.

A tree is built by a lambda on a row proxy (`row`), typed against a schema (`typed`) and
translated by an engine. The list of operations is closed, and every one of them is total: no
row can make it raise, and its result depends on that row alone. What each does with missing
values, zero divisors, huge numbers and text that is not a number is written in `OPERATIONS`.
"""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Final, TypeAlias

from discreet.query.schema import Type

Value: TypeAlias = bool | int | float | str | datetime.date | datetime.datetime | None

# Arithmetic stays within these, so that no engine can overflow. How large a number can get is
# known from the expression alone, and nothing is clamped that cannot get too large.
LARGEST_REAL: Final = 1e100  # a larger real enters arithmetic as this, with its sign
SMALLEST_REAL: Final = 1e-100  # nearer to 0 than this is 0; where more than three reals are
# multiplied or divided, n of them, both limits are about 1e±(300/n)
LARGEST_TERM: Final = 2**62 - 1  # of two integers that are added; of n, (2^63 − 1)/n. A product of
# integers is exact up to this size and stops there
LARGEST_WHOLE: Final = 2**53  # a real becomes an integer of at most this size

OPERATIONS: Final[dict[str, str]] = {
    # comparison: missing if either side is
    "eq": "equal",
    "ne": "not equal",
    "lt": "less",
    "le": "at most",
    "gt": "greater",
    "ge": "at least",
    # boolean, in three-valued logic as in SQL
    "and": "both",
    "or": "either",
    "not": "not",
    # arithmetic: missing if a side is; integers stay integers, in the limits above
    "add": "sum",
    "sub": "difference",
    "mul": "product",
    "div": "quotient as a real; missing where the divisor is 0",
    "floordiv": "quotient rounded down to an integer; missing where the divisor is 0",
    "neg": "negative",
    "abs": "absolute value",
    "floor": "largest integer below, of at most 2^53",
    "clip": "clamped to (lower, upper)",
    # null handling
    "is_null": "is it missing?",
    "fill_null": "a literal in place of what is missing",
    # casts: missing where the text is not of that type
    "cast": "the value as another type",
    # text; letters are those of ASCII, lengths are in characters
    "lower": "small letters, A to Z only",
    "upper": "capital letters, a to z only",
    "strip": "without spaces at both ends",
    "length": "number of characters",
    "startswith": "begins with a literal",
    "endswith": "ends with a literal",
    "contains": "contains a literal",
    "substring": "the part from start (0 is the first character), of at most this length",
    "concat": "one text after another; missing if either is",
    # date parts
    "year": "year",
    "month": "month, 1 to 12",
    "day": "day of the month",
    "weekday": "day of the week, Monday is 0",
    "hour": "hour of a timestamp, 0 to 23",
    # choice
    "is_in": "is it one of these literals? missing if the value is",
    "case": "the value after the first condition that is true, else the last",
}


@dataclass(frozen=True, slots=True)
class Expression:
    """An operation on other expressions; a column or a literal at the leaves.

    `op` is "column" (`value` is its name), "literal" (`value` is it) or one of `OPERATIONS`.
    `value` also holds what an operation takes besides expressions: the type of a cast, the
    bounds of a clip, the literals of is_in, a text to look for, (start, length).
    """

    op: str
    args: tuple[Expression, ...] = ()
    value: object = None


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression whose types are known: what engines translate.

    Arguments already have the types that the operation needs: implicit casts are spelled out.
    """

    op: str
    args: tuple[Typed, ...]
    value: object
    type: Type
    nullable: bool


def column(name: str) -> Expression:
    """The cell of a column."""
    return Expression("column", value=name)


def literal(value: Value) -> Expression:
    """A constant."""
    return Expression("literal", value=value)


def columns_of(expression: Expression | Typed) -> frozenset[str]:
    """The names of the columns that an expression reads.

    >>> sorted(columns_of(Expression("add", (column("a"), column("b")))))
    ['a', 'b']
    """
    if expression.op == "column":
        return frozenset([str(expression.value)])
    return frozenset().union(*(columns_of(arg) for arg in expression.args))


def in_words(expression: Expression) -> str:
    """The expression as a reader would write it.

    >>> in_words(Expression("ge", (column("age"), literal(18))))
    'age >= 18'
    """
    signs = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
    signs |= {"and": "&", "or": "|", "add": "+", "sub": "-", "mul": "*", "div": "/"}
    signs |= {"floordiv": "//"}
    match expression.op:
        case "column":
            return str(expression.value)
        case "literal":
            return _literal(expression.value)
        case "is_in" if isinstance(expression.value, tuple):
            listed = ", ".join(map(_literal, expression.value))
            return f"{_wrapped(expression.args[0], signs)} in ({listed})"
        case op if op in signs:
            return f" {signs[op]} ".join(_wrapped(arg, signs) for arg in expression.args)
        case "not":
            return f"~{_wrapped(expression.args[0], signs)}"
        case "neg":
            return f"-{_wrapped(expression.args[0], signs)}"
        case op:
            extra = [] if expression.value is None else [str(expression.value)]
            return f"{op}({', '.join([*map(in_words, expression.args), *extra])})"


def _literal(value: object) -> str:
    if isinstance(value, datetime.date):
        return str(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _wrapped(expression: Expression, signs: dict[str, str]) -> str:
    text = in_words(expression)
    return f"({text})" if expression.op in signs or expression.op == "is_in" else text
