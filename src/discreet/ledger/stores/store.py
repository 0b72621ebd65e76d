"""What every database of a ledger shares: its tables, and what one transaction reads and writes.

Each version of the tables only adds to the one before. A new ledger runs through all versions, an
old one through those that it lacks, in one transaction with a record that says so; existing tables
are never rewritten. A change to the form of records or answers is a new version too. Triggers keep
the tables append-only.

The error messages of databases and disks may quote what was written, so they are not passed on.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from typing import Any, Final, Protocol
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import dialect
from sqlalchemy.schema import CreateTable

from discreet.errors import (
    DiscreetError,
    EngineError,
    InvalidArgument,
    LedgerDamaged,
    Phrase,
    Refused,
)
from discreet.ledger.head import Head
from discreet.ledger.record import Record

# -- tables, version by version --------------------------------------------------------------------


_METADATA: Final = sa.MetaData()

# One row for each version that this ledger has been brought to.
schema_table: Final = sa.Table(
    "discreet_schema",
    _METADATA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)
# The record is `body` and `detail`; the body holds the hash of the record before, and `hash` is
# that of this one. The body has what the sums need, the detail what explains them.
journal_table: Final = sa.Table(
    "discreet_journal",
    _METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("token", sa.Text, unique=True),  # of an idempotency key
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
# What was released for a charge. The journal holds its digest.
replies_table: Final = sa.Table(
    "discreet_replies",
    _METADATA,
    sa.Column("charge", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
# In a ledger with a key: the signature of each record, since the journal may be ahead of its head.
seals_table: Final = sa.Table(
    "discreet_seals",
    _METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("signature", sa.Text, nullable=False),
)
# The head, where there is no file beside the database to hold it: one row, whose number only grows.
head_table: Final = sa.Table(
    "discreet_head",
    _METADATA,
    sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1"), primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
)

VERSION: Final = 3
_ADDED: Final = {1: (schema_table, journal_table), 2: (replies_table,), 3: (seals_table,)}

# What PostgreSQL runs when a trigger fires; `triggers` says which one runs where.
FUNCTIONS: Final = {
    "discreet_append_only": "BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END",
    "discreet_in_order": (
        "BEGIN IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM discreet_journal) THEN "
        "RAISE EXCEPTION 'discreet_journal is written in order'; END IF; RETURN NEW; END"
    ),
    "discreet_head_grows": (
        "BEGIN IF NEW.number <= OLD.number THEN RAISE EXCEPTION 'the head only grows'; END IF; "
        "RETURN NEW; END"
    ),
}


def table_names(version: int) -> list[str]:
    """The tables of a version."""
    return [table.name for v, added in _ADDED.items() if v <= version for table in added]


def statements(dialect: sa.Dialect, version: int) -> Iterator[str]:
    """The statements that bring a database from the version before to this one."""
    for table in _ADDED[version]:
        yield str(CreateTable(table).compile(dialect=dialect)).strip()
    if dialect.name == "sqlite":
        yield from _sqlite_triggers(version)
    else:
        yield from _postgresql_triggers(dialect, version)


def _sqlite_triggers(version: int) -> Iterator[str]:
    for table in _ADDED[version]:
        for verb in ("update", "delete"):
            yield (
                f"CREATE TRIGGER {table.name}_no_{verb} BEFORE {verb.upper()} ON {table.name} "
                f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END"
            )
    # INSERT OR REPLACE deletes without a delete trigger, so no existing key may be inserted again.
    if version == 1:
        yield (
            "CREATE TRIGGER discreet_journal_in_order BEFORE INSERT ON discreet_journal "
            "WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM discreet_journal) "
            "OR EXISTS (SELECT 1 FROM discreet_journal WHERE token = NEW.token) "
            "BEGIN SELECT RAISE(ABORT, 'discreet_journal is written in order'); END"
        )
    else:
        for table in _ADDED[version]:
            key = table.primary_key.columns.keys()[0]
            yield (
                f"CREATE TRIGGER {table.name}_once BEFORE INSERT ON {table.name} "
                f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {key} = NEW.{key}) "
                f"BEGIN SELECT RAISE(ABORT, '{table.name} has it already'); END"
            )


def triggers(version: int) -> dict[tuple[str, str], str]:
    """The triggers that keep PostgreSQL's tables append-only: (table, events) to function."""
    change, remove = "UPDATE OR DELETE OR TRUNCATE", "DELETE OR TRUNCATE"
    kept = {
        ("discreet_journal", "INSERT"): "discreet_in_order",
        ("discreet_head", "UPDATE"): "discreet_head_grows",
        ("discreet_head", remove): "discreet_append_only",
    }
    return kept | {(table, change): "discreet_append_only" for table in table_names(version)}


