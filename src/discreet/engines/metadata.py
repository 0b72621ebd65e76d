"""The types of columns, as files and engines declare them; no row is looked at."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

import ibis.expr.datatypes as dt
import pyarrow as pa

from discreet.errors import InvalidArgument
from discreet.query.public import arrow_type, type_of
from discreet.query.schema import Field, Schema, Type

if TYPE_CHECKING:
    import ibis

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
    """Its type; moments with a zone in other units than microseconds can stop DuckDB."""
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return Type.OTHER if zoned and kind.unit != "us" else type_of(kind)


def ibis_schema(schema: ibis.Schema) -> Schema:
    """Names and types of an Ibis schema."""
    return _checked(
        Field(name, found := ibis_type(kind), kind.nullable or found in _MISSING)
        for name, kind in schema.items()
    )


def _checked(fields: Iterable[Field]) -> Schema:
    """Engines fold case, so two names may not differ in that alone."""
    schema = Schema(tuple(fields))
    seen: set[str] = set()
    for name in schema.names:
        if name.casefold() in seen:
            raise InvalidArgument(
                name="source",
                expected="a table whose columns differ in more than small and capital letters",
                given=f'two columns called "{name}"',
                hint="rename one of them",
            )
        seen.add(name.casefold())
    return schema
