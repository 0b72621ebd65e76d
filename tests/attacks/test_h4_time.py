"""H4: no value of a row chooses how much work an answer is.

A clock is blunt, so the work itself is compared: which statements run, what DuckDB's plan of each
is, and how many rows and row groups every scan reads. (`make timing` measures with a clock.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines import embedded
from discreet.engines.duckdb_pass import STATIC, DuckDbPass
from discreet.query.plan import make_plan
from discreet.query.spend import Spend

ROWS, GROUP = 8192, 1024  # in row groups, which are sorted by x
WARDS = ("A", "B", "C")
FLOORS = pa.table({"ward": WARDS, "floor": [1, 2, 2]})
BOUNDS = {"max_groups": 2, "max_rows_per_group": 3}


def rows() -> dict[str, Any]:
    rng = np.random.default_rng(17)
    person = rng.integers(0, 1000, ROWS)
    return {
        "person": person,
        "name": [f"somebody-{number}" for number in person],
        "ward": rng.choice([*WARDS, "Y", "Z"], ROWS),
        "x": np.sort(rng.uniform(0, 100, ROWS)),
        "k": np.sort(rng.integers(0, 50, ROWS)),
    }


def last(column: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Another value in the last row."""

    def change(table: dict[str, Any]) -> None:
        table[column] = [*list(table[column])[:-1], value]

    return change


NEIGHBOURS: dict[str, Callable[[dict[str, Any]], None]] = {
    "an extreme value": last("x", 1e300),
    "NaN": last("x", float("nan")),
    "a missing value": last("x", None),
    "a huge integer": last("k", 2**62),
    "a huge number of a person": last("person", 2**62),
    "nobody": last("person", None),
    "a key more": last("ward", "far from all others"),
    "a name": last("name", "~" * 2000),
}

QUESTIONS: dict[str, Callable[[Path], Any]] = {
    "mean": lambda path: dp.table(path).agg(n=dp.count(), m=dp.mean("x", bounds=(0, 100))),
    "mean by group": lambda path: (
        dp.table(path)
        .group_by("ward", keys=WARDS)
        .agg(m=dp.mean("x", bounds=(0, 100)), s=dp.sum("k", bounds=(0, 50)))
    ),
    "count by integers": lambda path: (
        dp.table(path).group_by("k", keys=range(10)).agg(n=dp.count())
    ),
    "one matching row": lambda path: (
        dp.table(path).where(lambda row: row.x > 99.99).agg(n=dp.count())
    ),
    "several conditions": lambda path: (
        dp.table(path)
        .where(lambda row: (row.x > 99) & (row.k > 48) & (row.ward == "A"))
        .group_by("ward", keys=WARDS)
        .agg(n=dp.count())
    ),
    "bins": lambda path: dp.table(path).agg(h=dp.histogram("x", edges=[0, 50, 100])),
    "join": lambda path: (
        dp.table(path)
        .join(dp.public(FLOORS), on="ward")
        .group_by("floor", keys=[1, 2])
        .agg(n=dp.count())
    ),
    "people by number": lambda path: (
        dp.table(path, unit="person")
        .where(lambda row: row.x > 99)
        .bound(**BOUNDS)
        .group_by("ward", keys=WARDS)
        .agg(n=dp.count(), m=dp.mean("x", bounds=(0, 100)))
    ),
    "people by name": lambda path: (
        dp.table(path, unit="name")
        .bound(**BOUNDS)
        .group_by("k", keys=range(10))
        .agg(n=dp.count(), people=dp.count_units())
    ),
    "keys that are to be found": lambda path: (
        dp.table(path, unit="person")
        .bound(**BOUNDS)
        .group_by("ward", keys="discover")
        .agg(n=dp.count())
    ),
}


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Any]]:
    """Each statement that runs on data, and its plan with what was counted in it."""
    found: list[tuple[str, Any]] = []

    def spied(method: Callable[[DuckDbPass, str], Any]) -> Callable[[DuckDbPass, str], Any]:
        def spy(run: DuckDbPass, statement: str) -> Any:
            query = statement[statement.index("SELECT") :]
            explain = f"EXPLAIN (ANALYZE, FORMAT json) {query}"
            ((_, plan),) = run.connection.execute(explain).fetchall()
            found.append((statement, json.loads(plan)["operator"]))
            return method(run, statement)

        return spy

    for method in ("run", "batches"):
        monkeypatch.setattr(DuckDbPass, method, spied(getattr(DuckDbPass, method)))
    return found


def measure(question: Callable[[Path], Any], table: dict[str, Any], folder: Path) -> None:
    path = folder / "table.parquet"  # the same name for all, since statements name it
    pq.write_table(pa.table(table), path, row_group_size=GROUP)
    query = question(path)
    plan = make_plan(query, Spend.read(epsilon=1, delta=1e-6))
    query.table.source.measure(plan.request(20_261_116))


def operators(plan: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for operator in plan:
        yield operator
        yield from operators(operator.get("children", []))


def shape(plan: list[dict[str, Any]]) -> list[object]:
    """What a plan does, without what it took and what DuckDB expected."""
    return [
        (operator["type"], {k: v for k, v in operator["extra_info"].items() if "Card" not in k})
        for operator in operators(plan)
    ]


@pytest.mark.parametrize("name", QUESTIONS)
def test_h4_no_scan_skips_by_statistics(name, ran, tmp_path):
    """Catches filters that reach a scan, which then leaves out row groups by their least and
    largest values; filters that a join makes while it runs; hash tables laid out by statistics."""
    measure(QUESTIONS[name], rows(), tmp_path)
    scans = 0
    for _, plan in ran:
        for operator in operators(plan):
            assert "PERFECT" not in operator["type"]
            assert not any("Filter" in fact for fact in operator["extra_info"]), operator
            if operator["extra_info"].get("Function") == "READ_PARQUET":
                scans += 1
                assert operator["row_groups_scanned"] == ROWS // GROUP
                assert operator["rows_scanned"] == operator["intermediate_rows"] == ROWS
    assert scans


@pytest.mark.parametrize("name", QUESTIONS)
def test_h4_neighbours_run_the_same_statements(name, ran, tmp_path):
    """Catches a way of answering that is chosen by the values of one row."""
    measure(QUESTIONS[name], rows(), tmp_path)
    here = [(statement, shape(plan)) for statement, plan in ran]
    for neighbour, change in NEIGHBOURS.items():
        ran.clear()
        changed = rows()
        change(changed)
        measure(QUESTIONS[name], changed, tmp_path)
        assert [(statement, shape(plan)) for statement, plan in ran] == here, neighbour


def test_h4_only_static_optimizers_run():
    """Catches a misspelt name, which DuckDB would run without, and an optimizer of a new version
    that nobody looked at."""
    names = {name for (name,) in duckdb.sql("SELECT name FROM duckdb_optimizers()").fetchall()}
    assert set(STATIC) < names
    cursor = embedded.database().cursor()
    ((off,),) = cursor.sql("SELECT current_setting('disabled_optimizers')").fetchall()
    assert set(off.split(",")) == names - set(STATIC)
