"""An answer that was edited in the ledger is not given out again."""

import sqlite3

import pyarrow as pa
import pytest

import discreet as dp


def test_an_edited_answer_is_not_recalled(tmp_path):
    """Catches a stored answer that nobody holds against its digest in the journal: it would be
    returned, and certified, as what was released."""
    path = tmp_path / "x.ledger"
    table = dp.table(pa.table({"x": [1, 2, 3]}))
    with dp.Ledger(path, create=True) as ledger:
        session = dp.Session(table, budget=dp.Pure(1), ledger=ledger, create=True, dataset="t")
        query = table.agg(n=dp.count())
        session.release(query, epsilon="0.1", idempotency_key="k")
        (entry,) = session.history
        session.recall(entry)
        connection = sqlite3.connect(path, isolation_level=None)
        triggers = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        for (name,) in connection.execute(triggers).fetchall():
            connection.execute(f"DROP TRIGGER {name}")
        ((content,),) = connection.execute("SELECT content FROM discreet_replies").fetchall()
        # A byte of the words beside the values, so that it can still be read.
        at = content.index(b"epsilon") if b"epsilon" in content else len(content) // 2
        edited = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
        connection.execute("UPDATE discreet_replies SET content = ?", (edited,))
        connection.close()
        with pytest.raises(dp.LedgerDamaged, match="was edited"):
            session.recall(entry)
        with pytest.raises(dp.LedgerDamaged, match="was edited"):
            session.release(query, epsilon="0.1", idempotency_key="k")
