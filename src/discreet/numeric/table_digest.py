"""The digest of a table: SHA-256 of what it holds, however it is stored.

Two tables have equal digests exactly when they have the same columns, in order, of the same
types, with the same cells. How they are cut into chunks, how wide their integers are and which
program wrote them does not matter. The bytes that are hashed are

    {"columns":[{"name":"ward","type":"text"},…],"rows":3}          canonical JSON, then a newline

and then for each column, in order, one byte per row (1, or 0 where the cell is missing) and

    boolean               1 byte per row, 0 or 1
    integer               8 bytes per row, two's complement
    real                  8 bytes per row, IEEE 754; −0 as 0, every NaN as 0x7ff8000000000000
    date                  8 bytes per row, days since 1970-01-01
    text, anything else   8 bytes per row, the length of its UTF-8; then all of that UTF-8

all little-endian, with 0 or empty text where the cell is missing. Integers beyond 64 bits are
written as text, in decimal digits.
"""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.numeric import canonical

if TYPE_CHECKING:
    import pyarrow as pa

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

    if at.is_decimal(kind):
        return "integer" if kind.scale == 0 else str(kind)
    found = arrow_kind(kind)
    return str(kind) if found in ("timestamp", "other") else found


def arrow_kind(kind: Any) -> str:
    """The name of our type for an Arrow type, however it is encoded."""
    import pyarrow as pa
    import pyarrow.types as at

    tests = (
        (at.is_boolean, "boolean"),
        (at.is_integer, "integer"),
        (at.is_floating, "real"),
        (at.is_decimal, "real"),
        (at.is_string, "text"),
        (at.is_large_string, "text"),
        (at.is_string_view, "text"),
        (at.is_date, "date"),
        (at.is_timestamp, "timestamp"),
    )
    if at.is_dictionary(kind) or at.is_run_end_encoded(kind):
        return arrow_kind(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return arrow_kind(kind.storage_type)
    return next((found for test, found in tests if test(kind)), "other")


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
    if at.is_date(kind):
        days = column.cast(pa.date32()).cast(pa.int32()).cast(pa.int64())
        return [present, _numbers(pc.fill_null(days, 0), "<i8")]
    if at.is_floating(kind):
        return [present, _reals(pc.fill_null(column.cast(pa.float64()), 0.0))]
    if arrow_kind(kind) != "text":
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
