"""Exact integers for every key: sums of any size, keys that nobody has, tables without rows."""

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from discreet.engines.aggregation import integers
from discreet.engines.row_sampling import added
from discreet.engines.sources import open_source
from discreet.errors import EngineError, Refused
from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Expression, column, literal, typed
from discreet.query.measures import (
    AllRows,
    CategoryBins,
    Grid,
    GridBins,
    Present,
    Total,
    Units,
    choose_grid,
)
from discreet.query.public import PublicTable
from discreet.query.request import Join, Mutate, Select, Where
from discreet.query.schema import Type
from tests.engines.asking import ask, cell, numbers

BOUNDED: list[dict[str, Any]] = [{}, {"unit": "person", "bound": ContributionBound(3, 10**6, None)}]


@pytest.mark.parametrize("how", BOUNDED)
def test_sums_beyond_64_bits_are_exact(how: dict[str, Any]) -> None:
    # Catches an integer that wraps around and a double that rounds, on both sides of 2^63.
    largest = 2**51 - 1
    for count in (4096, 4097):
        rows = pa.table(
            {
                "person": np.arange(2 * count + 1) % 10,
                "ward": ["A"] * count + ["B"] * (count + 1),
                "n": [largest] * count + [-largest] * count + [1],
            }
        )
        source = open_source(rows)
        total = Total(cell(source, "n"), Grid(0, -largest, largest))
        (sums,) = source.measure(ask(source, total, keys=["B", "A"], **how)).columns.values()
        assert sums.tolist() == [-count * largest + 1, count * largest] and sums.dtype == object


@pytest.mark.parametrize("how", BOUNDED)
@pytest.mark.parametrize("keys", [["A", "B"], "discover", None])
def test_a_table_without_rows(how: dict[str, Any], keys: Any) -> None:
    # Catches an answer whose shape depends on there being somebody.
    schema = pa.schema([("person", pa.int64()), ("ward", pa.string()), ("x", pa.float64())])
    source = open_source(schema.empty_table())
    group = () if keys is None else ("ward",)
    answer = source.measure(ask(source, *numbers(source), group=group, keys=keys, **how))
    rows = {"discover": 0}.get(str(keys), 1 if keys is None else 2)
    for measure, column_ in answer.columns.items():
        kind = object if isinstance(measure, Total) and measure.wide else np.int64
        assert len(column_) == rows and not column_.any() and column_.dtype == kind
    assert (answer.keys is not None) == (keys == "discover")


