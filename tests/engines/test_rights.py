"""What a connection to PostgreSQL may do is known before anything is charged."""

from collections.abc import Iterator
from typing import Any

import ibis
import pyarrow as pa
import pytest

import discreet as dp

TAKEN_AWAY = {
    "read-only": "SET default_transaction_read_only = on",
    "without TEMP": "SET ROLE reader",
}


@pytest.fixture
def reader(postgres_address: dict[str, str]) -> Iterator[Any]:
    """A connection to a table, and a role that may read it and no more."""
    connection = ibis.postgres.connect(**postgres_address)
    connection.create_table("rights", pa.table({"ward": ["A", "A", "B"]}), overwrite=True)
    for sql in (
        "DROP ROLE IF EXISTS reader",
        "CREATE ROLE reader",
        "GRANT SELECT ON rights TO reader",
        f"REVOKE TEMP ON DATABASE {connection.current_catalog} FROM PUBLIC",
    ):
        connection.raw_sql(sql).close()
    yield connection
    for sql in (
        "SET default_transaction_read_only = off",
        "RESET ROLE",
        "DROP TABLE rights",
        "DROP ROLE reader",
        f"GRANT TEMP ON DATABASE {connection.current_catalog} TO PUBLIC",
    ):
        connection.raw_sql(sql).close()
    connection.disconnect()


@pytest.mark.parametrize("sql", TAKEN_AWAY.values(), ids=TAKEN_AWAY)
def test_keys_that_cannot_be_brought_are_refused_before_the_charge(reader: Any, sql: str) -> None:
    """Catches a budget that is spent on a query which this connection can never run."""
    table = dp.table(reader.table("rights"))
    session = dp.Session(table, budget=dp.Pure(9))
    by_ward = table.group_by("ward", keys=["A", "B"]).agg(n=dp.count())
    session.release(by_ward, epsilon=1)  # known from now on
    reader.raw_sql(sql).close()
    with pytest.raises(dp.InvalidArgument, match="GRANT TEMPORARY"):
        session.release(by_ward, epsilon=1)
    assert session.spent == dp.Pure(1)
    session.release(table.agg(n=dp.count()), epsilon=1)  # needs no right but to read


def test_with_the_right_it_runs(reader: Any) -> None:
    """Catches a check that refuses everybody."""
    table = dp.table(reader.table("rights"))
    session = dp.Session(table, budget=dp.Pure(9))
    result = session.release(table.group_by("ward", keys=["A", "B"]).agg(n=dp.count()), epsilon=1)
    assert result.to_dicts()[0]["ward"] == "A"
