"""Public tables: what the owner of the data says is public, held in memory as Arrow tables."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import one_line
from discreet.numeric import canonical
from discreet.query.schema import Type

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class PublicTable:
    """A table declared public with ``dp.public``: keys to list, or columns to look up."""

    table: pa.Table  # decoded
    given: object  # what the caller passed, to be compared with the table of people
    files: tuple[tuple[int, int], ...] = ()  # device and inode

    def __repr__(self) -> str:
        rows, names = self.table.num_rows, ", ".join(self.table.column_names)
        return one_line(f"PublicTable({rows:,} row{'s' * (rows != 1)}; {names})")


def arrow_type(kind: Type) -> pa.DataType:
    """The one Arrow type that stands for a type."""
    import pyarrow as pa

    return {
        Type.BOOLEAN: pa.bool_(),
        Type.INTEGER: pa.int64(),
        Type.REAL: pa.float64(),
        Type.DATE: pa.date32(),
        Type.TIMESTAMP: pa.timestamp("us"),
    }.get(kind, pa.string())


def type_of(kind: Any) -> Type:
    """The type of an Arrow column, however it is encoded.

    >>> import pyarrow as pa
    >>> type_of(pa.int32()), type_of(pa.dictionary(pa.int8(), pa.string()))
    (<Type.INTEGER: 'integer'>, <Type.TEXT: 'text'>)
    """
    import pyarrow as pa
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
    if at.is_dictionary(kind) or at.is_run_end_encoded(kind):
        return type_of(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return type_of(kind.storage_type)
    return next((found for test, found in tests if test(kind)), Type.OTHER)


def decoded(table: pa.Table) -> pa.Table:
    """The table with every cell written out in full, so that equal cells are equal values.

    >>> import pyarrow as pa
    >>> twice = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", "a"]))
    >>> decoded(pa.table({"ward": twice}))["ward"].to_pylist()
    ['a', 'a']
    """
    import pyarrow as pa

    plain = pa.table([_decoded(column) for column in table.columns], names=table.column_names)
    return copied(plain)


def copied(table: pa.Table) -> pa.Table:
    """A copy in memory of its own: what the caller does to a frame later has no effect on it."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(sink.getvalue()).read_all()


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as at

    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        stored = [chunk.storage for chunk in column.chunks]
        return _decoded(pa.chunked_array(stored, kind.storage_type))
    if at.is_run_end_encoded(kind):
        plain = [pc.run_end_decode(chunk) for chunk in column.chunks]
        return _decoded(pa.chunked_array(plain, kind.value_type))
    if at.is_dictionary(kind):
        return _decoded(column.cast(kind.value_type))
    if at.is_string_view(kind) or at.is_large_string(kind):
        return column.cast(pa.string())
    if at.is_date64(kind):  # in milliseconds, while engines see days
        return column.cast(pa.timestamp("ms")).cast(pa.date32())
    return column


# -- the digest of a public table ------------------------------------------------------------------
# SHA-256 of what it holds, however it is stored.
#
# Two tables have equal digests exactly when they have the same columns, in order, of the same
# types, with the same cells. How they are cut into chunks, how wide their integers are and which
# program wrote them does not matter. The bytes that are hashed are
#
#     {"columns":[{"name":"ward","type":"text"},…],"rows":3}          canonical JSON, then a newline
#
# and then for each column, in order, one byte per row (1, or 0 where the cell is missing) and
#
#     boolean               1 byte per row, 0 or 1
#     integer               8 bytes per row, two's complement
#     real                  8 bytes per row, IEEE 754; −0 as 0, every NaN as 0x7ff8000000000000
#     date                  8 bytes per row, days since 1970-01-01
#     text, anything else   8 bytes per row, the length of its UTF-8; then all of that UTF-8
#
# all little-endian, with 0 or empty text where the cell is missing. Integers beyond 64 bits are
# written as text, in decimal digits.


_NAN = np.uint64(0x7FF8000000000000)


def table_digest(table: pa.Table) -> str:
    """The digest of an Arrow table, in hexadecimal.

    >>> import pyarrow as pa
    >>> one = pa.table({"ward": ["A", "B", "C"], "n": [3, 1, 4]})
    >>> other = pa.concat_tables([one.slice(0, 1), one.slice(1)])
    >>> table_digest(one) == table_digest(other), table_digest(one)[:16]
    (True, 'cc356036f6af8d1b')
    """
    header = {"columns": columns_of(table), "rows": int(table.num_rows)}
    digest = hashlib.sha256(f"{canonical.text(header)}\n".encode())
    for column in table.columns:
        for piece in _bytes(column):
            digest.update(piece)
    return digest.hexdigest()


def columns_of(table: pa.Table) -> list[dict[str, str]]:
    """Names and types of the columns, as they are hashed."""
    return [{"name": field.name, "type": cell_type(field.type)} for field in table.schema]


def cell_type(kind: Any) -> str:
    """What cells of an Arrow type are hashed as: one of our types, or else its name in Arrow."""
    import pyarrow.types as at

    found = type_of(kind)
    if at.is_decimal(kind):
        return "integer" if kind.scale == 0 else str(kind)
    if found in (Type.TIMESTAMP, Type.OTHER):
        return str(kind)
    return str(found)


def _bytes(column: Any) -> list[bytes]:
    """One byte per row for whether the cell is present, and then the cells."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as at

    kind = column.type
    if at.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    if at.is_decimal(kind) and kind.scale == 0:
        with suppress(pa.ArrowInvalid):  # those that fit 64 bits are hashed as integers
            column, kind = column.cast(pa.int64()), pa.int64()
    present = np.asarray(pc.is_valid(column), np.uint8).tobytes()
    if at.is_boolean(kind):
        return [present, np.asarray(pc.fill_null(column, False), np.uint8).tobytes()]
    if at.is_integer(kind):
        with suppress(pa.ArrowInvalid):  # beyond 64 bits with a sign they are hashed as text
            return [present, _numbers(pc.fill_null(column, 0).cast(pa.int64()), "<i8")]
        column = pa.chunked_array([[None if x is None else str(x) for x in column.to_pylist()]])
        return [present, *_texts(column)]
    if at.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        return [present, _numbers(pc.fill_null(days, 0), "<i8")]
    if at.is_floating(kind):
        return [present, _reals(pc.fill_null(column.cast(pa.float64()), 0.0))]
    if type_of(kind) is not Type.TEXT:
        column = pa.chunked_array([[None if x is None else str(x) for x in column.to_pylist()]])
    return [present, *_texts(column)]


def _numbers(column: Any, form: str) -> bytes:
    return np.asarray(column).astype(form, copy=False).tobytes()


def _reals(column: Any) -> bytes:
    values = np.asarray(column).astype("<f8") + 0.0  # −0 + 0 is 0
    bits = values.view("<u8")
    return np.where(np.isnan(values), _NAN, bits).astype("<u8", copy=False).tobytes()


def _texts(column: Any) -> list[bytes]:
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.fill_null(column.cast(pa.large_string()), "")
    lengths = _numbers(pc.binary_length(filled), "<i8")
    return [lengths, *(_joined(chunk) for chunk in filled.chunks if len(chunk))]


def _joined(chunk: Any) -> bytes:
    """The cells of a chunk one after another, without a copy of each."""
    _, ends, data = chunk.buffers()
    offsets = np.frombuffer(ends, np.int64)[chunk.offset : chunk.offset + len(chunk) + 1]
    return b"" if data is None else bytes(memoryview(data)[offsets[0] : offsets[-1]])
