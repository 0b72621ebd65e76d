"""Joins with public tables: many rows here to one there, so nobody's rows multiply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from discreet.errors import InvalidArgument
from discreet.query.checking import as_type, typed
from discreet.query.expressions import Typed, column, columns_of
from discreet.query.keys import KEY_TYPES
from discreet.query.public import PublicTable, type_of
from discreet.query.schema import Field, Schema, Type
from discreet.query.steps import Join, Mutate, Select, Step

#: Operations whose results many people share.
_COARSE: Final = frozenset(
    [
        *("length", "year", "month", "day", "weekday", "hour", "startswith", "endswith"),
        *("contains", "is_in", "is_null", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not"),
    ]
)
_SHORT: Final = 3  # characters of an id, which many share


def public_join(
    schema: Schema,
    public: PublicTable,
    on: str | Sequence[str] | Mapping[str, str],
    suffix: str,
    *,
    unit: str | None,
    steps: tuple[Step, ...],
) -> tuple[Join, Schema]:
    """The step, and the schema after it; `steps` come before."""
    pairs, table = _pairs(on), public.table
    for here in pairs:
        if unit is not None and _is_unit(here, unit, steps):
            raise InvalidArgument(
                name="on",
                expected="columns that say nothing of whose row it is: a table by person is about "
                "people, and not public",
                given=f'"{here}", which is the unit',
                hint="join the two tables before dp.table, whose unit then protects both",
            )
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
    return Join(table, tuple(values), tuple(added), public), schema


def joined_in_words(join: Join) -> str:
    """What a join looks up, in words."""
    on = ", ".join(sorted({name for value, _ in join.on for name in columns_of(value)}))
    added = ", ".join(name for name, _ in join.added)
    if not added:
        return f"rows are matched by {on} with another table"
    return f"{added}: looked up by {on} in another table"


def _is_unit(name: str, unit: str, steps: tuple[Step, ...]) -> bool:
    """Is the column the unit, under this or another name, or a mere spelling of it?"""
    for i in reversed(range(len(steps))):
        step = steps[i]
        if isinstance(step, Mutate | Select) and name in (made := dict(step.columns)):
            return _spells_unit(made[name], unit, steps[:i])
        if isinstance(step, Join) and name in dict(step.added):
            return False
    return name == unit


def _spells_unit(value: Typed, unit: str, steps: tuple[Step, ...]) -> bool:
    if value.op == "column":
        return _is_unit(str(value.value), unit, steps)
    if value.op in _COARSE or _is_coarse(value):
        return False
    return any(_spells_unit(arg, unit, steps) for arg in value.args)


def _is_coarse(value: Typed) -> bool:
    match value.op:
        case "floordiv":
            divisor = value.args[1].value
            return isinstance(divisor, float) and abs(divisor) >= 2
        case "substring":
            return cast(tuple[int, int], value.value)[1] <= _SHORT
    return False


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
