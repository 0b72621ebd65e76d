"""Bounding on DuckDB: it reads, filters, joins and hashes; arrays sort and add.

A window in SQL over people costs five times as much as the grouping by person and group; to sort
packed integers costs less than that grouping itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import ibis
import numpy as np
import pyarrow as pa

from discreet.engines.adding import added
from discreet.engines.aggregating import check_square
from discreet.engines.answering import too_many
from discreet.engines.duckdb_pass import DuckDbPass
from discreet.engines.hashing import fingerprint
from discreet.engines.keeping import kept, units
from discreet.engines.measuring import BINNED, Cells
from discreet.engines.metadata import ARROW
from discreet.engines.numbering import Array, Column, fetch, number_people
from discreet.engines.placing import PLACE, keyed, numbered, with_places
from discreet.errors import EngineError, InternalError
from discreet.query.keys import DiscoveredKeys, ListedKeys
from discreet.query.measures import Measure, Present, Rows, Total, Units
from discreet.query.request import Exact, Request

KEY_HASH: Final = "g"


@dataclass(frozen=True, eq=False)
class BySorting:
    """Rows as packed keys, a part of the people at a time where there are too many rows."""

    request: Request
    unplaced: Cells  # with the keys themselves
    cells: Cells  # with places of keys, where they are listed
    groups: int
    rows: str  # SQL for (u, i, v0, v1, ...), or for the keys that are to be found

    @classmethod
    def build(cls, request: Request, run: DuckDbPass, cells: Cells) -> BySorting:
        """Compile what can be compiled before the keys are known."""
        match request.keys:
            case ListedKeys() as keys:
                placed = with_places(cells, run.public(numbered(keys.table)))
                return cls(request, cells, placed, len(keys), run.compile(placed.table))
            case DiscoveredKeys():
                found = keyed(cells).table.select(*cells.keys).distinct()
                return cls(request, cells, cells, 0, run.compile(found))
        placed = cells.on(cells.table.mutate(**{PLACE: ibis.literal(0, type="int64")}))
        return cls(request, cells, placed, 1, run.compile(placed.table))

    def answer(self, run: DuckDbPass) -> Exact:
        """Number the people, fetch and sort their rows, add up what is kept."""
        measures = self.request.measures
        if not isinstance(self.request.keys, DiscoveredKeys):
            return Exact(None, self._columns(run, measures, group=PLACE))
        keys = _sorted_keys(run, self.rows, self.request)
        if any(too_many(len(keys), getattr(measure, "size", 1)) for measure in measures):
            raise EngineError("the answer has too many cells; make the bins wider")
        # The place of a key depends on who else is there, so that its value is hashed.
        values = [self.unplaced.table[name] for name in self.unplaced.keys]
        hashed = self.unplaced.table.mutate(**{KEY_HASH: fingerprint(values)})
        # Rows without a key go first: one that meets no keys at all would end the reading of rows.
        rows = keyed(self.unplaced.on(hashed))
        placed = with_places(rows, run.public(numbered(keys)))
        run.bring()
        known = replace(self, cells=placed, groups=len(keys), rows=run.compile(placed.table))
        columns = known._columns(run, tuple(dict.fromkeys((Rows(), *measures))), group=KEY_HASH)
        held = np.flatnonzero(columns[Rows()])
        return Exact(keys.take(held), {measure: columns[measure][held] for measure in measures})

    def _columns(
        self, run: DuckDbPass, measures: tuple[Measure, ...], *, group: str
    ) -> dict[Measure, Array]:
        bound, salt, groups = self.request.bound, self.request.salt, self.groups
        if bound is None:
            raise InternalError("there is nothing to sort without a bound")
        people = number_people(run, self.rows, groups=groups, salt=salt)
        columns: dict[Measure, Array] = {}
        for turn in range(people.passes):
            keys, table = fetch(run, people, self.cells.contents, group=group, salt=salt, turn=turn)
            keep = kept(keys, list(_contents(table)), bound, people.layout, salt=salt)
            places = people.layout.places(keys)
            for measure in measures:
                if isinstance(measure, Units):
                    made = units(keys[keep], people.layout, groups)
                else:
                    cell = table.get(self.cells.cells.get(measure, ""))
                    made = _measured(measure, cell, keep, places, groups)
                columns[measure] = columns[measure] + made if measure in columns else made
        return columns


def _sorted_keys(run: DuckDbPass, query: str, request: Request) -> pa.Table:
    names = [name for name, _ in request.group]
    kinds = [(f"k{i}", ARROW[value.type]) for i, (_, value) in enumerate(request.group)]
    keys = pa.Table.from_batches(run.batches(query), pa.schema(kinds)).rename_columns(names)
    return keys.sort_by([(name, "ascending") for name in names])


def _contents(table: Mapping[str, Column]) -> Iterator[Array]:
    for values, there in table.values():
        yield values
        yield there


def _measured(
    measure: Measure, cell: Column | None, keep: Array, places: Array, groups: int
) -> Array:
    """The measure of the rows that are kept."""
    if cell is None:
        return np.bincount(places[keep], minlength=groups)
    values, there = cell
    keep = keep & there
    places, values = places[keep], values[keep]
    match measure:
        case Total():
            if measure.squared:
                check_square(measure)
                half = np.int64(1 << measure.shift >> 1)
                values = ((values * values + half) >> np.int64(measure.shift)) - measure.offset
            return added(places, values, groups, largest=measure.largest, wide=measure.wide)
        case Present():
            return np.bincount(places, minlength=groups)
    assert isinstance(measure, BINNED)
    flat = np.bincount(places * measure.size + values, minlength=groups * measure.size)
    return flat.reshape(groups, measure.size)
