"""Row expressions as frozen trees: what may be computed from one row, and nothing else.

A tree is built by a lambda on a row proxy (`row`), typed against a schema (`typed`) and
translated by an engine. The list of operations is closed, and every one of them is total: no
row can make it raise, and its result depends on that row alone. What each does with missing
values, zero divisors, huge numbers and text that is not a number is written in `OPERATIONS`.
"""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, Final, TypeAlias, cast

from discreet.errors import Cast, Idiom, InternalError, InvalidArgument, Phrase
from discreet.query.limits import DEPTH, NODES, VALUES
from discreet.query.schema import Schema, Type

Value: TypeAlias = bool | int | float | str | datetime.date | datetime.datetime | None

# Arithmetic stays within these limits, so that no engine can overflow. How large a number can get
# is known from the expression alone, and what cannot get too large is not clamped.
LARGEST_REAL: Final = 1e100  # a larger real enters arithmetic as this, with its sign
SMALLEST_REAL: Final = 1e-100  # a real nearer to 0 than this counts as 0. Where n > 3 reals are
# multiplied or divided, both limits are about 1e±(300/n)
LARGEST_TERM: Final = 2**62 - 1  # of two integers that are added; of n, (2^63 − 1)/n. A product of
# integers is exact up to this size and is clamped to it
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
    # arithmetic: missing if either side is; integers stay integers, within the limits above
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

    `op` is "column" (then `value` is its name), "literal" (then `value` is the literal itself) or
    one of `OPERATIONS`. `value` also holds what an operation takes besides expressions: the type of
    a cast, the bounds of a clip, the literals of is_in, a text to look for, (start, length).
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

    @property
    def words(self) -> str:
        """The expression as a reader would write it, without the casts that its types imply."""
        source = self.args[0] if self.op == "cast" else self
        counted = (source.type, self.type) == (Type.BOOLEAN, Type.INTEGER)  # true is 1
        return in_words(_written(source if counted else self))


def column(name: str) -> Expression:
    """An expression for the cell of a column."""
    return Expression("column", value=name)


def literal(value: Value) -> Expression:
    """An expression for a constant."""
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


def _written(value: Typed) -> Expression:
    if value.op == "cast" and value.args[0].type is Type.RAW:
        return _written(value.args[0])  # the cell of a CSV file, as it is used
    args = (arg.args[0] if _is_implied(arg) and value.op != "cast" else arg for arg in value.args)
    listed = isinstance(value.value, tuple)
    given = tuple(map(_whole, cast(tuple[object, ...], value.value))) if listed else value.value
    return Expression(value.op, tuple(map(_written, args)), _whole(given))


def _is_implied(value: Typed) -> bool:
    """Is it an integer beside a real?"""
    return value.op == "cast" and (value.args[0].type, value.type) == (Type.INTEGER, Type.REAL)


def _whole(value: object) -> object:
    whole = isinstance(value, float) and value.is_integer() and abs(value) <= LARGEST_WHOLE
    return int(cast(float, value)) if whole else value


def _literal(value: object) -> str:
    if isinstance(value, datetime.date):
        return str(value)
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _wrapped(expression: Expression, signs: dict[str, str]) -> str:
    text = in_words(expression)
    return f"({text})" if expression.op in signs or expression.op == "is_in" else text


# -- what to write where the types do not fit ------------------------------------------------------


_ALIKE: Final = "values of one type"
_CELLS: Final = Phrase(
    "the cells of a CSV file take the type they are used as; say it with {}", Cast("", "real")
)
DAY: Final = Phrase("write a day, as in {}", Idiom.DAY)
NUMBER_OF_DATE: Final = Idiom.YEAR


