"""A ledger is made only on purpose, and opened only whole."""

import os
from pathlib import Path

import pytest

import discreet as dp
from discreet.ledger.stores.store import VERSION


def test_d6_a_missing_ledger_is_never_made_by_accident(location, tmp_path):
    """D6: deleting the file must not be a free reset."""
    with pytest.raises(dp.InvalidArgument, match="pass create=True"):
        dp.Ledger(location)
    assert list(tmp_path.iterdir()) == []


def test_create_opens_what_is_there(ledger, location):
    ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    with dp.Ledger(location, create=True) as again:
        again.add_dataset("visits", budget=dp.Pure(1), unit="id")
        assert float(again.datasets[0].filter.total) == 0.4 and again.id == ledger.id


@pytest.mark.parametrize(
    "change",
    [{"budget": dp.Pure(2)}, {"budget": dp.ZCDP(1)}, {"unit": "row"}, {"relation": "replace"}],
)
def test_d6_a_dataset_that_is_there_keeps_its_cap(ledger, change):
    """D6: a second add with a larger budget would be a reset."""
    head = ledger.verify().head
    with pytest.raises((dp.Refused, dp.RelationMismatch)):
        ledger.add_dataset("visits", **{"budget": dp.Pure(1), "unit": "id", **change})
    assert ledger.verify().head == head


def test_an_epsilon_delta_cap_states_its_split(ledger):
    account = ledger.add_dataset("x", budget=dp.Approx(1, "1e-6"), slack="1e-7")
    assert isinstance(account.filter.limit, dp.ZCDP)
    assert account.filter.slack * 10**7 == 1
    assert account.filter.epsilon("1e-6") <= 1
    ledger.add_dataset("x", budget=dp.Approx(1, "1e-6"))  # the same, its slack not mentioned
    with pytest.raises(dp.Refused, match="δ₀ up to 1e-07"):
        ledger.add_dataset("x", budget=dp.Approx(1, "1e-6"), slack="2e-7")


def test_names_say_what_there_is(ledger):
    with pytest.raises(dp.InvalidArgument, match="one of visits"):
        ledger.charge(dp.Pure(1), dataset="vists", question="q")
    for name in ("", " ", "a\nb", "x" * 201, None, 3):
        with pytest.raises(dp.InvalidArgument):
            ledger.add_dataset(name, budget=dp.Pure(1))


@pytest.mark.parametrize("statement", ["UPDATE {} SET {} = {}", "DELETE FROM {}"])
@pytest.mark.parametrize(
    ("table", "column"),
    [
        ("discreet_journal", "number"),
        ("discreet_replies", "charge"),
        ("discreet_schema", "version"),
    ],
)
def test_the_database_itself_refuses_changes(ledger, sql, statement, table, column):
    """Catches a ledger that is append-only by good manners."""
    entry = ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    ledger._journal.keep(entry.number, b"reply")
    with pytest.raises(Exception, match="append-only"):
        sql(statement.format(table, column, column))
    assert ledger.verify().charges == 1


def test_a_record_cannot_be_replaced(ledger, sql, location):
    if "://" in location:
        return  # PostgreSQL has no INSERT OR REPLACE; its ON CONFLICT is an update
    ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    insert = "INSERT OR REPLACE INTO discreet_journal SELECT {} FROM discreet_journal LIMIT 1"
    for values in ("1, NULL, body, detail, hash", "9, NULL, body, detail, hash"):
        with pytest.raises(Exception, match="in order"):
            sql(insert.format(values))


def test_without_its_triggers_it_does_not_open(ledger, location, sql):
    """What was switched off may have let something pass."""
    ledger.close()
    if "://" not in location:
        sql("DROP TRIGGER discreet_replies_no_delete")
        with pytest.raises(dp.LedgerDamaged):
            dp.Ledger(location)
        return
    name = "discreet_replies_on_update_delete_truncate"
    sql(f"ALTER TABLE discreet_replies DISABLE TRIGGER {name}")
    with pytest.raises(dp.LedgerDamaged, match=name):
        dp.Ledger(location)
    sql(f"ALTER TABLE discreet_replies ENABLE TRIGGER {name}")
    dp.Ledger(location).close()
    sql(
        "CREATE OR REPLACE FUNCTION discreet_append_only() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN RETURN NULL; END $$"
    )
    with pytest.raises(dp.LedgerDamaged, match="gone, off or changed"):
        dp.Ledger(location)


