"""Every row expression means the same on every engine, whatever is in the row.

The meaning is that of `evaluate`, which is written down without any engine.
"""

import datetime
import math
import operator
from fractions import Fraction
from functools import reduce
from pathlib import Path
from random import Random
from typing import Any

import ibis
import pyarrow as pa
import pyarrow.parquet
import pytest
from ibis.backends import BaseBackend
from ibis.expr.types import Table

from discreet.engines import ENGINES
from discreet.engines.cell_table import bin_index, quantised
from discreet.engines.rows import with_parts
from discreet.engines.sources import open_source
from discreet.engines.translation import real_bits, translate
from discreet.query.expressions import OPERATIONS, Typed, columns_of, typed
from discreet.query.measures import CategoryBins, EdgeBins, Grid, Present, Total, choose_grid
from discreet.query.request import Request
from discreet.query.row import Row, build, case
from discreet.query.schema import Type
from tests.engines.evaluate import evaluate
from tests.engines.tables import (
    ARROW,
    COLUMNS,
    SCHEMA,
    VALUES,
    D,
    I,
    M,
    R,
    T,
    arrow,
    fetch,
    rows_of,
)
from tests.engines.tables import load as put
from tests.engines.trees import expression

SIZE = 200
ROWS = rows_of(Random("rows"), SIZE)
for _kind, _values in VALUES.items():  # each value at least once in a column of its type
    _name = next(name for name, kind in COLUMNS.items() if kind is _kind)
    ROWS += [{**ROWS[i], _name: value} for i, value in enumerate(_values)]


@pytest.fixture(scope="module")
def nasty(backend: BaseBackend) -> Table:
    numbers = pa.array(range(len(ROWS)), pa.int64())
    return put(backend, "nasty", arrow(ROWS).append_column("row_number", numbers))


def check(backend: BaseBackend, table: Table, values: list[Typed]) -> None:
    """All values on all rows, in one query."""
    engine = ENGINES[backend.name]
    columns = {f"v{i}": translate(value, table, engine) for i, value in enumerate(values)}
    got = fetch(backend, table.select("row_number", **columns))
    assert len(got) == len(ROWS)
    for cells in got:
        row = ROWS[cells["row_number"]]
        for i, value in enumerate(values):
            wanted, found = evaluate(value, row), cells[f"v{i}"]
            context = {name: row[name] for name in columns_of(value)}
            assert type(found) is type(wanted) and found == wanted, (value, context)


def read(function: Any) -> Typed:
    return typed(build(function, SCHEMA, argument="test"), SCHEMA)


