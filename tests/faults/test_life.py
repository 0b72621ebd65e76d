"""What else happens to ledgers: clocks, versions, odd paths, files that vanish, forks, threads."""

import fcntl
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.ledger.stores.store import VERSION
from tests.faults import clinic
from tests.faults.alone import ROOT, run_alone
from tests.faults.disk import Disk, Fault
from tests.faults.edits import chained
from tests.faults.journal import read_journal

BUDGET = dp.Pure(100)
VERSION_1 = Path(__file__).with_name("version_1.sql")
ALL = list(range(1, VERSION + 1))


def opened(path, **more):
    """A session on a ledger, made if need be, and its question."""
    table = clinic.counted()
    session = dp.Session(table, ledger=path, dataset="clinic", budget=BUDGET, create=True, **more)
    return session, clinic.question(table)


# -- clocks ----------------------------------------------------------------------------------------


def test_a_clock_that_goes_backwards(scratch, monkeypatch):
    """Catches an order, or a verifier, that trusts the clock."""
    now = datetime(2026, 6, 1, tzinfo=UTC)

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            nonlocal now
            now -= timedelta(days=365)
            return now.astimezone(tz)

    monkeypatch.setattr("discreet.ledger.journal.datetime", Clock)
    session, query = opened(scratch / "people.ledger")
    for tag in (1, 2, 3):
        session.release(query, epsilon=clinic.price(tag), idempotency_key=f"key {tag}")
    monkeypatch.undo()
    with dp.Ledger(scratch / "people.ledger") as ledger:
        history = ledger.history()
        assert [entry.number for entry in history] == sorted(entry.number for entry in history)
        assert history[0].time > history[1].time > history[2].time
        assert ledger.verify().charges == 3
        assert ledger.datasets[0].filter.total == 3 + Fraction(6, 2**20)


# -- versions --------------------------------------------------------------------------------------


def of_version_1(path):
    """A ledger as version 1 of the tables left it: charges, and no replies."""
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("clinic", budget=BUDGET)
        for tag in (1, 2):
            ledger.charge(dp.Pure(clinic.price(tag)), dataset="clinic", question="by hand")
        spent = ledger.datasets[0].filter.spent
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT * FROM discreet_journal ORDER BY number").fetchall()
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.executescript(VERSION_1.read_text())
        connection.execute("INSERT INTO discreet_schema VALUES (1)")
        connection.executemany("INSERT INTO discreet_journal VALUES (?, ?, ?, ?, ?)", rows)
        connection.commit()
    assert rows == chained(rows)  # the head that was kept goes with these
    return spent


def versions(path):
    with closing(sqlite3.connect(path)) as connection:
        return [v for (v,) in connection.execute("SELECT version FROM discreet_schema ORDER BY 1")]


def test_an_older_version_is_brought_up_to_date(scratch):
    """Catches a migration that loses the budget, or tables of version 1 that were changed instead
    of added to: ledgers that exist would not open any more."""
    path = scratch / "people.ledger"
    spent = of_version_1(path)
    assert versions(path) == [1]
    session, query = opened(path)
    assert session.spent == spent and versions(path) == ALL
    told = read_journal(path).records[-1]
    assert (told["kind"], told["from"], told["to"]) == ("migration", 1, VERSION)
    first = session.release(query, epsilon=1, idempotency_key="new")
    again = session.release(query, epsilon=1, idempotency_key="new")
    assert clinic.values(first) == clinic.values(again)
    assert read_journal(path).flaws() == []


def test_a_migration_that_fails_midway(scratch):
    """Catches a migration that is done in halves: it fails at each operation in turn."""
    (scratch / "run").mkdir()
    spent = of_version_1(scratch / "people.ledger")
    files = {p.name: p.read_bytes() for p in scratch.iterdir() if p.is_file()}
    path, count = scratch / "run" / "people.ledger", None
    at = 0
    while count is None or at < count:
        for name, content in files.items():
            (path.parent / name).write_bytes(content)
        with Disk(path.parent, None if count is None else Fault(at, "tear", lasts=True)) as disk:
            try:
                dp.Ledger(path).close()
            except dp.DiscreetError:
                assert count is not None
        at, count = (at + 1, count) if count is not None else (0, len(disk.operations))
        assert versions(path) in ([1], ALL)
        with dp.Ledger(path) as ledger:
            assert ledger.datasets[0].filter.spent == spent
        assert versions(path) == ALL
        for each in path.parent.iterdir():
            each.unlink()
    assert count > 5


def test_a_newer_version_is_refused(scratch):
    """Catches a program that writes into tables it does not know."""
    path = scratch / "people.ledger"
    opened(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("INSERT INTO discreet_schema VALUES (?)", (VERSION + 1,))
        connection.execute("CREATE TABLE discreet_news (one INTEGER)")
        connection.commit()
    with pytest.raises(dp.Refused, match="written by a later version"):
        dp.Ledger(path)


# -- paths -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["two words.ledger", "Zähler 数据 🗝.ledger", "a%20b?mode=ro&x#y.ledger", "'quoted\".db"]
)
def test_odd_paths(name, scratch):
    """Catches a path that is taken for an address, or cut at a character."""
    path = scratch / "an odd folder é" / name
    path.parent.mkdir()
    session, query = opened(path)
    session.release(query, epsilon=1)
    assert {p.name for p in path.parent.iterdir()} >= {name, f"{name}.head"}
    with dp.Ledger(str(path)) as ledger:
        assert ledger.verify().charges == 1
        ledger.close()
    assert read_journal(path).spent_by("clinic") == 1


