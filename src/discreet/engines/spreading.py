"""How many groups people are in, and how many rows they have in one: counts of people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from discreet.engines.passes import Pass
from discreet.engines.query import cells_in_groups
from discreet.query.request import Request
from discreet.query.schema import Schema


class SpreadQuery:
    """Two queries: people by their number of groups, and by their most rows in one group."""

    def __init__(
        self,
        request: Request,
        run: Pass,
        columns: tuple[str, ...],
        *,
        stored: Schema,
        declared: Schema,
        most: int,
    ) -> None:
        cells = cells_in_groups(request, run, columns, stored=stored, declared=declared)
        each = cells.table.group_by(["u", *cells.keys]).aggregate(n=cells.table.count())
        people = each.group_by("u").aggregate(groups=each.count(), rows=each.n.max())
        self._most = most
        self._queries = [run.compile(_tally(people, name, most)) for name in ("groups", "rows")]

    def answer(self, run: Pass) -> tuple[Any, Any]:
        """People with 1, 2, ... groups, and with 1, 2, ... rows; the last stands for more."""
        groups, rows = (_counts(run.batches(query), self._most) for query in self._queries)
        return groups, rows


def _tally(people: ir.Table, name: str, most: int) -> ir.Table:
    limit = ibis.literal(most, type="int64")
    size = people[name].cast("int64")
    sized = people.select(b=ibis.ifelse(size > limit, limit, size))
    return sized.group_by("b").aggregate(n=sized.count())


def _counts(batches: Iterator[pa.RecordBatch], most: int) -> Any:
    counts = np.zeros(most, np.int64)
    for batch in batches:
        counts[batch["b"].to_numpy() - 1] = batch["n"].to_numpy()
    return counts
