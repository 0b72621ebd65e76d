"""The columns that an answer is computed from: quantised values, bins and marks, each made once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import ibis
import ibis.expr.types as ir

from discreet.engines.engine import Engine, ends, floor, real, whole
from discreet.engines.rows import (
    FEW,
    UNIT,
    Find,
    Rows,
    constant,
    listed,
    renamed,
    search,
    with_place,
    with_rank,
)
from discreet.engines.translation import clamped, literal, translate
from discreet.query.expressions import Typed
from discreet.query.measures import (
    Binned,
    Bins,
    CategoryBins,
    EdgeBins,
    Grid,
    GridBins,
    Measure,
    Present,
    Total,
)
from discreet.query.schema import Domain, Type


@dataclass(frozen=True, eq=False)
class CellTable:
    """Rows as (unit, keys, cells): `cells` holds everything that the answer can depend on."""

    table: ir.Table
    unit: str | None  # a column
    keys: tuple[str, ...]  # columns
    nullable: tuple[str, ...]  # the keys that may be missing
    cells: Mapping[Measure, str]  # for each measure that needs one, its column

    @property
    def contents(self) -> tuple[str, ...]:
        """The names of the cell columns, each once."""
        return tuple(dict.fromkeys(self.cells.values()))

    def on(self, table: ir.Table) -> CellTable:
        """The same columns, in another table."""
        return replace(self, table=table)


def cells_of(
    rows: Rows, group: tuple[tuple[str, Typed], ...], measures: tuple[Measure, ...]
) -> CellTable:
    """One projection, u, k0, k1, ..., v0, v1, ..., without the rows that have no unit."""
    asked = [m.value for m in measures if hasattr(m, "value")] + [value for _, value in group]
    rows, columns_of_them = rows.as_columns(*asked)
    light = dict(zip(asked, columns_of_them, strict=True))
    places: dict[Measure, str] = {}
    for measure in measures:
        if isinstance(measure, EdgeBins | CategoryBins) and (find := _lookup(measure)):
            rows, places[measure] = rows.looked_up(light[measure.value], find)
    made: dict[object, tuple[str, ir.Value]] = {}  # for what is asked, its column
    cells: dict[Measure, str] = {}
    for measure in sorted(measures, key=lambda m: isinstance(m, Present)):  # totals come first
        what = _what(measure, made)
        if what is not None:
            if what not in made:
                made[what] = f"v{len(made)}", _cell(rows, measure, light, places)
            cells[measure] = made[what][0]
    keys = {f"k{i}": rows.value(light[value]) for i, (_, value) in enumerate(group)}
    unit = [UNIT] if UNIT in rows.table.columns else []
    columns = {**keys, **dict(made.values())}
    if not unit and not columns:  # rows that are only counted still need a column
        columns = {"v": ibis.literal(1, type="int64")}
    table = rows.table.select(*unit, **columns)
    table = table.filter(table[UNIT].notnull()) if unit else table
    nullable = tuple(f"k{i}" for i, (_, value) in enumerate(group) if value.nullable)
    return CellTable(table, UNIT if unit else None, tuple(keys), nullable, cells)


def _what(measure: Measure, made: Iterable[object]) -> object | None:
    """What a measure needs a column for, if it does."""
    match measure:
        case Total(value, grid):
            return value, grid
        case Present(value) if value.nullable:  # a total is missing exactly where its value is
            totals = (what for what in made if isinstance(what, tuple) and what[0] == value)
            return next(totals, value)
        case Bins():
            return measure
    return None


def _cell(
    rows: Rows, measure: Any, light: Mapping[Typed, Typed], places: Mapping[Measure, str]
) -> ir.Value:
    if measure in places:
        return rows.table[places[measure]]
    if isinstance(measure, Present):
        missing = Typed("is_null", (light[measure.value],), None, Type.BOOLEAN, False)
        one = ibis.literal(1, type="int64")
        return ibis.ifelse(rows.value(missing), ibis.null("int64"), one)
    value = renamed(light[measure.value], rows.names)
    if isinstance(measure, Total):
        domain = rows.domains.get(str(value.value)) if value.op == "column" else None
        return quantised(value, measure.grid, rows.table, rows.run.engine, domain)
    return bin_index(replace(measure, value=value), rows.table, rows.run.engine)


def _lookup(measure: EdgeBins | CategoryBins) -> Find | None:
    """How to look up a row's bin, where there are many bins."""
    if isinstance(measure, CategoryBins):
        values = listed(measure.values, measure.value.type)
        return partial(with_place, values=values) if len(values) > FEW else None
    cuts = edge_cuts(measure.value, measure.edges)
    return partial(with_rank, cuts=cuts) if len(cuts) > FEW else None


