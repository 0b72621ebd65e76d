"""A ledger on a real server: races, kills, records edited by its owner, connections that are lost.

One test, so that one server is enough.
"""

import random

import psycopg
import pytest

import discreet as dp
from discreet.ledger.stores.store import Transaction
from tests.faults import clinic
from tests.faults.alone import run_alone
from tests.faults.edits import ROW_EDITS
from tests.faults.journal import ROWS, read_postgres
from tests.faults.server import empty


def test_on_postgresql(postgres, record_property):
    """The rules of the other files, where the database is a server."""
    code, text = run_alone("tests.faults.racing", postgres)
    assert code == 0, text
    for line in text.strip().split("\n"):
        record_property("measured", f"PostgreSQL, {line}")
    edited_records_are_detected(postgres)
    a_lost_connection_loses_no_charge(postgres)


@pytest.mark.long
def test_kills_on_postgresql(record_property):
    """Workers are killed at random and at every step; what they asked of the server last is done
    or not done, and the rules hold either way."""
    code, text = run_alone("tests.faults.torture", "--kills", "300", "--postgres")
    assert code == 0, text
    record_property("measured", f"PostgreSQL, {text.splitlines()[0]}")


def edited_records_are_detected(url):
    """Catches a verifier that trusts the database: its owner can switch triggers off."""
    empty(url)
    table = clinic.counted()
    with dp.Ledger(url, create=True) as ledger:
        ledger.add_dataset("clinic", budget=dp.Pure(100))
        session = dp.Session(table, ledger=ledger)
        for tag in range(1, 5):
            query, key = clinic.question(table), f"key {tag}"
            session.release(query, epsilon=clinic.price(tag), idempotency_key=key)
    with psycopg.connect(url) as connection:
        rows = connection.execute(ROWS).fetchall()
    for statement in ("DELETE FROM discreet_journal", "UPDATE discreet_journal SET body = ''"):
        with (
            psycopg.connect(url) as connection,
            pytest.raises(psycopg.errors.RaiseException, match="append-only"),
        ):
            connection.execute(statement)
    for edit in ROW_EDITS:
        _rewrite(url, edit(rows, random.Random(1)))
        with pytest.raises(dp.LedgerDamaged):
            dp.Ledger(url)
    _rewrite(url, rows)
    with dp.Ledger(url) as ledger:
        assert ledger.verify().charges == 4


def _rewrite(url, rows):
    with psycopg.connect(url) as connection:
        connection.execute("SET session_replication_role = replica")  # no triggers for this one
        connection.execute("DELETE FROM discreet_journal")
        insert = "INSERT INTO discreet_journal VALUES (%s, %s, %s, %s, %s)"
        connection.cursor().executemany(insert, rows)


def a_lost_connection_loses_no_charge(url):
    """Catches an answer without a charge, and a session that a lost connection leaves useless: the
    server drops it before the record, after the record, and in between two releases."""
    empty(url)
    table = clinic.counted()
    query, touched = clinic.question(table), []
    ledger = dp.Ledger(url, create=True)
    ledger.add_dataset("clinic", budget=dp.Pure(100))
    session = dp.Session(table, ledger=ledger)
    clinic.Counted.when_touched = lambda: touched.append(1)

    def drop():
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
            )

    append = Transaction.append
    for before in (True, False):

        def dropping(self, *given, before=before):
            if before:
                drop()
            append(self, *given)
            drop()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Transaction, "append", dropping)
            with pytest.raises(dp.EngineError, match="Nothing was released") as caught:
                session.release(query, epsilon=1)
        assert caught.value.__context__ is None and touched == []
        assert read_postgres(url).charges == []
    session.release(query, epsilon=1)
    drop()
    session.release(query, epsilon=1)
    assert session.spent == dp.Pure(2) == dp.Pure(read_postgres(url).spent_by("clinic"))
    ledger.close()
