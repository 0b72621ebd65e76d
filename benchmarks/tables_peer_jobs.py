"""One question to another library, in that library's own environment; started by tables_peers.

Count and mean by group at ε = 1 in all, with Laplace noise where there is a choice. Imports
nothing of ours. Says its version in a line of JSON, then answers each line it gets with another:
its peak memory, and count and mean by key.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import warnings
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

Job = Callable[[], list[tuple[str, float, float]]]
DELTA = 1e-9  # for those that insist on one


def opendp(q: dict[str, Any]) -> Job:
    """Known keys, on Polars' lazy reading of the file.

    Groups are limited with keep="first", which is not random: the default raises an error.
    """
    import opendp.prelude as dp
    import polars as pl

    dp.enable_features("contrib")
    keys = pl.LazyFrame({q["group"]: q["keys"]})
    by = [q["group"]]
    unit = dp.unit_of(contributions=1, identifier="person" if q["unit"] else None)

    def job() -> list[tuple[str, float, float]]:
        context = dp.Context.compositor(
            data=pl.scan_parquet(q["path"]),
            privacy_unit=unit,
            privacy_loss=dp.loss_of(epsilon=float(q["epsilon"])),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=by, max_length=q["rows"])],
        )
        query = context.query()
        if q["unit"]:
            query = query.truncate_per_group(q["max_rows"], by=by)
            query = query.truncate_num_groups(q["max_groups"], by=by, keep="first")
        mean = pl.col(q["column"]).fill_null(0).dp.mean(tuple(q["bounds"]))
        aggregates = dp.len(signed=True).alias("n"), mean.alias("mean")
        released = query.group_by(*by).agg(*aggregates).with_keys(keys).release()
        return list(released.collect().select(*by, "n", "mean").iter_rows())

    return job


def pipelinedp(q: dict[str, Any]) -> Job:
    """Its local backend, on rows that were read beforehand."""
    import pipeline_dp as dp
    import pyarrow.parquet as pq

    names = ["person", q["group"], q["column"]]
    table = pq.read_table(q["path"], columns=names)
    rows = list(zip(*(table[name].to_pylist() for name in names), strict=True))
    parameters = dp.AggregateParams(
        noise_kind=dp.NoiseKind.LAPLACE,
        metrics=[dp.Metrics.COUNT, dp.Metrics.MEAN],
        max_partitions_contributed=q["max_groups"] if q["unit"] else 1,
        max_contributions_per_partition=q["max_rows"] if q["unit"] else 1,
        min_value=q["bounds"][0],
        max_value=q["bounds"][1],
        contribution_bounds_already_enforced=not q["unit"],
    )
    extractors = dp.DataExtractors(
        privacy_id_extractor=(lambda row: row[0]) if q["unit"] else None,
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )

    def job() -> list[tuple[str, float, float]]:
        accountant = dp.NaiveBudgetAccountant(total_epsilon=q["epsilon"], total_delta=DELTA)
        engine = dp.DPEngine(accountant, dp.LocalBackend())
        result = engine.aggregate(rows, parameters, extractors, public_partitions=q["keys"])
        accountant.compute_budgets()
        return [(key, metrics.count, metrics.mean) for key, metrics in result]

    return job


def smartnoise(q: dict[str, Any]) -> Job:
    """On a SQLite file beside the Parquet file, which is written first.

    Its ε is one of each noisy column, and count and mean use three of them; its bound is on the
    rows of a person.
    """
    import snsql

    path = Path(q["path"]).with_suffix(f".{q['group']}.sqlite")
    names = ["person", q["group"], q["column"]]
    if not path.exists():
        _write_sqlite(q["path"], names, path)
    table = {
        "row_privacy": not q["unit"],
        "max_ids": q["max_groups"] * q["max_rows"] if q["unit"] else 1,
        "censor_dims": False,  # the groups are public
        "rows": q["rows"],
        "person": {"type": "int", "private_id": q["unit"]},
        q["group"]: {"type": "string"},
        q["column"]: {"type": "int", "lower": q["bounds"][0], "upper": q["bounds"][1]},
    }
    reader = snsql.from_connection(
        sqlite3.connect(path),
        privacy=snsql.Privacy(epsilon=q["epsilon"] / 3, delta=DELTA),
        metadata={"": {"main": {"visits": table}}},
        engine="sqlite",
    )
    group, column = q["group"], q["column"]
    query = f"SELECT {group}, COUNT(*) AS n, AVG({column}) AS m FROM main.visits GROUP BY {group}"
    return lambda: [tuple(row) for row in reader.execute(query)[1:]]


def _write_sqlite(source: str, names: list[str], path: Path) -> None:
    import pyarrow.parquet as pq

    partial = path.with_suffix(".partial")
    partial.unlink(missing_ok=True)
    database = sqlite3.connect(partial)
    database.execute(f"CREATE TABLE visits ({', '.join(names)})")
    for batch in pq.ParquetFile(source).iter_batches(columns=names):
        cells = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        database.executemany("INSERT INTO visits VALUES (?, ?, ?)", cells)
    database.commit()
    database.close()
    partial.rename(path)


def tumult(q: dict[str, Any]) -> Job:
    """On Spark with two threads. Count and sum, half of ε each: its average is far slower."""
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    from pyspark.sql import SparkSession
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    folder = q["folder"]
    settings = {
        "spark.driver.memory": "4g",
        "spark.local.dir": folder,
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    frame = spark.read.parquet(q["path"]).select(q["group"], q["column"])
    keys, half = KeySet.from_dict({q["group"]: q["keys"]}), PureDPBudget(q["epsilon"] / 2)
    grouped = QueryBuilder("visits").groupby(keys)
    low, high = q["bounds"]

    def job() -> list[tuple[str, float, float]]:
        whole = PureDPBudget(q["epsilon"])
        session = Session.from_dataframe(whole, "visits", frame, protected_change=AddOneRow())
        counts = session.evaluate(grouped.count("n"), half)
        sums = session.evaluate(grouped.sum(q["column"], low, high, "s"), half)
        rows = counts.join(sums, q["group"]).collect()
        return [(row[q["group"]], row["n"], row["s"] / max(row["n"], 1)) for row in rows]

    return job


LIBRARIES = {  # the name of the package on the index, and what makes the job
    "opendp": ("opendp", opendp),
    "pipelinedp": ("pipeline-dp", pipelinedp),
    "smartnoise": ("smartnoise-sql", smartnoise),
    "tumult": ("tmlt.analytics", tumult),
}


def main(name: str, question: str) -> None:
    """Serve until the input ends."""
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what a library prints is no answer
    package, make = LIBRARIES[name]
    job = make(json.loads(question))
    print(json.dumps({"version": metadata.version(package)}), file=out)
    for _ in sys.stdin:
        answers = job()
        print(json.dumps({"peak": _peak(), "answers": answers}), file=out)


def _peak() -> int | None:
    """The most bytes this process ever held, where Linux tells."""
    status = Path("/proc/self/status")
    lines = status.read_text().splitlines() if status.exists() else []
    return next((int(x.split()[1]) * 1024 for x in lines if x.startswith("VmHWM:")), None)


if __name__ == "__main__":
    main(*sys.argv[1:])