def trigger_name(table: str, events: str) -> str:
    """The name of a trigger in PostgreSQL."""
    return f"{table}_on_{events.lower().replace(' or ', '_')}"


def _postgresql_triggers(dialect: sa.Dialect, version: int) -> Iterator[str]:
    if version == 1:
        for name, body in FUNCTIONS.items():
            yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        yield str(CreateTable(head_table).compile(dialect=dialect))
    before = triggers(version - 1) if version > 1 else {}
    for (table, events), function in triggers(version).items():
        if (table, events) not in before:
            each = "ROW" if "TRUNCATE" not in events else "STATEMENT"
            yield (
                f"CREATE TRIGGER {trigger_name(table, events)} BEFORE {events} ON {table} "
                f"FOR EACH {each} EXECUTE FUNCTION {function}()"
            )


# -- one transaction -------------------------------------------------------------------------------


Row = tuple[int, str | None, str, str, str]

_FROM: Final = (
    sa.select(journal_table)
    .where(journal_table.c.number >= sa.bindparam("first"))
    .order_by("number")
)
_ONE: Final = sa.select(journal_table).where(journal_table.c.number == sa.bindparam("number"))
_TOKEN: Final = sa.select(journal_table).where(journal_table.c.token == sa.bindparam("token"))
_REPLY: Final = sa.select(replies_table.c.content).where(
    replies_table.c.charge == sa.bindparam("charge")
)
_SEAL: Final = sa.select(seals_table.c.signature).where(
    seals_table.c.number == sa.bindparam("number")
)
_APPEND: Final = journal_table.insert()
_ADD_SEAL: Final = seals_table.insert()
_AT_ONCE: Final = 10_000  # rows held in memory


@cache
def _text(statement: sa.Select[Any] | sa.Insert) -> str:
    """A statement as SQLite's driver takes it, with question marks."""
    return str(statement.compile(dialect=dialect()))


class Transaction:
    """A consistent view of the journal, and the records that are added at its end.

    SQLAlchemy writes the SQL. Running it through SQLAlchemy takes five times as long as SQLite
    itself needs, so the statements of every charge go straight to SQLite's driver.
    """

    newest: Final = VERSION  # the latest version that tables can be brought to

    def __init__(self, connection: sa.Connection, head: Head) -> None:
        self._connection = connection
        self._driver: Any = (
            connection.connection.dbapi_connection if connection.dialect.name == "sqlite" else None
        )
        self.head = head  # as it was before
        self.following: Head | None = None  # as it will be, if something is added

    @contextmanager
    def rows(self, first: int) -> Iterator[Iterator[Row]]:
        """The records from this number on, in order, one at a time."""
        if self._driver is not None:
            with closing(self._driver.execute(_text(_FROM), (first,))) as cursor:
                yield cursor
            return
        options = {"yield_per": _AT_ONCE} if first == 1 else {}
        with self._connection.execute(_FROM, {"first": first}, execution_options=options) as found:
            yield (row for part in found.partitions(_AT_ONCE) for row in part)

    def row(self, number: int) -> Row | None:
        """One record."""
        return self._connection.execute(_ONE, {"number": number}).first()

    def filed(self, token: str) -> Row | None:
        """The record of an idempotency key."""
        return self._connection.execute(_TOKEN, {"token": token}).first()

    def reply(self, charge: int) -> bytes | None:
        """What was released for a charge."""
        content: bytes | None = self._connection.execute(_REPLY, {"charge": charge}).scalar()
        return content

    def seal(self, number: int) -> str:
        """The signature of a record; nothing if it has none."""
        return str(self._connection.execute(_SEAL, {"number": number}).scalar() or "")

    def append(self, record: Record, following: Head, seal: str | None) -> None:
        """Add a record, with its signature if there is a key; ``following`` is the new head."""
        if self._driver is not None:
            self._driver.execute(_text(_APPEND), record.row)
        else:
            names = journal_table.c.keys()
            self._connection.execute(_APPEND, dict(zip(names, record.row, strict=True)))
        if seal is not None:
            sealed = {"number": record.number, "signature": seal}
            self._connection.execute(_ADD_SEAL, sealed)
        self.following = following

    def add_reply(self, charge: int, content: bytes) -> None:
        """Add what was released."""
        self._connection.execute(replies_table.insert(), {"charge": charge, "content": content})

    # -- versions --------------------------------------------------------------------------------

    def version(self) -> int:
        """The version that the tables have."""
        return int(
            self._connection.execute(sa.select(sa.func.max(schema_table.c.version))).scalar() or 0
        )

    def upgrade(self, present: int, wanted: int = VERSION) -> None:
        """Bring the tables to a later version."""
        for version in range(present + 1, wanted + 1):
            for statement in statements(self._connection.dialect, version):
                self._connection.execute(sa.text(statement))
            self._connection.execute(schema_table.insert(), {"version": version})


