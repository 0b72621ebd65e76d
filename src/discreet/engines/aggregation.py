"""Which rows of each person are kept, and sums by group, in SQL that every engine understands.

Which groups and rows of a person are kept is decided by hashes of a salt, the person, and

- for a group, its key;
- for a row, everything in it that the answer can depend on, and its number among that person's
  equal rows, so that each of two equal rows has its own chance.

Ties are decided by the contents themselves. So the kept rows are a function of the salt and the
set of rows: their order, and how an engine cuts the table into parts, cannot matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache, reduce
from inspect import Parameter, Signature
from typing import Any, Final, TypeAlias

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engines.cell_table import BINNED, CellTable
from discreet.engines.engine import Dialect
from discreet.errors import EngineError, InternalError, Refused
from discreet.query import limits
from discreet.query.contribution import ContributionBound
from discreet.query.keys import ListedKeys
from discreet.query.measures import Measure, Present, Total, Units

# -- which rows of each person are kept ------------------------------------------------------------


FIRST: Final = "first"  # 1 in one row of each person and group, else 0


def bounded(
    cells: CellTable, bound: ContributionBound, *, salt: int, dialect: Dialect
) -> CellTable:
    """The rows that are kept, with a column that marks one row for each person and group."""
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


# -- sums and counts by group ----------------------------------------------------------------------
# One integer per measure, in parts that no engine can overflow.
#
# DuckDB adds 64-bit integers in 128 bits. Elsewhere a wide value x is added as two halves,
#
#     Σ x = 2^32·Σ ⌊x/2^32⌋ + Σ (x mod 2^32),
#
# each of which fits 64 bits for up to 2^31 rows per group (PostgreSQL has exact numbers, but they
# reach us in 64 bits).


Array: TypeAlias = np.ndarray[Any, Any]

HALF: Final = 32


@dataclass(frozen=True)
class SumColumns:
    """A measure and the columns that hold it: one, or the upper and the lower half."""

    measure: Measure
    parts: tuple[str, ...]

    @property
    def wide(self) -> bool:
        """Are its numbers Python integers?"""
        return isinstance(self.measure, Total) and self.measure.wide


def summed(
    cells: CellTable, measures: tuple[Measure, ...], dialect: Dialect
) -> tuple[ir.Table, tuple[SumColumns, ...]]:
    """One row per group: its keys and the parts of each measure that is a single number."""
    columns: dict[str, ir.Scalar] = {}
    sums = []
    for measure in measures:
        if isinstance(measure, BINNED):
            continue
        made = _aggregates(cells, measure, dialect)
        parts = tuple(f"a{len(columns) + i}" for i in range(len(made)))
        columns |= zip(parts, made, strict=True)
        sums.append(SumColumns(measure, parts))
    if not columns:  # only bins are asked for, but the groups are still needed
        columns["a0"] = cells.table.count()
    if not cells.keys:
        return cells.table.aggregate(**columns), tuple(sums)
    return cells.table.group_by(list(cells.keys)).aggregate(**columns), tuple(sums)


def counted(cells: CellTable, measure: Measure) -> ir.Table:
    """One row per group and bin: its keys, the bin `b` and the number of rows `n`."""
    column = cells.cells[measure]
    table = cells.table.filter(cells.table[column].notnull()).rename(b=column)
    return table.group_by([*cells.keys, "b"]).aggregate(n=table.count())


def check_square(total: Total) -> None:
    """Squares must fit 64 bits before they are shifted."""
    if total.grid.largest**2 + (1 << total.shift >> 1) >= 2**63:
        raise InternalError("squares on this grid need more than 64 bits")


def _aggregates(cells: CellTable, measure: Measure, dialect: Dialect) -> list[ir.Scalar]:
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
            if dialect is Dialect.DUCKDB:
                return [value.sum()]
            if not measure.wide:
                return [value.sum().cast("int64")]
            low = value & ibis.literal(2**HALF - 1, type="int64")
            high = value >> ibis.literal(HALF, type="int8")
            return [high.sum().cast("int64"), low.sum().cast("int64")]
    return [table.count()]


# -- grouped rows as arrays of integers, one place for every key -----------------------------------


def too_many(groups: int, bins: int) -> bool:
    """Is that more cells than are offered?"""
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
    groups = 1 if keys is None else len(keys)
    wide = _wide(sums)
    parts = {part: np.zeros(groups, object if wide[part] else np.int64) for part in wide}
    for batch in batches:
        places = _places(batch, keys)
        for part, values in parts.items():
            values[places] = integers(batch[part], wide=wide[part])
    return _joined(parts, sums)


def found(
    batches: Iterable[pa.RecordBatch], sums: tuple[SumColumns, ...], schema: pa.Schema
) -> tuple[pa.Table, dict[Measure, Array]]:
    """The keys that occur, sorted, and their sums."""
    keys: list[pa.Table] = []
    wide = _wide(sums)
    parts: dict[str, list[Array]] = {part: [] for part in wide}
    for batch in batches:
        arrays = [batch[f"k{i}"].cast(field.type) for i, field in enumerate(schema)]
        keys.append(pa.Table.from_arrays(arrays, schema=schema))
        for part, values in parts.items():
            values.append(integers(batch[part], wide=wide[part]))
    table = pa.concat_tables(keys) if keys else schema.empty_table()
    order = pc.sort_indices(table, [(name, "ascending") for name in schema.names])
    whole = {
        part: np.concatenate([np.zeros(0, object if wide[part] else np.int64), *values])[
            order.to_numpy()
        ]
        for part, values in parts.items()
    }
    return table.take(order), _joined(whole, sums)


def binned(batches: Iterable[pa.RecordBatch], keys: ListedKeys | None, size: int) -> Array:
    """Counts of groups × bins, from rows (i, b, n)."""
    cells = np.zeros((1 if keys is None else len(keys), size), np.int64)
    for batch in batches:
        cells[_places(batch, keys), batch["b"].to_numpy()] = batch["n"].to_numpy()
    return cells


def _places(batch: pa.RecordBatch, keys: ListedKeys | None) -> Array:
    """The group of each row: from its column `i`, or found by its key."""
    if keys is None:
        return np.zeros(batch.num_rows, np.int64)
    if "i" in batch.schema.names:
        places: Array = batch["i"].to_numpy()
        return places
    listed = keys.table.column(0).combine_chunks()
    found: Array = pc.index_in(batch["k0"].cast(listed.type), value_set=listed).to_numpy()
    return found


def binned_by_key(batches: Iterable[pa.RecordBatch], keys: pa.Table, size: int) -> Array:
    """Counts of groups × bins, from rows (k0, ..., b, n) for the keys that were found."""
    if too_many(keys.num_rows, size):
        raise EngineError("the answer has too many cells; make the bins wider")
    cells = np.zeros((keys.num_rows, size), np.int64)
    names = [f"k{i}" for i in range(keys.num_columns)]
    index = keys.rename_columns(names).append_column("i", pa.array(np.arange(keys.num_rows)))
    for batch in batches:
        rows = pa.Table.from_batches([batch])
        for i, name in enumerate(names):
            rows = rows.set_column(i, name, rows[name].cast(index.schema.field(name).type))
        placed = rows.join(index, keys=names, join_type="inner")
        cells[placed["i"].to_numpy(), placed["b"].to_numpy()] = placed["n"].to_numpy()
    return cells


def integers(column: pa.Array, *, wide: bool) -> Array:
    """An array of int64, or if `wide` of Python integers; missing is 0.

    What does not fit 64 bits is clamped to them; that takes more than 2^40 rows.

    >>> integers(pa.array([2**70, None], pa.decimal128(38, 0)), wide=True)
    array([1180591620717411303424, 0], dtype=object)
    >>> integers(pa.array([2**70, None], pa.decimal128(38, 0)), wide=False)
    array([9223372036854775807,                   0])
    """
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


def _wide(sums: tuple[SumColumns, ...]) -> dict[str, bool]:
    """For each column of the answer: are its numbers Python integers?"""
    return {part: made.wide for made in sums for part in made.parts}


def _joined(parts: dict[str, Array], sums: tuple[SumColumns, ...]) -> dict[Measure, Array]:
    return {made.measure: _whole([parts[part] for part in made.parts]) for made in sums}


def _whole(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    high, low = parts  # Python integers
    whole: Array = high * 2**HALF + low
    return whole


# -- a 64-bit hash of a salt and some columns, with what each engine offers ------------------------
# Which groups and rows are kept is decided by comparing hashes, so they must be fair: over the
# salt, every order of different inputs must be equally likely. That is more than spreading well.
# DuckDB combines columns by exclusive or, under which one of three keys comes first half of the
# time; hashing once more fixes that. PostgreSQL's hash of a short text under a salt needs the same,
# and the salt in the text. Spark skips nulls, so they are marked separately.


def hashed(salt: int, columns: Sequence[ir.Value], dialect: Dialect) -> ir.Value:
    """The hash, to sort by; a missing value is a value like any other."""
    given = ibis.literal(salt - 2**64 if salt >= 2**63 else salt, type="int64")
    match dialect:
        case Dialect.DUCKDB:
            return _call("hash", [_call("hash", [given, *columns], dt.uint64)], dt.uint64)
        case Dialect.SPARK:
            missing = [column.isnull() for column in columns]
            return _call("xxhash64", [given, *columns, *missing], dt.int64)
        case Dialect.POSTGRES:
            once = _call("hashtextextended", [_text(given, columns), given], dt.int64)
            return _call("hashint8extended", [once, ibis.literal(0, type="int64")], dt.int64)
    return _text(given, columns).hash()


def fingerprint(columns: Sequence[ir.Value]) -> ir.Value:
    """DuckDB's hash of some columns, to be hashed again with a salt."""
    return _call("hash", columns, dt.uint64)


def _text(salt: ir.Value, columns: Sequence[ir.Value]) -> ir.Value:
    """The salt and the columns as one text, from which each part could be read back."""
    texts = [column.cast("string") for column in columns]
    parts = [ibis.coalesce(text.length().cast("string") + ":" + text, "n") for text in texts]
    return reduce(lambda left, right: left + "|" + right, parts, salt.cast("string"))


def _call(name: str, arguments: Sequence[ir.Value], result: dt.DataType) -> ir.Value:
    kinds = tuple(argument.type().copy(nullable=True) for argument in arguments)
    return _function(name, kinds, result)(*arguments)


@cache
def _function(
    name: str, kinds: tuple[dt.DataType, ...], result: dt.DataType
) -> Callable[..., ir.Value]:
    """A function of the engine, declared to Ibis with a Python signature."""

    def stub() -> None: ...

    names = [Parameter(f"x{i}", Parameter.POSITIONAL_OR_KEYWORD) for i in range(len(kinds))]
    stub.__signature__ = Signature(names)  # type: ignore[attr-defined]
    made: Callable[..., ir.Value] = ibis.udf.scalar.builtin(
        stub, name=name, signature=(kinds, result)
    )
    return made
