"""What is kept of each person, in plain SQL that every engine understands.

Which groups and rows of a person are kept is decided by hashes of a salt, the person, and

- for a group, its key;
- for a row, all of it that the answer can depend on, and its number among that person's equal
  rows, so that each of two equal rows has a chance of its own.

Ties go by the contents themselves. So the kept rows are a function of the salt and the set of
rows: their order, and how an engine cuts the table into parts, cannot matter.
"""

from __future__ import annotations

from typing import Final

import ibis
import ibis.expr.types as ir

from discreet.engines.dialects import Dialect
from discreet.engines.hashing import hashed
from discreet.engines.measuring import Cells
from discreet.query.contribution import Bound

FIRST: Final = "first"  # 1 in one row of each person and group, else 0


def bounded(cells: Cells, bound: Bound, *, salt: int, dialect: Dialect) -> Cells:
    """The rows that are kept, with a column that marks one of each person and group."""
    table = cells.table
    unit, keys, contents = cells.unit, cells.keys, cells.contents
    assert unit is not None
    same = ibis.window(group_by=[unit, *keys, *contents], order_by=[unit])
    table = table.mutate(copy=ibis.row_number().over(same))
    columns = [table[name] for name in (unit, *keys, *contents, "copy")]
    table = table.mutate(row_hash=hashed(salt, columns, dialect))
    by_row = ["row_hash", *keys, *contents, "copy"]
    if bound.max_rows is not None:
        person = ibis.window(group_by=[unit], order_by=by_row)
        table = _first(table, person, bound.max_rows)
    if bound.max_groups is not None and keys:
        group_hash = hashed(salt, [table[name] for name in (unit, *keys)], dialect)
        table = table.mutate(group_hash=group_hash)
        person = ibis.window(group_by=[unit], order_by=["group_hash", *keys])
        table = table.mutate(place=ibis.dense_rank().over(person))
        table = table.filter(table.place < bound.max_groups)
    group = ibis.window(group_by=[unit, *keys], order_by=by_row)
    if bound.max_rows_per_group is not None:
        table = _first(table, group, bound.max_rows_per_group)
    table = table.mutate(place=ibis.row_number().over(group))
    one, none = ibis.literal(1, type="int64"), ibis.literal(0, type="int64")
    table = table.mutate(**{FIRST: ibis.ifelse(table.place == 0, one, none)})
    return cells.on(table.select(unit, *keys, *contents, FIRST))


def _first(table: ir.Table, window: object, most: int) -> ir.Table:
    table = table.mutate(place=ibis.row_number().over(window))
    return table.filter(table.place < most)
