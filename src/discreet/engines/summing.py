"""All in SQL: rows are bounded by windows, and grouped by the engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from discreet.engines import answering
from discreet.engines.aggregating import Sum, counted, summed
from discreet.engines.bounding import bounded
from discreet.engines.measuring import BINNED, Cells
from discreet.engines.metadata import ARROW
from discreet.engines.passes import Pass
from discreet.engines.placing import are_few, keyed, numbered, placed, with_places
from discreet.query.keys import DiscoveredKeys, ListedKeys
from discreet.query.measures import Binned
from discreet.query.request import Exact, Request


@dataclass(frozen=True, eq=False)
class BySumming:
    """One query for all single numbers, one for each measure with bins."""

    request: Request
    sums: tuple[Sum, ...]
    numbers: Any
    bins: dict[Binned, Any]

    @classmethod
    def build(cls, request: Request, run: Pass, cells: Cells) -> BySumming:
        """Bound, group, and place the groups."""
        listed = None
        if isinstance(request.keys, ListedKeys) and (
            request.bound is not None or not are_few(request.keys, run.dialect)
        ):
            listed = run.public(numbered(request.keys.table))
        if request.bound is not None:
            # Rows that no group of the answer holds may not use up what is kept of a person.
            cells = with_places(cells, listed) if listed is not None else keyed(cells)
            cells = bounded(cells, request.bound, salt=request.salt, dialect=run.dialect)
            listed = None
        elif isinstance(request.keys, ListedKeys) and listed is None:
            listed = request.keys
        grouped, sums = summed(cells, request.measures, run.dialect)
        bins = {
            measure: run.compile(placed(counted(cells, measure), cells, listed))
            for measure in request.measures
            if isinstance(measure, BINNED)
        }
        return cls(request, sums, run.compile(placed(grouped, cells, listed)), bins)

    def answer(self, run: Pass) -> Exact:
        """The single numbers first: they bring the keys that are there."""
        keys, batches = self.request.keys, run.batches(self.numbers)
        if isinstance(keys, DiscoveredKeys):
            schema = pa.schema([(name, ARROW[value.type]) for name, value in self.request.group])
            table, columns = answering.found(batches, self.sums, schema)
            for measure, query in self.bins.items():
                rows = run.batches(query)
                columns[measure] = answering.binned_by_key(rows, table, measure.size)
            return Exact(table, columns)
        columns = answering.dense(batches, self.sums, keys)
        for measure, query in self.bins.items():
            columns[measure] = answering.binned(run.batches(query), keys, measure.size)
        return Exact(None, columns)
