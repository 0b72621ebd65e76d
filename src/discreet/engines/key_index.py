"""Keys as their places in a list, so that a group is a small integer."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from discreet.engines.cell_table import CellTable
from discreet.engines.engine import Dialect, Lookup
from discreet.engines.rows import canonical
from discreet.engines.translation import literal
from discreet.query.keys import ListedKeys, key_types

PLACE: Final = "i"
FEW: Final = 1000


def numbered(keys: pa.Table) -> Lookup:
    """The listed keys with their places."""
    table = canonical(keys, prefix="k")
    places = pa.array(np.arange(keys.num_rows))
    return Lookup(table.append_column(PLACE, places), tuple(table.column_names))


def with_places(cells: CellTable, listed: ir.Table) -> CellTable:
    """Only the rows with a listed key; its place in the list becomes their key."""
    joined = cells.table.inner_join(listed, list(cells.keys))
    kept = [name for name in cells.table.columns if name not in cells.keys]
    return replace(cells, table=joined.select(PLACE, *kept), keys=(PLACE,), nullable=())


def keyed(cells: CellTable) -> CellTable:
    """Only the rows whose keys are all present."""
    there = [cells.table[name].notnull() for name in cells.nullable]
    return cells.on(cells.table.filter(there)) if there else cells


def are_few(keys: ListedKeys, dialect: Dialect) -> bool:
    """Should the query itself name the keys? Sending them as a table costs Spark another stage."""
    return dialect is Dialect.SPARK and keys.table.num_columns == 1 and len(keys) <= FEW


def placed(grouped: ir.Table, cells: CellTable, listed: ir.Table | ListedKeys | None) -> ir.Table:
    """Groups with their places in the list; those that are not in it, or have no key, are dropped.

    Where the query itself names the keys, their places are found when the answer is read.
    """
    if isinstance(listed, ListedKeys):
        (key,), (named,), (kind,) = cells.keys, listed.table.columns, key_types(listed)
        is_listed = grouped[key].isin([literal(k, kind) for k in named.to_pylist()])
        # Combined with a condition on a group's sums, which is always true, so that Spark does not
        # apply it to every row instead.
        measured = grouped[next(name for name in grouped.columns if name not in (key, "b"))]
        always = ibis.coalesce(measured.cast("string"), "missing") != ""
        return grouped.filter(ibis.ifelse(always, is_listed, False))
    if listed is None:
        there = [grouped[name].notnull() for name in cells.nullable]
        return grouped.filter(there) if there else grouped
    joined = grouped.inner_join(listed, list(cells.keys))
    return joined.select(PLACE, *(name for name in grouped.columns if name not in cells.keys))
