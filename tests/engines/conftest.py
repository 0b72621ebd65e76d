"""Each engine as an Ibis backend, started once a worker; `backend` runs a test on all of them."""

from collections.abc import Iterator
from typing import Any

import ibis
import pytest
from ibis.backends import BaseBackend


@pytest.fixture(scope="session")
def duckdb_backend() -> Iterator[BaseBackend]:
    connection = ibis.duckdb.connect()
    yield connection
    connection.disconnect()


@pytest.fixture(scope="session")
def spark_backend(spark: Any) -> BaseBackend:
    """Spark as it was before 4.0: a bad value becomes null."""
    return ibis.pyspark.connect(spark.newSession(), **{"spark.sql.ansi.enabled": "false"})


@pytest.fixture(scope="session")
def spark_ansi_backend(spark: Any) -> BaseBackend:
    """Spark as it comes: a bad value stops the query."""
    return ibis.pyspark.connect(spark.newSession(), **{"spark.sql.ansi.enabled": "true"})


@pytest.fixture(scope="session")
def postgres_backend(postgres_address: dict[str, str]) -> Iterator[BaseBackend]:
    connection = ibis.postgres.connect(**postgres_address)
    yield connection
    connection.disconnect()


@pytest.fixture(scope="session", params=["duckdb", "spark", "spark_ansi", "postgres"])
def backend(request: pytest.FixtureRequest) -> BaseBackend:
    return request.getfixturevalue(f"{request.param}_backend")


@pytest.fixture(scope="session", params=["duckdb", "spark_ansi", "postgres"])
def engine(request: pytest.FixtureRequest) -> BaseBackend:
    """Each engine once: for tests in which it cannot matter how Spark reads a bad value."""
    return request.getfixturevalue(f"{request.param}_backend")