def test_there_is_one_head(ledger, location, sql):
    """A second row could be the one that is read."""
    if "://" in location:
        with pytest.raises(Exception, match="check"):
            sql("INSERT INTO discreet_head SELECT 2, number, document FROM discreet_head")
        with pytest.raises(Exception, match="only grows"):
            sql("UPDATE discreet_head SET number = number")


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://ann:hunter2@127.0.0.1:1/x",
        "postgresql://ann@127.0.0.1:1/x?password=hunter2&sslpassword=hunter2",
        "postgresql://ann:hunter2@127.0.0.1:port/x",
    ],
)
def test_no_password_is_ever_shown(address):
    with pytest.raises(dp.DiscreetError) as caught:
        dp.Ledger(address, create=True)
    assert "hunter2" not in str(caught.value)


def test_a_foreign_table_does_not_open(ledger, location, sql):
    if "://" in location:
        return  # a PostgreSQL database has other tables too
    ledger.close()
    sql("CREATE TABLE discreet_more (x INTEGER)")
    with pytest.raises(dp.LedgerDamaged, match="discreet_more"):
        dp.Ledger(location)


@pytest.mark.parametrize("version", range(1, VERSION))
def test_an_older_version_is_brought_up(tmp_path, monkeypatch, version):
    """Version 1 had no replies, 2 no seals. Catches a migration that loses the budget."""
    from discreet.ledger.stores import store

    path = tmp_path / "old.ledger"
    with monkeypatch.context() as old:
        old.setattr(store.Transaction.upgrade, "__defaults__", (version,))
        with dp.Ledger(path, create=True) as ledger:
            ledger.add_dataset("visits", budget=dp.Pure(1))
            ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    with dp.Ledger(path) as ledger:
        assert float(ledger.datasets[0].filter.total) == 0.4
        entry = ledger.charge(dp.Pure("0.1"), dataset="visits", question="q")
        ledger._journal.keep(entry.number, b"reply")
        assert ledger._journal.reply(entry.number) == b"reply"
        ledger.verify()


def test_a_later_version_is_refused_with_a_sentence(ledger, location, sql):
    """Catches a program that goes on with a form that it does not know."""
    sql(f"INSERT INTO discreet_schema VALUES ({VERSION + 1})")
    with pytest.raises(dp.Refused, match=r"written by a later version .* update discreet"):
        dp.Ledger(location)


def test_a_migration_is_a_record(ledger, location, monkeypatch):
    """Catches one that nobody can see afterwards, and one that is written down twice."""
    ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    last = ledger.verify().records
    ledger.close()
    with monkeypatch.context() as later:
        pretend_a_later_version(later)
        for _ in range(2):
            with dp.Ledger(location) as again:
                assert again.verify().records == last + 1
                assert float(again.datasets[0].filter.total) == 0.4
    with pytest.raises(dp.Refused, match="update discreet"):
        dp.Ledger(location)


def test_a_migration_of_a_sealed_ledger_is_signed(sealed, key, monkeypatch):
    """Catches a record without a seal, which nothing after it could be told from."""
    pretend_a_later_version(monkeypatch)
    with pytest.raises(dp.Refused, match="pass key="):
        dp.Ledger(sealed, public_key=f"{key}.pub")
    dp.Ledger(sealed, key=key).close()
    with dp.Ledger(sealed, public_key=f"{key}.pub") as ledger:
        assert ledger.verify().signed


def pretend_a_later_version(monkeypatch):
    """One with other records in the same tables."""
    from discreet.ledger.stores import store

    monkeypatch.setitem(store.ADDED, VERSION + 1, ())
    monkeypatch.setattr(store, "VERSION", VERSION + 1)
    monkeypatch.setattr(store.Transaction, "newest", VERSION + 1)
    monkeypatch.setattr(store.Transaction.upgrade, "__defaults__", (VERSION + 1,))


