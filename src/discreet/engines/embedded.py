"""The embedded DuckDB: one in-memory database a process, one cursor a pass over a table.

A cursor is a connection of its own, with views of its own, so threads do not meet. After a fork
the child opens another database: the parent's locks and threads do not work there.
"""

from __future__ import annotations

import os
import tempfile
import threading
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import duckdb
import ibis
import pyarrow as pa

from discreet.engines.duckdb_pass import STATIC, DuckDbPass
from discreet.engines.progress import can_be_shown

SOURCE: Final = "source"

_databases: dict[int, duckdb.DuckDBPyConnection] = {}
_opening = threading.Lock()


def _after_fork() -> None:
    global _opening
    _opening = threading.Lock()  # the parent may have held it


os.register_at_fork(after_in_child=_after_fork)


class Stored(Protocol):
    """A table that DuckDB can read: files, or something in memory."""

    @property
    def columns(self) -> pa.Schema:
        """Names and types, from metadata."""
        ...

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Make these columns of it the view `SOURCE` of this cursor."""
        ...


def open_pass(stored: Stored, columns: Sequence[str], *, empty: bool = False) -> DuckDbPass:
    """One pass over some columns of a stored table, or over none of its rows if `empty`."""
    cursor = _database().cursor()
    # Progress is known only where a bar is enabled; DuckDB's own may not be drawn.
    cursor.execute("SET enable_progress_bar_print = false")
    cursor.execute(f"SET enable_progress_bar = {str(can_be_shown()).lower()}")
    kinds = pa.schema([stored.columns.field(name) for name in columns])

    def attach() -> None:
        if empty:
            cursor.register(SOURCE, kinds.empty_table())
        else:
            stored.attach(cursor, columns)

    schema = ibis.Schema.from_pyarrow(kinds)
    return DuckDbPass(cursor, ibis.table(schema, name=SOURCE), attach)


def quoted(name: str) -> str:
    """An identifier.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """A literal.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def _database() -> duckdb.DuckDBPyConnection:
    with _opening:
        if os.getpid() not in _databases:
            spill = Path(tempfile.gettempdir(), f"discreet-{uuid.uuid4().hex}")
            settings: dict[str, Any] = {
                "autoinstall_known_extensions": "false",  # no network
                "autoload_known_extensions": "false",
                "preserve_insertion_order": "false",
                "python_enable_replacements": "false",  # no table is looked up among variables
                "temp_directory": str(spill),
            }
            database = duckdb.connect(":memory:", config=settings)
            database.execute("SET TimeZone = 'UTC'")
            _keep_static_optimizers(database)
            _databases[os.getpid()] = database
        return _databases[os.getpid()]


def _keep_static_optimizers(database: duckdb.DuckDBPyConnection) -> None:
    names = [name for (name,) in database.sql("SELECT name FROM duckdb_optimizers()").fetchall()]
    off = ",".join(name for name in names if name not in STATIC)
    database.execute(f"SET GLOBAL disabled_optimizers = {text(off)}")
