"""Reading a released table back, from Arrow, Parquet or CSV, to compare it with a certificate.

A CSV file has no types, so its cells are read as the types that the certificate tells. Numbers
survive as long as they were written in full, as `Result.to_csv`, pandas and Polars do.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.errors import InvalidArgument
from discreet.query.table_digest import columns_of, table_digest
from discreet.release.exports import as_written

if TYPE_CHECKING:
    import pyarrow as pa


def released_table(
    result: str | os.PathLike[str] | pa.Table | Any, told: Mapping[str, Any]
) -> pa.Table | None:
    """The table, in the types that it was released in, if it holds just what a certificate says.

    ``result`` is a path (Parquet, or CSV), an Arrow table, or what has a method ``to_arrow``.
    """
    table = _read(result)
    if table is None:
        return None
    found = _fitting(table, told)
    if found is None and isinstance(result, str | os.PathLike):
        found = _fitting(_unmarked(table), told)  # written by `Result.to_csv`, with its marks
    return found


def _fitting(table: pa.Table, told: Mapping[str, Any]) -> pa.Table | None:
    import pyarrow as pa

    wanted = [{"name": column["name"], "type": column["type"]} for column in told["columns"]]
    if table.column_names != [column["name"] for column in wanted]:
        return None
    try:
        table = pa.table(
            [_typed(table[column["name"]], column["type"]) for column in wanted],
            names=table.column_names,
        )
    except (pa.ArrowException, ValueError):
        return None
    same = columns_of(table) == wanted and table_digest(table) == told["sha256"]
    return table if same and table.num_rows == told["rows"] else None


def is_distinct(keys: pa.Table) -> bool:
    """Is every row there once?"""
    return bool(keys.group_by(keys.column_names).aggregate([]).num_rows == keys.num_rows)


def _read(result: Any) -> pa.Table | None:
    import pyarrow as pa

    if hasattr(result, "to_arrow"):
        result = result.to_arrow()
    if isinstance(result, pa.Table):
        return result
    if not isinstance(result, str | os.PathLike):
        raise InvalidArgument(
            name="result",
            expected="a path (CSV or Parquet), an Arrow table or a result",
            given=InvalidArgument.describe_data(result),
        )
    path = Path(result)
    if not path.is_file():
        raise InvalidArgument(
            name="result", expected="the path of a file", given="one where no file is"
        )
    try:
        return _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    except (pa.ArrowException, OSError, UnicodeError):
        return None  # no such table in it


def _parquet(path: Path) -> pa.Table:
    import pyarrow.parquet as pq

    return pq.read_table(path)


def _csv(path: Path) -> pa.Table:
    import pyarrow as pa
    from pyarrow import csv as arrow_csv

    with open(path, encoding="utf-8-sig", newline="") as file:
        names = next(csv.reader(file), [])
    texts = {name: pa.string() for name in names}
    return arrow_csv.read_csv(
        path,
        convert_options=arrow_csv.ConvertOptions(column_types=texts, strings_can_be_null=False),
        parse_options=arrow_csv.ParseOptions(newlines_in_values=True),
    )


def _unmarked(table: pa.Table) -> pa.Table:
    """Names and texts as they were before `Result.to_csv` made them harmless."""
    import pyarrow as pa

    columns = [
        pa.array([None if cell is None else as_written(cell) for cell in column.to_pylist()])
        if pa.types.is_string(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=list(map(as_written, table.column_names)))


def _typed(column: Any, kind: str) -> Any:
    """A column of text as the type it was released in; any other as it is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    if kind == "text":
        return column
    cells = pc.if_else(pc.equal(column, ""), None, column)
    if kind == "boolean":
        return pc.utf8_lower(cells).cast(pa.bool_())
    if kind == "integer":
        return _whole(cells)
    types = {"real": pa.float64(), "date": pa.date32()}
    return cells.cast(types[kind]) if kind in types else column


def _whole(cells: Any) -> Any:
    import pyarrow as pa

    try:
        return cells.cast(pa.int64())
    except pa.ArrowInvalid:  # beyond 64 bits
        return cells.cast(pa.decimal128(38, 0))