DAY = datetime.date(2024, 2, 29)
MOMENT = datetime.datetime(1969, 12, 31, 23, 59, 59, 1)
# Each operation, alone and where engines are known to differ.
EACH = [
    lambda row: row.x == row.y,
    lambda row: row.i != row.x,
    lambda row: row.s < row.t,
    lambda row: row.s <= "a",
    lambda row: row.x > 1e-300,
    lambda row: row.m >= MOMENT,
    lambda row: row.d == "2024-02-29",
    lambda row: row.m < MOMENT.replace(tzinfo=datetime.timezone(datetime.timedelta(hours=5))),
    lambda row: row.b & row.c,
    lambda row: row.b | row.c,
    lambda row: (~row.b).is_null(),
    lambda row: ~row.b == row.c,
    lambda row: (row.x > row.y) == (row.i > row.j),
    lambda row: (row.x > 1).is_in([True]),
    lambda row: row.b.is_in([False]) == row.c,
    lambda row: row.s.is_in(["it's", "back\\slash", "日本"]).is_null(),
    lambda row: row.i.is_in([]),
    lambda row: row.x.is_in([0.1, -0.0, 1e18]),
    lambda row: row.x.is_null().is_null(),
    lambda row: row.x.is_not_null(),
    lambda row: row.i + row.j,
    lambda row: row.i + row.j + row.i - row.j - 7,
    lambda row: -(row.i - row.j),
    lambda row: row.i * row.j,
    lambda row: row.i * row.j * row.i * 3,
    lambda row: row.i * 60 * 60 * 24,
    lambda row: row.i.abs(),
    lambda row: row.x + row.y,
    lambda row: row.x - row.y,
    lambda row: row.x * row.y,
    lambda row: row.x * row.y * row.x * row.y * row.x,
    lambda row: row.x / (row.y * row.y) / row.x,
    lambda row: row.x / row.y - row.y / row.x,
    lambda row: (row.x - 32) * 5 / 9,
    lambda row: row.x * 1e-99 * 1e-99 * 1e-99 * 1e-99,
    lambda row: -row.x * row.i,
    lambda row: abs(row.x) + abs(row.y),
    lambda row: row.i / row.j,
    lambda row: row.i // row.j,
    lambda row: row.x // 0.1,
    lambda row: 7 // row.x,
    lambda row: row.x.floor(),
    lambda row: (row.x * row.y).floor(),
    lambda row: row.x.clip(-1, 5.5),
    lambda row: row.i.clip(-(2**63), 5),
    lambda row: row.y.fill_null(0.3) * 10,
    lambda row: row.r.fill_null("none"),
    lambda row: case((row.b, row.x), (row.c, row.i), otherwise=None),
    lambda row: case((row.x > 0, 2147483647), otherwise=-(2**63)) + 1,
    lambda row: case((row.s == "A", "one"), otherwise=row.t),
    *(lambda row, to=to: row.s.cast(to) for to in ("integer", "real", "date", "boolean")),
    *(lambda row, to=to: row.r.cast(to) for to in ("integer", "real", "date", "boolean", "text")),
    *(lambda row, to=to: row.i.cast(to) for to in ("real", "text", "boolean")),
    *(lambda row, to=to: row.b.cast(to) for to in ("integer", "text")),
    lambda row: row.x.cast("integer"),
    lambda row: row.d.cast("text"),
    lambda row: row.m.cast("date"),
    lambda row: row.s.lower(),
    lambda row: row.s.upper(),
    lambda row: row.s.strip(),
    lambda row: row.s.length(),
    lambda row: row.s.startswith("1"),
    lambda row: row.s.endswith("\n"),
    lambda row: row.s.contains("\\"),
    lambda row: row.s.contains("%"),
    lambda row: row.s.substring(1, 2),
    lambda row: row.s.substring(2**31 - 1, 2**31 - 1),
    lambda row: row.s.concat(row.t).concat("'"),
    *(lambda row, part=part: getattr(row.d, part)() for part in ("year", "month", "day")),
    lambda row: row.d.weekday(),
    lambda row: row.m.weekday() + row.m.year() * 100 + row.m.month() + row.m.day(),
    lambda row: row.m.hour(),
]


def test_each_operation(backend: BaseBackend, nasty: Table) -> None:
    # Catches an operation that an engine spells, rounds, orders or quotes differently.
    values = [read(function) for function in EACH]
    assert operations(values) >= set(OPERATIONS)
    check(backend, nasty, values)


def operations(values: list[Typed]) -> set[str]:
    return {value.op for value in values} | {
        op for value in values for op in (operations(list(value.args)) if value.args else ())
    }


def test_nested_operations(backend: BaseBackend, nasty: Table) -> None:
    # Catches what only shows in combination: forgotten parentheses, clamps that are left out.
    random = Random("trees")
    values: list[Typed] = []
    while len(values) < (60 if backend.name == "pyspark" else 180):
        try:
            tree = expression(random, random.choice([*ARROW]), random.choice([2, 3]))
            values.append(typed(tree, SCHEMA))
        except ValueError:  # casts of literals are refused
            continue
    for start in range(0, len(values), 60):
        check(backend, nasty, values[start : start + 60])


