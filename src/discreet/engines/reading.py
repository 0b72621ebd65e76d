"""From a stored table to rows: the columns that are needed, each in its declared type."""

from __future__ import annotations

from dataclasses import replace

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.calls import real
from discreet.engines.dialects import Dialect
from discreet.engines.metadata import ARROW, IBIS, LARGEST
from discreet.engines.passes import Pass
from discreet.engines.rows import UNIT, Rows
from discreet.query.checking import as_type
from discreet.query.expressions import Typed, columns_of
from discreet.query.public import type_of
from discreet.query.request import Request
from discreet.query.schema import Schema, Type
from discreet.query.steps import Join, Mutate, Select, Where


@ibis.udf.scalar.builtin(name="timezone", signature=(("string", "timestamp('UTC')"), "timestamp"))
def _timezone(zone, moment): ...  # type: ignore[no-untyped-def]


def columns_needed(request: Request, schema: Schema) -> tuple[str, ...]:
    """The stored columns that a request reads; one at least, so that rows can be counted."""
    values = [value for _, value in request.group]
    for step in request.steps:
        match step:
            case Where(condition):
                values.append(condition)
            case Mutate(columns) | Select(columns):
                values += (value for _, value in columns)
            case Join(on=on):
                values += (value for value, _ in on)
    values += (measure.value for measure in request.measures if hasattr(measure, "value"))
    read = frozenset[str]().union(*map(columns_of, values), {request.unit or ""})
    usable = [field.name for field in schema if field.type is not Type.OTHER]
    return tuple(name for name in usable if name in read) or tuple(usable[:1])


def read_rows(
    run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema, unit: str | None
) -> Rows:
    """The source, each column in the type it was declared to have."""
    source = run.source()
    names = {name: f"c{i}" for i, name in enumerate(columns)}
    plain = {names[name]: _plain(source[name], stored[name].type, run.dialect) for name in columns}
    apart = unit is not None and not _holds(source[unit].type())
    if apart:
        plain[UNIT] = source[unit].cast("string")
    rows = Rows(source.select(**plain), names, run.dialect, bring=run.public)
    casts = {
        name: rows.value(as_type(_column(stored, name), declared[name].type))
        for name in columns
        if declared[name].type is not stored[name].type
    }
    rows = rows.with_columns(casts) if casts else rows
    domains = {rows.names[name]: declared[name].domain for name in columns}
    rows = replace(rows, domains={name: one for name, one in domains.items() if one is not None})
    if unit is None or apart:
        return rows
    person = {UNIT: rows.value(_column(declared, unit))}
    return replace(rows, table=rows.table.mutate(**person))


def canonical(table: pa.Table, *, prefix: str) -> pa.Table:
    """A public table in the types of a query, with columns of our names.

    >>> canonical(pa.table({"ward": pa.array(["A"]).dictionary_encode()}), prefix="p").schema
    p0: string
    """
    arrays = [column.cast(ARROW[type_of(column.type)]) for column in table.columns]
    return pa.table(arrays, names=[f"{prefix}{i}" for i in range(len(arrays))])


def _column(schema: Schema, name: str) -> Typed:
    return Typed("column", (), name, schema[name].type, schema[name].nullable)


def _plain(column: ir.Value, kind: Type, dialect: Dialect) -> ir.Value:
    """The column as the one Ibis type that stands for its type; never an error."""
    found, wanted = column.type(), IBIS[kind]
    if found.copy(nullable=True) == wanted:
        return column
    if isinstance(found, dt.Timestamp) and found.timezone and dialect is Dialect.POSTGRES:
        return _timezone("UTC", column)
    if isinstance(found, dt.Decimal) and dialect is Dialect.POSTGRES:
        return _of_numeric(column)
    if isinstance(found, dt.UInt64):  # those beyond 2^63 - 1 become that
        largest = ibis.literal(LARGEST, type="uint64")  # least() would take it for a missing one
        return ibis.ifelse(column > largest, largest, column).cast(wanted)
    if dialect is Dialect.DUCKDB and found.is_temporal():  # of any width; sessions are in UTC
        return column.try_cast(wanted)
    return column.cast(wanted)


def _holds(kind: dt.DataType) -> bool:
    """Is each of its values another one in the types of a query? Else two people were one there."""
    fine = isinstance(kind, dt.Timestamp) and (kind.scale or 0) > 6
    return not fine and not isinstance(kind, dt.UInt64)


def _of_numeric(column: ir.Value) -> ir.Value:
    """PostgreSQL's numeric as a double: it may be NaN, or beyond what a double holds."""
    large, small = (ibis.literal(text).cast(dt.Decimal()) for text in ("1e100", "1e-100"))
    return ibis.cases(
        (column.cast("string") == "NaN", ibis.null("float64")),
        (column > large, real(1e100)),
        (column < -large, real(-1e100)),
        (column.abs() < small, real(0.0)),
        else_=column.cast("float64"),
    )