def test_a_path_with_spaces_and_unicode(tmp_path):
    path = tmp_path / "Bücher & 数据" / "наш ledger 'x'.ledger"
    with pytest.raises(dp.InvalidArgument, match="make the folder first"):
        dp.Ledger(path, create=True)
    path.parent.mkdir()
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("Gästezimmer «1»", budget=dp.Pure(1))
        ledger.charge(dp.Pure("0.4"), dataset="Gästezimmer «1»", question="wie viele?")
    with dp.Ledger(path) as ledger:
        assert ledger.history()[0].question == "wie viele?"


def test_only_its_owner_reads_it(tmp_path):
    path = tmp_path / "x.ledger"
    dp.Ledger(path, create=True).close()
    for name in ("x.ledger", "x.ledger.head"):
        assert os.stat(tmp_path / name).st_mode & 0o077 == 0
    os.chmod(path, 0o666)
    with pytest.raises(dp.Refused, match="chmod o-w"):
        dp.Ledger(path)


@pytest.mark.parametrize("lost", ["x.ledger", "x.ledger.head"])
@pytest.mark.parametrize("create", [False, True])
def test_d5_half_of_a_ledger_does_not_open(tmp_path, lost, create):
    """D5: not even with create=True is a lost journal a fresh start."""
    path = tmp_path / "x.ledger"
    dp.Ledger(path, create=True).close()
    (tmp_path / lost).unlink()
    with pytest.raises(dp.LedgerDamaged, match=r"restore|Restore"):
        dp.Ledger(path, create=create)


@pytest.mark.parametrize("content", [b"", b"\0" * 5000, b"SQLite format 3\0" + b"x" * 5000])
def test_something_else_does_not_open(tmp_path, content):
    path = tmp_path / "x.ledger"
    path.write_bytes(content)
    with pytest.raises(dp.DiscreetError):
        dp.Ledger(path)


@pytest.mark.parametrize("location", [None, 3, "", b"x", "mysql://x/y", "://"])
def test_odd_locations(location):
    with pytest.raises(dp.InvalidArgument):
        dp.Ledger(location, create=True)


def test_a_ledger_that_is_replaced_while_it_is_open_is_noticed(tmp_path):
    """Charges would go into a file that no longer has a name."""
    path = tmp_path / "x.ledger"
    ledger = dp.Ledger(path, create=True)
    ledger.add_dataset("visits", budget=dp.Pure(1))
    for name in ("x.ledger", "x.ledger.head"):
        Path(tmp_path / name).unlink()
    other = dp.Ledger(path, create=True)
    other.add_dataset("visits", budget=dp.Pure(1))
    with pytest.raises(dp.LedgerDamaged, match="moved, deleted or replaced"):
        ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    other.close()
    ledger.close()


def test_a_creation_that_was_cut_off_is_finished_without_losing_locks(tmp_path, monkeypatch):
    """Closing a file drops all locks that this process has on it. Catches a ledger whose -wal file
    another process then deletes under it: found by `make torture`, once in 20,000 kills."""
    from discreet.ledger.stores import sqlite
    from discreet.ledger.stores.store import Transaction

    path = tmp_path / "x.ledger"
    with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):

        def stop(self, present, wanted=0):
            raise KeyboardInterrupt

        cut.setattr(Transaction, "upgrade", stop)
        dp.Ledger(path, create=True)
    assert path.stat().st_size > 0  # SQLite has begun it, and there are no tables
    opened = []
    real = os.open

    def watched(name, *rest, **named):
        opened.append(str(name))
        return real(name, *rest, **named)

    monkeypatch.setattr(sqlite.os, "open", watched)
    with dp.Ledger(path, create=True) as ledger:
        assert ledger.add_dataset("visits", budget=dp.Pure(1)).filter.total == 0
    assert str(path) not in opened
