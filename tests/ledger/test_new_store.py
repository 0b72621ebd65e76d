"""The recipe of CONTRIBUTING for a new ledger database, followed with a toy.

The toy is a file of SQLite with its head in a table: portable defaults, and nothing that our own
SQLite store adds.
"""

import ast
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.cli.main import main
from discreet.ledger import stores

TOY = '''
import sqlalchemy as sa

from discreet.errors import EngineError, LedgerDamaged
from discreet.ledger.stores.store import Store


class ToyStore(Store):
    """A file, given as toy://path."""

    opening = to_write = ("BEGIN IMMEDIATE",)
    to_read = ("BEGIN",)

    def connect(self, location):
        self.name = str(location)
        path = self.name.removeprefix("toy://")
        return sa.create_engine(
            sa.URL.create("sqlite", database=path),
            connect_args={"isolation_level": None, "check_same_thread": False, "timeout": 60},
            poolclass=sa.pool.SingletonThreadPool,
        )

    @classmethod
    def guards(cls, version):
        for table in cls.tables(version):
            for verb in ("DELETE",) if table.name == "discreet_head" else ("UPDATE", "DELETE"):
                yield (
                    f"CREATE TRIGGER {table.name}_{verb} BEFORE {verb} ON {table.name} "
                    "BEGIN SELECT RAISE(ABORT, 'append-only'); END"
                )

    def check_guards(self, connection, version):
        select = "SELECT sql FROM sqlite_master WHERE type = 'trigger'"
        there = {sql for (sql,) in connection.exec_driver_sql(select)}
        if any(not {*self.guards(each)} <= there for each in range(1, version + 1)):
            raise LedgerDamaged("a guard of the toy is gone")

    def failure(self, error):
        return EngineError("the toy is broken")
'''
COST = dp.Pure("1/4")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy in a package of its own, with its line in the set; the address of a new ledger."""
    package = tmp_path / "toy_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "toy.py").write_text(TOY)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(stores.STORES, "toy", "toy_package.toy:ToyStore")
    yield f"toy://{tmp_path}/people.toy"
    for name in ("toy_package.toy", "toy_package"):
        sys.modules.pop(name, None)


@pytest.fixture
def spent(toy):
    """A ledger in the toy, with one dataset of ε = 10 and one charge."""
    with dp.Ledger(toy, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(10))
        ledger.charge(COST, dataset="visits", question="q")
    return toy


def charge(ledger):
    return ledger.charge(COST, dataset="visits", question="q")


def test_charges_add_up_and_survive_reopening(spent):
    """Catches a default that only works for our own stores, and one that keeps a total elsewhere
    than in the journal."""
    with dp.Ledger(spent) as ledger:
        assert ledger.location == spent
        charge(ledger)
        assert ledger.datasets[0].filter.spent == dp.Pure("1/2")
    with dp.Ledger(spent, create=True) as again:
        assert again.datasets[0].filter.spent == dp.Pure("1/2")
        assert again.verify().charges == 2


def test_a_session_stores_its_answers_there(toy):
    """Catches a table that only our own stores make: those of answers, keys and seals."""
    people = dp.table(pa.table({"age": [34, 51, 28]}))
    named = {"ledger": toy, "dataset": "people"}
    session = dp.Session(people, budget=dp.Pure(1), create=True, **named)
    query = people.agg(n=dp.count())
    first = session.release(query, epsilon="1/2", idempotency_key="march")
    again = dp.Session(people, **named).release(query, epsilon="1/2", idempotency_key="march")
    assert first.to_arrow() == again.to_arrow() and session.spent == dp.Pure("1/2")


def test_two_at_once_never_spend_more_than_the_cap(spent):
    """Catches a transaction without a lock: both would read the same sum, and both would fit."""
    made, errors = [], []

    def spend():
        try:
            with dp.Ledger(spent) as ledger:
                while True:
                    made.append(charge(ledger).number)
        except dp.BudgetExceeded:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=spend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and len(made) == 39 and len({*made}) == 39
    with dp.Ledger(spent) as ledger:
        assert ledger.datasets[0].filter.spent == dp.Pure(10)
        assert ledger.verify().charges == 40


def test_its_guards_are_made_and_checked(spent):
    """Catches guards that are written down and never run."""
    import sqlite3

    file = sqlite3.connect(spent.removeprefix("toy://"), isolation_level=None)
    with pytest.raises(sqlite3.IntegrityError, match="append-only"):
        file.execute("DELETE FROM discreet_journal")
    file.execute("DROP TRIGGER discreet_replies_UPDATE")
    file.close()
    with pytest.raises(dp.LedgerDamaged, match="a guard of the toy is gone"):
        dp.Ledger(spent)


def test_it_is_made_only_on_purpose_and_its_faults_are_its_own(toy, tmp_path):
    """Catches a fault that is told in another store's words, or in the driver's."""
    with pytest.raises(dp.InvalidArgument, match="pass create=True"):
        dp.Ledger(toy)
    with pytest.raises(dp.EngineError, match="the toy is broken") as caught:
        dp.Ledger(f"toy://{tmp_path}/no/folder", create=True)
    assert caught.value.__context__ is None
    with pytest.raises(dp.InvalidArgument, match="an address such as"):
        dp.Ledger("another://x", create=True)


def test_session_and_command_line_ask_it(spent, capsys):
    """Catches a branch on the kind of store: an address of a kind that they have never heard of."""
    people, empty = dp.table(pa.table({"age": [1]})), spent.replace("people", "empty")
    with pytest.raises(dp.InvalidArgument, match="the ledger has none yet"):
        dp.Session(people, ledger=empty, budget=dp.Pure(1), create=True)
    assert main(["ledger", "show", spent]) == 0
    assert "ε = 0.25 of ε = 10" in capsys.readouterr().out


def test_nobody_else_branches_on_the_kind_of_store():
    """Catches a kind of store that is known outside of its file: compared with, or imported."""
    root = Path(stores.__file__).parent.parent.parent
    known = {"://", "sqlite", "postgres"}
    found = [
        f"{path.name}, line {node.lineno}"
        for folder in ("ledger", "cli", "adaptive", "session.py")
        for path in ([root / folder] if folder.endswith(".py") else (root / folder).glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare | ast.match_case | ast.Import | ast.ImportFrom)
        and any(word in ast.unparse(node).lower() for word in known)
    ]
    assert not found