def no_ledger(expected: str, given: str) -> InvalidArgument:
    """The error for a place without a ledger, which is not started unless that was asked for."""
    start = Phrase(
        "pass {create=True} to start one. If there was one, restore it: starting anew would "
        "forget what was spent"
    )
    return InvalidArgument("ledger", expected, given, hint=start, code="not-found")


def check_version(transaction: Transaction, name: str) -> None:
    """Refuse a ledger from a later version."""
    version = transaction.version()
    if version > VERSION:
        raise Refused(
            f"the ledger {name} was written by a later version of discreet (tables of version "
            f"{version}, and this one knows {VERSION})",
            remedy="update discreet to open it",
            code="unsupported",
        )


class Store(Protocol):
    """A database with a journal, and the head beside it."""

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """A read-only transaction on the journal."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction that may add records, while nobody else writes. If it ends without an
        error, the records are durable and the head is written."""
        ...

    def close(self) -> None:
        """Close the connection to the database."""
        ...


# -- failures, in our words ------------------------------------------------------------------------


_SAFE = (
    "Nothing was released. A charge that was being written may have been recorded or not; what "
    "was recorded before stands"
)
_SQLITE = {
    "SQLITE_FULL": "the disk is full",
    "SQLITE_READONLY": "it is read-only",
    "SQLITE_PERM": "it is read-only",
    "SQLITE_BUSY": "another program holds its lock",
    "SQLITE_LOCKED": "another program holds its lock",
    "SQLITE_IOERR": "the disk failed",
    "SQLITE_CANTOPEN": "it cannot be opened",
    "SQLITE_NOMEM": "there is no memory left",
}


# SQLite's codes for a file that is damaged; every other failure may be temporary.
_DAMAGE = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_SCHEMA")


@contextmanager
def in_our_words(name: str) -> Iterator[None]:
    """Turn whatever a database or disk raises inside this block into one of our errors."""
    found: list[DiscreetError] = []
    try:
        yield
    except sa.exc.DBAPIError as error:
        found.append(_database(name, error.orig))
    except (sqlite3.Error, UnicodeDecodeError) as error:  # the latter: names that are not text
        found.append(_database(name, error))
    except sa.exc.SQLAlchemyError:
        found.append(EngineError(f"the ledger {name} cannot be used now. {_SAFE}"))
    except OSError as error:
        found.append(_disk(name, error))
    if found:
        try:
            raise found[0]
        except DiscreetError as ours:
            ours.__context__ = None  # what the database said may quote what was written
            raise


def _database(name: str, error: BaseException | None) -> DiscreetError:
    if not isinstance(error, sqlite3.Error | UnicodeDecodeError):
        state = getattr(error, "sqlstate", None)
        reason = f"failed (SQLSTATE {state})" if state else "is away, or refuses the connection"
        return EngineError(f"the database of the ledger {name} {reason}. {_SAFE}")
    code = getattr(error, "sqlite_errorname", "")
    if code and not code.startswith(_DAMAGE):
        reasons = (reason for start, reason in _SQLITE.items() if code.startswith(start))
        reason = next(reasons, f"SQLite says {code}")
        return EngineError(f"the ledger {name} cannot be used: {reason}. {_SAFE}")
    return LedgerDamaged(
        f"the ledger {name} is damaged or not a ledger: SQLite cannot read its file"
        f"{f' ({code})' if code else ''}. Restore it, and its head, from a backup that is not "
        "older than the last release"
    )


def _disk(name: str, error: OSError) -> DiscreetError:
    reason = error.strerror or "the disk failed"
    return EngineError(f"the ledger {name} cannot be used: {reason.lower()}. {_SAFE}")


# -- no connection survives a fork -----------------------------------------------------------------
# A database's locks and sockets belong to one process.
#
# SQLite remembers which locks its process holds, and a forked child inherits the memory but not the
# locks. So every store closes its connection before a fork, and opens one when it is next used.


class Connected(Protocol):
    """A store with a connection, used by one thread at a time."""

    mutex: threading.RLock

    def close(self) -> None:
        """Close the connection; the next use opens one."""
        ...


_LIVE: WeakSet[Connected] = WeakSet()
_HELD: list[Connected] = []


def close_before_fork(store: Connected) -> None:
    """Register a store, so that its connection is closed before every fork."""
    _LIVE.add(store)


def _before() -> None:
    for store in list(_LIVE):
        store.mutex.acquire()
        _HELD.append(store)
        store.close()


def _in_parent() -> None:
    while _HELD:
        _HELD.pop().mutex.release()


def _in_child() -> None:
    while _HELD:
        _HELD.pop().mutex = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_in_parent, after_in_child=_in_child)
