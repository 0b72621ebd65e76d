"""The least and the largest value of columns in files, found once and remembered while they stay.

Where all values lie between the bounds of a sum, they need not be clamped row by row, which takes
longer than reading them. The footers of Parquet files state ranges too, but they leave NaN out, and
privacy may not rest on what a writer stated: these are the ranges of the values themselves.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import duckdb

Range: TypeAlias = tuple[float, float]
Files: TypeAlias = tuple[tuple[object, ...], ...]

_MOST: Final = 4096  # columns that are remembered
_found: OrderedDict[object, Range | None] = OrderedDict()


def find_ranges(
    cursor: duckdb.DuckDBPyConnection, rows: str, files: Files, columns: dict[str, str]
) -> dict[str, Range]:
    """The ranges of columns (by name, and as SQL) of these files, whose rows `rows` reads.

    Columns without values, and those with a NaN or an infinity, have none. Whoever relies on them
    asks afterwards whether the files are still the same.
    """
    wanted = [name for name in columns if (files, name) not in _found]
    if wanted:
        ends = ", ".join(f"min({columns[name]}), max({columns[name]})" for name in wanted)
        row = cursor.execute(f"SELECT {ends} FROM {rows}").fetchone() or ()
        for name, low, high in zip(wanted, row[::2], row[1::2], strict=True):
            _found[files, name] = _range(low, high)
        while len(_found) > _MOST:
            _found.popitem(last=False)
    known = {name: _found.get((files, name)) for name in columns}
    return {name: found for name, found in known.items() if found is not None}


def identify(paths: Sequence[str]) -> Files:
    """What changes when a file does."""
    states = [(path, os.stat(path)) for path in paths]
    return tuple((path, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path, s in states)


def _range(low: float | None, high: float | None) -> Range | None:
    # DuckDB takes NaN for the largest number of all.
    if low is None or high is None or not abs(low) < float("inf") or not abs(high) < float("inf"):
        return None
    return low, high
