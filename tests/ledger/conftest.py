"""Every test of a ledger runs on SQLite and on PostgreSQL; those of its seal, on SQLite."""

import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import discreet as dp
from discreet import signing


@pytest.fixture(params=["sqlite", "postgres"])
def location(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new ledger may be."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger")
    address = request.getfixturevalue("postgres_address")
    name = f"ledger_{uuid.uuid4().hex}"
    where = {"host": address["host"], "user": address["user"], "dbname": "postgres"}
    with psycopg.connect(**where, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgresql://{address['user']}@/{name}?host={address['host']}"


@pytest.fixture
def ledger(location: str) -> Iterator[dp.Ledger]:
    """A ledger with one dataset."""
    with dp.Ledger(location, create=True) as opened:
        opened.add_dataset("visits", budget=dp.Pure(1), unit="id")
        yield opened


@pytest.fixture
def sql(location: str) -> Callable[[str], list[tuple[Any, ...]]]:
    """Run a statement on the database behind our back."""

    def run(statement: str) -> list[tuple[Any, ...]]:
        import sqlite3

        if "://" in location:
            with psycopg.connect(location, autocommit=True) as connection:
                cursor = connection.execute(statement)
                return cursor.fetchall() if cursor.description else []
        connection = sqlite3.connect(location, isolation_level=None)
        try:
            return connection.execute(statement).fetchall()
        finally:
            connection.close()

    return run


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A private key."""
    signing.create_key(tmp_path / "office.key")
    return tmp_path / "office.key"


@pytest.fixture
def sealed(tmp_path: Path, key: Path) -> Path:
    """The path of a ledger that is sealed with the key, with one charge."""
    path = tmp_path / "x.ledger"
    with dp.Ledger(path, create=True, key=key) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        ledger.charge(dp.Pure("0.4"), dataset="visits", question="q")
    return path
