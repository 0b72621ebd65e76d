"""The questions that are timed: ours, and the same in plain SQL on a DuckDB of as many threads."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

import discreet as dp
from benchmarks.tables_data import wards

EPSILON = 1
MAX_GROUPS, MAX_ROWS = 5, 10
BOUNDS = {"days": (0, 60), "value": (0, 100)}
THREADS = os.cpu_count() or 1  # what our own DuckDB uses
RAW = f"raw DuckDB {duckdb.__version__}"

Answers = Mapping[Any, tuple[float, float]]  # count and mean of each key


def ours(
    source: Any,
    *,
    column: str = "value",
    group: str = "ward",
    keys: Any = None,
    unit: str | None = None,
) -> Callable[[], dp.Result]:
    """Count and mean by group: planned, charged, computed, noised and released each time."""
    table = dp.table(source, unit=unit)
    session = dp.Session(table, budget=dp.Pure(10**6))
    bounded = (
        table if unit is None else table.bound(max_groups=MAX_GROUPS, max_rows_per_group=MAX_ROWS)
    )
    listed = wards() if keys is None else keys

    query = bounded.group_by(group, keys=listed).agg(
        n=dp.count(), mean=dp.mean(column, bounds=BOUNDS[column])
    )
    return lambda: session.release(query, epsilon=EPSILON)


def raw(path: Path, *, column: str = "value", group: str = "ward") -> Callable[[], Any]:
    """Count and mean by group, without privacy."""
    return sql(f"SELECT {group}, count(*), avg({column}) FROM '{path}' GROUP BY {group}")


def cells(
    path: Path, *, unit: str, column: str = "value", group: str = "ward"
) -> Callable[[], Any]:
    """What each person has in each group: the least that any bounding has to find out.

    The sums around it keep DuckDB from leaving columns out.
    """
    inner = f"SELECT count(*) AS n, sum({column}) AS s FROM '{path}' GROUP BY {unit}, {group}"
    return sql(f"SELECT count(*), sum(n), sum(s) FROM ({inner})")


def sql(query: str) -> Callable[[], Any]:
    """A query on a DuckDB in memory, whose answer is fetched as Arrow."""
    database = duckdb.connect(config={"threads": THREADS})
    return lambda: database.sql(query).to_arrow_table()


def truth(path: Path, *, column: str = "value", group: str = "ward") -> Answers:
    """What is so, by key."""
    return by_key(raw(path, column=column, group=group)())


def by_key(table: Any) -> Answers:
    """Of an Arrow table that begins with key, count and mean."""
    columns = [table.column(i).to_pylist() for i in range(3)]
    return {key: (n, mean) for key, n, mean in zip(*columns, strict=True)}


def released(result: dp.Result) -> Answers:
    """Of an answer of ours."""
    return by_key(result.to_arrow().select([*[k.name for k in result.keys], "n", "mean"]))


def errors(answers: Answers, true: Answers) -> str:
    """The root of the mean square error over groups, of the count and of the mean."""
    pairs = [(answers.get(key, (0.0, 0.0)), value) for key, value in true.items()]
    count, mean = (
        math.sqrt(sum((got[i] - is_[i]) ** 2 for got, is_ in pairs) / len(pairs)) for i in (0, 1)
    )
    return f"errors {count:.3g} and {mean:.2g}"
