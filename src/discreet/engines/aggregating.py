"""Sums and counts by group: one integer a measure, in parts that no engine can overflow.

DuckDB adds 64-bit integers in 128 bits. Elsewhere a wide value x is added as two halves,

    Σ x = 2^32·Σ ⌊x/2^32⌋ + Σ (x mod 2^32),

each of which fits 64 bits for up to 2^31 rows a group (PostgreSQL has exact numbers, but what
carries them to us has 64 bits).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import ibis
import ibis.expr.types as ir
import numpy as np

from discreet.engines.bounding import FIRST
from discreet.engines.dialects import Dialect
from discreet.engines.measuring import BINNED, Cells
from discreet.errors import InternalError
from discreet.query.measures import Measure, Present, Total, Units

Array: TypeAlias = np.ndarray[Any, Any]

HALF: Final = 32


@dataclass(frozen=True)
class Sum:
    """A measure and the columns that hold it: one, or the upper and the lower half."""

    measure: Measure
    parts: tuple[str, ...]

    @property
    def wide(self) -> bool:
        """Are its numbers Python integers?"""
        return isinstance(self.measure, Total) and self.measure.wide


def summed(
    cells: Cells, measures: tuple[Measure, ...], dialect: Dialect
) -> tuple[ir.Table, tuple[Sum, ...]]:
    """One row a group: its keys and the parts of each measure that is a single number."""
    columns: dict[str, ir.Scalar] = {}
    sums = []
    for measure in measures:
        if isinstance(measure, BINNED):
            continue
        made = _aggregates(cells, measure, dialect)
        parts = tuple(f"a{len(columns) + i}" for i in range(len(made)))
        columns |= zip(parts, made, strict=True)
        sums.append(Sum(measure, parts))
    if not columns:  # bins alone: the groups are still needed
        columns["a0"] = cells.table.count()
    if not cells.keys:
        return cells.table.aggregate(**columns), tuple(sums)
    return cells.table.group_by(list(cells.keys)).aggregate(**columns), tuple(sums)


def counted(cells: Cells, measure: Measure) -> ir.Table:
    """One row a group and bin: its keys, the bin `b` and how many rows `n`."""
    column = cells.cells[measure]
    table = cells.table.filter(cells.table[column].notnull()).rename(b=column)
    return table.group_by([*cells.keys, "b"]).aggregate(n=table.count())


def check_square(total: Total) -> None:
    """Squares must fit 64 bits before they are shifted."""
    if total.grid.largest**2 + (1 << total.shift >> 1) >= 2**63:
        raise InternalError("squares on this grid need more than 64 bits")


def _aggregates(cells: Cells, measure: Measure, dialect: Dialect) -> list[ir.Scalar]:
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
