"""Tables in memory: Arrow, pandas, Polars, records; rows are read only when they are measured."""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.types as at

from discreet.engines.duckdb import SOURCE, quoted
from discreet.engines.engine import ibis_type
from discreet.errors import InvalidArgument
from discreet.query.schema import Type

if TYPE_CHECKING:
    import duckdb

BATCH: Final = 122_880  # rows
# A connection of DuckDB must not be used by several threads at once, and there is no way to ask
# which one a relation has. So what lives on the caller's connections is copied one at a time.
_copying = threading.Lock()
_UNKNOWN: Final = pa.null()  # the type of a column that no expression can use


@dataclass(frozen=True, eq=False, repr=False)
class ArrowTable:
    """An Arrow table or dataset."""

    table: Any

    @property
    def columns(self) -> pa.Schema:
        """Its schema."""
        schema = self.table.schema.remove_metadata()
        return unzoned(schema) if isinstance(self.table, pa.Table) else schema

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Register it without a copy."""
        if isinstance(self.table, pa.Table):
            _register(cursor, self.table.select(list(columns)))
        else:  # DuckDB reads only the columns it needs from a dataset
            cursor.register(SOURCE, self.table)


@dataclass(frozen=True, eq=False, repr=False)
class PandasFrame:
    """A pandas frame, whose index is not a column. Columns of objects are read as text."""

    frame: Any

    @property
    def columns(self) -> pa.Schema:
        """Names and types, from the dtypes."""
        frame = self.frame
        if any(not isinstance(name, str) for name in frame.columns):
            raise InvalidArgument(
                "source",
                "a frame whose columns are named by text",
                "names of another type",
                hint="say frame.columns = frame.columns.map(str), or frame.reset_index()",
            )
        names = list(frame.columns)
        kinds = [_pandas_type(frame.iloc[:, i]) for i in range(len(names))]
        return unzoned(pa.schema(list(zip(names, kinds, strict=True))))

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Convert these columns to Arrow."""
        arrays = [_pandas_column(self.frame[name]) for name in columns]
        _register(cursor, pa.table(arrays, names=list(columns)))


@dataclass(frozen=True, eq=False, repr=False)
class PolarsFrame:
    """A Polars frame, lazy or not; a lazy one is collected at each pass."""

    frame: Any

    @property
    def columns(self) -> pa.Schema:
        """Names and types, from its schema."""
        fields = [
            pa.field(name, _polars_type(kind)) for name, kind in self.frame.collect_schema().items()
        ]
        return unzoned(pa.schema(fields))

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Convert only these columns to Arrow."""
        _register(cursor, self.frame.lazy().select(list(columns)).collect().to_arrow())


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbRelation:
    """A relation of the caller's own DuckDB connection, copied into ours for each pass."""

    relation: Any

    @cached_property
    def columns(self) -> pa.Schema:
        """Names and types, as the relation states them."""
        with _copying:
            return self.relation.limit(0).to_arrow_table().schema

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Copy from a stream, which can be read only once, into a table."""
        with _copying:
            _copy(self.relation.project(", ".join(map(quoted, columns))), cursor)


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbTable:
    """An Ibis table in a DuckDB of the caller, copied into ours for each pass.

    In ours the settings are known, and text has no collation, which could give a row two keys.
    """

    table: ir.Table

    @property
    def columns(self) -> pa.Schema:
        """Names and types, as Ibis states them."""
        kinds = {
            name: kind if ibis_type(kind) is not Type.OTHER else dt.null
            for name, kind in self.table.schema().items()
        }
        return ibis.schema(kinds).to_pyarrow()

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Copy it as a relation is copied."""
        backend: Any = self.table.get_backend()
        with _copying:
            query = str(backend.compile(self.table.select(list(columns))))
            _copy(backend.con.sql(query), cursor)


