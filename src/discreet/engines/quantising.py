"""Values on their grid, and values in their bins: integers that are safe to add.

`quantised` is `Grid.quantise`, bit for bit, for every double and every integer of 64 bits.
"""

from __future__ import annotations

import math
from typing import Any, Final

import ibis
import ibis.expr.types as ir

from discreet.engines.arithmetic import clamped
from discreet.engines.calls import floor, in_order, is_number, real, whole
from discreet.engines.dialects import Dialect
from discreet.engines.expressions import literal, translate
from discreet.engines.lookups import constant, search
from discreet.query.expressions import Typed
from discreet.query.grid import Grid
from discreet.query.measures import Binned, Categories, EdgeBins, GridBins
from discreet.query.schema import Domain, Type

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
        plain = 0 <= grid.exponent <= 40  # else 2^k or its inverse is no integer of 64 bits
        return _of_integers(x, grid) if plain else _of_reals(x, grid, dialect)
    # A column as it is stored: that NaN is missing is seen to below.
    stored = value.op == "column"
    x = table[str(value.value)] if stored else translate(value, table, dialect)
    return _of_reals(x, grid, dialect)


def _contains(grid: Grid, domain: Domain) -> bool:
    """Is every value of the domain on the grid as it is, and no product inexact?"""
    lower, upper = (math.ldexp(end, -grid.exponent) for end in (grid.lower, grid.upper))
    return lower <= domain.lower and domain.upper <= upper and abs(grid.exponent) < 1000


def bin_index(measure: Binned, table: ir.Table, dialect: Dialect) -> ir.Value:
    """The number of each row's bin, from 0 on, null where it is in none."""
    match measure:
        case GridBins(value, grid):
            return quantised(value, grid, table, dialect) - whole(grid.lower)
        case EdgeBins(value, edges):
            return _between_edges(value, edges, table, dialect)
        case Categories(value, values):
            return _among(value, values, table, dialect)


# -- grids -----------------------------------------------------------------------------------------


def _of_integers(x: ir.Value, grid: Grid) -> ir.Value:
    """min(max(x·2^k, lower), upper) − centre, clamped before too so that x·2^k fits."""
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
    # Whatever is far outside becomes an end, and a NaN null.
    far = math.ldexp(_EXACT, -grid.exponent)
    near = ibis.cases(
        (x.abs() <= real(far), x),
        (x < real(0.0), real(lower)),
        (is_number(x, dialect), real(upper)),
        else_=ibis.null("float64"),
    )
    steps = floor(_scaled(near, grid.exponent, dialect) + real(0.5))
    # min(max(v, lower), upper) = (|v − lower| − |v − upper| + lower + upper)/2, exactly here:
    # half the price of two comparisons in DuckDB.
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
    if value.type is Type.INTEGER:  # x ≥ edge exactly if x ≥ ⌈edge⌉
        whole_edges = (max(math.ceil(edge), -(2**63)) for edge in edges[1:-1])
        return [edge for edge in whole_edges if edge < 2**63]
    return list(edges[1:-1])


def _between_edges(
    value: Typed, edges: tuple[float, ...], table: ir.Table, dialect: Dialect
) -> ir.Value:
    x = translate(value, table, dialect)
    # A column is searched as it is stored: that NaN is missing is asked once, outside.
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
