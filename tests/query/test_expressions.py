"""Types are checked against the schema before any data is touched, and casts are spelled out."""

import datetime
from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import pytest

from discreet.errors import InvalidArgument
from discreet.query.expressions import Expression, Typed, as_type, literal, literal_type, typed
from discreet.query.limits import DEPTH
from discreet.query.row import Row, build, case
from discreet.query.schema import Field, Schema, Type

SCHEMA = Schema(
    (
        Field("age", Type.INTEGER, nullable=False),
        Field("days", Type.INTEGER),
        Field("income", Type.REAL),
        Field("ward", Type.TEXT),
        Field("well", Type.BOOLEAN),
        Field("born", Type.DATE),
        Field("seen", Type.TIMESTAMP),
        Field("raw", Type.RAW),
        Field("blob", Type.OTHER),
    )
)
DAY = datetime.date(2026, 1, 31)


def read(function: Callable[[Row], Any]) -> Typed:
    return typed(build(function, SCHEMA, argument="test"), SCHEMA)


TYPES = [
    (lambda row: row.age + 1, Type.INTEGER, False),
    (lambda row: row.age + row.days, Type.INTEGER, True),
    (lambda row: row.age * 0.5, Type.REAL, False),
    (lambda row: row.age / 2, Type.REAL, False),
    (lambda row: row.age / 1e-300, Type.REAL, True),  # such a divisor counts as 0
    (lambda row: row.age / row.age, Type.REAL, True),  # the divisor may be 0
    (lambda row: row.age // 2, Type.INTEGER, False),
    (lambda row: row.income.floor(), Type.INTEGER, True),
    (lambda row: row.age.clip(0, 9), Type.INTEGER, False),
    (lambda row: row.age.clip(0, 9.5), Type.REAL, False),
    (lambda row: row.days.is_null(), Type.BOOLEAN, False),
    (lambda row: row.days.fill_null(0), Type.INTEGER, False),
    (lambda row: row.days.fill_null(0.5), Type.REAL, False),
    (lambda row: row.age > row.income, Type.BOOLEAN, True),
    (lambda row: row.born >= "2026-01-31", Type.BOOLEAN, True),
    (lambda row: row.ward.is_in(["A", None]), Type.BOOLEAN, True),
    (lambda row: row.ward.length(), Type.INTEGER, True),
    (lambda row: row.seen.hour(), Type.INTEGER, True),
    (lambda row: row.age.cast("text"), Type.TEXT, False),
    (lambda row: row.ward.cast("integer"), Type.INTEGER, True),
    (lambda row: case((row.well, 1), otherwise=None), Type.INTEGER, True),
    (lambda row: case((row.well, 1), otherwise=2.5), Type.REAL, False),
    (lambda row: case((row.well, None), otherwise="A"), Type.TEXT, True),
]


@pytest.mark.parametrize(("function", "kind", "nullable"), TYPES)
def test_types_and_what_may_be_missing(
    function: Callable[[Row], Any], kind: Type, nullable: bool
) -> None:
    # Catches a count that is shared with a value that may be missing, and a type that a plan
    # would give the wrong grid.
    found = read(function)
    assert (found.type, found.nullable) == (kind, nullable)


# -- the cells of a CSV file -----------------------------------------------------------------------

RAW = [
    (lambda row: row.raw == 5, Type.REAL),
    (lambda row: row.raw == 5.5, Type.REAL),
    (lambda row: row.raw == "A", Type.TEXT),
    (lambda row: row.raw == DAY, Type.DATE),
    (lambda row: row.raw == True, Type.BOOLEAN),  # noqa: E712
    (lambda row: row.raw == row.raw, Type.TEXT),
    (lambda row: row.raw == row.age, Type.REAL),
    (lambda row: row.raw + 1, Type.REAL),
    (lambda row: row.raw.clip(0, 1), Type.REAL),
    (lambda row: row.raw & row.well, Type.BOOLEAN),
    (lambda row: row.raw.length(), Type.TEXT),
    (lambda row: row.raw.year(), Type.DATE),
    (lambda row: row.raw.fill_null(0), Type.REAL),
    (lambda row: row.raw.is_in([1, 2]), Type.REAL),
    (lambda row: row.raw.is_in(["1"]), Type.TEXT),
    (lambda row: row.raw.is_in([]), Type.TEXT),
]


@pytest.mark.parametrize(("function", "kind"), RAW)
def test_raw_cells_take_the_type_they_are_used_as(
    function: Callable[[Row], Any], kind: Type
) -> None:
    # Catches a type that would depend on rows, and a raw cell that is left uncast.
    found = read(function).args[0]
    assert (found.op, found.type, found.args[0].type) == ("cast", kind, Type.RAW)
    assert found.nullable


def test_is_null_of_a_raw_cell_asks_for_no_type() -> None:
    # Catches a cell that counts as missing because it is not a number.
    assert read(lambda row: row.raw.is_null()).args[0].op == "column"


# -- literals --------------------------------------------------------------------------------------


def test_literals_follow_the_column() -> None:
    # Catches literals that an engine would compare with a column of another type.
    assert read(lambda row: row.income > 5).args[1].value == 5.0
    assert read(lambda row: row.born == "2026-01-31").args[1].value == DAY
    assert read(lambda row: row.born.is_in(["2026-01-31", DAY.isoformat()])).value == (DAY, DAY)
    assert read(lambda row: row.income.is_in([1, 2.5, None])).value == (1.0, 2.5)
    assert type(read(lambda row: row.income.is_in([1])).value[0]) is float
    assert read(lambda row: row.age.is_in([1, 2.5])).args[0].type is Type.REAL


def test_types_of_literals() -> None:
    # Catches True taken for 1, and a moment taken for a day.
    assert literal_type(True) is Type.BOOLEAN and literal_type(1) is Type.INTEGER
    assert literal_type(datetime.datetime(2026, 1, 1)) is Type.TIMESTAMP
    with pytest.raises(InvalidArgument, match="plain value"):
        literal_type([1])


REFUSED = [
    (lambda row: row.age + row.ward, "age \\+ ward must be made of numbers, got integer and text"),
    (lambda row: row.age & row.well, "made of conditions"),
    (lambda row: ~row.age, "made of conditions"),
    (lambda row: row.age == row.ward, "values of one type"),
    (lambda row: row.born == row.ward, "values of one type"),
    (lambda row: row.born < row.seen, "values of one type"),
    (lambda row: row.seen > "2026-01-31", "values of one type"),
    (lambda row: row.born == "yesterday", 'dates are written as "2026-01-31"'),
    (lambda row: row.well < True, "values with an order"),
    (lambda row: row.income == None, "is_null"),  # noqa: E711
    (lambda row: row.age.lower(), "made of text"),
    (lambda row: row.age.year(), "made of a date or a timestamp"),
    (lambda row: row.born.hour(), "made of a timestamp"),
    (lambda row: row.income.cast("text"), "read as text.*floor"),
    (lambda row: row.born.cast("integer"), "read as integer"),
    (lambda row: row.age.clip(5, 1), "the smaller one first"),
    (lambda row: row.age.clip("a", "b"), "two numbers"),
    (lambda row: row.age.clip(None, 1), "two numbers"),
    (lambda row: row.ward.is_in(["A", 1]), "literals of one type"),
    (lambda row: row.income.is_in([0.5, "A"]), "literals of one type"),
    (lambda row: row.age.is_in([True, 1]), "literals of one type"),
    (lambda row: row.ward.is_in([1]), "values of one type"),
    (lambda row: row.blob.is_null(), "blob must be a column of booleans, numbers"),
    (lambda row: case((row.age, 1), otherwise=2), "made of conditions"),
    (lambda row: case((row.well, 1), otherwise="A"), "values of one type"),
    (lambda row: row.raw.hour(), "a timestamp.*say it with"),
]


@pytest.mark.parametrize(("function", "message"), REFUSED, ids=[m for _, m in REFUSED])
def test_what_does_not_fit_is_refused(function: Callable[[Row], Any], message: str) -> None:
    # Catches a query that would only fail in an engine, where messages quote data.
    with pytest.raises(InvalidArgument, match=message):
        read(function)


def test_unknown_operations_are_refused() -> None:
    # Catches a tree that was not built by the row proxy.
    with pytest.raises(InvalidArgument, match="one of eq, ne"):
        typed(Expression("sql", (literal(1),), "1; DROP TABLE"), SCHEMA)


def test_deep_expressions_are_refused_before_python_gives_up() -> None:
    # Catches a RecursionError, in our code or in a compiler's, half way through a release.
    chain = [build(lambda row: row.income, SCHEMA, argument="x")] * 5000
    deep = reduce(lambda a, b: Expression("add", (a, b)), chain)
    with pytest.raises(InvalidArgument, match="a name with mutate first"):
        typed(deep, SCHEMA)
    read(lambda row: reduce(add, [row.income] * DEPTH))
    wide = build(lambda row: row.income, SCHEMA, argument="x")
    for _ in range(60):  # 2^60 columns in 60 steps
        wide = Expression("add", (wide, wide))
    with pytest.raises(InvalidArgument, match="2,000 operations"):
        typed(wide, SCHEMA)


def test_a_cast_to_the_same_type_is_no_cast() -> None:
    # Catches columns that are cast to what they are, which keeps engines from using them as such.
    age = read(lambda row: row.age)
    assert as_type(age, Type.INTEGER) is age
    assert read(lambda row: row.age.cast("integer")) == age
