"""One reference, every engine: exact aggregates are equal, integer for integer."""

from random import Random
from typing import Any

import pyarrow as pa
import pytest
from ibis.backends import BaseBackend

from discreet.engines.sources import open_source
from discreet.query.checking import typed
from discreet.query.contribution import Bound
from discreet.query.expressions import Expression, column
from discreet.query.keys import ListedKeys
from discreet.query.measures import Categories, Rows
from discreet.query.request import Exact, Request
from tests.engines import reference
from tests.engines.questions import TABLES, request
from tests.engines.tables import COLUMNS, VALUES, I, T, arrow, load, rows_of

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


@pytest.mark.parametrize("backend", ["duckdb", "spark_ansi", "postgres"], indirect=True)
def test_many_categories(backend: BaseBackend) -> None:
    # Catches a long list that is looked up wrongly: values that are missing, unlisted or equal.
    rows = people(1)
    source = open_source(stored(backend, arrow(rows, {**COLUMNS, "z": I, "u": I})))
    listed = [*VALUES[T], *(f"category {i}" for i in range(3000))]
    text = typed(Expression("lower", (column("s"),)), source.schema)
    number = typed(column("i"), source.schema)
    wanted = (
        Categories(text, tuple(dict.fromkeys(x.lower() for x in listed if x.isascii()))),
        Categories(number, (*VALUES[I], *range(2000, 4000))),
        Categories(number, (7, 0)),
        Rows(),
    )
    for unit, bound in ((None, None), ("u", Bound(None, None, 10**6))):
        asked = Request((), unit, (), None, bound, wanted, 1)
        assert as_dict(asked, source.measure(asked)) == reference.measure(rows, asked)


def test_the_comparison_sees_one_row() -> None:
    # The planted error: a row too few in the reference must not go unnoticed.
    rows, asked = people(0), request(0, size=SIZE)
    wanted = reference.measure(rows, asked)
    full = next(key for key, cells in wanted.items() if cells[Rows()])
    fewer = [row for row in rows if row["z"] != full[0]]
    assert differences(reference.measure(fewer, asked), wanted)
