"""Public lists of values, read against the column they belong to."""

from __future__ import annotations

from typing import Any

from discreet.errors import InvalidArgument
from discreet.query.aggregates.aggregate import ColumnLike
from discreet.query.checking import as_type, literal_type
from discreet.query.expressions import Typed
from discreet.query.keys import KEY_TYPES
from discreet.query.public import arrow_type
from discreet.query.row import plain
from discreet.query.schema import Type


def read_listed(
    value: Typed, listed: tuple[Any, ...], *, name: str
) -> tuple[Typed, tuple[Any, ...]]:
    """The values, checked to be distinct and of the column's type; a raw cell takes theirs."""
    values = tuple(plain(one) for one in listed)
    kinds = {literal_type(one) for one in values}
    if len(kinds) != 1 or not kinds <= set(KEY_TYPES):
        raise InvalidArgument(
            name=name,
            expected="a list of booleans, integers, texts or dates, all of one type",
            given=" and ".join(sorted(map(str, kinds))) or "an empty list",
            hint="list what can occur: it may not be taken from the data",
        )
    if len(set(values)) != len(values):
        raise InvalidArgument(name=name, expected="distinct", given="a list with a value twice")
    (kind,) = kinds
    value = as_type(value, kind) if value.type is Type.RAW else value
    if value.type is not kind:
        raise InvalidArgument(
            name=name, expected=f"of the column's type, {value.type}", given=str(kind)
        )
    return value, values


def listed_array(value: ColumnLike | Typed, listed: tuple[Any, ...]) -> Any:
    """The values as an Arrow array of the column's type."""
    import pyarrow as pa

    assert isinstance(value, Typed)
    return pa.array(listed, arrow_type(value.type))
