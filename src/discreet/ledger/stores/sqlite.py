"""A ledger in a file: SQLite, in WAL mode, each commit on disk before it counts.

SQLAlchemy writes the SQL. Running it through SQLAlchemy takes five times as long as SQLite itself
needs, so the statements of every charge go straight to SQLite's driver.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import dialect

from discreet.errors import (
    DiscreetError,
    EngineError,
    InvalidArgument,
    LedgerDamaged,
    Phrase,
    Refused,
)
from discreet.ledger.head import Head, HeadFile, sync_folder
from discreet.ledger.record import Row
from discreet.ledger.stores.store import ADDED, APPEND, FROM, SAFE, VERSION, Store, Transaction

_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "cell_size_check=ON", "trusted_schema=OFF")
# Only SQLite's own tables and indexes begin with sqlite_; triggers and views are never its own.
_SHAPE = (
    "SELECT type, name, sql FROM sqlite_master "
    "WHERE type NOT IN ('table', 'index') OR substr(name, 1, 7) <> 'sqlite_'"
)
_MAGIC = b"SQLite format 3\0"
_WAIT = 60  # seconds, for other programs; our own processes wait for the head's lock
_BESIDE = ("", ".head", "-wal", "-shm", "-journal")  # after the name of the file
_REASONS = {
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


class SqliteStore(Store):
    """The database at a path, and ``path.head`` beside it.

    Writers hold the lock of the head's file from before the transaction until the head is
    written, so heads are written in the order of the records.
    """

    to_read, to_write = ("BEGIN",), ("BEGIN IMMEDIATE",)
    raises = (sqlite3.Error, UnicodeDecodeError)  # the latter: names that are not text

    def connect(self, location: str | os.PathLike[str]) -> sa.Engine:
        self.path = Path(location).resolve()  # one name, one lock
        self.name = str(self.path)
        self._wal = 0  # identifies the -wal file of this connection
        self._head = HeadFile(self.path.with_name(self.path.name + ".head"))
        self._connection: sa.Connection | None = None
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=self.name),
            poolclass=sa.StaticPool,
            connect_args={"isolation_level": None, "check_same_thread": False, "timeout": _WAIT},
        )
        sa.event.listen(engine, "connect", _prepare)
        sa.event.listen(engine, "begin", _announce)
        return engine

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction. The head is read first, so it is never ahead of the records."""
        with self.in_our_words(), self._here():
            with open(self._head.path, "rb") as file:
                head = self._head.read(file.fileno())
            with self.transaction(self.to_read) as connection:
                yield Transaction(self, connection, self._present(head))

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        with self.in_our_words(), self._here(), self._head.locked() as file:
            head = self._present(self._head.read(file))
            with self.transaction(self.to_write) as connection:
                transaction = Transaction(self, connection, head)
                yield transaction
            self._check_kept()
            if transaction.following is not None:
                self._head.write(file, transaction.following)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._wal = None, 0
        self._engine.dispose()

    @classmethod
    def files(cls, location: str) -> tuple[str, ...]:
        """The database, its head, and what SQLite keeps beside it."""
        return tuple(f"{location}{ending}" for ending in _BESIDE)

    @classmethod
    def is_there(cls, location: str) -> bool:
        """Is there such a file, or its head?"""
        return any(Path(file).exists() for file in cls.files(location)[:2])

    @classmethod
    def is_another_file(cls, location: str) -> bool:
        """Is it no database? One that has a head beside it is a damaged ledger."""
        path, head = map(Path, cls.files(location)[:2])
        return path.exists() and not head.exists() and not (path.is_file() and _is_journal(path))

    # -- statements ------------------------------------------------------------------------------

    @classmethod
    def tables(cls, version: int) -> tuple[sa.Table, ...]:
        return ADDED[version]  # the head is in a file of its own

    @classmethod
    def guards(cls, version: int) -> Iterator[str]:
        for table in ADDED[version]:
            for verb in ("update", "delete"):
                yield (
                    f"CREATE TRIGGER {table.name}_no_{verb} BEFORE {verb.upper()} ON {table.name} "
                    f"BEGIN SELECT RAISE(ABORT, '{table.name} is append-only'); END"
                )
        # INSERT OR REPLACE deletes without a delete trigger, so no existing key may be inserted
        # again.
        if version == 1:
            yield (
                "CREATE TRIGGER discreet_journal_in_order BEFORE INSERT ON discreet_journal "
                "WHEN NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM discreet_journal) "
                "OR EXISTS (SELECT 1 FROM discreet_journal WHERE token = NEW.token) "
                "BEGIN SELECT RAISE(ABORT, 'discreet_journal is written in order'); END"
            )
            return
        for table in ADDED[version]:
            key = table.primary_key.columns.keys()[0]
            yield (
                f"CREATE TRIGGER {table.name}_once BEFORE INSERT ON {table.name} "
                f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {key} = NEW.{key}) "
                f"BEGIN SELECT RAISE(ABORT, '{table.name} has it already'); END"
            )

    @contextmanager
    def rows(self, connection: sa.Connection, first: int) -> Iterator[Iterator[Row]]:
        with closing(_driver(connection).execute(_text(FROM), (first,))) as cursor:
            yield cursor

    def insert(self, connection: sa.Connection, row: Row) -> None:
        _driver(connection).execute(_text(APPEND), row)

    def failure(self, error: BaseException | None) -> DiscreetError:
        code = getattr(error, "sqlite_errorname", "")
        if code and not code.startswith(_DAMAGE):
            reasons = (reason for start, reason in _REASONS.items() if code.startswith(start))
            reason = next(reasons, f"SQLite says {code}")
            return EngineError(f"the ledger {self.name} cannot be used: {reason}. {SAFE}")
        return LedgerDamaged(
            f"the ledger {self.name} is damaged or not a ledger: SQLite cannot read its file"
            f"{f' ({code})' if code else ''}. Restore it, and its head, from a backup that is not "
            "older than the last release"
        )

    # -- opening ---------------------------------------------------------------------------------

    def _headless(self) -> LedgerDamaged:
        name, head = self.path.name, self._head.path.name
        if _is_journal(self.path):
            return LedgerDamaged(
                f"the head of the ledger, {head}, is missing: without it nobody can say whether "
                "charges are missing too",
                remedy="Restore it, or the ledger and its head",
            )
        return LedgerDamaged(
            f"{name} is not a ledger, or is damaged, and has no head, {head}. For a new ledger "
            "name another file; if this was one, restore the ledger and its head"
        )

    def begin(self, *, create: bool) -> None:
        """Check the file and its head, or make them."""
        journal, head = _is_there(self.path), self._head.path.exists()
        if self.path.is_dir():
            raise InvalidArgument(
                "ledger",
                "the path of a file",
                "that of a folder",
                hint=Phrase('name a file in it, as in {ledger="people.ledger"}'),
            )
        if journal and not head:
            raise self._headless()
        if not create and not head:
            raise self.missing("the path of a ledger", "where there is none")
        if not self.path.parent.is_dir():
            raise InvalidArgument(
                "ledger",
                "in a folder that exists",
                self.name,
                hint="make the folder first, if the path is right",
            )
        with self._head.locked(create=create) as file:
            journal = _is_there(self.path)
            present = self._head.read(file, unfinished=not journal)
            if not journal or not self._open(self._present(present)):
                self._make(file, present, create=create)
        self._file = _file(self.name)

    def _open(self, present: Head) -> bool:
        """Check the file that is there; false if its creation was never finished."""
        found = os.stat(self.path)
        if found.st_nlink > 1:
            raise Refused(
                f"the ledger {self.name} has a second name (a hard link), and SQLite would keep "
                "two journals for it",
                remedy="remove the other name",
            )
        if found.st_mode & 0o002:
            raise Refused(
                f"anyone on this machine may write to the ledger {self.name}",
                remedy=f"chmod o-w {self.path.name} first",
            )
        with self.transaction(self.to_write) as connection:
            if not present.number and not sa.inspect(connection).get_table_names():
                return False
            self.check_guards(connection, VERSION)
            Transaction(self, connection, present).check_version()
            return True

    def _make(self, file: int, present: Head | None, *, create: bool) -> None:
        """Write the head first: then a ledger without a head is never a new one, even if creation
        was cut off by a crash."""
        if present is not None and present.number:
            raise LedgerDamaged(
                f"the ledger {self.name} is gone, but its head says that it has "
                f"{present.number:,} records",
                remedy="restore it from a backup",
            )
        if not create:
            raise self.missing("the path of a ledger", "where one was begun and never finished")
        if present is None:
            present = Head.begun()
            self._head.write(file, present)
        if not self.path.exists():
            # Only if it is missing: closing a file that SQLite has open would drop its locks.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        sync_folder(self.path.parent)
        with self.transaction(self.to_write) as connection:
            Transaction(self, connection, present).upgrade(0)

    def _present(self, head: Head | None) -> Head:
        if head is None:
            raise LedgerDamaged(f"the head of the ledger, {self._head.path.name}, is empty")
        return head

    def check_guards(self, connection: sa.Connection, version: int) -> None:
        """Tables and triggers must be exactly those of a version up to this one."""
        found = frozenset(map(tuple, connection.exec_driver_sql(_SHAPE)))
        version = max((v for v in range(1, version + 1) if _schema(v) <= found), default=0)
        if version == 0:
            raise LedgerDamaged("this file has none of a ledger's tables, or not all of them")
        strange = sorted(str(item[1]) for item in found - _schema(version))
        later = connection.exec_driver_sql("SELECT max(version) FROM discreet_schema").scalar()
        if strange and int(later or 0) <= VERSION:
            names = ", ".join(strange)
            raise LedgerDamaged(
                f"the ledger's file has tables or triggers that are not its own: {names}"
            )
        if connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar() != "ok":
            raise LedgerDamaged(
                "SQLite finds the ledger's file damaged", remedy="restore it from a backup"
            )

    # -- the connection --------------------------------------------------------------------------

    def _check_kept(self) -> None:
        """Check that what was committed went into the -wal file that other processes read.

        A process that opens and closes the ledger's file itself, for example to copy it, loses
        SQLite's locks on it, and then another process may delete the -wal file that is in use.
        """
        found = _file(f"{self.name}-wal")
        if found != self._wal or not found or _file(self.name) != self._file:
            self.close()
            raise EngineError(
                f"a file of the ledger {self.name} was deleted or replaced while it was open, so "
                "the charge may be lost; nothing was released. Do not copy, move or delete a "
                "ledger's files while a session has it open"
            )

    @contextmanager
    def _here(self) -> Iterator[None]:
        """Let one thread in at a time, and only if the file is still the one that was opened."""
        with self.mutex:
            if _file(self.name) != self._file or not _file(self._head.name):
                raise LedgerDamaged(
                    f"the ledger {self.name} or its head was moved, deleted or replaced while it "
                    "was open: what is charged now would be lost",
                    remedy="Put it back, and open it again",
                )
            yield

    @contextmanager
    def transaction(self, begin: tuple[str, ...]) -> Iterator[sa.Connection]:
        if self._connection is None:
            self._connection = self._engine.connect()
        connection = self._connection
        connection.info["begin"] = begin
        try:
            with connection.begin():
                yield connection
                self._wal = self._wal or _file(f"{self.name}-wal")
        except sa.exc.DBAPIError as error:
            if error.connection_invalidated:
                self.close()
            raise


def _file(path: str) -> int:
    """The inode of the file with this name; 0 if there is none."""
    try:
        return os.stat(path).st_ino
    except FileNotFoundError:
        return 0


def _is_there(path: Path) -> bool:
    return path.exists() and path.stat().st_size > 0


def _is_journal(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def _prepare(connection: Any, _: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _announce(connection: sa.Connection) -> None:
    for statement in connection.info["begin"]:
        _driver(connection).execute(statement)


def _driver(connection: sa.Connection) -> Any:
    return connection.connection.dbapi_connection


@cache
def _text(statement: sa.Select[Any] | sa.Insert) -> str:
    """A statement as SQLite's driver takes it, with question marks."""
    return str(statement.compile(dialect=dialect()))


@cache
def _schema(version: int) -> frozenset[tuple[str, str, str]]:
    """What the tables of a version look like to SQLite."""
    with closing(sqlite3.connect(":memory:")) as memory:
        for each in range(1, version + 1):
            for statement in SqliteStore.statements(dialect(), each):
                memory.execute(statement)
        return frozenset(map(tuple, memory.execute(_SHAPE)))
