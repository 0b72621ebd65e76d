"""The row proxy: a lambda applied to it builds a row expression instead of computing one."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import Any, Final, TypeAlias

from discreet.errors import InvalidArgument
from discreet.hints import meant, spelled
from discreet.query.expressions import (
    LARGEST_REAL,
    OPERATIONS,
    Expression,
    Value,
    column,
    literal,
)
from discreet.query.limits import TEXT, VALUES, check, taken
from discreet.query.schema import Schema, Type
from discreet.query.suggestions import CELL_INSTEAD

Operand: TypeAlias = "Cell | Value"
_CASE: Final = 'as in dp.case((row.age < 18, "child"), otherwise="adult")'


class Row:
    """Stands for one row: ``row.age`` or ``row["age"]`` is the cell of a column."""

    __slots__ = ("_schema",)

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def __getattr__(self, name: str) -> Cell:
        if name.startswith("__"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Cell:
        return Cell(column(self._schema.field(name).name))


def _unary(op: str, doc: str = "") -> Callable[[Cell], Cell]:
    def method(self: Cell) -> Cell:
        return self._with(op)

    method.__doc__, method.__qualname__ = doc, f"Cell.{op}"
    return method


def _binary(op: str) -> Callable[[Cell, Operand], Cell]:
    return lambda self, other: self._with(op, other)


def _reflected(op: str) -> Callable[[Cell, Operand], Cell]:
    return lambda self, other: Cell(Expression(op, (read_operand(other), self.expression)))


def _refused(name: str) -> Any:
    def operator(self: Cell, *others: object) -> Any:
        raise _not_offered(name)

    return operator


class Cell:
    """Stands for a value computed from one row; operators and methods build an expression.

    >>> schema = Schema.of({"age": "integer", "ward": "text"})
    >>> from discreet.query.expressions import in_words
    >>> row = Row(schema)
    >>> in_words(((row.age >= 18) & row.ward.is_in(["A", "B"])).expression)
    "(age >= 18) & (ward in ('A', 'B'))"
    """

    __slots__ = ("expression",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, expression: Expression) -> None:
        self.expression = expression

    def _with(self, op: str, *others: Operand, value: object = None) -> Cell:
        args = (self.expression, *(read_operand(other) for other in others))
        return Cell(Expression(op, args, value))

    # -- comparison, boolean, arithmetic -----------------------------------------------------------

    __eq__ = _binary("eq")  # type: ignore[assignment]
    __ne__ = _binary("ne")  # type: ignore[assignment]
    __lt__, __le__ = _binary("lt"), _binary("le")
    __gt__, __ge__ = _binary("gt"), _binary("ge")
    __and__, __rand__ = _binary("and"), _reflected("and")
    __or__, __ror__ = _binary("or"), _reflected("or")
    __add__, __radd__ = _binary("add"), _reflected("add")
    __sub__, __rsub__ = _binary("sub"), _reflected("sub")
    __mul__, __rmul__ = _binary("mul"), _reflected("mul")
    __truediv__, __rtruediv__ = _binary("div"), _reflected("div")
    __floordiv__, __rfloordiv__ = _binary("floordiv"), _reflected("floordiv")
    __invert__, __neg__ = _unary("not"), _unary("neg")
    __abs__ = abs = _unary("abs", "The absolute value.")
    floor = _unary("floor", "The largest integer that is not above the value.")

    def clip(self, lower: Value, upper: Value) -> Cell:
        """The value clamped to [lower, upper]."""
        return self._with("clip", value=(plain(lower), plain(upper)))

    # -- null handling, casts, choice --------------------------------------------------------------

    is_null = _unary("is_null", "Is it missing (null or NaN)?")

    def is_not_null(self) -> Cell:
        """Is it present, that is, not missing?"""
        return ~self.is_null()

    def fill_null(self, value: Value) -> Cell:
        """The value, or a literal where it is missing."""
        return self._with("fill_null", plain(value))

    def cast(self, to: str | Type) -> Cell:
        """The value as another type; missing where it cannot be read as that type."""
        return self._with("cast", value=Type.parse(to, name="cast"))

    def is_in(self, values: Iterable[Value]) -> Cell:
        """Is it one of these values?"""
        listed = tuple(plain(value) for value in _listed(values))
        return self._with("is_in", value=listed)

    # -- text and dates ----------------------------------------------------------------------------

    lower = _unary("lower", "In lower case; only A to Z are changed.")
    upper = _unary("upper", "In upper case; only a to z are changed.")
    strip = _unary("strip", "Without spaces at both ends.")
    length = _unary("length", "The number of characters.")

    def startswith(self, text: str) -> Cell:
        """Does it begin with this text?"""
        return self._with("startswith", value=_text(text, "startswith"))

    def endswith(self, text: str) -> Cell:
        """Does it end with this text?"""
        return self._with("endswith", value=_text(text, "endswith"))

    def contains(self, text: str) -> Cell:
        """Does it contain this text?"""
        return self._with("contains", value=_text(text, "contains"))

    def substring(self, start: int, length: int) -> Cell:
        """The characters from start on (0 is the first), at most this many."""
        for name, given in (("start", start), ("length", length)):
            if not isinstance(given, int) or isinstance(given, bool) or not 0 <= given < 2**31:
                raise InvalidArgument.of(name, "an integer from 0 on", given)
        return self._with("substring", value=(start, length))

    def concat(self, other: Operand) -> Cell:
        """This text followed by another."""
        return self._with("concat", other)

    year = _unary("year", "The year of a date or timestamp.")
    month = _unary("month", "The month, 1 to 12.")
    day = _unary("day", "The day of the month.")
    weekday = _unary("weekday", "The day of the week; Monday is 0.")
    hour = _unary("hour", "The hour of a timestamp, 0 to 23.")

    # -- what is not offered -----------------------------------------------------------------------

    def __bool__(self) -> bool:
        raise InvalidArgument(
            "a row expression",
            "built with & | ~, .is_in and dp.case, not with and, or, not, if, in",
            "a use as True or False",
            hint="write (row.a > 1) & (row.b < 2), with parentheses, also for 1 < row.a < 2",
        )

    __iter__ = _refused("iteration")
    __len__ = _refused("len")
    __getitem__ = _refused("[]")
    __mod__ = __rmod__ = _refused("%")
    __pow__ = __rpow__ = _refused("**")
    __xor__ = __rxor__ = _refused("^")
    __matmul__ = __rmatmul__ = _refused("@")
    __lshift__ = __rlshift__ = _refused("<<")
    __rshift__ = __rrshift__ = _refused(">>")
    __pos__ = _refused("+")
    __int__ = __index__ = _refused("int")
    __float__ = _refused("float")
    __round__ = _refused("round")
    __call__ = _refused("a call")
    __str__ = _refused("str")
    __format__ = _refused("str")
    __contains__ = _refused("in")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise _not_offered(name)


@spelled
def case(*branches: tuple[Cell, Operand], otherwise: Operand) -> Cell:
    """The value of the first of the ``branches``, pairs of a condition and a value, whose condition
    is true, else ``otherwise``. A condition on a missing value is not true.

    >>> row = Row(Schema.of({"age": "integer"}))
    >>> from discreet.query.expressions import in_words
    >>> in_words(case((row.age < 18, "child"), otherwise="adult").expression)
    "case(age < 18, 'child', 'adult')"
    """
    args: list[Expression] = []
    for branch in branches:
        if not isinstance(branch, tuple) or len(branch) != 2 or not isinstance(branch[0], Cell):
            expected = "pairs of a condition and a value"
            raise InvalidArgument.of_data("case", expected, branch, hint=_CASE)
        args += [branch[0].expression, read_operand(branch[1])]
    if not args:
        raise InvalidArgument("case", "at least one pair", "none", hint=_CASE)
    return Cell(Expression("case", (*args, read_operand(otherwise))))


def build(source: str | Callable[[Row], Any], schema: Schema, *, argument: str) -> Expression:
    """The expression for a column's name or a lambda on a row."""
    if isinstance(source, str) and source not in schema and set(source) & set("<>=&|"):
        raise _not_built(argument, source)  # a text such as "days > 3"
    if isinstance(source, str):
        return column(schema.field(source, argument=argument).name)
    if isinstance(source, Expression):
        return source
    if not callable(source):
        raise _not_built(argument, source)
    try:
        made = source(Row(schema))
    except TypeError as error:  # from NumPy, or from a lambda that takes no row
        if isinstance(error.__cause__, InvalidArgument):
            raise error.__cause__ from None
        if error.__traceback__ is not None and error.__traceback__.tb_next is not None:
            raise
        raise _not_built(argument, source) from None
    return read_operand(made)


