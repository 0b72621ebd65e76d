"""What every database of a ledger shares: its tables, one transaction, and how it is opened.

Each version of the tables only adds to the one before. A new ledger runs through all versions, an
old one through those that it lacks, in one transaction with a record that says so; existing tables
are never rewritten. A change to the form of records or answers is a new version too. Triggers keep
the tables append-only.

A `Store` is one kind of database. What it does by default is portable SQL, written by SQLAlchemy,
with the head in a table beside the journal; a member of the set says what is different.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import ClassVar, Final

import sqlalchemy as sa
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
from discreet.ledger.record import Record, Row

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
ADDED: Final = {1: (schema_table, journal_table), 2: (replies_table,), 3: (seals_table,)}


# -- one transaction -------------------------------------------------------------------------------


FROM: Final = (
    sa.select(journal_table)
    .where(journal_table.c.number >= sa.bindparam("first"))
    .order_by("number")
)
APPEND: Final = journal_table.insert()
_ONE: Final = sa.select(journal_table).where(journal_table.c.number == sa.bindparam("number"))
_TOKEN: Final = sa.select(journal_table).where(journal_table.c.token == sa.bindparam("token"))
_REPLY: Final = sa.select(replies_table.c.content).where(
    replies_table.c.charge == sa.bindparam("charge")
)
_SEAL: Final = sa.select(seals_table.c.signature).where(
    seals_table.c.number == sa.bindparam("number")
)
_AT_ONCE: Final = 10_000  # rows held in memory


class Transaction:
    """A consistent view of the journal, and the records that are added at its end."""

    newest: Final = VERSION  # the latest version that tables can be brought to

    def __init__(self, store: Store, connection: sa.Connection, head: Head) -> None:
        self._store, self._connection = store, connection
        self.head = head  # as it was before
        self.following: Head | None = None  # as it will be, if something is added

    def rows(self, first: int) -> AbstractContextManager[Iterator[Row]]:
        """The records from this number on, in order, one at a time."""
        return self._store.rows(self._connection, first)

    def row(self, number: int) -> Row | None:
        return self._connection.execute(_ONE, {"number": number}).first()

    def filed(self, token: str) -> Row | None:
        """The record of an idempotency key."""
        return self._connection.execute(_TOKEN, {"token": token}).first()

    def reply(self, charge: int) -> bytes | None:
        content: bytes | None = self._connection.execute(_REPLY, {"charge": charge}).scalar()
        return content

    def seal(self, number: int) -> str:
        """The signature of a record; nothing if it has none."""
        return str(self._connection.execute(_SEAL, {"number": number}).scalar() or "")

    def append(self, record: Record, following: Head, seal: str | None) -> None:
        """Add a record, with its signature if there is a key; ``following`` is the new head."""
        self._store.insert(self._connection, record)
        if seal is not None:
            sealed = {"number": record.number, "signature": seal}
            self._connection.execute(seals_table.insert(), sealed)
        self.following = following

    def add_reply(self, charge: int, content: bytes) -> None:
        self._connection.execute(replies_table.insert(), {"charge": charge, "content": content})

    # -- versions --------------------------------------------------------------------------------

    def version(self) -> int:
        return int(
            self._connection.execute(sa.select(sa.func.max(schema_table.c.version))).scalar() or 0
        )

    def check_version(self) -> None:
        """Refuse a ledger from a later version."""
        version = self.version()
        if version > VERSION:
            raise Refused(
                f"the ledger {self._store.name} was written by a later version of discreet (tables "
                f"of version {version}, and this one knows {VERSION})",
                remedy="update discreet to open it",
                code="unsupported",
            )

    def upgrade(self, present: int, wanted: int = VERSION) -> None:
        for version in range(present + 1, wanted + 1):
            for statement in self._store.statements(self._connection.dialect, version):
                self._connection.execute(sa.text(statement))
            self._connection.execute(schema_table.insert(), {"version": version})


# -- one kind of database --------------------------------------------------------------------------


SAFE: Final = (
    "Nothing was released. A charge that was being written may have been recorded or not; what "
    "was recorded before stands"
)


class Store(ABC):
    """A database with a journal, and the head beside it; used by one thread at a time.

    The head is a row of its own, written in the transaction of the record, so the two never differ.
    """

    #: The statements that begin a transaction: one that makes or opens the tables, one that reads
    #: head and journal as of one moment, one that keeps every other writer out until it is durable.
    opening: ClassVar[tuple[str, ...]] = ()
    to_read: ClassVar[tuple[str, ...]] = ()
    to_write: ClassVar[tuple[str, ...]]
    #: What the driver raises where it is called directly, and not by SQLAlchemy.
    raises: ClassVar[tuple[type[Exception], ...]] = ()

    name: str  #: where it is, without a password

    def __init__(self, location: str | os.PathLike[str], *, create: bool) -> None:
        self.mutex = threading.RLock()
        self._engine = self.connect(location)
        weakref.finalize(self, self._engine.dispose)
        _LIVE.add(self)
        try:
            with self.in_our_words(), self.mutex:
                self.begin(create=create)
        except BaseException:
            self.close()
            raise

    # -- what each kind says for itself ----------------------------------------------------------

    @abstractmethod
    def connect(self, location: str | os.PathLike[str]) -> sa.Engine:
        """Read the location, set ``name``, and return an engine, which connects on first use."""

    @classmethod
    @abstractmethod
    def guards(cls, version: int) -> Iterator[str]:
        """The statements that keep the tables of a version append-only, the journal in order and
        the head growing, whoever writes to them."""

    @abstractmethod
    def check_guards(self, connection: sa.Connection, version: int) -> None:
        """Refuse tables whose guards are not as ``guards`` made them: without one, a record may
        have been changed."""

    def failure(self, error: BaseException | None) -> DiscreetError:
        """What the driver raised, in our words. Its own may quote what was written."""
        state = getattr(error, "sqlstate", None)
        reason = f"failed (SQLSTATE {state})" if state else "is away, or refuses the connection"
        return EngineError(f"the database of the ledger {self.name} {reason}. {SAFE}")

    @classmethod
    def tables(cls, version: int) -> tuple[sa.Table, ...]:
        return (*ADDED[version], head_table) if version == 1 else ADDED[version]

    @contextmanager
    def rows(self, connection: sa.Connection, first: int) -> Iterator[Iterator[Row]]:
        options = {"yield_per": _AT_ONCE} if first == 1 else {}
        with connection.execute(FROM, {"first": first}, execution_options=options) as found:
            yield (row for part in found.partitions(_AT_ONCE) for row in part)

    def insert(self, connection: sa.Connection, row: Row) -> None:
        connection.execute(APPEND, dict(zip(journal_table.c.keys(), row, strict=True)))

    # -- before it is opened ---------------------------------------------------------------------

    @classmethod
    def files(cls, location: str) -> tuple[str, ...]:
        """The files of a ledger, its own first, that nothing else may overwrite; none on a server.
        A location with files has no password."""
        return ()

    @classmethod
    def is_there(cls, location: str) -> bool:
        """Is there a ledger, or what is left of one? On a server only opening it can tell."""
        return True

    @classmethod
    def is_another_file(cls, location: str) -> bool:
        """Is something there that is not a ledger, not even a damaged one?"""
        return False

    # -- transactions ----------------------------------------------------------------------------

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A read-only transaction on the journal."""
        with self.in_our_words(), self.transaction(self.to_read) as connection:
            yield Transaction(self, connection, _head(connection))

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that may add records, while nobody else writes. If it ends without an
        error, the records are durable and the head is written."""
        with self.in_our_words(), self.transaction(self.to_write) as connection:
            transaction = Transaction(self, connection, _head(connection))
            yield transaction
            if (following := transaction.following) is not None:
                values = {"number": following.number, "document": following.to_text()}
                connection.execute(head_table.update().values(values))

    def close(self) -> None:
        """Disconnect from the database; the next use connects again."""
        self._engine.dispose()

    @contextmanager
    def transaction(self, begin: tuple[str, ...]) -> Iterator[sa.Connection]:
        """One transaction, from these statements to its commit."""
        with self.mutex, self._engine.begin() as connection:
            for statement in begin:
                connection.exec_driver_sql(statement)
            yield connection

    # -- opening ---------------------------------------------------------------------------------

    def begin(self, *, create: bool) -> None:
        """Check what is there, or make it."""
        with self.transaction(self.opening) as connection:
            first, every = self.table_names(1), self.table_names(VERSION)
            there = {*sa.inspect(connection).get_table_names()} & every
            if not there and not create:
                raise self.missing("the address of a database with a ledger", "which has none")
            if not there:
                begun = Head.begun()
                Transaction(self, connection, begun).upgrade(0)
                values = {"one": 1, "number": 0, "document": begun.to_text()}
                connection.execute(head_table.insert(), values)
            elif missing := first - there:
                names = ", ".join(sorted(missing))
                raise LedgerDamaged(f"the ledger {self.name} has lost its tables {names}")
            transaction = Transaction(self, connection, _head(connection))
            self.check_guards(connection, min(transaction.version(), VERSION))
            transaction.check_version()

    def missing(self, expected: str, why: str) -> InvalidArgument:
        """The error where there is no ledger, and none is to be made."""
        return InvalidArgument(
            "ledger",
            expected,
            f"{self.name}, {why}",
            hint=Phrase(
                "pass {create=True} to start one. If there was one, restore it: starting anew "
                "would forget what was spent"
            ),
            code="not-found",
        )

    @classmethod
    def table_names(cls, version: int) -> set[str]:
        """All tables of a version."""
        return {table.name for each in range(1, version + 1) for table in cls.tables(each)}

    @classmethod
    def statements(cls, dialect: sa.Dialect, version: int) -> Iterator[str]:
        """The statements that bring a database from the version before to this one."""
        for table in cls.tables(version):
            yield str(CreateTable(table).compile(dialect=dialect)).strip()
        yield from cls.guards(version)

    # -- failures --------------------------------------------------------------------------------

    @contextmanager
    def in_our_words(self) -> Iterator[None]:
        """Turn whatever a database or disk raises inside this block into one of our errors."""
        found: list[DiscreetError] = []
        try:
            yield
        except sa.exc.DBAPIError as error:
            found.append(self.failure(error.orig))
        except self.raises as error:
            found.append(self.failure(error))
        except sa.exc.SQLAlchemyError:
            found.append(EngineError(f"the ledger {self.name} cannot be used now. {SAFE}"))
        except OSError as error:
            reason = (error.strerror or "the disk failed").lower()
            found.append(EngineError(f"the ledger {self.name} cannot be used: {reason}. {SAFE}"))
        if found:
            try:
                raise found[0]
            except DiscreetError as ours:
                ours.__context__ = None  # what the database said may quote what was written
                raise


def _head(connection: sa.Connection) -> Head:
    text = connection.execute(sa.select(head_table.c.document)).scalar()
    try:
        return Head.from_text(str(text))
    except (ValueError, KeyError, TypeError):
        pass
    raise LedgerDamaged("the head of the ledger cannot be read", remedy="restore the database")


# -- no connection survives a fork -----------------------------------------------------------------
# A database's locks and sockets belong to one process.
#
# SQLite remembers which locks its process holds, and a forked child inherits the memory but not the
# locks. So every store closes its connection before a fork, and opens one when it is next used.


_LIVE: weakref.WeakSet[Store] = weakref.WeakSet()
_HELD: list[Store] = []


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
