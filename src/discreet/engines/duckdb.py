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
import math
import os
import tempfile
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, cast

import duckdb
import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.duckdb import Backend

from discreet.engines.aggregation import CompiledQuery
from discreet.engines.cell_table import CellTable
from discreet.engines.engine import (
    Engine,
    Lookup,
    Pass,
    Stored,
    arrow_schema,
    call,
    ends,
    floor,
    ibis_type,
    quoted,
    real,
    signed,
)
from discreet.engines.execution import Turn, can_be_shown
from discreet.engines.row_sampling import BySorting
from discreet.errors import InvalidArgument
from discreet.query.measures import Grid
from discreet.query.request import Request
from discreet.query.schema import Field, Schema, Type

SOURCE: Final = "source"
_compiler = Backend()

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
    names = [name for (name,) in connection.sql("SELECT name FROM duckdb_optimizers()").fetchall()]
    off = ",".join(name for name in names if name not in STATIC)
    connection.execute(f"SET GLOBAL disabled_optimizers = {text(off)}")
    return connection


def _answers(connection: duckdb.DuckDBPyConnection) -> bool:
    with contextlib.suppress(duckdb.Error):
        return connection.cursor().execute("SELECT 1").fetchone() == (1,)
    return False


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
    with contextlib.suppress(duckdb.Error), duckdb.connect(":memory:", config=small) as trial:
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


# -- the engine ------------------------------------------------------------------------------------


_EXACT: Final = 2.0**51  # halves of integers up to this size are doubles, and sums of two of them


class DuckDb(Engine):
    """DuckDB, embedded: it reads, joins and hashes, and arrays decide which rows are kept."""

    name = "duckdb"
    title = "DuckDB"
    repeats = True
    part = Engine.substring

    def frame(self, source: Any) -> tuple[Stored, str] | None:
        if type(source).__name__ == "DuckDBPyRelation":
            return DuckDbRelation(source), "a DuckDB relation"
        return None

    def stored(self, table: ir.Table) -> Stored:
        return DuckDbTable(table)

    def query(self, request: Request, run: Pass, cells: CellTable) -> CompiledQuery:
        """By sorting where people are bounded, since a window costs five times as much."""
        if request.bound is None:
            return super().query(request, run, cells)
        return BySorting.build(request, cast(DuckDbPass, run), cells)

    def plain(self, column: ir.Value, wanted: dt.DataType) -> ir.Value:
        if column.type().is_temporal():  # of any width; sessions are in UTC
            return column.try_cast(wanted)
        return super().plain(column, wanted)

    def is_number(self, x: ir.Value) -> ir.Value:
        # The smallest and largest values stored in a Parquet file ignore NaN, and DuckDB would
        # decide a comparison by them; it does not decide isfinite that way.
        return call("isfinite", dt.boolean, x) | x.isinf()

    def truncated(self, x: ir.Value) -> ir.Value:
        return call("trunc", dt.float64, x).cast("int64")

    def trimmed(self, text: ir.Value) -> ir.Value:
        return call("trim", dt.string, text, ibis.literal(" "))

    def written(self, day: ir.Value) -> ir.Value:
        return day.cast("string")

    def on_grid(self, x: ir.Value, grid: Grid) -> ir.Value:
        # Whatever is far outside becomes one of the ends, and a NaN becomes null.
        lower, upper = ends(grid)
        far = math.ldexp(_EXACT, -grid.exponent)
        near = ibis.cases(
            (x.abs() <= real(far), x),
            (x < real(0.0), real(lower)),
            (self.is_number(x), real(upper)),
            else_=ibis.null("float64"),
        )
        steps = floor(self.scaled(near, grid.exponent) + real(0.5))
        # min(max(v, lower), upper) = (|v − lower| − |v − upper| + lower + upper)/2, which is exact
        # here and takes DuckDB half as long as two comparisons.
        both = (steps - real(grid.lower)).abs() - (steps - real(grid.upper)).abs()
        return ((both + real(grid.lower + grid.upper - 2 * grid.centre)) * real(0.5)).cast("int64")

    def total(self, value: ir.Value, *, wide: bool) -> list[ir.Scalar]:
        """Integers of 64 bits are added in 128."""
        return [value.sum()]

    def hashed(self, salt: int, columns: Sequence[ir.Value]) -> ir.Value:
        """Columns are combined by exclusive or, under which one of three keys comes first half of
        the time; hashing once more fixes that."""
        return call("hash", dt.uint64, call("hash", dt.uint64, signed(salt), *columns))


