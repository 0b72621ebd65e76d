"""A ledger for teams: PostgreSQL, one writer at a time, each commit on disk before it counts.

To notice that a whole database was restored from an old backup, keep a certificate or the head that
`discreet ledger verify` prints elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import sqlalchemy as sa

from discreet.errors import InvalidArgument, LedgerDamaged, Refused
from discreet.ledger.stores import not_a_location
from discreet.ledger.stores.store import ADDED, Store, head_table

_CREATION = 0x64697363  # a lock of our own, so that two processes never create the tables at once
# What runs when a trigger fires; `_triggers` says which one runs where.
_FUNCTIONS = {
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


class PostgresStore(Store):
    """The tables named ``discreet_…`` of a database."""

    opening = (f"SELECT pg_advisory_xact_lock({_CREATION})",)
    to_read = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",)
    to_write = (
        "SET LOCAL synchronous_commit = on",
        "LOCK TABLE discreet_journal IN SHARE ROW EXCLUSIVE MODE",
    )

    def connect(self, location: str | os.PathLike[str]) -> sa.Engine:
        """The server at an address; its name is the user, the host and the database."""
        url = _read(str(location))
        host = url.host or url.query.get("host", "")
        self.name = f"postgresql://{url.username or ''}@{host}/{url.database or ''}"
        return sa.create_engine(
            url, pool_size=1, max_overflow=0, pool_pre_ping=True, hide_parameters=True
        )

    def begin(self, *, create: bool) -> None:
        """Check what is there, or make it; refuse a server that does not wait for its disk."""
        with self.transaction(()) as connection:
            for setting in ("fsync", "full_page_writes"):
                if connection.exec_driver_sql(f"SHOW {setting}").scalar() != "on":
                    raise Refused(
                        f"the server of the ledger {self.name} runs with {setting} = off, so that "
                        "a crash could forget what was spent",
                        remedy="switch it on",
                    )
        super().begin(create=create)

    @classmethod
    def guards(cls, version: int) -> Iterator[str]:
        if version == 1:
            for name, body in _FUNCTIONS.items():
                yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        before = _triggers(version - 1) if version > 1 else {}
        for (table, events), function in _triggers(version).items():
            if (table, events) not in before:
                each = "ROW" if "TRUNCATE" not in events else "STATEMENT"
                yield (
                    f"CREATE TRIGGER {_trigger_name(table, events)} BEFORE {events} ON {table} "
                    f"FOR EACH {each} EXECUTE FUNCTION {function}()"
                )

    def check_guards(self, connection: sa.Connection, version: int) -> None:
        """Triggers and their functions must be ours, and switched on."""
        tables = ", ".join(f"'{name}'::regclass" for name in self.table_names(version))
        select = (
            "SELECT tgrelid::regclass::text, tgname, proname, prosrc FROM pg_trigger "
            "JOIN pg_proc ON pg_proc.oid = tgfoid "
            f"WHERE tgenabled IN ('O', 'A') AND tgrelid IN ({tables})"
        )
        there = {tuple(row) for row in connection.exec_driver_sql(select)}
        for (table, events), function in _triggers(version).items():
            name = _trigger_name(table, events)
            if (table, name, function, _FUNCTIONS[function]) not in there:
                raise LedgerDamaged(
                    f"the trigger {name}, which keeps the ledger append-only, is gone, off or "
                    "changed",
                    remedy="restore the database",
                )


def _triggers(version: int) -> dict[tuple[str, str], str]:
    """The triggers of a version: (table, events) to function."""
    change, remove = "UPDATE OR DELETE OR TRUNCATE", "DELETE OR TRUNCATE"
    added = [table.name for each in range(1, version + 1) for table in ADDED[each]]
    return {
        ("discreet_journal", "INSERT"): "discreet_in_order",
        (head_table.name, "UPDATE"): "discreet_head_grows",
        (head_table.name, remove): "discreet_append_only",
    } | {(table, change): "discreet_append_only" for table in added}


def _trigger_name(table: str, events: str) -> str:
    return f"{table}_on_{events.lower().replace(' or ', '_')}"


def _read(url: str) -> sa.URL:
    try:
        read = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError):
        read = None
    if read is None:
        raise not_a_location("another address")
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