FAR = {
    "duckdb": [
        "DATE 'infinity'",
        "DATE '-infinity'",
        "DATE '10000-01-01'",
        "DATE '0044-03-15 (BC)'",
    ],
    "pyspark": ["date_from_unix_date(2932897)", "date_from_unix_date(-719163)"],
    "postgres": [
        "DATE 'infinity'",
        "DATE '-infinity'",
        "DATE '10000-01-01'",
        "DATE '0044-03-15 BC'",
    ],
}


def test_dates_that_no_calendar_of_ours_holds_are_missing(backend: BaseBackend) -> None:
    # Catches parts of an infinite date, and a count of it that another engine would not make.
    dates = [*FAR[backend.name], "DATE '2024-02-29'"]
    rows = " UNION ALL ".join(f"SELECT {d} AS d, CAST({d} AS TIMESTAMP) AS m" for d in dates)
    temporary = "" if backend.name == "duckdb" else "TEMP"
    backend.raw_sql(f"CREATE OR REPLACE {temporary} VIEW far AS {rows}")
    table = ibis.table({"d": "date", "m": "timestamp"}, name="far")
    values = [
        read(lambda row: row.d.is_null()),
        read(lambda row: row.d.year().fill_null(-1)),
        read(lambda row: row.m.is_null()),
        read(lambda row: row.m.cast("date").day().fill_null(-1)),
    ]
    engine = ENGINES[backend.name]
    got = fetch(
        backend,
        table.select(**{f"v{i}": translate(v, table, engine) for i, v in enumerate(values)}),
    )
    wanted = [(True, -1, True, -1)] * (len(dates) - 1) + [(False, 2024, False, 29)]
    assert sorted(tuple(row.values()) for row in got) == sorted(wanted)


GRIDS = [
    choose_grid((Fraction(0), Fraction(60)), whole=False, centred=False),
    choose_grid((Fraction(-1, 3), Fraction(7)), whole=False, centred=True),
    choose_grid((Fraction(-5), Fraction(10**99)), whole=False, centred=False),
    choose_grid((Fraction(0), Fraction(1, 10**300)), whole=False, centred=True),
    choose_grid((Fraction(-(2**62)), Fraction(2**62)), whole=True, centred=False),
    choose_grid((Fraction(18), Fraction(19)), whole=True, centred=True),
    Grid(0, -(2**51), 2**51, 12345),
    Grid(0, 0, 60),
]


def test_grids(backend: BaseBackend, nasty: Table) -> None:
    # Catches a value that an engine puts on another step, and any that makes it raise.
    values = [read("x"), read("i"), read(lambda row: row.x * row.y)]
    cells = [(value, grid) for value in values for grid in GRIDS]
    engine = ENGINES[backend.name]
    columns = {f"q{i}": quantised(*cell, nasty, engine) for i, cell in enumerate(cells)}
    for got in fetch(backend, nasty.select("row_number", **columns)):
        row = ROWS[got["row_number"]]
        for i, (value, grid) in enumerate(cells):
            x = evaluate(value, row)
            assert got[f"q{i}"] == grid.quantise(x), (value, grid, x)


def test_bins(backend: BaseBackend, nasty: Table) -> None:
    # Catches an edge that belongs to the wrong bin, an order of texts that is not ours, and a
    # list of categories that is too long to be searched.
    texts = tuple(dict.fromkeys([*VALUES[T], *(f"category {i}" for i in range(200))]))
    bins = [
        CategoryBins(read("s"), texts),
        CategoryBins(read("i"), tuple(VALUES[I][::-1])),
        CategoryBins(read("d"), tuple(VALUES[D])),
        CategoryBins(read("b"), (False, True)),
        CategoryBins(read("b"), (True,)),
        EdgeBins(read("x"), (-1e99, 0.0, 0.1, 0.3, 1.0, 1e99)),
        EdgeBins(read("i"), (-0.5, 0.5, 7.0, 2.0**53, 1e19)),
        EdgeBins(read("i"), (0.0, 1.0)),
    ]
    engine = ENGINES[backend.name]
    columns = {f"b{i}": bin_index(one, nasty, engine) for i, one in enumerate(bins)}
    for got in fetch(backend, nasty.select("row_number", **columns)):
        row = ROWS[got["row_number"]]
        for i, one in enumerate(bins):
            assert got[f"b{i}"] == bin_of(one, evaluate(one.value, row)), one


