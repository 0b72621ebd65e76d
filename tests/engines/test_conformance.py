"""One reference, every engine: exact aggregates are equal, integer for integer."""

from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from ibis.backends import BaseBackend

from discreet.engines.sources import open_source
from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Expression, Typed, column, literal, typed
from discreet.query.keys import ListedKeys
from discreet.query.measures import AllRows, CategoryBins, EdgeBins, Grid, Present, Total
from discreet.query.request import Exact, Mutate, Request, Where
from discreet.query.schema import Field, Schema
from tests.engines import reference
from tests.engines.questions import TABLES, request
from tests.engines.tables import COLUMNS, VALUES, B, I, M, R, T, arrow, load, rows_of

# 40 tables each. Spark takes seconds for them: some of its own are left to `make test-long`.
TABLES_OF_SPARK = {"spark": 0, "spark_ansi": 1}  # the seeds that are not left out
CASES = [
    pytest.param(
        engine, seed, marks=pytest.mark.long if TABLES_OF_SPARK.get(engine, seed) != seed else ()
    )
    for engine in ("duckdb", "spark", "spark_ansi", "postgres")
    for seed in range(5)
]
SIZE = 8  # measures in a request, and one with bins


def people(seed: int) -> list[dict[str, Any]]:
    """Forty tables below each other, of 0 to 30 rows."""
    random = Random(f"tables {seed}")
    rows = []
    for number in range(TABLES):
        units = [*range(random.choice([1, 3, 100])), None]
        for row in rows_of(random, random.choice([0, 1, 2, 10, 20, 30])):
            rows.append({**row, "z": number, "u": random.choice(units)})
    return rows


def stored(backend: BaseBackend, table: pa.Table) -> Any:
    """The table where an engine has it; DuckDB is the embedded one, which needs no connection."""
    if backend.name == "duckdb":
        return table
    load(backend, "people", table)
    return backend.table("people")


def as_dict(asked: Request, answer: Exact) -> dict[Any, dict[Any, Any]]:
    """The answer in the form of the reference."""
    table = asked.keys.table if isinstance(asked.keys, ListedKeys) else answer.keys
    keys: list[Any] = [()]
    if table is not None:
        keys = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    columns = {wanted: answer.columns[wanted].tolist() for wanted in asked.measures}
    return {key: {m: column[i] for m, column in columns.items()} for i, key in enumerate(keys)}


def differences(got: dict[Any, Any], wanted: dict[Any, Any]) -> list[Any]:
    """The first few cells that differ, with what was asked there."""
    assert set(got) == set(wanted)
    cells = ((key, measure) for key, row in wanted.items() for measure in row)
    return [
        (key, measure, got[key][measure], wanted[key][measure])
        for key, measure in cells
        if got[key][measure] != wanted[key][measure]
    ][:3]


@pytest.mark.parametrize(("backend", "seed"), CASES, indirect=["backend"])
def test_exact_aggregates_are_those_of_the_reference(backend: BaseBackend, seed: int) -> None:
    # Catches any expression, grid, key, join or aggregate that an engine reads differently.
    rows, asked = people(seed), request(seed, size=SIZE)
    source = open_source(stored(backend, arrow(rows, {**COLUMNS, "z": I, "u": I})))
    assert differences(as_dict(asked, source.measure(asked)), reference.measure(rows, asked)) == []


LOOKED_UP = {
    "all rows": (None, None),
    "at most a million rows a person": ("u", ContributionBound(None, None, 10**6)),
}
# Spark and PostgreSQL take half a minute for hundreds of values, and do the same with a hundred.
SLOWLY = [
    pytest.param(engine, rows, many, marks=pytest.mark.long if many == 300 else ())
    for engine in ("spark_ansi", "postgres")
    for rows, many in [("all rows", 300), ("at most a million rows a person", 120)]
]