@dataclass(frozen=True, eq=False, repr=False)
class Records:
    """A list of dicts whose columns are declared; cells are read as text and then cast."""

    records: Sequence[Mapping[str, Any]]
    names: tuple[str, ...]

    @property
    def columns(self) -> pa.Schema:
        """Text, whatever the cells are."""
        return pa.schema([(name, pa.string()) for name in self.names])

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Convert one column at a time."""
        arrays = [as_text(record.get(name) for record in self.records) for name in columns]
        cursor.register(SOURCE, pa.table(arrays, names=list(columns)))


def _copy(relation: Any, cursor: duckdb.DuckDBPyConnection) -> None:
    cursor.register("incoming", relation.to_arrow_reader(BATCH))
    cursor.execute(f"CREATE OR REPLACE TEMP TABLE {SOURCE} AS FROM incoming")
    cursor.unregister("incoming")


def unzoned(schema: pa.Schema) -> pa.Schema:
    """The schema with timestamps without a zone: DuckDB fails on distant ones that have a zone."""
    kinds = [pa.timestamp(k.unit) if at.is_timestamp(k) and k.tz else k for k in schema.types]
    # A column in memory may hold missing cells even if its schema says that it has none.
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


def _register(cursor: duckdb.DuckDBPyConnection, table: pa.Table) -> None:
    cursor.register(SOURCE, table.cast(unzoned(table.schema)))  # most columns are not copied


def as_text(cells: Iterable[Any]) -> pa.Array:
    """Objects as text: numbers, dates and truth values in their usual form, others missing.

    >>> as_text(["a", 7, True, None, float("nan"), [1], datetime.date(2026, 1, 31)]).to_pylist()
    ['a', '7', 'true', None, None, None, '2026-01-31']
    """
    texts = [cell if type(cell) is str else _text(cell) for cell in cells]
    # Half of a surrogate pair, which UTF-8 cannot encode, is written as an escape.
    encoded = [None if text is None else text.encode("utf-8", "backslashreplace") for text in texts]
    return pa.array(encoded, pa.binary()).cast(pa.string())


def _text(cell: Any) -> str | None:
    if isinstance(cell, str):
        return str.__str__(cell)
    if type(cell).__module__ == "numpy" and getattr(cell, "ndim", 1) == 0:
        cell = cell.item()
    match cell:
        case bool():
            return "true" if cell else "false"
        case int():
            return str(cell) if cell.bit_length() <= 512 else None
        case float():
            return repr(cell) if cell == cell else None
        case Decimal() if cell.is_finite() and abs(cell.adjusted()) <= 150:
            return _text(int(cell)) if cell == cell.to_integral_value() else f"{cell.normalize():f}"
        case Fraction():
            with contextlib.suppress(ArithmeticError):  # too large
                return _text(float(cell))
        case datetime.date() if cell == cell:  # also timestamps, except pandas' NaT
            return cell.isoformat()
    return None


def _pandas_type(column: Any) -> pa.DataType:
    if hasattr(column, "cat"):
        return _pandas_type(column.cat.categories[:0].to_series())
    if _is_text(column.dtype):
        return pa.string()
    try:
        return pa.array(column.iloc[:0], from_pandas=True).type
    except (pa.ArrowException, TypeError, ValueError):
        return _UNKNOWN


def _pandas_column(column: Any) -> pa.Array:
    if hasattr(column, "cat"):
        codes = column.cat.codes.to_numpy()
        values = _pandas_column(column.cat.categories.to_series())
        return values.take(pa.array(codes, mask=codes < 0))
    if _is_text(column.dtype):
        return as_text(column.astype(object).tolist())
    return pa.array(column, from_pandas=True)


def _is_text(dtype: Any) -> bool:
    return str(dtype) in ("object", "str", "string")


def _polars_type(kind: Any) -> pa.DataType:
    import polars as pl

    try:
        found = pl.Series([], dtype=kind).to_arrow().type
    except Exception:  # whatever Polars raises, the column cannot be used
        return _UNKNOWN
    return pa.string() if at.is_dictionary(found) else found
