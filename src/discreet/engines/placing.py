"""Keys by their places in a list, so that a group is a small integer."""

from __future__ import annotations

from dataclasses import replace

import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from discreet.engines.measuring import Cells
from discreet.engines.reading import canonical

PLACE = "i"


def numbered(keys: pa.Table) -> pa.Table:
    """The listed keys with their places."""
    places = pa.array(np.arange(keys.num_rows))
    return canonical(keys, prefix="k").append_column(PLACE, places)


def with_places(cells: Cells, listed: ir.Table) -> Cells:
    """Rows with a listed key only, whose place in the list is their key from here on."""
    joined = cells.table.inner_join(listed, list(cells.keys))
    kept = [name for name in cells.table.columns if name not in cells.keys]
    return replace(cells, table=joined.select(PLACE, *kept), keys=(PLACE,), nullable=())


def keyed(cells: Cells) -> Cells:
    """Rows whose keys are all there."""
    there = [cells.table[name].notnull() for name in cells.nullable]
    return cells.on(cells.table.filter(there)) if there else cells


def placed(grouped: ir.Table, cells: Cells, listed: ir.Table | None) -> ir.Table:
    """Groups with their places in the list; those that are not in it, or have no key, go."""
    if listed is None:
        there = [grouped[name].notnull() for name in cells.nullable]
        return grouped.filter(there) if there else grouped
    joined = grouped.inner_join(listed, list(cells.keys))
    return joined.select(PLACE, *(name for name in grouped.columns if name not in cells.keys))
