"""The columns that an answer is computed from: quantised values, bins and marks, each made once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from discreet.engines.calls import floor, in_order, is_number, real, whole
from discreet.engines.engine import Dialect
from discreet.engines.lookups import FEW, Find, constant, listed, search, with_place, with_rank
from discreet.engines.rows import UNIT, Rows
from discreet.engines.translation import clamped, literal, translate
from discreet.query.expressions import Typed
from discreet.query.measures import (
    Binned,
    CategoryBins,
    EdgeBins,
    Grid,
    GridBins,
    Measure,
    Present,
    Total,
)
from discreet.query.schema import Domain, Type

BINNED = (GridBins, EdgeBins, CategoryBins)


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
    rows: Rows,
    group: tuple[tuple[str, Typed], ...],
    measures: tuple[Measure, ...],
) -> CellTable:
    """One projection: u, k0, k1, ..., v0, v1, ..."""
    asked = [m.value for m in measures if hasattr(m, "value")] + [value for _, value in group]
    rows, columns_of_them = rows.as_columns(*asked)
    light = dict(zip(asked, columns_of_them, strict=True))
    places: dict[Measure, str] = {}
    for measure in measures:
        if isinstance(measure, EdgeBins | CategoryBins) and (find := _lookup(measure, rows)):
            rows, places[measure] = rows.looked_up(light[measure.value], find)
    made: dict[object, tuple[str, ir.Value]] = {}
    cells: dict[Measure, str] = {}
    for measure in sorted(measures, key=lambda m: isinstance(m, Present)):  # totals come first
        cell = _cell(rows, measure, made, light, places)
        if cell is not None:
            cells[measure] = cell
    keys = {f"k{i}": rows.value(light[value]) for i, (_, value) in enumerate(group)}
    unit = [UNIT] if UNIT in rows.table.columns else []
    columns = {**keys, **dict(made.values())}
    if not unit and not columns:  # rows that are only counted still need a column
        columns = {"v": ibis.literal(1, type="int64")}
    table = rows.table.select(*unit, **columns)
    nullable = tuple(f"k{i}" for i, (_, value) in enumerate(group) if value.nullable)
    return CellTable(table, UNIT if unit else None, tuple(keys), nullable, cells)


def of_somebody(cells: CellTable) -> CellTable:
    """The table without the rows that have no unit."""
    return (
        cells if cells.unit is None else cells.on(cells.table.filter(cells.table[UNIT].notnull()))
    )


def _cell(
    rows: Rows,
    measure: Measure,
    made: dict[object, tuple[str, ir.Value]],
    light: Mapping[Typed, Typed],
    places: Mapping[Measure, str],
) -> str | None:
    match measure:
        case Total(value, grid):
            what: object = (value, grid)
            if what not in made:
                x = rows.renamed(light[value])
                domain = rows.domains.get(str(x.value)) if x.op == "column" else None
                made[what] = _next(made), quantised(x, grid, rows.table, rows.dialect, domain)
        case _ if measure in places:
            what = measure
            made[what] = _next(made), rows.table[places[measure]]
        case GridBins() | EdgeBins() | CategoryBins():
            what = measure
            renamed = replace(measure, value=rows.renamed(light[measure.value]))
            made[what] = _next(made), bin_index(renamed, rows.table, rows.dialect)
        case Present(value) if value.nullable:
            same = [name for what, (name, _) in made.items() if _is_of(what, value)]
            if same:
                return same[0]
            what = value
            missing = rows.value(Typed("is_null", (light[value],), None, Type.BOOLEAN, False))
            one = ibis.literal(1, type="int64")
            made[what] = _next(made), ibis.ifelse(missing, ibis.null("int64"), one)
        case _:
            return None
    return made[what][0]


def _lookup(measure: EdgeBins | CategoryBins, rows: Rows) -> Find | None:
    """How to look up a row's bin, where there are many bins."""
    if isinstance(measure, CategoryBins):
        values = listed(measure.values, measure.value.type)
        return partial(with_place, values=values, bring=rows.bring) if len(values) > FEW else None
    cuts = edge_cuts(measure.value, measure.edges)
    return partial(with_rank, cuts=cuts, bring=rows.bring) if len(cuts) > FEW else None


def _is_of(what: object, value: Typed) -> bool:
    """Is this column missing exactly where the value is?"""
    return isinstance(what, tuple) and what[0] == value


def _next(made: dict[object, tuple[str, ir.Value]]) -> str:
    return f"v{len(made)}"


# -- values on their grid, and values in their bins ------------------------------------------------
# Integers that are safe to add.
#
# `quantised` is `Grid.quantise`, bit for bit, for every double and every integer of 64 bits.


# Halves of integers up to this size are doubles, and so are sums of two of these.
_EXACT: Final = 2.0**51