def _not_built(argument: str, source: object) -> InvalidArgument:
    return InvalidArgument.of(
        argument,
        "a column's name or a lambda on a row",
        source,
        hint="as in lambda row: row.age >= 18",
    )


def read_operand(value: Operand) -> Expression:
    """A cell's expression, or a literal."""
    return value.expression if isinstance(value, Cell) else literal(plain(value))


def plain(value: Any) -> Value:
    """A literal as a plain Python value: bool, int, float, str, date, datetime or None."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, datetime.datetime):  # in UTC, no hour occurs twice when clocks change
        moment = value if value.tzinfo is None else value.astimezone(datetime.UTC)
        return datetime.datetime.combine(moment.date(), moment.time())
    if isinstance(value, datetime.date):
        return datetime.date(value.year, value.month, value.day)
    if isinstance(value, str):
        return str(_text(value, "a literal"))  # NumPy has a text type of its own
    if type(value).__name__ == "bool" and hasattr(value, "item"):  # NumPy's own
        return bool(value)
    if isinstance(value, Integral) and -(2**63) <= int(value) < 2**63:
        return int(value)
    if isinstance(value, Real) and _is_ordinary(value):
        return float(value)
    raise InvalidArgument.of(
        "a literal", "True, False, a number of ordinary size, text, a date or a datetime", value
    )


def _is_ordinary(number: Any) -> bool:
    try:
        return abs(float(number)) <= LARGEST_REAL  # not true of NaN
    except OverflowError:
        return False


def _listed(values: Iterable[Value]) -> tuple[Value, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InvalidArgument.of("is_in", "a list of values", values)
    return taken(values, VALUES, name="is_in", what="values", hint="join a public table of them")


def _text(value: str, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidArgument.of(name, "given a text", value)
    check(len(value), TEXT, name=name, what="characters", hint="write a shorter text")
    if "\0" in value or any("\ud800" <= letter <= "\udfff" for letter in value):
        raise InvalidArgument(
            name,
            "a text that every engine can hold",
            "one with a null character or half of a surrogate pair",
        )
    return value


def _not_offered(name: str) -> InvalidArgument:
    offered = [op for op in [*OPERATIONS, "is_not_null"] if hasattr(Cell, op)]
    return InvalidArgument(
        "a row expression",
        "one of the row-wise operations " + ", ".join(sorted(offered)) + " and operators",
        f"{name!r}",
        hint=CELL_INSTEAD.get(name)
        or meant(name, offered)
        or "only operations that look at one row and cannot fail are offered",
    )


# -- from documents --------------------------------------------------------------------------------


_OF_ONE: Final = (
    *("not", "neg", "abs", "floor", "is_null", "lower", "upper", "strip", "length"),
    *("year", "month", "day", "weekday", "hour"),
)
_OF_TWO: Final = (
    *("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "add", "sub", "mul", "div", "floordiv"),
    "concat",
)


def read_tree(told: Any) -> Expression:
    """The expression that `tree` wrote. What it says of types is not believed: they follow from the
    table, and are compared later.

    >>> from discreet.query.expressions import in_words
    >>> age = {"op": "column", "value": "age", "type": "integer", "nullable": True}
    >>> in_words(read_tree({"op": "neg", "args": [age], "type": "integer", "nullable": True}))
    '-age'
    """
    match told:
        case {"op": str(op), "type": str(kind)}:
            value, inside = told.get("value"), told.get("args", [])
        case _:
            raise unread("an expression")
    args = tuple(read_tree(arg) for arg in inside) if isinstance(inside, list) else ()
    match op, args, value:
        case "column", (), str():
            return column(value)
        case "literal", (), _:
            return literal(read_literal(value, kind))
        case "case", (_, _, _, *_), None if len(args) % 2:
            return Expression(op, args)
        case (("clip" | "substring"), (first,), [low, high]):
            kinds = kind if op == "clip" else "integer"
            ends: Any = (read_literal(low, kinds), read_literal(high, kinds))
            return getattr(Cell(first), op)(*ends).expression  # type: ignore[no-any-return]
        case "is_in", (first,), [*values]:
            kinds = inside[0]["type"]
            return Cell(first).is_in([read_literal(one, kinds) for one in values]).expression
        case (("cast" | "startswith" | "endswith" | "contains"), (first,), str()):
            return getattr(Cell(first), op)(value).expression  # type: ignore[no-any-return]
        case "fill_null", (_, filler), None if filler.op == "literal":
            return Expression(op, args)
        case _, (_,), None if op in _OF_ONE:
            return Expression(op, args)
        case _, (_, _), None if op in _OF_TWO:
            return Expression(op, args)
    raise unread("an expression")


def read_literal(value: object, kind: object) -> Value:
    """A literal of this type, as documents write it: reals and dates as text."""
    try:
        match value, kind:
            case None, _:
                return None
            case (bool(), "boolean") | (str(), "text"):
                return plain(value)
            case int(), "integer" if not isinstance(value, bool):
                return plain(value)
            case str(), "real":
                return plain(float(value))
            case str(), "date":
                return datetime.date.fromisoformat(value)
            case str(), "timestamp":
                return plain(datetime.datetime.fromisoformat(value))
    except ValueError:
        pass
    raise unread("a value of its column's type")


def unread(what: str) -> InvalidArgument:
    """The error where a document holds something else."""
    return InvalidArgument("document", f"{what} as query documents write it", "something else")
