"""The columns that an answer is made of: quantised values, bins and marks, each computed once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import ibis
import ibis.expr.types as ir

from discreet.engines.lookups import FEW, Find, listed, with_place, with_rank
from discreet.engines.quantising import bin_index, edge_cuts, quantised
from discreet.engines.rows import UNIT, Rows
from discreet.query.expressions import Typed
from discreet.query.measures import Categories, EdgeBins, GridBins, Measure, Present, Total
from discreet.query.schema import Type

BINNED = (GridBins, EdgeBins, Categories)


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows as (unit, keys, cells): `cells` holds all of a row that the answer can depend on."""

    table: ir.Table
    unit: str | None  # a column
    keys: tuple[str, ...]  # columns
    nullable: tuple[str, ...]  # the keys that may be missing
    cells: Mapping[Measure, str]  # for each measure that needs one, its column

    @property
    def contents(self) -> tuple[str, ...]:
        """The columns of the cells, each once."""
        return tuple(dict.fromkeys(self.cells.values()))

    def on(self, table: ir.Table) -> Cells:
        """The same columns of another table."""
        return replace(self, table=table)


def cells_of(
    rows: Rows,
    group: tuple[tuple[str, Typed], ...],
    measures: tuple[Measure, ...],
) -> Cells:
    """One projection: u, k0, k1, ..., v0, v1, ..."""
    asked = [m.value for m in measures if hasattr(m, "value")] + [value for _, value in group]
    rows, columns_of_them = rows.as_columns(*asked)
    light = dict(zip(asked, columns_of_them, strict=True))
    places: dict[Measure, str] = {}
    for measure in measures:
        if isinstance(measure, EdgeBins | Categories) and (find := _lookup(measure, rows)):
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
    return Cells(table, UNIT if unit else None, tuple(keys), nullable, cells)


def of_somebody(cells: Cells) -> Cells:
    """Without the rows that belong to nobody."""
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
        case GridBins() | EdgeBins() | Categories():
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


def _lookup(measure: EdgeBins | Categories, rows: Rows) -> Find | None:
    """How a row's bin is looked up, where there are many."""
    if isinstance(measure, Categories):
        values = listed(measure.values, measure.value.type)
        return partial(with_place, values=values, bring=rows.bring) if len(values) > FEW else None
    cuts = edge_cuts(measure.value, measure.edges)
    return partial(with_rank, cuts=cuts, bring=rows.bring) if len(cuts) > FEW else None


def _is_of(what: object, value: Typed) -> bool:
    """Is this column missing exactly where the value is?"""
    return isinstance(what, tuple) and what[0] == value


def _next(made: dict[object, tuple[str, ir.Value]]) -> str:
    return f"v{len(made)}"