def quantised(
    value: Typed, grid: Grid, table: ir.Table, dialect: Dialect, domain: Domain | None = None
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
        x = translate(value, table, dialect)
        plain = 0 <= grid.exponent <= 40  # otherwise 2^k or its inverse is no integer of 64 bits
        return _of_integers(x, grid) if plain else _of_reals(x, grid, dialect)
    # A column is used as it is stored: that NaN is missing is taken care of below.
    stored = value.op == "column"
    x = table[str(value.value)] if stored else translate(value, table, dialect)
    return _of_reals(x, grid, dialect)


def _contains(grid: Grid, domain: Domain) -> bool:
    """Is every value of the domain on the grid as it is, and no product inexact?"""
    lower, upper = (math.ldexp(end, -grid.exponent) for end in (grid.lower, grid.upper))
    return lower <= domain.lower and domain.upper <= upper and abs(grid.exponent) < 1000


def bin_index(measure: Binned, table: ir.Table, dialect: Dialect) -> ir.Value:
    """The number of each row's bin, counted from 0, or null where it is in none."""
    match measure:
        case GridBins(value, grid):
            return quantised(value, grid, table, dialect) - whole(grid.lower)
        case EdgeBins(value, edges):
            return _between_edges(value, edges, table, dialect)
        case CategoryBins(value, values):
            return _among(value, values, table, dialect)


# -- grids -----------------------------------------------------------------------------------------


def _of_integers(x: ir.Value, grid: Grid) -> ir.Value:
    """min(max(x·2^k, lower), upper) − centre; x is clamped beforehand too, so that x·2^k fits."""
    if grid.exponent:
        low, high = grid.lower >> grid.exponent, -(-grid.upper >> grid.exponent)
        x = clamped(x, whole(low), whole(high)) * whole(2**grid.exponent)
    x = clamped(x, whole(grid.lower), whole(grid.upper))
    return x - whole(grid.centre) if grid.centre else x


def _of_reals(x: ir.Value, grid: Grid, dialect: Dialect) -> ir.Value:
    if x.type().is_integer():
        x = x.cast("float64")
    lower, upper = (math.ldexp(end, -grid.exponent) for end in (grid.lower, grid.upper))
    if dialect is not Dialect.DUCKDB:
        inside = ibis.cases(
            (x <= real(lower), real(lower)),
            (x <= real(upper), x),
            (is_number(x, dialect), real(upper)),
            else_=ibis.null("float64"),
        )
        steps = floor(_scaled(inside, grid.exponent, dialect) + real(0.5)).cast("int64")
        return steps - whole(grid.centre) if grid.centre else steps
    # Whatever is far outside becomes one of the ends, and a NaN becomes null.
    far = math.ldexp(_EXACT, -grid.exponent)
    near = ibis.cases(
        (x.abs() <= real(far), x),
        (x < real(0.0), real(lower)),
        (is_number(x, dialect), real(upper)),
        else_=ibis.null("float64"),
    )
    steps = floor(_scaled(near, grid.exponent, dialect) + real(0.5))
    # min(max(v, lower), upper) = (|v − lower| − |v − upper| + lower + upper)/2, which is exact here
    # and takes DuckDB half as long as two comparisons.
    both = (steps - real(grid.lower)).abs() - (steps - real(grid.upper)).abs()
    return ((both + real(grid.lower + grid.upper - 2 * grid.centre)) * real(0.5)).cast("int64")


def _scaled(x: ir.Value, exponent: int, dialect: Dialect) -> ir.Value:
    """x·2^k: exact, for |x·2^k| ≤ 2^51, unless it is so small that it rounds to 0 steps."""
    if exponent < 0 and dialect is Dialect.POSTGRES:  # which raises on underflow
        tiny = math.ldexp(1.0, -exponent - 100)
        x = ibis.ifelse(x.abs() < real(tiny), real(0.0), x)
    while exponent > 1000:  # 2^k is not a double
        x, exponent = x * real(2.0**1000), exponent - 1000
    return x * real(math.ldexp(1.0, exponent))


# -- bins ------------------------------------------------------------------------------------------


def edge_cuts(value: Typed, edges: tuple[float, ...]) -> list[float]:
    """The inner edges that a value can reach, in its own type."""
    if value.type is Type.INTEGER:  # x ≥ edge if and only if x ≥ ⌈edge⌉
        whole_edges = (max(math.ceil(edge), -(2**63)) for edge in edges[1:-1])
        return [edge for edge in whole_edges if edge < 2**63]
    return list(edges[1:-1])


def _between_edges(
    value: Typed, edges: tuple[float, ...], table: ir.Table, dialect: Dialect
) -> ir.Value:
    x = translate(value, table, dialect)
    # A column is searched as it is stored: whether it is NaN, and so missing, is asked once, below.
    stored = table[str(value.value)] if value.op == "column" else x
    cuts = [constant(cut) for cut in edge_cuts(value, edges)]
    found = search(stored, cuts, [whole(i) for i in range(len(cuts) + 1)])
    return ibis.ifelse(x.isnull(), ibis.null("int64"), found)


def _among(value: Typed, values: tuple[object, ...], table: ir.Table, dialect: Dialect) -> ir.Value:
    x = translate(value, table, dialect)
    numbered = sorted(enumerate(values), key=lambda pair: _order(pair[1]))
    constants = [literal(item, value.type) for _, item in numbered]
    leaves = [
        ibis.ifelse(x == constant, whole(index), ibis.null("int64"))
        for (index, _), constant in zip(numbered, constants, strict=True)
    ]
    if value.type is Type.BOOLEAN:
        return ibis.coalesce(*leaves)
    if value.type is Type.TEXT:
        constants, x = [in_order(c, dialect) for c in constants], in_order(x, dialect)
    return search(x, constants[1:], leaves)


def _order(value: Any) -> Any:
    return value.encode() if isinstance(value, str) else value
