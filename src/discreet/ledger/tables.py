"""The tables of a ledger, version by version, and the triggers that keep them append-only.

A version is what it adds to the one before. A new ledger runs through all of them, an old one
through those that it lacks, in one transaction with a record that says so; what is there is never
rewritten. A change of what records or answers look like is a new version too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import sqlalchemy as sa
from sqlalchemy.schema import CreateTable

_METADATA: Final = sa.MetaData()

# One row a version that this ledger has been brought to.
schema: Final = sa.Table(
    "discreet_schema",
    _METADATA,
    sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
)
# The record is `body` and `detail`; the body holds the hash of the record before, and `hash` is
# that of this one. What the sums need is in the body, what explains them in the detail.
journal: Final = sa.Table(
    "discreet_journal",
    _METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("token", sa.Text, unique=True),  # of an idempotency key
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("detail", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
)
# What was released for a charge. The journal has its digest.
replies: Final = sa.Table(
    "discreet_replies",
    _METADATA,
    sa.Column("charge", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("content", sa.LargeBinary, nullable=False),
)
# In a ledger with a key: the signature of each record, since the journal may be ahead of its head.
seals: Final = sa.Table(
    "discreet_seals",
    _METADATA,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("signature", sa.Text, nullable=False),
)
# The head where it cannot lie beside the database: one row, whose number only grows.
head: Final = sa.Table(
    "discreet_head",
    _METADATA,
    sa.Column("one", sa.Integer, sa.CheckConstraint("one = 1"), primary_key=True),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
)

VERSION: Final = 3
_ADDED: Final = {1: (schema, journal), 2: (replies,), 3: (seals,)}

# What PostgreSQL runs where a trigger fires, and where that is.
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


def names(version: int) -> list[str]:
    """The tables of a version."""
    return [table.name for v, added in _ADDED.items() if v <= version for table in added]


def statements(dialect: sa.Dialect, version: int) -> Iterator[str]:
    """What brings a database from the version before to this one."""
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
    # INSERT OR REPLACE deletes without a delete trigger, so nothing that is there may come again.
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
    """What keeps PostgreSQL's tables append-only up to a version: (table, event), function."""
    change, remove = "UPDATE OR DELETE OR TRUNCATE", "DELETE OR TRUNCATE"
    kept = {
        ("discreet_journal", "INSERT"): "discreet_in_order",
        ("discreet_head", "UPDATE"): "discreet_head_grows",
        ("discreet_head", remove): "discreet_append_only",
    }
    return kept | {(table, change): "discreet_append_only" for table in names(version)}


def trigger_name(table: str, events: str) -> str:
    """What a trigger of PostgreSQL's is called."""
    return f"{table}_on_{events.lower().replace(' or ', '_')}"


def _postgresql_triggers(dialect: sa.Dialect, version: int) -> Iterator[str]:
    if version == 1:
        for name, body in FUNCTIONS.items():
            yield f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $${body}$$"
        yield str(CreateTable(head).compile(dialect=dialect))
    before = triggers(version - 1) if version > 1 else {}
    for (table, events), function in triggers(version).items():
        if (table, events) not in before:
            each = "ROW" if "TRUNCATE" not in events else "STATEMENT"
            yield (
                f"CREATE TRIGGER {trigger_name(table, events)} BEFORE {events} ON {table} "
                f"FOR EACH {each} EXECUTE FUNCTION {function}()"
            )