# -- values on their grid, and values in their bins ------------------------------------------------
# Integers that are safe to add.
#
# `quantised` is `Grid.quantise`, bit for bit, for every double and every integer of 64 bits.


def quantised(
    value: Typed, grid: Grid, table: ir.Table, engine: Engine, domain: Domain | None = None
) -> ir.Value:
    """q(x) of each row as an integer of 64 bits, null where the value is missing.

    `domain` is where all values are known to lie: within the bounds, they need no clamping.
    """
    if domain is not None and _contains(grid, domain):
        x = table[str(value.value)]
        if value.type is Type.INTEGER and 0 <= grid.exponent <= 40:
            x = x * whole(2**grid.exponent) if grid.exponent else x
        else:
            x = floor(x.cast("float64") * real(math.ldexp(1.0, grid.exponent)) + real(0.5))
            x = x.cast("int64")
        return x - whole(grid.centre) if grid.centre else x
    if value.type is Type.INTEGER:
        x = translate(value, table, engine)
        plain = 0 <= grid.exponent <= 40  # otherwise 2^k or its inverse is no integer of 64 bits
        return _of_integers(x, grid) if plain else engine.on_grid(x.cast("float64"), grid)
    # A column is used as it is stored: that NaN is missing is taken care of below.
    stored = value.op == "column"
    x = table[str(value.value)] if stored else translate(value, table, engine)
    return engine.on_grid(x, grid)


def _contains(grid: Grid, domain: Domain) -> bool:
    """Is every value of the domain on the grid as it is, and no product inexact?"""
    lower, upper = ends(grid)
    return lower <= domain.lower and domain.upper <= upper and abs(grid.exponent) < 1000


def bin_index(measure: Binned, table: ir.Table, engine: Engine) -> ir.Value:
    """The number of each row's bin, counted from 0, or null where it is in none."""
    match measure:
        case GridBins(value, grid):
            return quantised(value, grid, table, engine) - whole(grid.lower)
        case EdgeBins(value, edges):
            x = translate(value, table, engine)
            # A column is searched as it is stored: whether it is NaN, and so missing, is asked
            # once, below.
            stored = table[str(value.value)] if value.op == "column" else x
            cuts = [constant(cut) for cut in edge_cuts(value, edges)]
            found = search(stored, cuts, [whole(i) for i in range(len(cuts) + 1)])
            return ibis.ifelse(x.isnull(), ibis.null("int64"), found)
        case CategoryBins(value, values):
            return _among(value, values, table, engine)


def _of_integers(x: ir.Value, grid: Grid) -> ir.Value:
    """min(max(x·2^k, lower), upper) − centre; x is clamped beforehand too, so that x·2^k fits."""
    if grid.exponent:
        low, high = grid.lower >> grid.exponent, -(-grid.upper >> grid.exponent)
        x = clamped(x, whole(low), whole(high)) * whole(2**grid.exponent)
    x = clamped(x, whole(grid.lower), whole(grid.upper))
    return x - whole(grid.centre) if grid.centre else x


def edge_cuts(value: Typed, edges: tuple[float, ...]) -> list[float]:
    """The inner edges that a value can reach, in its own type."""
    if value.type is Type.INTEGER:  # x ≥ edge if and only if x ≥ ⌈edge⌉
        whole_edges = (max(math.ceil(edge), -(2**63)) for edge in edges[1:-1])
        return [edge for edge in whole_edges if edge < 2**63]
    return list(edges[1:-1])


def _among(value: Typed, values: tuple[object, ...], table: ir.Table, engine: Engine) -> ir.Value:
    x = translate(value, table, engine)
    in_bytes = (item.encode() if isinstance(item, str) else item for item in values)
    numbered = [pair for _, pair in sorted(zip(in_bytes, enumerate(values), strict=True))]
    constants = [literal(item, value.type) for _, item in numbered]
    leaves = [
        ibis.ifelse(x == constant, whole(index), ibis.null("int64"))
        for (index, _), constant in zip(numbered, constants, strict=True)
    ]
    if value.type is Type.BOOLEAN:
        return ibis.coalesce(*leaves)
    if value.type is Type.TEXT:
        constants, x = [engine.in_order(c) for c in constants], engine.in_order(x)
    return search(x, constants[1:], leaves)
