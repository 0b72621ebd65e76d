"""The same query on DuckDB and on Spark: the same exact answer, with noise of its own each time.

A query is a value. It is written once, against a Parquet file that DuckDB reads inside this
process, and asked again of Spark with `query.on(...)`. Rows stay where they are: the engine
filters, clamps and adds up, and hands back one row a group. Noise is drawn here, not there.

    pip install 'discreet[spark]'       # and a Java, version 17 or 21
    python examples/duckdb_and_spark.py
    python examples/duckdb_and_spark.py --rows 10000000

How is it known that both are equal before noise? With the same seed the noise is the same, so the
released tables have to be. The rows are invented, so that may be done: a release of real data is
never seeded, since who knows the seed takes the noise off. What is shown then has fresh noise.

Both tables are about the same people, so together they cost ε = 2. Here each has a session of its
own. Of real data both sessions name one ledger and one dataset, which adds them up:
`dp.Session(table, budget=dp.Pure(2), ledger="patients.ledger", dataset="patients", create=True)`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import discreet as dp
from discreet.plot import Plot, dressed
from discreet.testing import seeded

WARDS = ["cardiology", "maternity", "oncology", "surgery"]


def write_patients(path: Path, rows: int) -> None:
    """Invented patients, one row each, with more columns than the query needs."""
    draw = np.random.default_rng(11)
    ward = draw.integers(0, 4, rows)
    columns = {
        "ward": np.array(WARDS)[ward],
        "age": draw.integers(0, 100, rows),
        "days": draw.poisson(np.array([6, 3, 8, 4])[ward]),
        "cost": draw.gamma(2, 900, rows),
        "note": np.full(rows, "nobody needs to read this"),
    }
    pq.write_table(pa.table(columns), path)


def by_ward(patients: dp.Table) -> dp.Query:
    """Adults by ward: how many, how long, how dear, and how many stay for long."""
    return (
        patients.where(lambda row: row.age >= 18)
        .mutate(long=lambda row: row.days > 7)
        .group_by("ward", keys=WARDS)
        .agg(
            patients=dp.count(),
            days=dp.mean("days", bounds=(0, 30)),
            cost=dp.mean("cost", bounds=(0, 10_000)),
            long=dp.mean("long", bounds=(0, 1)),
        )
    )


def start_spark() -> Any:
    """A Spark of two threads on this machine; on a cluster you have a session already."""
    if find_spec("pyspark") is None:
        raise SystemExit("Spark is not installed: pip install 'discreet[spark]'")
    from pyspark.sql import SparkSession

    if (running := SparkSession.getActiveSession()) is not None:
        return running
    if not os.environ.get("JAVA_HOME") and shutil.which("java") is None:
        raise SystemExit("Spark needs a Java, version 17 or 21: install one, or set JAVA_HOME")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # starts fast
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    return SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()


def pushed_down(spark: Any) -> list[str]:
    """What Spark itself noted about its last scan: the filters and the columns it read."""
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    runs = spark._jsparkSession.sharedState().statusStore().executionsList()
    plans = [runs.apply(number).physicalPlanDescription() for number in range(runs.size())]
    last = [plan for plan in plans if "Scan parquet" in plan][-1]
    return re.findall(r"^(?:PushedFilters|ReadSchema): .*", last, re.MULTILINE)[:2]


def ask(patients: dp.Table, query: dp.Query) -> tuple[Any, Any, float]:
    """A release with seeded noise, to compare, never made of real data; then one with fresh noise.

    Also returns the seconds of that.
    """
    with seeded(1):
        compared = dp.Session(patients, budget=dp.Pure(1)).release(query, epsilon=1)
    session = dp.Session(patients, budget=dp.Pure(1))
    started = time.perf_counter()
    return compared, session.release(query, epsilon=1), time.perf_counter() - started


def draw(answers: dict[str, Any]) -> Plot:
    """Costs by ward, as both engines released them."""
    points = [
        {"engine": engine, "ward": row["ward"], "cost": row["cost"]}
        | {"low": row["cost"] - row["cost_error"], "high": row["cost"] + row["cost_error"]}
        for engine, result in answers.items()
        for row in result.to_dicts()
    ]
    colors = alt.Scale(domain=list(answers), range=["#1f5fa8", "#e08a1e"])
    base = alt.Chart(alt.Data(values=points)).encode(
        alt.Y("ward:N", title=None),
        alt.YOffset("engine:N"),
        alt.Color("engine:N", title=None, scale=colors),
    )
    axis = alt.X("low:Q", title="mean cost").scale(zero=False)
    span = base.mark_rule(strokeWidth=2).encode(axis, x2="high:Q")
    chart = span + base.mark_circle(size=60, opacity=1).encode(x="cost:Q")
    below = "Each released with its own noise, and its 95 % error; before noise both are equal"
    return Plot(dressed(chart.properties(width=440, height=220), "One query, two engines", below))


def main(rows: int = 300_000, picture: str = "duckdb_and_spark.svg", spark: Any = None) -> Any:
    """Ask both engines; returns the seeded and the released answers, and what Spark noted."""
    spark = start_spark() if spark is None else spark
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "patients.parquet"
        write_patients(path, rows)
        here, there = dp.table(path), dp.table(spark.read.parquet(str(path)))
        query = by_ward(here)
        asked = {"DuckDB": ask(here, query), "Spark": ask(there, query.on(there))}
        noted = pushed_down(spark)
    compared = {engine: told[0].to_dicts() for engine, told in asked.items()}
    same = compared["DuckDB"] == compared["Spark"]
    print(f"With the same noise the two tables are {'equal' if same else 'DIFFERENT'}.")
    for engine, (_, result, seconds) in asked.items():
        print(f"\n{engine}: {rows:,} rows in {seconds:.2f} s, fresh noise\n\n{result}")
    print("\nBoth are about the same people: together they cost ε = 2.")
    print("The seeded ones would cost everything: releases of real data are never seeded.")
    print("\nSpark hands back one row a ward. What it noted about its reading of the file:")
    print(*noted, sep="\n")
    answers = {engine: told[1] for engine, told in asked.items()}
    draw(answers).save(picture)
    print(f"The picture is in {Path(picture).name}.")
    return {"same": same, "compared": compared, "answers": answers, "noted": noted}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=300_000, help="how many patients (300,000)")
    parser.add_argument("--picture", default="duckdb_and_spark.svg", help="where the picture goes")
    given = parser.parse_args()
    if given.rows < 1:
        parser.error("--rows must be 1 or above")
    main(**vars(given))
