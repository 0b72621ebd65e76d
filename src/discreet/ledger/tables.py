"""The tables of a ledger, version by version, and the triggers that keep them append-only.

A version is what it adds to the one before. A new ledger runs through all of them, an old one
through those that it lacks, in one transaction; what is there is never rewritten.
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
# The head where it cannot lie beside the database: one row, whose number only grows.
head: Final = sa.Table(
    "discreet_head",
    _METADATA,
    sa.Column("one", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("document", sa.Text, nullable=False),
)

VERSION: Final = 2
_ADDED: Final = {1: (schema, journal), 2: (replies,)}


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
        yield from _postgresql_triggers(version)


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
    if version == 2:
        yield (
            "CREATE TRIGGER discreet_replies_once BEFORE INSERT ON discreet_replies "
            "WHEN EXISTS (SELECT 1 FROM discreet_replies WHERE charge = NEW.charge) "
            "BEGIN SELECT RAISE(ABORT, 'a charge has one reply'); END"
        )


def _postgresql_triggers(version: int) -> Iterator[str]:
    if version == 1:
        yield (
            "CREATE FUNCTION discreet_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION '% is append-only', TG_TABLE_NAME; END $$"
        )
        yield (
            "CREATE FUNCTION discreet_in_order() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF NEW.number <> (SELECT coalesce(max(number), 0) + 1 FROM discreet_journal) THEN "
            "RAISE EXCEPTION 'discreet_journal is written in order'; END IF; RETURN NEW; END $$"
        )
        yield (
            "CREATE TRIGGER discreet_journal_in_order BEFORE INSERT ON discreet_journal "
            "FOR EACH ROW EXECUTE FUNCTION discreet_in_order()"
        )
        yield str(CreateTable(head).compile(dialect=sa.dialects.registry.load("postgresql")()))
        yield (
            "CREATE FUNCTION discreet_head_grows() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "IF NEW.number <= OLD.number THEN RAISE EXCEPTION 'the head only grows'; END IF; "
            "RETURN NEW; END $$"
        )
        yield (
            "CREATE TRIGGER discreet_head_grows BEFORE UPDATE ON discreet_head "
            "FOR EACH ROW EXECUTE FUNCTION discreet_head_grows()"
        )
        yield (
            "CREATE TRIGGER discreet_head_no_delete BEFORE DELETE OR TRUNCATE ON discreet_head "
            "FOR EACH STATEMENT EXECUTE FUNCTION discreet_append_only()"
        )
    for table in _ADDED[version]:
        yield (
            f"CREATE TRIGGER {table.name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE "
            f"ON {table.name} FOR EACH STATEMENT EXECUTE FUNCTION discreet_append_only()"
        )