def test_through_a_link(scratch):
    """Catches two names that are two ledgers, or one that cannot be used: SQLite keeps its -wal
    beside the real file, whatever the name it was given."""
    (scratch / "data").mkdir()
    path = scratch / "data" / "people.ledger"
    for name in (path.name, f"{path.name}.head"):
        (scratch / name).symlink_to(path.with_name(name))
    session, query = opened(path)
    linked, same = opened(scratch / path.name)
    session.release(query, epsilon=1)
    linked.release(same, epsilon=1)
    assert (
        session.spent
        == linked.spent
        == dp.Pure(2)
        == dp.Pure(read_journal(path).spent_by("clinic"))
    )


def test_two_hard_links(scratch):
    """Catches two -wal files for one database, which destroy it: a second name is refused."""
    path = scratch / "people.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("clinic", budget=BUDGET)
    for name in (path.name, f"{path.name}.head"):
        (scratch / f"other {name}").hardlink_to(scratch / name)
    for each in (path, scratch / f"other {path.name}"):
        with pytest.raises(dp.Refused, match="second name"):
            dp.Ledger(each)


def test_a_process_that_hangs_with_the_lock(scratch, monkeypatch):
    """Catches a wait without an end, and one that ends in a charge."""
    session, query = opened(scratch / "people.ledger")
    monkeypatch.setattr("discreet.ledger.head.WAIT", 0.05)
    with open(scratch / "people.ledger.head", "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "lock" in no_answer(session, query, [])
    session.release(query, epsilon=1)
    assert session.spent == dp.Pure(1)


# -- files that vanish -----------------------------------------------------------------------------


def no_answer(session, query, touched):
    """A release is refused before data is touched."""
    clinic.Counted.when_touched = lambda: touched.append(1)
    with pytest.raises(dp.DiscreetError) as caught:
        session.release(query, epsilon=1)
    assert touched == []
    return str(caught.value)


@pytest.mark.parametrize("gone", ["people.ledger", "people.ledger.head"])
def test_a_file_deleted_under_a_session(gone, scratch):
    """Catches charges into a file that nobody will find."""
    path = scratch / "people.ledger"
    session, query = opened(path)
    session.release(query, epsilon=1)
    (scratch / gone).unlink()
    assert "deleted" in no_answer(session, query, [])


def test_a_ledger_replaced_under_a_session(scratch):
    """Catches a session that goes on with another ledger, or with a lost one."""
    path, other = scratch / "people.ledger", scratch / "other.ledger"
    session, query = opened(path)
    session.release(query, epsilon=1)
    opened(other)
    other.replace(path)
    assert "replaced" in no_answer(session, query, [])


def test_a_ledger_rolled_back_under_a_session(scratch):
    """Catches a session that forgets what it has charged itself: the file's content is old."""
    path, table = scratch / "people.ledger", clinic.counted()
    query = clinic.question(table)
    with dp.Ledger(path, create=True) as ledger:
        session = dp.Session(table, ledger=ledger, create=True, budget=BUDGET)
        session.release(query, epsilon=1)
        ledger.close()
        old = path.read_bytes()
        session.release(query, epsilon=1)
        ledger.close()
        with open(path, "r+b") as file:  # the same file, with old content
            file.write(old)
            file.truncate()
        assert "is no longer the one that was read" in no_answer(session, query, [])


@pytest.mark.parametrize("charges_first", [True, False])
def test_copied_by_its_own_process(charges_first, scratch):
    """Catches a charge that goes into a file nobody will find. Closing any descriptor of a file
    drops a process's POSIX locks on it, so a copy made by this process lets another one believe
    that it is the last to close the ledger: it deletes the -wal that is still in use here, and one
    that opens the ledger after it makes another -wal."""
    path, table = scratch / "people.ledger", clinic.counted()
    query, answers = clinic.question(table), 0
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("clinic", budget=BUDGET)
    session = dp.Session(table, ledger=path)
    if charges_first:
        session.release(query, epsilon=1)
        answers = 1
    path.read_bytes()
    third = [sys.executable, "-u", "-c", OTHERS, str(path)]
    with subprocess.Popen(third, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as others:
        assert others.stdout.readline() == b"open\n"
        for _ in range(2):
            try:
                session.release(query, epsilon=1)
            except dp.DiscreetError:
                continue
            answers += 1
        others.communicate(b"\n")
    with dp.Ledger(path) as ledger:
        assert len(ledger.history()) >= answers


OTHERS = """
import sys
import discreet as dp
dp.Ledger(sys.argv[1]).close()
with dp.Ledger(sys.argv[1]) as ledger:
    print("open")
    sys.stdin.readline()
"""


# -- forks and threads -----------------------------------------------------------------------------


def test_forks_with_an_open_ledger(scratch):
    """Catches a child that shares its parent's connection, and charges lost when one closes."""
    code, text = run_alone("tests.faults.forked", str(scratch / "people.ledger"))
    assert code == 0, text


def test_threads_spend_the_last_of_a_budget(scratch):
    """Catches two threads that use one connection at once: 8 of them share a session, 8 have
    their own, and together they spend the cap exactly."""
    path = scratch / "people.ledger"
    table = clinic.counted()
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("clinic", budget=dp.Pure("10.1"))
        shared = dp.Session(table, ledger=ledger)
        answers, failures = [], []

        def spend(session):
            try:
                while True:
                    answers.append(session.release(clinic.question(table), epsilon="1/4"))
            except dp.BudgetExceeded:
                pass
            except BaseException as error:
                failures.append(error)

        sessions = [
            shared if number % 2 else dp.Session(table, ledger=path) for number in range(16)
        ]
        threads = [threading.Thread(target=spend, args=(session,)) for session in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == [] and len(answers) == 40
        assert ledger.datasets[0].filter.total == 10 == read_journal(path).spent_by("clinic")
