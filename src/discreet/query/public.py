"""The types of public tables, which are held in memory as Arrow tables."""

from __future__ import annotations

from typing import Any

from discreet.query.schema import Type


def type_of(kind: Any) -> Type:
    """The type of an Arrow column.

    >>> import pyarrow as pa
    >>> type_of(pa.int32()), type_of(pa.string())
    (<Type.INTEGER: 'integer'>, <Type.TEXT: 'text'>)
    """
    import pyarrow.types as at

    tests = (
        (at.is_boolean, Type.BOOLEAN),
        (at.is_integer, Type.INTEGER),
        (at.is_floating, Type.REAL),
        (at.is_decimal, Type.REAL),
        (at.is_string, Type.TEXT),
        (at.is_large_string, Type.TEXT),
        (at.is_string_view, Type.TEXT),
        (at.is_date, Type.DATE),
        (at.is_timestamp, Type.TIMESTAMP),
    )
    if at.is_dictionary(kind):
        return type_of(kind.value_type)
    return next((found for test, found in tests if test(kind)), Type.OTHER)
