"""Where the values of columns in files lie, found once and remembered while the files stay.

Where all values lie between the bounds of a sum, they need not be clamped row by row, which takes
longer than reading them. The footers of Parquet files state ranges too, but they leave NaN out, and
privacy may not rest on what a writer stated: these are the ranges of the values themselves.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    import duckdb


Files: TypeAlias = tuple[tuple[object, ...], ...]

_MOST: Final = 4096  # columns that are remembered
_found: OrderedDict[object, Range | None] = OrderedDict()


@dataclass(frozen=True, slots=True)
class Range:
    """All values are finite and from `low` to `high`; if `full`, none is missing."""

    low: float
    high: float
    full: bool


def find_ranges(
    cursor: duckdb.DuckDBPyConnection, rows: str, files: Files, columns: dict[str, str]
) -> dict[str, Range]:
    """The ranges of columns (by name, and as SQL) of these files, whose rows `rows` reads.

    Columns without values, and those with a NaN or an infinity, have none. Whoever relies on them
    asks afterwards whether the files are still the same.
    """
    wanted = [name for name in columns if (files, name) not in _found]
    if wanted:
        facts = ", ".join("min({0}), max({0}), count({0})".format(columns[name]) for name in wanted)
        total, *row = cursor.execute(f"SELECT count(*), {facts} FROM {rows}").fetchone() or ()
        for name, low, high, there in zip(wanted, row[::3], row[1::3], row[2::3], strict=True):
            _found[files, name] = _range(low, high, full=there == total)
        while len(_found) > _MOST:
            _found.popitem(last=False)
    known = {name: _found.get((files, name)) for name in columns}
    return {name: found for name, found in known.items() if found is not None}


def identify(paths: Sequence[str]) -> Files:
    """What changes when a file does."""
    states = [(path, os.stat(path)) for path in paths]
    return tuple((path, s.st_ino, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for path, s in states)


def _range(low: float | None, high: float | None, *, full: bool) -> Range | None:
    # DuckDB takes NaN for the largest number of all.
    if low is None or high is None or not abs(low) < float("inf") or not abs(high) < float("inf"):
        return None
    return Range(low, high, full)
