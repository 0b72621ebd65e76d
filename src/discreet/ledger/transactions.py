"""What is read and written in one transaction, the same on every database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import cache
from typing import Any, Final, Protocol

import sqlalchemy as sa
from sqlalchemy.dialects.sqlite import dialect

from discreet.errors import Refused
from discreet.ledger.head import Head
from discreet.ledger.records import Record
from discreet.ledger.tables import VERSION, journal, replies, schema, seals, statements

Row = tuple[int, str | None, str, str, str]

_FROM: Final = (
    sa.select(journal).where(journal.c.number >= sa.bindparam("first")).order_by("number")
)
_ONE: Final = sa.select(journal).where(journal.c.number == sa.bindparam("number"))
_TOKEN: Final = sa.select(journal).where(journal.c.token == sa.bindparam("token"))
_REPLY: Final = sa.select(replies.c.content).where(replies.c.charge == sa.bindparam("charge"))
_SEAL: Final = sa.select(seals.c.signature).where(seals.c.number == sa.bindparam("number"))
_APPEND: Final = journal.insert()
_ADD_SEAL: Final = seals.insert()
_AT_ONCE: Final = 10_000  # rows held in memory


@cache
def _text(statement: sa.Select[Any] | sa.Insert) -> str:
    """A statement as SQLite's driver takes it, with question marks."""
    return str(statement.compile(dialect=dialect()))


class Transaction:
    """A look at the journal that nothing changes midway, and what is added at its end.

    SQLAlchemy writes the SQL. To run it on SQLite takes it five times as long as SQLite itself,
    so what every charge does goes there through the driver.
    """

    newest: Final = VERSION  # that tables can be brought to

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
        """Add a record, with its signature if there is a key, after which the head is this."""
        if self._driver is not None:
            self._driver.execute(_text(_APPEND), record.row)
        else:
            names = journal.c.keys()
            self._connection.execute(_APPEND, dict(zip(names, record.row, strict=True)))
        if seal is not None:
            sealed = {"number": record.number, "signature": seal}
            self._connection.execute(_ADD_SEAL, sealed)
        self.following = following

    def add_reply(self, charge: int, content: bytes) -> None:
        """Add what was released."""
        self._connection.execute(replies.insert(), {"charge": charge, "content": content})

    # -- versions --------------------------------------------------------------------------------

    def version(self) -> int:
        """The version that the tables have."""
        return int(self._connection.execute(sa.select(sa.func.max(schema.c.version))).scalar() or 0)

    def upgrade(self, present: int, wanted: int = VERSION) -> None:
        """Bring the tables to a later version."""
        for version in range(present + 1, wanted + 1):
            for statement in statements(self._connection.dialect, version):
                self._connection.execute(sa.text(statement))
            self._connection.execute(schema.insert(), {"version": version})


def check_version(transaction: Transaction, name: str) -> None:
    """Refuse a ledger from a later version."""
    version = transaction.version()
    if version > VERSION:
        raise Refused(
            f"the ledger {name} was written by a later version of discreet (tables of version "
            f"{version}, and this one knows {VERSION}): update discreet to open it"
        )


class Store(Protocol):
    """A database with a journal, and the head beside it."""

    @property
    def name(self) -> str:
        """Where it is, without a password."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """A look at the journal."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """The same, while nobody else writes; what was added is durable, and the head written,
        when it ends without an error."""
        ...

    def close(self) -> None:
        """Let go of the database."""
        ...
