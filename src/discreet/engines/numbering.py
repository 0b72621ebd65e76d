"""People by numbers, so that a person, a hash and a group fit into 64 bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from discreet.engines.duckdb_pass import DuckDbPass
from discreet.engines.keeping import HASH, Layout

MOST_ROWS: Final = 2**25  # rows in memory at a time

Array: TypeAlias = np.ndarray[Any, Any]
Column: TypeAlias = tuple[Array, Array]  # values, and where they are there


@dataclass(frozen=True)
class Numbered:
    """Rows as SQL, with a column `c` for the number of a person."""

    rows: str
    layout: Layout
    passes: int  # how many parts the people are cut into


def number_people(run: DuckDbPass, rows: str, *, groups: int, salt: int) -> Numbered:
    """Number the people of rows (u, i, ...), by a table of them.

    Small integers could serve as numbers themselves, which is faster. But whether they are small is
    for one person's number to say.
    """
    run.run(
        "CREATE OR REPLACE TEMP TABLE people AS SELECT u, n, row_number() OVER () - 1 AS c "
        f"FROM (SELECT u, count(*) AS n FROM ({rows}) GROUP BY u)"
    )
    ((people, count),) = run.run("SELECT count(*), coalesce(sum(n), 0) FROM people")
    joined = f"SELECT p.c, r.* FROM ({rows}) AS r JOIN people AS p ON r.u = p.u"
    layout = Layout.of(groups)
    parts = (_parts(count, MOST_ROWS, salt), _parts(people, layout.most_people, salt))
    return Numbered(joined, layout, max(parts))


def _parts(count: int, most: int, salt: int) -> int:
    """How many parts have at most `most` each.

    One person more may not start another pass over the table, for all to see. So where a part is
    full is moved by the salt, and one more tips it in one of `most/32` releases.

    >>> [_parts(count, 100, salt=0) for count in (0, 100, 101)]
    [1, 1, 2]
    >>> [_parts(99, 100, salt=salt) for salt in range(6)]
    [1, 1, 2, 1, 1, 2]
    """
    return max(-(-(count + salt % max(most // 32, 1)) // most), 1)


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
    # A missing value is a 0 that is not there. Asked of every column, also where none is missing:
    # what is kept of one person, and how long it takes, may not depend on somebody else's.
    pairs = [f"coalesce({v}, 0) AS {v}, {v} IS NOT NULL AS {v}_there" for v in columns]
    query = f"SELECT {', '.join([f'{key} AS key', *pairs])} FROM ({numbered.rows})"
    if numbered.passes > 1:
        query += f" WHERE c % {numbered.passes} = {turn}"
    kinds = {"key": pa.uint64()}
    for name in columns:
        kinds |= {name: pa.int64(), f"{name}_there": pa.bool_()}
    found = pa.Table.from_batches(run.batches(query), pa.schema(list(kinds.items())))
    values = {name: found[name].to_numpy() for name in kinds}
    return values["key"], {name: (values[name], values[f"{name}_there"]) for name in columns}
