"""Tables in memory: Arrow, pandas, Polars, records; rows are read only when they are measured."""

from __future__ import annotations

import contextlib
import datetime
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.types as at

from discreet.engines.duckdb import SOURCE, Embedded
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import duckdb

_UNKNOWN: Final = pa.null()  # the type of a column that no expression can use


class InMemory(Embedded):
    """Something in memory, which becomes an Arrow table."""

    @abstractmethod
    def arrow(self, columns: Sequence[str]) -> Any:
        """These columns, or a dataset from which DuckDB reads only what it needs."""

    def attach(self, cursor: duckdb.DuckDBPyConnection, columns: Sequence[str]) -> None:
        """Register it; most columns are not copied."""
        table = self.arrow(columns)
        is_table = isinstance(table, pa.Table)
        cursor.register(SOURCE, table.cast(unzoned(table.schema)) if is_table else table)


@dataclass(frozen=True, eq=False, repr=False)
class ArrowTable(InMemory):
    """An Arrow table or dataset."""

    table: Any

    @property
    def columns(self) -> pa.Schema:
        schema = self.table.schema.remove_metadata()
        return unzoned(schema) if isinstance(self.table, pa.Table) else schema

    def files(self) -> Sequence[str]:
        return tuple(getattr(self.table, "files", ()))  # a dataset has files, a table none

    def arrow(self, columns: Sequence[str]) -> Any:
        return self.table.select(list(columns)) if isinstance(self.table, pa.Table) else self.table


@dataclass(frozen=True, eq=False, repr=False)
class PandasFrame(InMemory):
    """A pandas frame, whose index is not a column. Columns of objects are read as text."""

    frame: Any

    @property
    def columns(self) -> pa.Schema:
        names = list(self.frame.columns)
        if any(not isinstance(name, str) for name in names):
            raise InvalidArgument(
                "source",
                "a frame whose columns are named by text",
                "names of another type",
                hint="say frame.columns = frame.columns.map(str), or frame.reset_index()",
            )
        kinds = [_pandas_type(self.frame.iloc[:, i]) for i in range(len(names))]
        return unzoned(pa.schema(list(zip(names, kinds, strict=True))))

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        arrays = [_pandas_column(self.frame[name]) for name in columns]
        return pa.table(arrays, names=list(columns))


@dataclass(frozen=True, eq=False, repr=False)
class PolarsFrame(InMemory):
    """A Polars frame, lazy or not; a lazy one is collected at each pass."""

    frame: Any

    @property
    def columns(self) -> pa.Schema:
        kinds = self.frame.collect_schema()
        return unzoned(pa.schema([(name, _polars_type(kind)) for name, kind in kinds.items()]))

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        return self.frame.lazy().select(list(columns)).collect().to_arrow()


@dataclass(frozen=True, eq=False, repr=False)
class Records(InMemory):
    """A list of dicts whose columns are declared; cells are read as text and then cast."""

    records: Sequence[Mapping[str, Any]]
    names: tuple[str, ...]
    is_text = True

    @property
    def columns(self) -> pa.Schema:
        return pa.schema([(name, pa.string()) for name in self.names])

    def arrow(self, columns: Sequence[str]) -> pa.Table:
        arrays = [as_text(record.get(name) for record in self.records) for name in columns]
        return pa.table(arrays, names=list(columns))


def unzoned(schema: pa.Schema) -> pa.Schema:
    """The schema with timestamps without a zone: DuckDB fails on distant ones that have a zone."""
    kinds = [pa.timestamp(k.unit) if at.is_timestamp(k) and k.tz else k for k in schema.types]
    # A column in memory may hold missing cells even if its schema says that it has none.
    return pa.schema(list(zip(schema.names, kinds, strict=True)))


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
