"""Which rows of each person are kept, and sums by group, in SQL that every engine understands.

Which groups and rows of a person are kept is decided by hashes of a salt, the person, and

- for a group, its key;
- for a row, everything in it that the answer can depend on, and its number among that person's
  equal rows, so that each of two equal rows has its own chance.

Ties are decided by the contents themselves. So the kept rows are a function of the salt and the
set of rows: their order, and how an engine cuts the table into parts, cannot matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Final, Protocol, TypeAlias

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engines.cell_table import CellTable
from discreet.engines.engine import ARROW, HALF, Engine, Lookup, Pass
from discreet.engines.rows import canonical
from discreet.engines.translation import literal
from discreet.errors import EngineError, InternalError, Refused
from discreet.query import limits
from discreet.query.contribution import ContributionBound
from discreet.query.keys import DiscoveredKeys, ListedKeys, key_types
from discreet.query.measures import Binned, Bins, Measure, Present, Total, Units
from discreet.query.request import Exact, Request

# -- keys as their places in a list, so that a group is a small integer ----------------------------


PLACE: Final = "i"


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
    groups = cells.on(grouped)
    return (keyed(groups) if listed is None else with_places(groups, listed)).table


def in_groups(request: Request, run: Pass, cells: CellTable) -> CellTable:
    """The rows that are in a group of the answer."""
    if isinstance(request.keys, ListedKeys):
        return with_places(cells, run.public(numbered(request.keys.table)))
    return keyed(cells)


# -- which rows of each person are kept ------------------------------------------------------------


FIRST: Final = "first"  # 1 in one row of each person and group, else 0


def bounded(cells: CellTable, bound: ContributionBound, *, salt: int, engine: Engine) -> CellTable:
    """The rows that are kept, with a column that marks one row for each person and group."""
    table = cells.table
    unit, keys, contents = cells.unit, cells.keys, cells.contents
    assert unit is not None
    same = ibis.window(group_by=[unit, *keys, *contents], order_by=[unit])
    table = table.mutate(copy=ibis.row_number().over(same))
    columns = [table[name] for name in (unit, *keys, *contents, "copy")]
    table = table.mutate(row_hash=engine.hashed(salt, columns))
    by_row = ["row_hash", *keys, *contents, "copy"]
    if bound.max_rows is not None:
        person = ibis.window(group_by=[unit], order_by=by_row)
        table = _first(table, person, bound.max_rows)
    if bound.max_groups is not None and keys:
        group_hash = engine.hashed(salt, [table[name] for name in (unit, *keys)])
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


# -- sums and counts by group ----------------------------------------------------------------------
# One integer per measure, in parts that the engine cannot overflow (`Engine.total`).


Array: TypeAlias = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SumColumns:
    """A measure and the columns that hold it: one, or the upper and the lower half."""

    measure: Measure
    parts: tuple[str, ...]

    @property
    def wide(self) -> bool:
        """Are its numbers Python integers?"""
        return isinstance(self.measure, Total) and self.measure.wide

    def zeros(self, groups: int) -> Array:
        return np.zeros(groups, object if self.wide else np.int64)

    def read(self, rows: Any) -> Array:
        """The sums in these rows; halves of one are put together (`Engine.total`)."""
        parts = [integers(rows[part], wide=self.wide) for part in self.parts]
        return reduce(lambda high, low: high * 2**HALF + low, parts)


def summed(
    cells: CellTable, measures: tuple[Measure, ...], engine: Engine
) -> tuple[ir.Table, tuple[SumColumns, ...]]:
    """One row per group: its keys and the parts of each measure that is a single number."""
    columns: dict[str, ir.Scalar] = {}
    sums = []
    for measure in measures:
        if isinstance(measure, Bins):
            continue
        made = _aggregates(cells, measure, engine)
        parts = tuple(f"a{len(columns) + i}" for i in range(len(made)))
        columns |= zip(parts, made, strict=True)
        sums.append(SumColumns(measure, parts))
    if not columns:  # only bins are asked for, but the groups are still needed
        columns["a0"] = cells.table.count()
    return cells.table.aggregate(by=list(cells.keys), **columns), tuple(sums)


def counted(cells: CellTable, measure: Measure) -> ir.Table:
    """One row per group and bin: its keys, the bin `b` and the number of rows `n`."""
    column = cells.cells[measure]
    table = cells.table.filter(cells.table[column].notnull()).rename(b=column)
    return table.group_by([*cells.keys, "b"]).aggregate(n=table.count())


def check_square(total: Total) -> None:
    """Squares must fit 64 bits before they are shifted."""
    if total.grid.largest**2 + (1 << total.shift >> 1) >= 2**63:
        raise InternalError("squares on this grid need more than 64 bits")


def _aggregates(cells: CellTable, measure: Measure, engine: Engine) -> list[ir.Scalar]:
    table = cells.table
    match measure:
        case Present() if measure in cells.cells:
            return [table[cells.cells[measure]].count()]
        case Units() if cells.unit is not None:
            return [table[FIRST].sum().cast("int64")]
        case Total():
            value = table[cells.cells[measure]]
            if measure.squared:
                check_square(measure)
                half = ibis.literal(1 << measure.shift >> 1, type="int64")
                value = (value * value + half) >> ibis.literal(measure.shift, type="int8")
                value = value - ibis.literal(measure.offset, type="int64")
            return engine.total(value, wide=measure.wide)
    return [table.count()]


# -- grouped rows as arrays of integers, one place for every key -----------------------------------


def too_many(groups: int, bins: int) -> bool:
    return groups * bins > limits.CELLS


def check_cells(groups: int, bins: int) -> None:
    """Refuse an answer that would not fit into memory."""
    if too_many(groups, bins):
        raise Refused(
            f"{groups} groups of {bins} bins each are {groups * bins} cells, and at most "
            f"{limits.CELLS} are offered",
            remedy="list fewer keys, or make the bins wider",
            code="too-large",
        )


def dense(
    batches: Iterable[pa.RecordBatch], sums: tuple[SumColumns, ...], keys: ListedKeys | None
) -> dict[Measure, Array]:
    """One place for each of the listed keys, or one in all; 0 for keys that have no rows."""
    columns = {one.measure: one.zeros(1 if keys is None else len(keys)) for one in sums}
    for batch in batches:
        rows = _placed(batch, None if keys is None else keys.table)
        for one in sums:
            columns[one.measure][rows["i"].to_numpy()] = one.read(rows)
    return columns


def found(
    batches: Iterable[pa.RecordBatch], sums: tuple[SumColumns, ...], schema: pa.Schema
) -> tuple[pa.Table, dict[Measure, Array]]:
    """The keys that occur, sorted, and their sums."""
    keys = [schema.empty_table()]
    columns = {one.measure: [one.zeros(0)] for one in sums}
    for batch in batches:
        arrays = [batch[f"k{i}"].cast(field.type) for i, field in enumerate(schema)]
        keys.append(pa.Table.from_arrays(arrays, schema=schema))
        for one in sums:
            columns[one.measure].append(one.read(batch))
    table = pa.concat_tables(keys)
    order = pc.sort_indices(table, [(name, "ascending") for name in schema.names])
    return table.take(order), {
        measure: np.concatenate(values)[order.to_numpy()] for measure, values in columns.items()
    }


def binned(batches: Iterable[pa.RecordBatch], keys: pa.Table | None, size: int) -> Array:
    """Counts of groups × bins, from rows of a group, a bin `b` and a number `n`."""
    groups = 1 if keys is None else keys.num_rows
    if too_many(groups, size):  # listed keys were counted before anything was charged
        raise EngineError("the answer has too many cells; make the bins wider")
    cells = np.zeros((groups, size), np.int64)
    for batch in batches:
        rows = _placed(batch, keys)
        cells[rows["i"].to_numpy(), rows["b"].to_numpy()] = rows["n"].to_numpy()
    return cells


def _placed(batch: pa.RecordBatch, keys: pa.Table | None) -> Any:
    """The rows with a column `i` for the place of their group, found by their keys k0, k1, ...
    where the engine has not; those of no group are left out."""
    if "i" in batch.schema.names:
        return batch
    rows = pa.Table.from_batches([batch])
    if keys is None:
        return rows.append_column("i", pa.array(np.zeros(len(rows), np.int64)))
    names = [f"k{i}" for i in range(keys.num_columns)]
    index = keys.rename_columns(names).append_column("i", pa.array(np.arange(len(keys))))
    for i, name in enumerate(names):
        rows = rows.set_column(i, name, rows[name].cast(index.schema.field(name).type))
    return rows.join(index, keys=names, join_type="inner")


def integers(column: pa.Array | pa.ChunkedArray, *, wide: bool) -> Array:
    """An array of int64, or if `wide` of Python integers; missing is 0.

    What does not fit 64 bits is clamped to them; that takes more than 2^40 rows.

    >>> integers(pa.array([2**70, None], pa.decimal128(38, 0)), wide=True)
    array([1180591620717411303424, 0], dtype=object)
    >>> integers(pa.array([2**70, None], pa.decimal128(38, 0)), wide=False)
    array([9223372036854775807,                   0])
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if not pa.types.is_decimal(column.type):
        whole: Array = column.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return whole.astype(object) if wide else whole
    column = column.cast(pa.decimal128(38, 0)).fill_null(0)
    # 128 bits, the lower half first; a small number's upper half repeats its sign.
    words = np.frombuffer(column.buffers()[1], np.int64)
    words = words[2 * column.offset : 2 * (column.offset + len(column))].reshape(-1, 2)
    low, high = words[:, 0], words[:, 1]
    if wide:
        return high.astype(object) * 2**64 + low.view(np.uint64).astype(object)  # type: ignore[no-any-return]
    return np.where(high == low >> 63, low, (high >> 63) ^ np.int64(2**63 - 1))


