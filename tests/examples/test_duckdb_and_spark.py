"""One query on two engines: equal before noise, and within each other's errors after it."""

import importlib.util

import pytest
from pyspark.sql import SparkSession

from discreet.testing import seeded
from examples import duckdb_and_spark


@pytest.fixture(scope="module")
def told(spark, tmp_path_factory):
    picture = tmp_path_factory.mktemp("engines") / "engines.svg"
    with seeded(8):
        result = duckdb_and_spark.main(rows=5_000, picture=str(picture), spark=spark)
    assert picture.read_text().startswith("<svg")
    return result


def test_with_the_same_noise_both_are_equal(told):
    """Catches an engine whose exact answer differs in any digit: a row, a bound, a rounding."""
    assert told["same"]
    assert told["compared"]["DuckDB"] == told["compared"]["Spark"]


def test_fresh_noise_differs_and_stays_within_its_error(told):
    """Catches noise that is drawn once for both, and an error that is not about it."""
    ours, theirs = (answer.to_dicts() for answer in told["answers"].values())
    assert ours != theirs
    for one, other in zip(ours, theirs, strict=True):
        assert one["ward"] == other["ward"]
        for name in ("patients", "days", "cost"):
            assert abs(one[name] - other[name]) <= 3 * one[f"{name}_error"]


def test_spark_reads_what_is_needed(told):
    """Catches a filter or a choice of columns that is not pushed down to the scan."""
    filters, columns = told["noted"]
    assert "GreaterThanOrEqual(age,18)" in filters
    assert all(name in columns for name in ("ward", "age", "days", "cost"))
    assert "note" not in columns


def test_a_missing_spark_says_what_to_install(monkeypatch):
    """Catches a traceback where a sentence would do."""
    monkeypatch.setattr(duckdb_and_spark, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match=r"pip install 'discreet\[spark\]'"):
        duckdb_and_spark.start_spark()
    monkeypatch.setattr(duckdb_and_spark, "find_spec", importlib.util.find_spec)
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: None)
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(SystemExit, match="Java, version 17 or 21"):
        duckdb_and_spark.start_spark()
