"""Public tables: what the owner of the data says is public, held in memory as Arrow tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.errors import one_line
from discreet.numeric.table_digest import arrow_kind
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
    return Type(arrow_kind(kind))


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