def bin_of(bins: CategoryBins | EdgeBins, x: Any) -> int | None:
    if x is None:
        return None
    if isinstance(bins, CategoryBins):
        return bins.values.index(x) if x in bins.values else None
    return max(sum(edge <= x for edge in bins.edges[:-1]) - 1, 0)


# -- without data ----------------------------------------------------------------------------------


def test_the_size_of_sql_follows_that_of_the_expression() -> None:
    # Catches an operation on numbers that names its operands twice: chains of them never end.
    table = ibis.table({name: ARROW_TO_IBIS[kind] for name, kind in COLUMNS.items()}, name="t")

    def size(function: Any) -> int:
        column = translate(read(function), table, ENGINES["duckdb"])
        return len(ibis.to_sql(table.select(v=column), dialect="duckdb"))

    steps = {"+": operator.add, "*": operator.mul, "/": operator.truediv}
    for column, step in [("x", "+"), ("x", "*"), ("x", "/"), ("i", "+"), ("i", "*")]:
        sizes = []
        for length in (5, 14):
            chained = lambda row: reduce(steps[step], [row[column]] * length)  # noqa: B023, E731
            sizes.append(size(chained))
        assert sizes[1] < 4 * sizes[0], (column, step)


ARROW_TO_IBIS = {I: "int64", R: "float64", T: "string", D: "date", M: "timestamp"}
ARROW_TO_IBIS |= {Type.BOOLEAN: "boolean", Type.RAW: "string"}


def test_long_products_leave_room() -> None:
    # Catches doubles that overflow half way: with L bits each, all of them stay within 2^1000.
    def power(row: Row, n: int) -> Any:
        return row.x if n == 1 else power(row, n - 1) * row.x

    for n in (2, 3, 4, 10, 30):
        bits = real_bits(read(lambda row, n=n: power(row, n)))
        assert bits == min(333, 1000 // n)


def test_cutting_an_expression_keeps_its_meaning() -> None:
    # Catches a cut between two steps of arithmetic, which would clamp what was not clamped.
    random = Random("cuts")
    done = 0
    while done < 300:
        try:
            value = typed(expression(random, random.choice([I, R]), 3), SCHEMA)
        except ValueError:
            continue
        done += 1
        for row in random.sample(ROWS, 10):
            cells = dict(row)

            def put_aside(part: Typed, cells: dict[str, Any] = cells) -> Typed:
                name = f"part {len(cells)}"
                cells[name] = evaluate(part, cells)
                return Typed("column", (), name, part.type, part.nullable)

            assert evaluate(with_parts(value, put_aside), cells) == evaluate(value, row)


def test_nan_is_missing_even_where_parquet_leaves_it_out(tmp_path: Path) -> None:
    # Catches DuckDB deciding a comparison by the least and largest values that a file states.
    rows = [1.0, math.nan, 2.0, None, 3.0]
    path = tmp_path / "nan.parquet"
    pa.parquet.write_table(pa.table({"x": rows}), path)
    source = open_source(path)
    x = typed(build("x", source.schema, argument="x"), source.schema)
    more = typed(build(lambda row: row.x + 1, source.schema, argument="x"), source.schema)
    grid = Grid(0, 0, 100)
    asked = [Present(x), Total(x, grid), Present(more), Total(more, grid)]
    answer = source.measure(Request((), None, (), None, None, tuple(asked), 0)).columns
    assert [int(answer[measure][0]) for measure in asked] == [3, 6, 3, 9]