@pytest.mark.parametrize("how", BOUNDED)
def test_many_keys(how: dict[str, Any]) -> None:
    # Catches a loop over keys, a lost key, and an order that is not that of the list.
    keys = np.random.default_rng(1).permutation(100_000)
    rows = pa.table({"person": np.arange(300_000) // 3, "ward": np.arange(300_000) % 150_000})
    source = open_source(rows)
    (counts,) = source.measure(ask(source, AllRows(), keys=keys, **how)).columns.values()
    assert counts.tolist() == [2] * 100_000
    answer = source.measure(ask(source, AllRows(), Units(), keys="discover", **how))
    assert answer.keys is not None and answer.keys["ward"].to_pylist() == list(range(150_000))
    assert set(answer.columns[AllRows()].tolist()) == set(answer.columns[Units()].tolist()) == {2}


@pytest.mark.parametrize("how", BOUNDED)
def test_keys_of_several_columns_and_types(how: dict[str, Any]) -> None:
    # Catches keys that are joined by position or by text, and rows that lack one of the keys.
    day, other = datetime.date(2026, 1, 31), datetime.date(1, 1, 1)
    rows = pa.table(
        {
            "person": [1, 2, 3, 4, 5],
            "flag": [True, True, None, False, True],
            "day": [day, other, day, day, None],
            "ward": ["", "x", "", "é", "x"],
        }
    )
    source = open_source(rows)
    keys = [(False, day, "é"), (True, other, "x"), (True, day, ""), (True, day, "x")]
    group = ("flag", "day", "ward")
    (counts,) = source.measure(ask(source, group=group, keys=keys, **how)).columns.values()
    assert counts.tolist() == [1, 1, 1, 0]
    answer = source.measure(ask(source, group=group, keys="discover", **how))
    assert answer.keys is not None and answer.keys.num_rows == 3
    assert answer.keys.schema.types == [pa.bool_(), pa.date32(), pa.string()]


@pytest.mark.parametrize("how", BOUNDED)
def test_bins(how: dict[str, Any]) -> None:
    # Catches a count in the wrong bin or group, with listed, discovered and no keys.
    rows = pa.table(
        {
            "person": [1, 2, 3, 4, 5, 6],
            "ward": ["A", "A", "B", "B", "B", None],
            "x": [0.0, 0.4, 2.0, None, 99.0, 1.0],
            "sex": ["f", "m", "f", "?", "f", "m"],
        }
    )
    source = open_source(rows)
    grid = GridBins(cell(source, "x"), Grid(0, 0, 2))
    sexes = CategoryBins(cell(source, "sex"), ("m", "f"))
    listed = source.measure(ask(source, grid, sexes, keys=["B", "C", "A"], **how)).columns
    assert listed[grid].tolist() == [[0, 0, 2], [0, 0, 0], [2, 0, 0]]
    assert listed[sexes].tolist() == [[0, 2], [0, 0], [1, 1]]
    found = source.measure(ask(source, grid, sexes, keys="discover", **how))
    assert found.columns[grid].tolist() == [[2, 0, 0], [0, 0, 2]]
    alone = source.measure(ask(source, grid, sexes, group=(), **how)).columns
    assert alone[grid].tolist() == [[2, 1, 2]] and alone[sexes].tolist() == [[2, 3]]


@pytest.mark.parametrize("keys", [["A", "B", "C"], "discover", None])
def test_people_by_groups_and_rows(keys: Any) -> None:
    # Catches rows of nobody or of unlisted groups that count, and a last place that loses people.
    rows = pa.table(
        {
            "person": [1, 1, 1, 2, 2, 3, 3, 3, 3, 3, None, 4],
            "ward": [*"ABC", *"AA", *"ABBBB", "A", None],
        }
    )
    source = open_source(rows)
    group = () if keys is None else ("ward",)
    groups, most = source.spread(ask(source, group=group, keys=keys, unit="person"), 3)
    if keys is None:
        assert groups.tolist() == [4, 0, 0] and most.tolist() == [1, 1, 2]
    else:
        assert groups.tolist() == [1, 1, 1] and most.tolist() == [1, 1, 1]


def test_too_many_cells_are_refused() -> None:
    # Catches an answer that fills the memory: listed ones before data is read, with what to do.
    source = open_source(pa.table({"ward": np.arange(2000), "x": np.zeros(2000)}))
    bins = GridBins(cell(source, "x"), Grid(0, 0, 2**20))
    with pytest.raises(Refused, match="list fewer keys, or make the bins wider"):
        source.measure(ask(source, bins, keys=range(2000)))
    for how in ({}, {"unit": "ward", "bound": ContributionBound(1, 1, None)}):
        with pytest.raises(EngineError, match="too many cells"):
            source.measure(ask(source, bins, keys="discover", **how))


def test_steps_in_their_order() -> None:
    # Catches a step that sees a later one, a row that is doubled by a join, a unit that is lost.
    rows = pa.table({"person": [1, 1, 2, 3], "ward": ["A", "B", "A", "Z"], "n": [1, 2, 3, None]})
    source = open_source(rows)

    def of(expression: Expression) -> Any:
        return typed(expression, source.schema)

    n, ward = column("n"), column("ward")
    beds = pa.table({"name": ["A", "B"], "beds": [10, 20]})
    joined = source.schema.with_field(type(source.schema["n"])("beds", Type.INTEGER))
    steps = (
        Where(of(Expression("is_null", (Expression("eq", (ward, literal("?"))),)))),
        Mutate((("n", of(Expression("add", (n, literal(1))))), ("old", of(n)))),
        Join(beds, ((of(ward), "name"),), (("beds", "beds"),), PublicTable(beds, beds)),
        Select((("ward", of(ward)), ("n", typed(column("beds"), joined)))),
    )
    total = Total(cell(source, "n"), Grid(0, 0, 100))
    for taken, wanted in ((steps[1:], [20, 20, 0]), (steps, [0, 0, 0]), (steps[1:2], [6, 3, 0])):
        asked = ask(source, total, keys=["A", "B", "Z"], steps=taken)
        assert source.measure(asked).columns[total].tolist() == wanted
    bounded = {"unit": "person", "bound": ContributionBound(None, None, 1)}
    asked = ask(source, AllRows(), keys=["A", "B", "Z"], steps=steps[1:], **bounded)
    assert source.measure(asked).columns[AllRows()].sum() == 3


def test_deep_expressions_stay_short() -> None:
    # Catches SQL that doubles with each operation: twelve of them would be a query of gigabytes.
    source = open_source(pa.table({"ward": ["A"] * 3, "x": [1.0, 2.0, None]}))
    deep = column("x")
    for _ in range(12):
        deep = Expression("mul", (Expression("add", (deep, literal(1.0))), literal(0.5)))
    value = typed(deep, source.schema)
    grid = choose_grid((Fraction(0), Fraction(2)), whole=False, centred=False)
    asked = (Present(value), Total(value, grid))
    steps = (Where(typed(Expression("gt", (deep, literal(0.0))), source.schema)),)
    answer = source.measure(ask(source, *asked, keys=["A"], steps=steps)).columns
    assert answer[asked[0]].tolist() == [2]
    exact = sum(Fraction(1) + (Fraction(x) - 1) / 2**12 for x in (1, 2))
    assert abs(Fraction(int(answer[asked[1]][0])) * grid.step - exact) < Fraction(1, 2**20)


def test_integers_of_any_width() -> None:
    # Catches a sign or a half that is lost on the way from 128 bits, also in a slice.
    values = [0, -1, 2**63 - 1, -(2**63), 2**63, -(2**63) - 1, 10**37, -(10**37), None]
    whole = pa.array(values, pa.decimal128(38, 0))
    assert integers(whole, wide=True).tolist() == [value or 0 for value in values]
    for wide, kind in ((True, object), (False, np.int64)):
        assert integers(whole.slice(1, 3), wide=wide).dtype == kind
        assert integers(whole.slice(1, 3), wide=wide).tolist() == values[1:4]
        assert integers(pa.array([1, None], pa.int32()), wide=wide).tolist() == [1, 0]
    ends = [2**63 - 1, -(2**63), 2**63 - 1, -(2**63)]
    assert integers(whole.slice(4, 4), wide=False).tolist() == ends


def test_limbs_add_up() -> None:
    # Catches a limb that loses its sign or its carry, at both ends of what a grid can hold.
    rng = np.random.default_rng(2)
    for largest in (1, 2**26 - 1, 2**26, 2**40, 2**52 + 1, 2**62):
        values = rng.integers(-largest, largest, 1000, endpoint=True)
        places = rng.integers(0, 3, 1000)
        sums = added(places, values, 4, largest=largest, wide=True).tolist()
        for place in range(4):
            assert sums[place] == sum(map(int, values[places == place]))
