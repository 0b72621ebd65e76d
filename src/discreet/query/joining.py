"""Joins with public tables: many rows here to one there, so nobody's rows multiply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.errors import InvalidArgument
from discreet.query.checking import as_type, typed
from discreet.query.expressions import column
from discreet.query.keys import KEY_TYPES
from discreet.query.public import type_of
from discreet.query.schema import Field, Schema, Type
from discreet.query.steps import Join


def public_join(
    schema: Schema,
    table: Any,
    on: str | Sequence[str] | Mapping[str, str],
    suffix: str,
    *,
    unit: str | None,
) -> tuple[Join, Schema]:
    """The step, and the schema after it."""
    pairs = _pairs(on)
    for there in pairs.values():
        if there not in table.column_names:
            raise InvalidArgument(
                name="on",
                expected=f"columns of the public table: {', '.join(table.column_names[:20])}",
                given=f'"{there}"',
                hint=f'if it has another name there, as in on={{"{there}": "name"}}',
            )
    keys = list(pairs.values())
    table = table.select([*keys, *(name for name in table.column_names if name not in keys)])
    _check_distinct(table, keys)
    values = []
    for here, there in pairs.items():
        kind = type_of(table.schema.field(there).type)
        if kind not in KEY_TYPES:
            raise InvalidArgument(
                name="on", expected="columns of booleans, integers, text or dates", given=str(kind)
            )
        value = typed(column(schema.field(here, argument="on").name), schema)
        value = as_type(value, kind) if value.type is Type.RAW else value
        if value.type is not kind:
            raise InvalidArgument(
                name=f'on "{here}"',
                expected=f"of the type it has in the public table, {kind}",
                given=str(value.type),
                hint=f'cast it first, as in mutate({here}=lambda row: row.{here}.cast("{kind}"))',
            )
        values.append((value, there))
    added = []
    for name in table.column_names[len(keys) :]:
        new = f"{name}{suffix}"
        if new in schema or new == unit:
            raise InvalidArgument(
                name="join",
                expected=f'a public table without a column "{new}", which is here already',
                given="one with it",
                hint='say suffix="_public", or drop the column from the public table',
            )
        added.append((new, name))
        schema = schema.with_field(Field(new, type_of(table.schema.field(name).type)))
    return Join(table, tuple(values), tuple(added)), schema


def _pairs(on: str | Sequence[str] | Mapping[str, str]) -> dict[str, str]:
    if isinstance(on, str):
        return {on: on}
    if isinstance(on, Mapping) and on:
        return dict(on)
    if not isinstance(on, Sequence) or not on:
        raise InvalidArgument(
            name="on",
            expected="a column, a list of columns, or a dict of names here and there",
            given=InvalidArgument.describe_data(on),
        )
    return {name: name for name in on}


def _check_distinct(table: Any, keys: list[str]) -> None:
    distinct = table.group_by(keys).aggregate([]).num_rows
    if distinct != table.num_rows or any(table[key].null_count for key in keys):
        raise InvalidArgument(
            name="join",
            expected="a public table with each key once, none missing",
            given="one with a key twice or missing",
            hint="a second row would count people twice: keep one row for each key",
        )
