"""A ledger for teams: PostgreSQL, one writer at a time, each commit on disk before it counts.

The head is a row of its own, which a trigger lets only grow; it is written in the transaction of
the record, so the two never differ. To notice that a whole database was restored from an old
backup, keep a certificate or the head that `discreet ledger verify` prints elsewhere.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from discreet.errors import InvalidArgument, LedgerDamaged, Refused
from discreet.ledger.head import Head
from discreet.ledger.record import START
from discreet.ledger.stores.store import (
    FUNCTIONS,
    VERSION,
    Transaction,
    check_version,
    close_before_fork,
    head_table,
    in_our_words,
    no_ledger,
    table_names,
    trigger_name,
    triggers,
)

_CREATION = 0x64697363  # a lock of our own, so that two processes never create the tables at once


class PostgresStore:
    """The tables named ``discreet_…`` of a database."""

    def __init__(self, url: str, *, create: bool) -> None:
        self._url = _read(url)
        self.mutex = threading.RLock()
        self._engine = sa.create_engine(
            self._url, pool_size=1, max_overflow=0, pool_pre_ping=True, hide_parameters=True
        )
        weakref.finalize(self, self._engine.dispose)
        close_before_fork(self)
        try:
            with in_our_words(self.name):
                self._begin(create=create)
        except BaseException:
            self.close()
            raise

    @property
    def name(self) -> str:
        """Where it is, without a password: the user, the host and the database."""
        host = self._url.host or self._url.query.get("host", "")
        return f"postgresql://{self._url.username or ''}@{host}/{self._url.database or ''}"

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction on the journal."""
        with in_our_words(self.name), self._transaction() as connection:
            # Head and journal as of one moment.
            connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            yield Transaction(connection, _head(connection))

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that may add records, while nobody else writes."""
        with in_our_words(self.name), self._transaction() as connection:
            connection.exec_driver_sql("SET LOCAL synchronous_commit = on")
            connection.exec_driver_sql("LOCK TABLE discreet_journal IN SHARE ROW EXCLUSIVE MODE")
            transaction = Transaction(connection, _head(connection))
            yield transaction
            if transaction.following is not None:
                following = transaction.following
                values = {"number": following.number, "document": following.to_text()}
                connection.execute(head_table.update().values(values))

    def close(self) -> None:
        """Disconnect from the database; the next use connects again."""
        self._engine.dispose()

    # -- opening ---------------------------------------------------------------------------------

    def _begin(self, *, create: bool) -> None:
        with self._transaction() as connection:
            for setting in ("fsync", "full_page_writes"):
                if connection.exec_driver_sql(f"SHOW {setting}").scalar() != "on":
                    raise Refused(
                        f"the server of the ledger {self.name} runs with {setting} = off, so that "
                        "a crash could forget what was spent",
                        remedy="switch it on",
                    )
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_CREATION})")
            there = {*sa.inspect(connection).get_table_names()} & {
                *table_names(VERSION),
                head_table.name,
            }
            if not there:
                self._create(connection, create=create)
            elif not {*table_names(1), head_table.name} <= there:
                missing = ", ".join(sorted({*table_names(1), head_table.name} - there))
                raise LedgerDamaged(f"the ledger {self.name} has lost its tables {missing}")
            transaction = Transaction(connection, _head(connection))
            _check_triggers(connection, transaction.version())
            check_version(transaction, self.name)

    def _create(self, connection: sa.Connection, *, create: bool) -> None:
        if not create:
            given = f"{self.name}, which has none"
            raise no_ledger("the address of a database with a ledger", given)
        begun = Head(os.urandom(16).hex(), 0, START)
        Transaction(connection, begun).upgrade(0)
        values = {"one": 1, "number": 0, "document": begun.to_text()}
        connection.execute(head_table.insert(), values)

    @contextmanager
    def _transaction(self) -> Iterator[sa.Connection]:
        with self.mutex, self._engine.begin() as connection:
            yield connection


def _head(connection: sa.Connection) -> Head:
    text = connection.execute(sa.select(head_table.c.document)).scalar()
    try:
        return Head.from_text(str(text))
    except (ValueError, KeyError, TypeError):
        pass
    raise LedgerDamaged("the head of the ledger cannot be read", remedy="restore the database")


def _check_triggers(connection: sa.Connection, version: int) -> None:
    """Triggers and their functions must be ours: without one, a record may have been changed."""
    select = (
        "SELECT tgrelid::regclass::text, tgname, proname, prosrc FROM pg_trigger "
        "JOIN pg_proc ON pg_proc.oid = tgfoid WHERE tgenabled IN ('O', 'A') AND tgrelid IN ("
        + ", ".join(
            f"'{name}'::regclass" for name in (*table_names(min(version, VERSION)), head_table.name)
        )
        + ")"
    )
    there = {tuple(row) for row in connection.exec_driver_sql(select)}
    for (table, events), function in triggers(min(version, VERSION)).items():
        name = trigger_name(table, events)
        if (table, name, function, FUNCTIONS[function]) not in there:
            raise LedgerDamaged(
                f"the trigger {name}, which keeps the ledger append-only, is gone, off or changed",
                remedy="restore the database",
            )


def _read(url: str) -> sa.URL:
    try:
        read = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        read = None
    if read is None or not read.drivername.startswith("postgres"):
        raise InvalidArgument(
            "ledger",
            "a path, or an address such as postgresql://user@host/database",
            "another address",
        )
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise InvalidArgument(
            "ledger",
            "a path where the driver of PostgreSQL is not installed",
            "the address of a PostgreSQL",
            hint="pip install 'discreet[postgres]'",
            code="not-installed",
        ) from None
    return read.set(drivername="postgresql+psycopg")
