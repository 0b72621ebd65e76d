"""The embedded DuckDB: one in-memory database per process, one cursor per pass over a table.

A cursor is a connection of its own, with its own views, so threads do not interfere. After a fork
the child opens another database: the parent's locks and threads do not work there.

Rows that do not fit into memory go to a folder that no other user can enter. A lock in it is held
as long as its process lives, and what dead processes left is removed at the next start.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Protocol

import duckdb
import ibis
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.duckdb import Backend

from discreet.engines.engine import Dialect, Lookup
from discreet.engines.execution import can_be_shown
from discreet.errors import InvalidArgument

SOURCE: Final = "source"

_PREFIX: Final = "discreet-spill-"
_LOCK: Final = "lock"


@dataclass(frozen=True, eq=False)
class _Database:
    connection: duckdb.DuckDBPyConnection
    folder: str
    lock: int
    encrypted: bool


_database: _Database | None = None
_opening = threading.Lock()


def _after_fork() -> None:
    global _database, _opening
    _opening = threading.Lock()  # the parent may have held it
    if _database is not None:
        os.close(_database.lock)  # or else it would seem to be held after the parent's death
        # In this process, its destructor would wait for threads that are not there and remove the
        # parent's files. It never runs while somebody holds a reference.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(_database.connection))
        _database = None


os.register_at_fork(after_in_child=_after_fork)


class Stored(Protocol):
    """A table that DuckDB can read: files, or something in memory."""

    @property
    def columns(self) -> pa.Schema:
        """Names and types, from metadata."""
        ...

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Make these columns available as the view `SOURCE` of this cursor."""
        ...


def open_pass(stored: Stored, columns: Sequence[str], *, empty: bool = False) -> DuckDbPass:
    """One pass over some columns of a stored table; if `empty`, over none of its rows."""
    cursor = database().cursor()
    # Progress is known only where a bar is enabled; DuckDB's own bar must not be drawn.
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
    """The name as a quoted identifier of SQL.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def text(value: str) -> str:
    """The text as a quoted literal of SQL.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"


def database() -> duckdb.DuckDBPyConnection:
    """This process's database, opened when it is first asked for."""
    global _database
    with _opening:
        if _database is None:
            folder, lock = _spill_folder()
            encrypted = _can_spill(folder, encrypted=True)
            connection = _connected(folder, encrypted=encrypted)
            _database = _Database(connection, folder, lock, encrypted)
        elif not _answers(_database.connection):  # after an internal error it never does again
            connection = _connected(_database.folder, encrypted=_database.encrypted)
            _database = replace(_database, connection=connection)
        return _database.connection


def _connected(folder: str, *, encrypted: bool) -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(":memory:", config=_settings(folder, encrypted=encrypted))
    connection.execute("SET TimeZone = 'UTC'")
    _keep_static_optimizers(connection)
    return connection


def _answers(connection: duckdb.DuckDBPyConnection) -> bool:
    with contextlib.suppress(duckdb.Error):
        return connection.cursor().execute("SELECT 1").fetchone() == (1,)
    return False


def _keep_static_optimizers(connection: duckdb.DuckDBPyConnection) -> None:
    names = [name for (name,) in connection.sql("SELECT name FROM duckdb_optimizers()").fetchall()]
    off = ",".join(name for name in names if name not in STATIC)
    connection.execute(f"SET GLOBAL disabled_optimizers = {text(off)}")


@atexit.register
def _close() -> None:
    if _database is not None:
        _database.connection.close()
        os.close(_database.lock)
        _remove(_database.folder)


def _settings(folder: str, *, encrypted: bool) -> dict[str, Any]:
    return {
        "autoinstall_known_extensions": "false",  # no network
        "autoload_known_extensions": "false",
        "enable_external_file_cache": "false",  # files may be replaced meanwhile
        "preserve_insertion_order": "false",
        "python_enable_replacements": "false",  # no table is looked up among variables
        "temp_directory": folder,
        "temp_file_encryption": str(encrypted).lower(),
    }


