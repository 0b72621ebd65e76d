"""The row proxy writes expressions down, and refuses by name whatever it does not offer."""

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.query.expressions import OPERATIONS, Expression, in_words, literal
from discreet.query.row import Cell, Row, build, case, plain
from discreet.query.schema import Schema

SCHEMA = Schema.of({"age": "integer", "income": "real", "ward": "text", "born": "date"})
ROW = Row(SCHEMA)

WRITTEN = [
    (lambda row: (row.age >= 18) & (row.ward == "A"), "(age >= 18) & (ward == 'A')"),
    (lambda row: datetime.date(2000, 1, 1) < row.born, "born > 2000-01-01"),
    (lambda row: ~(row["age"] != 3) | False, "~(age != 3) | false"),
    (lambda row: 1 + row.age - 2 * row.income / 3, "(1 + age) - ((2 * income) / 3)"),
    (lambda row: 7 // row.age, "7 // age"),
    (lambda row: -abs(row.income), "-abs(income)"),
    (lambda row: row.income.clip(0, 1.5), "clip(income, (0, 1.5))"),
    (lambda row: row.income.fill_null(0), "fill_null(income, 0)"),
    (lambda row: row.income.is_not_null(), "~is_null(income)"),
    (lambda row: row.ward.is_in({"A": 1}), "ward in ('A')"),
    (
        lambda row: row.ward.substring(0, 2).concat(row.ward),
        "concat(substring(ward, (0, 2)), ward)",
    ),
    (lambda row: case((row.age < 18, "child"), otherwise=None), "case(age < 18, 'child', None)"),
]


@pytest.mark.parametrize(("function", "words"), WRITTEN, ids=[words for _, words in WRITTEN])
def test_what_is_written_down(function: Callable[[Row], Any], words: str) -> None:
    # Catches operands in the wrong order, and operators that build the wrong operation.
    assert in_words(build(function, SCHEMA, argument="where")) == words


def test_every_operation_can_be_written() -> None:
    # Catches an operation that engines know and analysts cannot reach.
    operators = {"eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "add", "sub", "mul"}
    operators |= {"div", "floordiv", "neg"}
    for op in set(OPERATIONS) - operators - {"case"}:
        assert hasattr(Cell, op), op


AS_CONDITIONS = [
    lambda row: row.age > 1 and row.age < 5,
    lambda row: row.age > 1 or row.age < 5,
    lambda row: not row.age,
    lambda row: 1 < row.age < 5,
    lambda row: "yes" if row.age else "no",
    lambda row: row.age in [1, 2],
]


@pytest.mark.parametrize("function", AS_CONDITIONS)
def test_python_conditions_are_refused(function: Callable[[Row], Any]) -> None:
    # Catches a condition that Python decides before any row is seen: all rows would pass, or none.
    with pytest.raises(InvalidArgument, match=r"built with & \| ~, .is_in and dp.case"):
        build(function, SCHEMA, argument="where")


NOT_OFFERED = [
    (lambda row: row.age.mean(), "'mean'"),
    (lambda row: row.ward.lowercase(), "did you mean lower"),
    (lambda row: row.ward.start_with("A"), "did you mean startswith"),
    (lambda row: row.age.shift(1), "only operations that look at one row"),
    (lambda row: row.age % 2, "'%'"),
    (lambda row: 2**row.age, r"'\*\*'"),
    (lambda row: row.age ^ 1, r"'\^'"),
    (lambda row: row.ward[0], r"'\[\]'"),
    (lambda row: len(row.ward), "'len'"),
    (lambda row: list(row.ward), "'iteration'"),
    (lambda row: int(row.age), "'int'"),
    (lambda row: float(row.income), "'float'"),
    (lambda row: round(row.income), "'round'"),
    (lambda row: math.floor(row.income), "'float'"),
    (lambda row: row.age(), "'a call'"),
    (lambda row: 5 in row.ward, "'in'"),
]


@pytest.mark.parametrize(("function", "message"), NOT_OFFERED, ids=[m for _, m in NOT_OFFERED])
def test_what_is_not_offered_is_refused_by_name(
    function: Callable[[Row], Any], message: str
) -> None:
    # Catches an operation that is passed on to an engine, or a bare TypeError.
    with pytest.raises(InvalidArgument, match=message):
        build(function, SCHEMA, argument="mutate")


def test_unknown_columns_say_which_there_are() -> None:
    # Catches a message that leaves the analyst guessing.
    with pytest.raises(InvalidArgument, match=r'one of age, income, ward, born.*mean "income"'):
        build(lambda row: row.incom, SCHEMA, argument="where")
    with pytest.raises(InvalidArgument, match="one of age"):
        build("wards?", SCHEMA, argument="sum")


@pytest.mark.parametrize("given", [17, None, [1], {"a": 1}])
def test_only_names_and_functions_are_read(given: Any) -> None:
    # Catches a value that is taken for a column.
    with pytest.raises(InvalidArgument, match="a column's name or a lambda on a row"):
        build(given, SCHEMA, argument="mutate")


LITERALS = [
    (True, True),
    (np.bool_(False), False),
    (np.int8(3), 3),
    (-(2**63), -(2**63)),
    (2**63, 2.0**63),
    (np.float32(0.5), 0.5),
    (Fraction(1, 4), 0.25),
    ("it's", "it's"),
    (datetime.date(2026, 1, 31), datetime.date(2026, 1, 31)),
    (None, None),
]


@pytest.mark.parametrize(("given", "wanted"), LITERALS, ids=str)
def test_literals_become_plain(given: Any, wanted: Any) -> None:
    # Catches numbers of NumPy in a tree, which would not compare or hash as plain ones do.
    found = plain(given)
    assert found == wanted and type(found) is type(wanted)


BAD_LITERALS = [math.nan, math.inf, 1e101, 10**400, Decimal("1.5"), [1], b"A", 1j, object()]


@pytest.mark.parametrize("given", BAD_LITERALS, ids=lambda given: type(given).__name__)
def test_other_literals_are_refused(given: Any) -> None:
    # Catches NaN in a comparison, numbers that arithmetic would clamp, and objects of any kind.
    with pytest.raises(InvalidArgument, match="a number of ordinary size"):
        build(lambda row: row.income > given, SCHEMA, argument="where")


@pytest.mark.parametrize("text", ["a\0b", "\ud800"], ids=["null", "surrogate"])
def test_texts_that_no_engine_holds_are_refused(text: str) -> None:
    # Catches a literal that breaks the query of one engine and not of another.
    for function in (
        lambda row: row.ward == text,
        lambda row: row.ward.contains(text),
        lambda row: row.ward.is_in([text]),
        lambda row: row.ward.fill_null(text),
    ):
        with pytest.raises(InvalidArgument, match="every engine can hold"):
            build(function, SCHEMA, argument="where")


BAD_ARGUMENTS = [
    (lambda row: row.ward.is_in("ABC"), "a list of values"),
    (lambda row: row.ward.is_in(3), "a list of values"),
    (lambda row: row.ward.startswith(3), "given a text"),
    (lambda row: row.ward.substring(-1, 2), "an integer from 0 on"),
    (lambda row: row.ward.substring(0, True), "an integer from 0 on"),
    (lambda row: row.age.cast("number"), '"boolean", "integer"'),
    (lambda row: row.age.cast("raw"), '"boolean", "integer"'),
    (lambda row: case(otherwise=1), "at least one pair"),
    (lambda row: case((True, 1), otherwise=2), "pairs of a condition and a value"),
    (lambda row: case((row.age > 1), otherwise=2), "pairs of a condition and a value"),
]


@pytest.mark.parametrize(("function", "message"), BAD_ARGUMENTS, ids=[m for _, m in BAD_ARGUMENTS])
def test_bad_arguments(function: Callable[[Row], Any], message: str) -> None:
    # Catches an argument that would fail later, in an engine.
    with pytest.raises(InvalidArgument, match=message):
        build(function, SCHEMA, argument="mutate")


def test_a_constant_is_an_expression_too() -> None:
    # Catches a lambda without a row in it being refused: mutate(one=lambda row: 1).
    assert build(lambda row: 1, SCHEMA, argument="mutate") == literal(1)
    made = Expression("abs", (literal(1),))
    assert build(made, SCHEMA, argument="mutate") is made