def repair(wanted: str, args: Sequence[Typed]) -> str:
    """What to do about arguments that should have been, say, "numbers".

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
        return DAY if literal else _cast_hint(args, Type.TIMESTAMP, "date", "timestamps as dates")
    if kinds == {Type.DATE, Type.TEXT}:
        return _cast_hint(args, Type.TEXT, "date", "text as dates")
    if any(kind.is_number for kind in kinds):
        return _as_numbers(args, compared=True)
    return Idiom.CAST_TO_TEXT  # booleans and dates can both be cast to text


def _as_numbers(args: Sequence[Typed], *, compared: bool = False) -> str:
    others = [arg for arg in args if not arg.type.is_number]
    literal = next((arg for arg in args if arg.op == "literal"), None)
    match others[0].type:
        case Type.TEXT if literal and literal.type is Type.TEXT:
            return "write numbers without quotes"
        case Type.TEXT:
            told = _cast_hint(others, Type.TEXT, "real", "text as numbers")
            return Phrase("write text in quotes, or {}", told) if compared and literal else told
        case Type.BOOLEAN:
            return _cast_hint(others, Type.BOOLEAN, "integer", "truths as 0 and 1")
        case Type.DATE | Type.TIMESTAMP:
            return NUMBER_OF_DATE
    return ""


def _cast_hint(args: Sequence[Typed], kind: Type, to: str, what: str) -> str:
    """How to read the first column of this type as another type."""
    names = (arg.value for arg in args if arg.op == "column" and arg.type is kind)
    return Phrase("read the {}, as in {}", what, Cast(str(next(names, "x")), to))


# -- types, checked against a schema before any data is touched ------------------------------------


_BOOLEAN, _INTEGER, _REAL, _TEXT = Type.BOOLEAN, Type.INTEGER, Type.REAL, Type.TEXT
_DATE, _TIMESTAMP, _RAW = Type.DATE, Type.TIMESTAMP, Type.RAW
_CASTS: Final[dict[Type, tuple[Type, ...]]] = {
    _BOOLEAN: (_INTEGER, _TEXT),
    _INTEGER: (_REAL, _TEXT, _BOOLEAN),
    _REAL: (_INTEGER,),
    _TEXT: (_INTEGER, _REAL, _DATE, _BOOLEAN),
    _RAW: (_INTEGER, _REAL, _DATE, _BOOLEAN, _TEXT),
    _DATE: (_TEXT,),
    _TIMESTAMP: (_DATE,),
}


_BEFORE: Final = {
    _REAL: "bin a real with floor() or // first",
    _TIMESTAMP: 'say .cast("date") first, or take a number from it, as in .year()',
    _DATE: "take a number from it, as in .year()",
}
_UNREAD: Final = "read it as a date, or save the table as Parquet, which has timestamps"


def typed(expression: Expression, schema: Schema) -> Typed:
    """The expression with types, implicit casts spelled out; refused if they do not fit.

    >>> from discreet.query.expressions import column, literal
    >>> schema = Schema.of({"age": "integer", "ward": "text"})
    >>> typed(Expression("add", (column("age"), literal(0.5))), schema).type
    <Type.REAL: 'real'>
    >>> typed(Expression("add", (column("age"), column("ward"))), schema)
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: age + ward must be made of numbers, got integer and \
text; read the text as numbers, as in row.ward.cast("real")
    """
    if _is_too_large(expression):
        raise InvalidArgument(
            "a row expression",
            f"at most {DEPTH} operations deep, of at most {NODES:,} operations, "
            f"columns and literals, and with at most {VALUES:,} values in its lists",
            "a larger one",
            hint="give parts of it a name with mutate first",
        )
    return _typed(expression, schema)


def _typed(expression: Expression, schema: Schema) -> Typed:
    if expression.op == "column":
        field = schema.field(str(expression.value))
        if field.type is Type.OTHER:
            raise InvalidArgument(
                field.name,
                "a column of booleans, numbers, text, dates or timestamps",
                "a column of another type",
            )
        return Typed("column", (), field.name, field.type, field.nullable)
    if expression.op == "literal":
        kind = literal_type(expression.value)
        return Typed("literal", (), expression.value, kind, expression.value is None)
    args = tuple(_typed(arg, schema) for arg in expression.args)
    if expression.op not in _RULES:
        raise InvalidArgument("operation", f"one of {', '.join(OPERATIONS)}", expression.op)
    return _RULES[expression.op](expression, args)


def _is_too_large(expression: Expression) -> bool:
    level, seen, values = [_under_cast(expression)], 1, 0
    for _ in range(DEPTH):
        values += sum(map(_listed, level))
        level = [_under_cast(arg) for above in level for arg in above.args]
        seen += len(level)
        if seen > NODES or values > VALUES:  # parts that are used twice count twice
            return True
    return bool(level)


def _under_cast(expression: Expression) -> Expression:
    """What is cast: a cast is no level of its own, since those that are implied are not."""
    inner = expression.args[0] if expression.op == "cast" else expression
    return expression if inner.op == "cast" else inner


def _listed(expression: Expression) -> int:
    return len(cast(tuple[object, ...], expression.value)) if expression.op == "is_in" else 0


def literal_type(value: object) -> Type:
    """The type of a literal; None takes the type that it is used as."""
    match value:
        case None:
            return Type.OTHER
        case bool():
            return _BOOLEAN
        case int():
            return _INTEGER
        case float():
            return _REAL
        case str():
            return _TEXT
        case datetime.datetime():
            return _TIMESTAMP
        case datetime.date():
            return _DATE
    raise InvalidArgument.of_data("a literal", "a plain value", value)


def as_type(value: Typed, kind: Type, *, argument: str = "cast") -> Typed:
    """The value cast to a type; refused where that would be meaningless.

    >>> from discreet.query.expressions import column
    >>> schema = Schema((*Schema.of({"age": "integer"}).fields,))
    >>> as_type(typed(column("age"), schema), Type.REAL).op
    'cast'
    """
    if value.type is kind:
        return value
    if value.op == "literal":
        return _literal_as(value, kind, argument)
    if kind not in _CASTS.get(value.type, ()):
        raise InvalidArgument(
            argument,
            f"something that can be read as {kind}",
            str(value.type),
            hint=_UNREAD if value.type is _RAW else _BEFORE.get(value.type, ""),
        )
    parses = value.type in (_TEXT, _RAW) and kind is not _TEXT
    loses = value.type is _REAL  # NaN has no integer
    return Typed("cast", (value,), kind, kind, value.nullable or parses or loses)


# -- rules, one for each kind of operation ---------------------------------------------------------


def _comparison(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    if any(arg.op == "literal" and arg.value is None for arg in args):
        raise InvalidArgument(
            in_words(expression),
            "a comparison of two values",
            "one with None, which is never true",
            hint=Phrase("say {}", Idiom.NULL),
        )
    left, right = _alike(expression, args)
    if left.type is _BOOLEAN and expression.op not in ("eq", "ne"):
        raise _misfit(expression, "values with an order", args)
    return _make(expression, (left, right), _BOOLEAN)


def _boolean(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    read = tuple(as_type(arg, _BOOLEAN) if arg.type is _RAW else arg for arg in args)
    if any(arg.type is not _BOOLEAN for arg in read):
        raise _misfit(expression, "conditions", args)
    return _make(expression, read, _BOOLEAN)


def _arithmetic(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    numbers = _numbers(expression, args)
    if all(arg.type is _INTEGER for arg in numbers):
        return _make(expression, numbers, _INTEGER)
    return _make(expression, _reals(expression, args), _REAL)


def _quotient(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    numbers = _reals(expression, args)
    divisor = numbers[1]
    # A smaller literal may count as 0 (see SMALLEST_REAL), in particular in a long product.
    safe = isinstance(divisor.value, float) and abs(divisor.value) >= 1
    kind = _REAL if expression.op == "div" else _INTEGER
    return Typed(expression.op, numbers, None, kind, numbers[0].nullable or not safe)


def _clip(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    (number,) = _numbers(expression, args)
    lower, upper = cast(tuple[float, float], expression.value)
    kinds = {literal_type(lower), literal_type(upper)}
    if not kinds <= {_INTEGER, _REAL} or not lower <= upper:
        raise InvalidArgument(
            "clip", "given two numbers, the smaller one first", f"{lower!r} and {upper!r}"
        )
    if _REAL in kinds:
        number = as_type(number, _REAL)
    limits = (lower, upper) if number.type is _INTEGER else (float(lower), float(upper))
    return Typed("clip", (number,), limits, number.type, number.nullable)


def _fill_null(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    value, filler = _alike(expression, args)
    return Typed("fill_null", (value, filler), None, value.type, filler.nullable)


def _text_to(kind: Type) -> Callable[[Expression, tuple[Typed, ...]], Typed]:
    def rule(expression: Expression, args: tuple[Typed, ...]) -> Typed:
        texts = tuple(as_type(arg, _TEXT) if arg.type is _RAW else arg for arg in args)
        if any(arg.type is not _TEXT for arg in texts):
            raise _misfit(expression, "text", args)
        return _make(expression, texts, kind)

    return rule


def _date_part(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    (value,) = args
    value = as_type(value, _DATE) if value.type is _RAW and expression.op != "hour" else value
    allowed = (_TIMESTAMP,) if expression.op == "hour" else (_DATE, _TIMESTAMP)
    if value.type not in allowed:
        raise _misfit(expression, " or ".join(f"a {kind}" for kind in allowed), args)
    return _make(expression, (value,), _INTEGER)


def _is_in(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    listed = cast(tuple[Any, ...], expression.value)
    values = tuple(value for value in listed if value is not None)
    kinds = {literal_type(value) for value in values}
    if len(kinds) > 1 and kinds != {_INTEGER, _REAL}:
        raise InvalidArgument(
            "is_in", "given literals of one type", " and ".join(sorted(map(str, kinds)))
        )
    kind = _REAL if len(kinds) > 1 else next(iter(kinds), args[0].type)
    value, _ = _alike(expression, (args[0], Typed("literal", (), None, kind, False)))
    values = tuple(
        as_type(Typed("literal", (), item, literal_type(item), False), value.type).value
        for item in values
    )
    return Typed("is_in", (value,), values, _BOOLEAN, value.nullable)


def _case(expression: Expression, args: tuple[Typed, ...]) -> Typed:
    conditions = [_boolean(expression, (args[i],)).args[0] for i in range(0, len(args) - 1, 2)]
    values = _alike(expression, (*args[1:-1:2], args[-1]))
    woven = [part for pair in zip(conditions, values, strict=False) for part in pair]
    nullable = any(value.nullable for value in values)
    return Typed("case", (*woven, values[-1]), None, values[0].type, nullable)


_RULES: Final[dict[str, Callable[[Expression, tuple[Typed, ...]], Typed]]] = {
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), _comparison),
    **dict.fromkeys(("and", "or", "not"), _boolean),
    **dict.fromkeys(("add", "sub", "mul", "neg", "abs"), _arithmetic),
    **dict.fromkeys(("div", "floordiv"), _quotient),
    **dict.fromkeys(("lower", "upper", "strip", "substring", "concat"), _text_to(_TEXT)),
    **dict.fromkeys(("startswith", "endswith", "contains"), _text_to(_BOOLEAN)),
    **dict.fromkeys(("year", "month", "day", "weekday", "hour"), _date_part),
    "length": _text_to(_INTEGER),
    "floor": lambda floor, args: _make(floor, _reals(floor, args), _INTEGER),
    "clip": _clip,
    "is_null": lambda _, args: Typed("is_null", args, None, _BOOLEAN, False),
    "fill_null": _fill_null,
    "cast": lambda given, args: as_type(args[0], Type.parse(cast(Type, given.value))),
    "is_in": _is_in,
    "case": _case,
}


# -- what several rules share ----------------------------------------------------------------------


def _make(expression: Expression, args: tuple[Typed, ...], kind: Type) -> Typed:
    nullable = any(arg.nullable for arg in args)
    return Typed(expression.op, args, expression.value, kind, nullable)


def _numbers(expression: Expression, args: tuple[Typed, ...]) -> tuple[Typed, ...]:
    read = tuple(as_type(arg, _REAL) if arg.type is _RAW else arg for arg in args)
    if any(not arg.type.is_number for arg in read):
        raise _misfit(expression, "numbers", args)
    return read


def _reals(expression: Expression, args: tuple[Typed, ...]) -> tuple[Typed, ...]:
    return tuple(as_type(arg, _REAL) for arg in _numbers(expression, args))


def _alike(expression: Expression, args: tuple[Typed, ...]) -> tuple[Typed, ...]:
    """All arguments as one type: a raw cell follows the others, an integer follows a real."""
    kinds = {arg.type for arg in args} - {Type.OTHER}
    if _RAW in kinds:
        others = kinds - {_RAW}
        wanted = _REAL if others & {_INTEGER, _REAL} else next(iter(others), _TEXT)
        args = tuple(as_type(arg, wanted) if arg.type is _RAW else arg for arg in args)
        kinds = {arg.type for arg in args} - {Type.OTHER}
    if kinds == {_INTEGER, _REAL}:
        kinds = {_REAL}
    if kinds == {_DATE, _TEXT}:  # a date written as a literal
        kinds = {_DATE}
    if len(kinds) != 1:
        raise _misfit(expression, "values of one type", args)
    (kind,) = kinds
    if kind is _DATE and any(arg.type is _TEXT and arg.op != "literal" for arg in args):
        raise _misfit(expression, "values of one type", args)
    return tuple(as_type(arg, kind) for arg in args)


def _literal_as(value: Typed, kind: Type, argument: str) -> Typed:
    match value.value, kind:
        case None, _:
            return Typed("literal", (), None, kind, True)
        case int() as number, Type.REAL if not isinstance(number, bool):
            return Typed("literal", (), float(number), kind, False)
        case str() as text, Type.DATE:
            with contextlib.suppress(ValueError):
                return Typed("literal", (), datetime.date.fromisoformat(text), kind, False)
    raise InvalidArgument.of(
        argument,
        f"a literal of type {kind}",
        value.value,
        hint='dates are written as "2026-01-31"' if kind is _DATE else "",
    )


def _misfit(expression: Expression, wanted: str, args: tuple[Typed, ...]) -> InvalidArgument:
    return InvalidArgument(
        in_words(expression),
        f"made of {wanted}",
        " and ".join(str(arg.type) for arg in args),
        hint=repair(wanted, args),
    )


# -- as documents ----------------------------------------------------------------------------------


Tree: TypeAlias = dict[str, Any]


def tree(value: Typed) -> Tree:
    """A typed expression; the type of a literal is stated too, so its text is never ambiguous.

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
        case Enum() | Fraction():
            return str(value)
        case None | bool() | int() | str():
            return value
        case float():
            return repr(value)
        case datetime.date():  # moments are dates too
            return value.isoformat()
        case tuple() | list():
            return [plain_value(each) for each in value]
    raise InternalError(f"a question holds a value of type {type(value).__name__}")
