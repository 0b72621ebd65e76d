"""The last record is exchanged while a session has the ledger open: the session notices."""

import hashlib
import sqlite3

import pytest

import discreet as dp


def rewrite(path):
    """Make the last charge smaller, with a hash that is right; the head stays as it is."""
    connection = sqlite3.connect(path, isolation_level=None)
    names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
    for (name,) in names:
        connection.execute(f"DROP TRIGGER {name}")
    ((number, body, detail),) = connection.execute(
        "SELECT number, body, detail FROM discreet_journal ORDER BY number DESC LIMIT 1"
    ).fetchall()
    smaller = body.replace('"2/5"', '"1/5"')
    assert smaller != body
    digest = hashlib.sha256(f"{smaller}\n{detail}".encode()).hexdigest()
    connection.execute(
        "UPDATE discreet_journal SET body = ?, hash = ? WHERE number = ?",
        (smaller, digest, number),
    )
    connection.close()


def test_a_record_that_was_read_is_looked_at_again(tmp_path):
    """Catches a process that goes on from what it remembers, and writes a chain that is broken."""
    path = tmp_path / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
        assert len(ledger.history()) == 1
        rewrite(path)
        with pytest.raises(dp.LedgerDamaged, match="no longer the one that was read before"):
            ledger.charge(dp.Pure("0.1"), dataset="visits", question="q")
