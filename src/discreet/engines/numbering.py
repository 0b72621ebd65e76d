"""People by numbers, so that a person, a hash and a group fit into 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engines.duckdb_pass import DuckDbPass
from discreet.engines.keeping import HASH, Layout

CLOSE: Final = 4  # integers serve as numbers where this many places a row hold them all
MOST_ROWS: Final = 2**25  # rows in memory at a time

Array: TypeAlias = np.ndarray[Any, Any]
Column: TypeAlias = tuple[Array, Array]  # values, and where they are there


@dataclass(frozen=True)
class Numbered:
    """Rows as SQL, with a column `c` for the number of a person."""

    rows: str
    layout: Layout
    passes: int  # how many parts the people are cut into


def number_people(run: DuckDbPass, rows: str, *, whole: bool, groups: int) -> Numbered:
    """Number the people of rows (u, i, ...)."""
    if whole:
        ((count, low, high),) = run.run(f"SELECT count(*), min(u), max(u) FROM ({rows})")
        people = high - low + 1 if count else 0
        if people <= max(CLOSE * count, 2**20):
            shifted = f"SELECT (u::HUGEINT - ({low or 0}))::UBIGINT AS c, * FROM ({rows})"
            return _fitted(shifted, people, groups, count)
    run.run(
        "CREATE OR REPLACE TEMP TABLE people AS SELECT u, n, row_number() OVER () - 1 AS c "
        f"FROM (SELECT u, count(*) AS n FROM ({rows}) GROUP BY u)"
    )
    ((people, count),) = run.run("SELECT count(*), coalesce(sum(n), 0) FROM people")
    joined = f"SELECT p.c, r.* FROM ({rows}) AS r JOIN people AS p ON r.u = p.u"
    return _fitted(joined, people, groups, int(count))


def fetch(
    run: DuckDbPass,
    numbered: Numbered,
    columns: Sequence[str],
    *,
    group: str,
    salt: int,
    turn: int,
) -> tuple[Array, dict[str, Column]]:
    """The keys and some columns of one part of the people; `group` is what is hashed of a group."""
    bits = numbered.layout.group
    key = (
        f"((c // {numbered.passes})::UBIGINT << {bits + HASH}) | "
        f"((hash(hash({salt}::UBIGINT, u, {group})) >> {64 - HASH}) << {bits}) | "
        "i::UBIGINT"
    )
    query = f"SELECT {', '.join([f'{key} AS key', *columns])} FROM ({numbered.rows})"
    if numbered.passes > 1:
        query += f" WHERE c % {numbered.passes} = {turn}"
    parts: dict[str, list[pa.Array]] = {name: [] for name in ("key", *columns)}
    for batch in run.batches(query):
        for name in parts:
            parts[name].append(batch[name])
    kinds = {"key": pa.uint64()}
    table = {}
    for name in list(parts):
        column = pa.chunked_array(parts.pop(name), kinds.get(name, pa.int64()))
        # For every column, also where none is missing: what is kept of one person may not depend
        # on whether somebody else has a missing value.
        table[name] = pc.fill_null(column, 0).to_numpy(), pc.is_valid(column).to_numpy()
    keys, _ = table.pop("key")
    return keys, table


def _fitted(rows: str, people: int, groups: int, count: int) -> Numbered:
    layout = Layout.of(groups)
    return Numbered(rows, layout, 1 + max(count // MOST_ROWS, people // layout.most_people))
