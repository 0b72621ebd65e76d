"""The steps of a query, on rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import ibis.expr.types as ir

from discreet.engines.passes import Lookup, Pass
from discreet.engines.reading import canonical
from discreet.engines.rows import Rows
from discreet.query.expressions import Typed
from discreet.query.steps import Join, Mutate, Select, Step, Where


def apply(rows: Rows, steps: tuple[Step, ...], run: Pass) -> Rows:
    """The steps, in order."""
    for step in steps:
        match step:
            case Where(condition):
                rows, condition = rows.light(condition)
                rows = replace(rows, table=rows.table.filter(rows.value(condition)))
            case Mutate(columns):
                rows, made = _values(rows, columns)
                rows = rows.with_columns(made)
            case Select(columns):
                rows, made = _values(rows, columns)
                rows = rows.with_columns(made, keep=False)
            case Join():
                rows = _joined(rows, step, run)
    return rows


def _values(
    rows: Rows, columns: Iterable[tuple[str, Typed]]
) -> tuple[Rows, Mapping[str, ir.Value]]:
    """All of them on the row as it is, whatever they are called."""
    lighter = []
    for name, value in columns:
        rows, light = rows.light(value)
        lighter.append((name, light))
    return rows, {name: rows.value(value) for name, value in lighter}


def _joined(rows: Rows, step: Join, run: Pass) -> Rows:
    wanted = [there for _, there in step.on] + [there for _, there in step.added]
    keys = tuple(f"p{i}" for i in range(len(step.on)))
    public = run.public(Lookup(canonical(step.table.select(wanted), prefix="p"), keys))
    for i, (here, _) in enumerate(step.on):
        rows, light = rows.light(here)
        rows = rows.with_columns({f"\0key {i}": rows.value(light)})
    names = [rows.names[f"\0key {i}"] for i in range(len(step.on))]
    on = [rows.table[name] == public[f"p{i}"] for i, name in enumerate(names)]
    start = len(rows.table.columns)
    fresh = {here: f"c{start + i}" for i, (here, _) in enumerate(step.added)}
    looked_up = {name: public[f"p{len(on) + i}"] for i, name in enumerate(fresh.values())}
    kept = {name: rows.table[name] for name in rows.table.columns}
    table = rows.table.left_join(public, on).select(**kept, **looked_up)
    return replace(rows, table=table, names={**rows.names, **fresh})
