"""From batches of grouped rows to arrays of integers, a place for every key."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from discreet.engines.aggregating import HALF, Array, Sum
from discreet.errors import EngineError, Refused
from discreet.query import limits
from discreet.query.keys import ListedKeys
from discreet.query.measures import Measure


def too_many(groups: int, bins: int) -> bool:
    """Is that more than is offered?"""
    return groups * bins > limits.CELLS


def check_cells(groups: int, bins: int) -> None:
    """Refuse an answer that would not fit into memory."""
    if too_many(groups, bins):
        raise Refused(
            f"{groups} groups of {bins} bins each are {groups * bins} cells, and at most "
            f"{limits.CELLS} are offered: list fewer keys, or make the bins wider"
        )


def dense(
    batches: Iterable[pa.RecordBatch], sums: tuple[Sum, ...], keys: ListedKeys | None
) -> dict[Measure, Array]:
    """One place for each of the listed keys, or for all rows; 0 stands where none came."""
    groups = 1 if keys is None else len(keys)
    wide = _wide(sums)
    parts = {part: np.zeros(groups, object if wide[part] else np.int64) for part in wide}
    for batch in batches:
        places = _places(batch, keys)
        for part, values in parts.items():
            values[places] = integers(batch[part], wide=wide[part])
    return _joined(parts, sums)


def found(
    batches: Iterable[pa.RecordBatch], sums: tuple[Sum, ...], schema: pa.Schema
) -> tuple[pa.Table, dict[Measure, Array]]:
    """The keys that came, in order, and their sums."""
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
    """Counts of groups × bins, for rows (i, b, n)."""
    cells = np.zeros((1 if keys is None else len(keys), size), np.int64)
    for batch in batches:
        cells[_places(batch, keys), batch["b"].to_numpy()] = batch["n"].to_numpy()
    return cells


def _places(batch: pa.RecordBatch, keys: ListedKeys | None) -> Array:
    """Which group each row is of: its column `i` says so, or the key itself."""
    if keys is None:
        return np.zeros(batch.num_rows, np.int64)
    if "i" in batch.schema.names:
        places: Array = batch["i"].to_numpy()
        return places
    listed = keys.table.column(0).combine_chunks()
    found: Array = pc.index_in(batch["k0"].cast(listed.type), value_set=listed).to_numpy()
    return found


def binned_by_key(batches: Iterable[pa.RecordBatch], keys: pa.Table, size: int) -> Array:
    """The same for rows (k0, ..., b, n), placed by the keys that were found."""
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

    What does not fit 64 bits stops at their ends, which takes more than 2^40 rows.

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


def _wide(sums: tuple[Sum, ...]) -> dict[str, bool]:
    """For each column of the answer: are its numbers Python integers?"""
    return {part: made.wide for made in sums for part in made.parts}


def _joined(parts: dict[str, Array], sums: tuple[Sum, ...]) -> dict[Measure, Array]:
    return {made.measure: _whole([parts[part] for part in made.parts]) for made in sums}


def _whole(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    high, low = parts  # Python integers
    whole: Array = high * 2**HALF + low
    return whole
