"""What all engines share: their dialects, one pass over a table, and the types of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, Protocol

import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from discreet.errors import InvalidArgument
from discreet.query.public import arrow_type, type_of
from discreet.query.schema import Field, Schema, Type

if TYPE_CHECKING:
    import ibis


# -- dialects of SQL -------------------------------------------------------------------------------


class Dialect(Enum):
    """An engine by the name of its Ibis backend."""

    DUCKDB = "duckdb"
    SPARK = "pyspark"
    POSTGRES = "postgres"
    OTHER = "other"  # portable expressions only


# -- one pass over a table, wherever it lives ------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Lookup:
    """A public table in memory: `keys` names the columns that rows are matched by."""

    table: pa.Table
    keys: tuple[str, ...]

    def matches(self, name: str) -> str:
        """SQL that counts the pairs of rows with equal keys, for a table of this name."""
        return f"SELECT count(*) FROM {name} AS a JOIN {name} AS b USING ({', '.join(self.keys)})"


class Pass(Protocol):
    """One pass over a table. Building and compiling touch no data; `prepare` and `batches` do."""

    @property
    def dialect(self) -> Dialect:
        """Which SQL the engine understands."""
        ...

    @property
    def beside(self) -> Mapping[str, Lookup]:
        """The public tables that were asked for, by their names in the engine."""
        ...

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        ...

    def public(self, lookup: Lookup) -> ir.Table:
        """A public table, made available next to the source."""
        ...

    def compile(self, query: ir.Table) -> Any:
        """The query in the form that `batches` takes."""
        ...

    def prepare(self) -> None:
        """Make the tables ready to be read."""
        ...

    def matches(self, name: str) -> int:
        """How many rows a public table has when it is joined with itself: as many as before, if
        the engine holds all of its keys to be distinct."""
        ...

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, as they come."""
        ...

    def interrupt(self) -> None:
        """Stop what is running."""
        ...

    def fraction(self) -> float | None:
        """How much is done, from 0 to 1, where that is known."""
        ...

    def close(self) -> None:
        """Release what the pass holds."""
        ...


# -- the types of columns, as files and engines declare them ---------------------------------------
# No row is looked at.


LARGEST: Final = 2**63 - 1
# NaN, and a date outside the years 1 to 9999, is missing even where nothing may be null.
_MISSING: Final = (Type.REAL, Type.DATE, Type.TIMESTAMP)

# What each type is inside a query: every engine computes with these and no others.
IBIS: Final[dict[Type, dt.DataType]] = {
    Type.BOOLEAN: dt.boolean,
    Type.INTEGER: dt.int64,
    Type.REAL: dt.float64,
    Type.TEXT: dt.string,
    Type.RAW: dt.string,
    Type.DATE: dt.date,
    Type.TIMESTAMP: dt.timestamp,
}
ARROW: Final = {kind: arrow_type(kind) for kind in IBIS}


def ibis_type(kind: dt.DataType) -> Type:
    """The type of an Ibis column.

    >>> ibis_type(dt.Decimal(10, 2)), ibis_type(dt.json)
    (<Type.REAL: 'real'>, <Type.OTHER: 'other'>)
    """
    rules = (
        (dt.Boolean, Type.BOOLEAN),
        (dt.Integer, Type.INTEGER),
        (dt.Floating, Type.REAL),
        (dt.Decimal, Type.REAL),
        (dt.Timestamp, Type.TIMESTAMP),
        (dt.Date, Type.DATE),
    )
    if type(kind) is dt.String:  # JSON is a kind of it
        return Type.TEXT
    return next((found for rule, found in rules if isinstance(kind, rule)), Type.OTHER)


def arrow_schema(schema: pa.Schema) -> Schema:
    """Names and types of an Arrow schema."""
    return _checked(
        Field(field.name, kind := _read_as(field.type), field.nullable or kind in _MISSING)
        for field in schema
    )


def _read_as(kind: pa.DataType) -> Type:
    """Its type; timestamps with a zone in units other than microseconds can make DuckDB fail."""
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return Type.OTHER if zoned and kind.unit != "us" else type_of(kind)


def ibis_schema(schema: ibis.Schema) -> Schema:
    """Names and types of an Ibis schema."""
    return _checked(
        Field(name, found := ibis_type(kind), kind.nullable or found in _MISSING)
        for name, kind in schema.items()
    )


def _checked(fields: Iterable[Field]) -> Schema:
    """Refuse two names that differ only in case, which engines ignore."""
    schema = Schema(tuple(fields))
    seen: set[str] = set()
    for name in schema.names:
        if name.casefold() in seen:
            raise InvalidArgument(
                "source",
                "a table whose columns differ in more than small and capital letters",
                f'two columns called "{name}"',
                hint="rename one of them",
            )
        seen.add(name.casefold())
    return schema