# -- queries all in SQL: windows apply the bound, the engine groups --------------------------------


class CompiledQuery(Protocol):
    """A query that is ready to run."""

    @property
    def salted(self) -> bool:
        """Is the salt of its request part of what was compiled?"""

    def answer(self, run: Any) -> Any:
        """Run the query and read its answer: from here on data is touched."""


@dataclass(frozen=True, eq=False)
class BySumming:
    """One query for all single numbers, one for each measure with bins."""

    request: Request
    sums: tuple[SumColumns, ...]
    numbers: Any
    bins: dict[Binned, Any]

    @classmethod
    def build(cls, request: Request, run: Pass, cells: CellTable) -> BySumming:
        """Apply the bound, group, and place the groups."""
        listed: ir.Table | ListedKeys | None = None
        if request.bound is not None:
            # Rows outside all groups of the answer must not use up what is kept of a person.
            cells = in_groups(request, run, cells)
            cells = bounded(cells, request.bound, salt=request.salt, engine=run.engine)
        elif isinstance(request.keys, ListedKeys):
            named = run.engine.names_keys(request.keys)
            listed = request.keys if named else run.public(numbered(request.keys.table))
        grouped, sums = summed(cells, request.measures, run.engine)
        bins = {
            measure: run.compile(placed(counted(cells, measure), cells, listed))
            for measure in request.measures
            if isinstance(measure, Bins)
        }
        return cls(request, sums, run.compile(placed(grouped, cells, listed)), bins)

    @property
    def salted(self) -> bool:
        """The windows of a bound hash with the salt."""
        return self.request.bound is not None

    def answer(self, run: Pass) -> Exact:
        """Run the query for single numbers first: it returns the keys that occur."""
        keys, batches = self.request.keys, run.batches(self.numbers)
        table = None
        if isinstance(keys, DiscoveredKeys):
            schema = pa.schema([(name, ARROW[value.type]) for name, value in self.request.group])
            table, columns = found(batches, self.sums, schema)
        else:
            columns = dense(batches, self.sums, keys)
        known = keys.table if isinstance(keys, ListedKeys) else table
        for measure, query in self.bins.items():
            columns[measure] = binned(run.batches(query), known, measure.size)
        return Exact(table, columns)


# -- the contribution histogram: people by groups and rows -----------------------------------------


class SpreadQuery:
    """Two queries: people by their number of groups, and by their most rows in one group."""

    salted = False

    def __init__(self, request: Request, run: Pass, cells: CellTable, *, most: int) -> None:
        cells = in_groups(request, run, cells)
        each = cells.table.group_by(["u", *cells.keys]).aggregate(n=cells.table.count())
        people = each.group_by("u").aggregate(groups=each.count(), rows=each.n.max())
        self._most = most
        self._queries = [run.compile(_tally(people, name, most)) for name in ("groups", "rows")]

    def answer(self, run: Pass) -> tuple[Any, Any]:
        """People with 1, 2, ... groups, and with 1, 2, ... rows; the last count includes more."""
        groups, rows = (binned(run.batches(query), None, self._most + 1) for query in self._queries)
        return groups[0, 1:], rows[0, 1:]


def _tally(people: ir.Table, name: str, most: int) -> ir.Table:
    limit = ibis.literal(most, type="int64")
    size = people[name].cast("int64")
    sized = people.select(b=ibis.ifelse(size > limit, limit, size))
    return sized.group_by("b").aggregate(n=sized.count())
