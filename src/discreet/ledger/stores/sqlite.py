"""A ledger in a file: SQLite, in WAL mode, each commit on disk before it counts."""

from __future__ import annotations

import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import dialect

from discreet.errors import EngineError, InvalidArgument, LedgerDamaged, Phrase, Refused
from discreet.ledger.head import Head, HeadFile, sync_folder
from discreet.ledger.record import START
from discreet.ledger.stores.store import (
    VERSION,
    Transaction,
    check_version,
    close_before_fork,
    in_our_words,
    no_ledger,
    statements,
)

_PRAGMAS = ("journal_mode=WAL", "synchronous=FULL", "cell_size_check=ON", "trusted_schema=OFF")
# Only SQLite's own tables and indexes begin with sqlite_; triggers and views are never its own.
_SHAPE = (
    "SELECT type, name, sql FROM sqlite_master "
    "WHERE type NOT IN ('table', 'index') OR substr(name, 1, 7) <> 'sqlite_'"
)
_MAGIC = b"SQLite format 3\0"
_WAIT = 60  # seconds, for other programs; our own processes wait for the head's lock


class SqliteStore:
    """The database at a path, and ``path.head`` beside it.

    Writers hold the lock of the head's file from before the transaction until the head is
    written, so heads are written in the order of the records.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self.name = str(path)
        self.mutex = threading.RLock()
        self._wal = 0  # identifies the -wal file of this connection
        self._head = HeadFile(path.with_name(path.name + ".head"))
        self._connection: sa.Connection | None = None
        self._engine = self._connect()
        weakref.finalize(self, self._engine.dispose)
        close_before_fork(self)
        try:
            with in_our_words(self.name), self.mutex:
                self._begin(create=create)
                self._file = _file(self.name)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction. The head is read first, so it is never ahead of the records."""
        with in_our_words(self.name), self._here():
            with open(self._head.path, "rb") as file:
                head = self._head.read(file.fileno())
            with self._transaction("BEGIN") as connection:
                yield Transaction(connection, self._present(head))

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that may add records, while nobody else writes."""
        with in_our_words(self.name), self._here(), self._head.locked() as file:
            head = self._present(self._head.read(file))
            with self._transaction("BEGIN IMMEDIATE") as connection:
                transaction = Transaction(connection, head)
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

    # -- opening ---------------------------------------------------------------------------------

    def _headless(self) -> LedgerDamaged:
        with open(self.path, "rb") as file:
            is_journal = file.read(len(_MAGIC)) == _MAGIC
        name, head = self.path.name, self._head.path.name
        if is_journal:
            return LedgerDamaged(
                f"the head of the ledger, {head}, is missing: without it nobody can say whether "
                "charges are missing too",
                remedy="Restore it, or the ledger and its head",
            )
        return LedgerDamaged(
            f"{name} is not a ledger, or is damaged, and has no head, {head}. For a new ledger "
            "name another file; if this was one, restore the ledger and its head"
        )

    def _begin(self, *, create: bool) -> None:
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
            raise self._none("there is none")
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
            if journal and self._open(self._present(present)):
                return
            if present is not None and present.number:
                raise LedgerDamaged(
                    f"the ledger {self.name} is gone, but its head says that it has "
                    f"{present.number:,} records",
                    remedy="restore it from a backup",
                )
            if not create:
                raise self._none("one was begun and never finished")
            self._create(file, present)

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
        with self._transaction("BEGIN IMMEDIATE") as connection:
            if not present.number and not sa.inspect(connection).get_table_names():
                return False
            _check_tables(connection)
            check_version(Transaction(connection, present), self.name)
            return True

    def _create(self, file: int, present: Head | None) -> None:
        """Write the head first: then a ledger without a head is never a new one, even if creation
        was cut off by a crash."""
        if present is None:
            present = Head(os.urandom(16).hex(), 0, START)
            self._head.write(file, present)
        if not self.path.exists():
            # Only if it is missing: closing a file that SQLite has open would drop its locks.
            os.close(os.open(self.path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600))
        sync_folder(self.path.parent)
        with self._transaction("BEGIN IMMEDIATE") as connection:
            Transaction(connection, present).upgrade(0)

    def _none(self, why: str) -> InvalidArgument:
        return no_ledger("the path of a ledger", f"{self.name}, where {why}")

    def _present(self, head: Head | None) -> Head:
        if head is None:
            raise LedgerDamaged(f"the head of the ledger, {self._head.path.name}, is empty")
        return head

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

    def _connect(self) -> sa.Engine:
        engine = sa.create_engine(
            sa.URL.create("sqlite", database=str(self.path)),
            poolclass=sa.StaticPool,
            connect_args={"isolation_level": None, "check_same_thread": False, "timeout": _WAIT},
        )
        sa.event.listen(engine, "connect", _prepare)
        sa.event.listen(engine, "begin", _announce)
        return engine

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
    def _transaction(self, begin: str) -> Iterator[sa.Connection]:
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


def _prepare(connection: Any, _: object) -> None:
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _announce(connection: sa.Connection) -> None:
    driver: Any = connection.connection.dbapi_connection
    driver.execute(connection.info["begin"])


def _check_tables(connection: sa.Connection) -> None:
    """Tables and triggers must be exactly ours: without one, a record may have been changed."""
    found = frozenset(map(tuple, connection.exec_driver_sql(_SHAPE)))
    version = max((v for v in range(1, VERSION + 1) if _schema(v) <= found), default=0)
    if version == 0:
        raise LedgerDamaged("this file has none of a ledger's tables, or not all of them")
    strange = sorted(str(item[1]) for item in found - _schema(version))
    later = connection.exec_driver_sql("SELECT max(version) FROM discreet_schema").scalar()
    if strange and int(later or 0) <= VERSION:
        raise LedgerDamaged(
            f"the ledger's file has tables or triggers that are not its own: {', '.join(strange)}"
        )
    found_flaws = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar()
    if found_flaws != "ok":
        raise LedgerDamaged(
            "SQLite finds the ledger's file damaged", remedy="restore it from a backup"
        )


@cache
def _schema(version: int) -> frozenset[tuple[str, str, str]]:
    """What the tables of a version look like to SQLite."""
    with closing(sqlite3.connect(":memory:")) as memory:
        for each in range(1, version + 1):
            for statement in statements(dialect(), each):
                memory.execute(statement)
        return frozenset(map(tuple, memory.execute(_SHAPE)))
