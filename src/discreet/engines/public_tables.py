"""Public tables, to join with or to take keys from. They are read in full, since they may be."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq

from discreet.engines.files import file_ids, find
from discreet.errors import InvalidArgument
from discreet.query.public import PublicTable, decoded


def read_public(table: Any) -> PublicTable:
    """Read a public table from anything that a source can be, or from a dict of lists.

    >>> read_public({"ward": ["A", "B"]}).table.num_rows
    2
    """
    made, paths = None, _paths(table)
    try:
        made = decoded(_read_files(paths) if paths else _read(table))
    except (pa.ArrowException, AttributeError, TypeError, ValueError, OSError) as error:
        if isinstance(error, InvalidArgument):
            raise
    if made is not None:
        files = paths or list(getattr(table, "files", ()))  # a dataset has files
        return PublicTable(made, table, tuple(file_ids(files)))
    raise InvalidArgument.of_data(
        "table",
        "a public table: a path, a frame, an Arrow or Ibis table, or a dict of lists",
        table,
    )


def _read(table: Any) -> Any:
    match table:
        case pa.Table():
            return table
        case pyarrow.dataset.Dataset():
            return table.to_table()
        case ir.Table():
            return table.to_pyarrow()
        case Mapping():
            return pa.table(dict(table))
        case list():
            return pa.Table.from_pylist(table)
    for method in ("to_arrow_table", "to_arrow", "toArrow"):  # DuckDB, Polars, Spark
        if hasattr(table, method):
            return getattr(table, method)()
    if hasattr(table, "collect"):  # a lazy frame
        return table.collect().to_arrow()
    return pa.Table.from_pandas(table, preserve_index=False)


def _paths(table: Any) -> list[str]:
    """The files that a path, a pattern or a list of them matches."""
    match table:
        case str() | Path():
            return find([table])
        case [str() | Path(), *_]:
            return find(table)
    return []


def _read_files(paths: list[str]) -> pa.Table:
    csv = (".csv", ".txt")
    return pa.concat_tables(
        pyarrow.csv.read_csv(path) if path.lower().endswith(csv) else pq.read_table(path)
        for path in paths
    )