@pytest.mark.parametrize(
    ("backend", "rows_of", "many"),
    [*(("duckdb", rows, 300) for rows in LOOKED_UP), *SLOWLY],
    indirect=["backend"],
)
def test_long_lists(backend: BaseBackend, rows_of: str, many: int) -> None:
    # Catches a long list that is looked up wrongly: values that are missing, unlisted, equal, or
    # on an edge; a person who gets more rows; a list that is read after its column was replaced.
    rows = people(1)
    source = open_source(stored(backend, arrow(rows, {**COLUMNS, "z": I, "u": I})))
    schema = source.schema
    names = [*VALUES[T], *(f"category {i}" for i in range(many))]
    text = typed(Expression("lower", (column("s"),)), schema)
    number, real = typed(column("i"), schema), typed(column("x"), schema)
    reals = sorted({float(x) for x in VALUES[R] if abs(x) <= 1e100})
    edges = sorted({*reals, *(k / 7 for k in range(-many // 2, many // 2))})
    far = tuple(sorted({-1e30, 1e30, 2.0**63, *edges, *map(float, VALUES[I])}))

    def is_in(name: str, values: Iterable[Any]) -> Typed:
        return typed(Expression("is_in", (column(name),), tuple(values)), schema)

    of_reals = is_in("x", [*reals, -0.0, 0.0, *(k / 7 for k in range(many // 3))])
    of_days = is_in("d", [date(1970, 1, 1) + timedelta(k) for k in range(0, many, 2)])
    zoned = [moment.replace(tzinfo=UTC) for moment in VALUES[M][2:]]
    of_moments = is_in("m", [*VALUES[M][2:], *zoned, *(datetime(2026, 1, k) for k in range(1, 32))])
    flag = typed(Expression("not", (Expression("is_in", (column("s"),), tuple(names)),)), schema)
    steps = (
        Mutate((("flag", flag), ("days", of_days))),
        Mutate((("s", typed(Expression("upper", (column("s"),)), schema)),)),
    )
    made = Schema((*schema.fields, Field("flag", B), Field("days", B)))
    wanted = (
        CategoryBins(text, tuple(dict.fromkeys(x.lower() for x in names if x.isascii()))),
        CategoryBins(number, (*VALUES[I], *range(2000, 2000 + many // 3))),
        CategoryBins(number, (7, 0)),
        EdgeBins(real, tuple(edges)),
        EdgeBins(number, far),
        EdgeBins(number, tuple(k / 3 for k in range(-20, 20))),
        EdgeBins(real, (-1.0, 0.0, 1.0)),
        CategoryBins(typed(column("flag"), made), (True, False)),
        CategoryBins(typed(column("days"), made), (True, False)),
        CategoryBins(of_reals, (True, False)),
        CategoryBins(of_moments, (True, False)),
        Present(of_reals),
        AllRows(),
    )
    unit, bound = LOOKED_UP[rows_of]
    asked = Request(steps, unit, (), None, bound, wanted, 1)
    got = as_dict(asked, source.measure(asked))
    assert differences(got, reference.measure(rows, asked)) == []


@pytest.mark.parametrize("backend", ["duckdb", "spark_ansi", "postgres"], indirect=True)
def test_a_hundred_steps(backend: BaseBackend) -> None:
    # Catches steps that are merged though one builds on another, or that an engine writes out in
    # full: PostgreSQL took minutes for twenty of these, and then broke down.
    rows = people(1)
    source = open_source(stored(backend, arrow(rows, {**COLUMNS, "z": I, "u": I})))
    schema = source.schema
    more = typed(Expression("add", (column("i"), literal(1))), schema)
    real = typed(Expression("mul", (column("x"), literal(1.5))), schema)
    test = typed(Expression("lt", (column("z"), column("i"))), schema)
    before = (Mutate((("z", typed(column("i"), schema)), ("i", typed(column("z"), schema)))),)
    steps = before + (Mutate((("i", more),)), Mutate((("x", real),)), Where(test)) * 33
    number = typed(column("i"), schema)
    wanted = (
        Total(number, Grid(0, -1000, 1000)),
        CategoryBins(number, tuple(range(20, 60))),
        AllRows(),
    )
    asked = Request(steps, None, (), None, None, wanted, 1)
    assert as_dict(asked, source.measure(asked)) == reference.measure(rows, asked)


def test_the_comparison_sees_one_row() -> None:
    # The planted error: a row too few in the reference must not go unnoticed.
    rows, asked = people(0), request(0, size=SIZE)
    wanted = reference.measure(rows, asked)
    full = next(key for key, cells in wanted.items() if cells[AllRows()])
    fewer = [row for row in rows if row["z"] != full[0]]
    assert differences(reference.measure(fewer, asked), wanted)
