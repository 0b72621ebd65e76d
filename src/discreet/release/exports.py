"""A released table on its way out: other data frames, CSV, Parquet."""

from __future__ import annotations

import csv
import io
import json
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Any, TextIO

from discreet.errors import InvalidArgument
from discreet.release.numbers import exact

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from discreet.release.result import Result

_ROWS = 65536  # written at a time


def to_polars(frame: pa.Table) -> pl.DataFrame:
    """The table as a Polars data frame."""
    table: pl.DataFrame = _installed("polars").from_arrow(frame)
    return table


def to_pandas(frame: pa.Table) -> Any:
    """The table as a pandas data frame."""
    _installed("pandas")
    return frame.to_pandas()


def _installed(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError:
        raise InvalidArgument(
            name=package,
            expected=f"installed for to_{package}()",
            given="no such package",
            hint=f"pip install {package}, or use to_arrow()",
        ) from None


def to_csv(frame: pa.Table, path: str | PathLike[str] | None) -> str | None:
    """Write CSV to a file, or return it: CRLF, quotes where needed, numbers in full."""
    if path is None:
        text = io.StringIO(newline="")
        _write_csv(frame, text)
        return text.getvalue()
    with open(path, "w", encoding="utf-8", newline="") as file:
        _write_csv(frame, file)
    return None


def _write_csv(frame: pa.Table, file: TextIO) -> None:
    writer = csv.writer(file, lineterminator="\r\n")
    writer.writerow(frame.column_names)
    for batch in frame.to_batches(max_chunksize=_ROWS):
        writer.writerows(zip(*map(_written, batch.columns), strict=True))


def _written(column: pa.Array) -> list[Any]:
    import pyarrow as pa

    cells: list[Any] = column.to_pylist()
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_string)
    if any(of_kind(column.type) for of_kind in kinds):
        return cells  # written in full as they are: the writer uses repr for floats
    return [exact(cell) for cell in cells]


def to_parquet(result: Result, path: str | PathLike[str]) -> None:
    """Write Parquet, with what a reader must know in the file's metadata."""
    import pyarrow.parquet as pq

    facts = {
        "guarantee": result.guarantee.to_json(),
        "cost": result.cost,
        "protects": result.protects,
        "notes": json.dumps(result.notes, ensure_ascii=False),
        "steps": json.dumps(result.steps, ensure_ascii=False),
        "suppressed": result.suppressed or "",
        "error": "95 % half-width",
    }
    metadata = {f"discreet.{name}": fact for name, fact in facts.items()}
    pq.write_table(result.frame.replace_schema_metadata(metadata), path)
