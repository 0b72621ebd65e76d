"""A released table as other data frames, CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
import re
from os import PathLike
from typing import TYPE_CHECKING, Any, TextIO

from discreet.errors import InvalidArgument
from discreet.plot import extra
from discreet.release.text import exact

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from discreet.release.result import Result

_ROWS = 65536  # written at a time
# A spreadsheet computes text that begins with one of these; the quote that marks such text is
# marked itself.
_COMPUTED = {*"=+-@'\t\r\n＝＋－＠"}
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")  # not tabs and line ends


def to_polars(frame: pa.Table) -> pl.DataFrame:
    """The table as a Polars data frame."""
    table: pl.DataFrame = _installed("polars").from_arrow(frame)
    return table


def to_pandas(frame: pa.Table) -> Any:
    """The table as a pandas data frame."""
    _installed("pandas")
    return frame.to_pandas()


def _installed(package: str) -> Any:
    missing = InvalidArgument(
        package,
        f"installed for to_{package}()",
        "no such package",
        hint=f"pip install {package}, or use to_arrow()",
        code="not-installed",
    )
    return extra(package, missing)


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
    writer.writerow(map(harmless, frame.column_names))
    for batch in frame.to_batches(max_chunksize=_ROWS):
        writer.writerows(zip(*map(_written, batch.columns), strict=True))


def _written(column: pa.Array) -> list[Any]:
    import pyarrow as pa

    cells: list[Any] = column.to_pylist()
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        return cells  # written in full as they are: the writer uses repr for floats
    return [harmless(cell) if isinstance(cell, str) else exact(cell) for cell in cells]


def harmless(text: str) -> str:
    """A text as a cell that no spreadsheet computes and no terminal obeys.

    If it needs to be changed, ``'`` is put before it, and backslashes and control characters in it
    are written with a backslash, so that whoever verifies a certificate can restore the text.

    >>> print(harmless("=1+1"), harmless("'tis"), harmless("\\x1b[2J"), harmless("a = b"))
    '=1+1 ''tis '\\x1b[2J a = b
    """
    if text.lstrip(" ")[:1] not in _COMPUTED and not _CONTROL.search(text):
        return text
    doubled = text.replace("\\", "\\\\")
    return "'" + _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", doubled)


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