def _can_spill(folder: str, *, encrypted: bool) -> bool:
    """Try to spill: DuckDB 2.0.0 accepts the setting, but then fails for lack of an extension."""
    small = {**_settings(folder, encrypted=encrypted), "memory_limit": "2MB", "threads": 1}
    with (
        contextlib.suppress(duckdb.Error),
        duckdb.connect(":memory:", config=small) as trial,
    ):
        trial.execute("CREATE TABLE filled AS SELECT hash(range) AS h FROM range(300000)")
        spilled = trial.execute("FROM duckdb_temporary_files()").fetchall()
        return bool(spilled) and trial.execute("SELECT count(h) FROM filled").fetchone() != (0,)
    return False


def _spill_folder() -> tuple[str, int]:
    """A new folder of mode 0700, and the lock in it."""
    place = os.environ.get("DISCREET_SPILL", "")
    with contextlib.suppress(OSError):
        place = os.path.abspath(place or tempfile.gettempdir())
        _remove_stale(place)
        while True:
            folder = tempfile.mkdtemp(prefix=_PREFIX, dir=place)
            lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Another process that is just starting may have taken it for a dead process's folder.
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_nlink:
                    return folder, lock
            os.close(lock)
    raise InvalidArgument.of(
        "DISCREET_SPILL",
        "a folder to write to and to lock files in, for rows that do not fit into memory",
        place,
        hint="set this variable to a folder on a local disk",
    )


def _remove_stale(place: str) -> None:
    for name in os.listdir(place):
        if name.startswith(_PREFIX):
            _remove(os.path.join(place, name))


def _remove(folder: str) -> None:
    """Remove a folder of ours unless its process is alive; leave it alone if anything is odd."""
    with contextlib.suppress(OSError), contextlib.ExitStack() as opened:
        inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        opened.callback(os.close, inside)
        if os.fstat(inside).st_uid != os.geteuid():
            return
        lock = os.open(_LOCK, os.O_RDWR | os.O_NOFOLLOW, dir_fd=inside)
        opened.callback(os.close, lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for name in os.listdir(inside):
            os.unlink(name, dir_fd=inside)
        os.rmdir(folder)


# -- one pass over a table in our DuckDB: Ibis compiles, and the connection runs -------------------


# The optimizers that may run: these look at the question alone. All others are off, and so is
# whatever a new version of DuckDB adds, since the others look at rows. Statistics of files and
# counts of rows decide which row groups a scan skips, how groups and joins are computed, and which
# side of a join is put into memory, so the time taken would reveal one person's value. (Statistics
# are not even right: they ignore NaN, and a NaN would pass for a number.)
STATIC: Final = (
    "expression_rewriter",
    "in_clause",
    "cte_inlining",
    "materialized_cte",
    "unused_columns",
    "column_lifetime",
    "common_subexpressions",
    "common_aggregate",
    "duplicate_groups",
)

_compiler = Backend()


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbPass:
    """Implements `engine.Pass`."""

    connection: duckdb.DuckDBPyConnection
    table: ir.Table
    attach: Callable[[], None]
    beside: dict[str, Lookup] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        """The dialect of DuckDB."""
        return Dialect.DUCKDB

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        return self.table

    def public(self, lookup: Lookup) -> ir.Table:
        """A table in memory, read in place."""
        name = f"public{len(self.beside)}"
        self.beside[name] = lookup
        return ibis.table(ibis.Schema.from_pyarrow(lookup.table.schema), name=name)

    def compile(self, query: ir.Table) -> str:
        """The query in SQL."""
        return str(_compiler.compile(query))

    def prepare(self) -> None:
        """Attach the tables: from here on data is touched."""
        self.attach()
        self.bring()

    def bring(self) -> None:
        """Register the public tables that were asked for so far."""
        for name, lookup in self.beside.items():
            self.connection.register(name, lookup.table)

    def matches(self, name: str) -> int:
        """Counted by DuckDB's own join."""
        return int(self.run(self.beside[name].matches(name))[0][0])

    def run(self, statement: str) -> list[Any]:
        """Rows of a small answer, if there is one."""
        return self.connection.execute(statement).fetchall()

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, all at once: streaming them would keep one thread busy."""
        yield from self.connection.sql(query).to_arrow_table().to_batches()

    def interrupt(self) -> None:
        """Stop what is running."""
        self.connection.interrupt()

    def fraction(self) -> float | None:
        """How much is done, from 0 to 1."""
        percent = self.connection.query_progress()
        return percent / 100 if percent >= 0 else None

    def close(self) -> None:
        """Close the connection, and with it its views."""
        self.connection.close()
