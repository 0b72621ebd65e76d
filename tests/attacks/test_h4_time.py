"""H4: no value of a row chooses how much work an answer is.

A clock is blunt, so the work itself is compared: which statements run, what DuckDB's plan of each
is, and how many rows and row groups every scan reads. (`make timing` measures with a clock.)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from benchmarks import neighbours
from discreet.engines import duckdb as embedded
from discreet.engines.duckdb import STATIC, DuckDbPass
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

ROWS, GROUP = 8192, 1024  # in row groups, which are sorted by x
WARDS = ("A", "B", "C")
FLOORS = pa.table({"ward": WARDS, "floor": [1, 2, 2]})
NUMBERS = {"person": pa.int64(), "x": pa.float64(), "k": pa.int64()}
TEXTS = {"name": pa.string(), "ward": pa.string(), "gap": pa.string()}
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
        "gap": [None] * ROWS,
    }


def last(column: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Another value in the last row."""

    def change(table: dict[str, Any]) -> None:
        table[column] = [*list(table[column])[:-1], value]

    return change


NEIGHBOURS: dict[str, Callable[[dict[str, Any]], None]] = {
    "an extreme value": last("x", 1e300),
    "one matching row": last("x", 101.0),
    "NaN": last("x", float("nan")),
    "a missing value": last("x", None),
    "a huge integer": last("k", 2**62),
    "a huge number of a person": last("person", 2**62),
    "nobody": last("person", None),
    "a key more": last("ward", "far from all others"),
    "a key where all are missing": last("gap", "somebody"),
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
    "no matching row": lambda path: dp.table(path).where(lambda row: row.x > 100).agg(n=dp.count()),
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
    "nobody": lambda path: (
        dp.table(path, unit="person")
        .where(lambda row: row.x > 100)
        .bound(**BOUNDS)
        .group_by("ward", keys=WARDS)
        .agg(n=dp.count(), m=dp.mean("x", bounds=(0, 100)))
    ),
    "no key that is to be found": lambda path: (
        dp.table(path, unit="person")
        .bound(**BOUNDS)
        .group_by("gap", keys="discover")
        .agg(n=dp.count())
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
    stored = pa.table(table, schema=pa.schema(list((NUMBERS | TEXTS).items())))
    pq.write_table(stored, path, row_group_size=GROUP)
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
def test_h4_h21_every_scan_reads_every_row(name, ran, tmp_path):
    """Catches filters that reach a scan, which then leaves out row groups by their least and
    largest values; filters that a join makes while it runs; hash tables laid out by statistics; a
    join with nothing, which ends the reading at its first row."""
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


# -- the clock of `make timing` --------------------------------------------------------------------


def test_h4_intervals_hold_the_shift():
    """50 times 400 simulated blocks, with a drift of 20 %, a spread of 1 % and slow releases among
    them: no shift is found small, 1 % is found, 2 % is found large. Right intervals of 99.9 % miss
    the shift 4 times with a probability of 2e-7; the others lie seven standard errors away."""
    rng = np.random.default_rng(17)
    drift = np.linspace(1, 1.2, 400)
    missed = 0
    for _ in range(50):
        busy = np.where(rng.random((2, 400)) < 0.05, 1.5, 1)
        here, there = drift * busy * np.exp(0.01 * rng.standard_normal((2, 400)))
        same = neighbours.shift(here, there)
        assert same.small and neighbours.shift(here, 1.01 * there).low > 0
        missed += not same.low <= 0 <= same.high
    assert missed < 4
    assert not neighbours.shift(here, 1.02 * there).small


class Clock:
    """Counts work in place of seconds: 1 for a release, 0.001 for a look at the clock."""

    def __init__(self) -> None:
        self.now = 0.0

    def worked(self, job: Callable[[], object]) -> Callable[[], None]:
        def work() -> None:
            job()
            self.now += 1

        return work

    def look(self) -> float:
        self.now += 0.001
        return self.now


def test_h4_each_pair_can_be_measured(monkeypatch, tmp_path):
    """Catches a pair that cannot be asked about, and a planted delay that is not seen. By counts
    of work, not by a clock."""
    clock = Clock()
    released = neighbours.released
    time = SimpleNamespace(process_time=lambda: clock.now, thread_time=clock.look)
    monkeypatch.setattr(neighbours, "time", time)
    monkeypatch.setattr(neighbours, "released", lambda *args: clock.worked(released(*args)))
    monkeypatch.setattr(neighbours, "WARM_UP", 1)
    assert len(neighbours.PAIRS) == 11  # ten, and the delay
    results = {
        name: neighbours.measure(name, 16 if pair.delay else 1, tmp_path, rows=1000)
        for name, pair in neighbours.PAIRS.items()
    }
    planted = results["a planted delay"]
    assert planted.fine and planted.shift.low == pytest.approx(0.01, abs=0.002)
    assert planted.control.small
    assert "a planted delay" in neighbours.page({"a planted delay": planted})