# -- tables that it reads, and one pass over them --------------------------------------------------


class Embedded(Stored):
    """A table that our DuckDB reads: files, or something in memory."""

    engine = DuckDb()
    is_text: ClassVar[bool] = False  #: cells are read as text, and take the type they are used as

    @property
    @abstractmethod
    def columns(self) -> pa.Schema:
        """Names and types, from metadata."""

    @abstractmethod
    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Make these columns available as the view `SOURCE` of this cursor."""

    @property
    def schema(self) -> Schema:
        schema = arrow_schema(self.columns)
        return Schema(tuple(Field(f.name, Type.RAW) for f in schema)) if self.is_text else schema

    def check(self) -> None:
        database()

    def open(self, columns: Sequence[str], *, empty: bool = False) -> DuckDbPass:
        cursor = database().cursor()
        # Progress is known only where a bar is enabled; DuckDB's own bar must not be drawn.
        cursor.execute("SET enable_progress_bar_print = false")
        cursor.execute(f"SET enable_progress_bar = {str(can_be_shown()).lower()}")
        kinds = pa.schema([self.columns.field(name) for name in columns])

        def attach() -> None:
            if empty:
                cursor.register(SOURCE, kinds.empty_table())
            else:
                self.attach(cursor, columns)

        table = ibis.table(ibis.Schema.from_pyarrow(kinds), name=SOURCE)
        return DuckDbPass(self.engine, table, _compiler, Turn(cursor), cursor, attach)


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbPass(Pass):
    """One pass over a table in our DuckDB: Ibis compiles, and the connection runs."""

    connection: duckdb.DuckDBPyConnection
    attach: Callable[[], None]

    def public(self, lookup: Lookup) -> ir.Table:
        return self.named(lookup, f"public{len(self.beside)}")  # the same for equal questions

    def compile(self, query: ir.Table) -> str:
        return str(self.backend.compile(query))

    def prepare(self) -> None:
        """Attach the tables: from here on data is touched."""
        self.attach()
        self.bring()

    def bring(self) -> None:
        """Register the public tables that were asked for so far."""
        for name, lookup in self.beside.items():
            self.connection.register(name, lookup.table)

    def matches(self, name: str) -> int:
        return int(self.run(self.beside[name].matches(name))[0][0])

    def run(self, statement: str) -> list[Any]:
        """Rows of a small answer, if there is one."""
        return self.connection.execute(statement).fetchall()

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """All at once: streaming them would keep one thread busy."""
        yield from self.connection.sql(query).to_arrow_table().to_batches()

    def interrupt(self) -> None:
        self.connection.interrupt()

    def fraction(self) -> float | None:
        percent = self.connection.query_progress()
        return percent / 100 if percent >= 0 else None

    def close(self) -> None:
        """Close the connection, and with it its views."""
        self.connection.close()


# -- what lives on the caller's own connections ----------------------------------------------------


# A connection of DuckDB must not be used by several threads at once, and there is no way to ask
# which one a relation has. So what lives on the caller's connections is copied one at a time.
_copying = threading.Lock()
BATCH: Final = 122_880  # rows


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbRelation(Embedded):
    """A relation of the caller's own DuckDB connection, copied into ours for each pass."""

    relation: Any

    @cached_property
    def columns(self) -> pa.Schema:
        with _copying:
            return self.relation.limit(0).to_arrow_table().schema

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Copy from a stream, which can be read only once, into a table."""
        with _copying:
            _copy(self.relation.project(", ".join(map(quoted, columns))), cursor)


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbTable(Embedded):
    """An Ibis table in a DuckDB of the caller, copied into ours for each pass.

    In ours the settings are known, and text has no collation, which could give a row two keys.
    """

    table: ir.Table

    @property
    def columns(self) -> pa.Schema:
        kinds = {
            name: kind if ibis_type(kind) is not Type.OTHER else dt.null
            for name, kind in self.table.schema().items()
        }
        return ibis.schema(kinds).to_pyarrow()

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        backend: Any = self.table.get_backend()
        with _copying:
            query = str(backend.compile(self.table.select(list(columns))))
            _copy(backend.con.sql(query), cursor)


def _copy(relation: Any, cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.register("incoming", relation.to_arrow_reader(BATCH))
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE {SOURCE} AS FROM incoming")
    cursor.unregister("incoming")
