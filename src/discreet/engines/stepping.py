"""The steps of a query, on rows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

import ibis.expr.types as ir

from discreet.engines.lookups import joined
from discreet.engines.passes import Lookup, Pass
from discreet.engines.reading import canonical
from discreet.engines.rows import Rows, renamed
from discreet.query.expressions import Typed, columns_of
from discreet.query.steps import Join, Mutate, Select, Step, Where


def apply(rows: Rows, steps: tuple[Step, ...], run: Pass) -> Rows:
    """The steps: joins in order, and what stands between them as few projections."""
    for _, some in groupby(steps, key=lambda step: step if isinstance(step, Join) else None):
        match tuple(some):
            case (Join() as join,):
                rows = _joined(rows, join, run)
            case row_wise:
                rows = _row_wise(rows, row_wise)
    return rows


def _row_wise(rows: Rows, steps: Iterable[Step]) -> Rows:
    """Compute and drop as early as can be: rows do not know of each other, and nothing can fail.

    What does not build on each other is computed in one projection, however many steps it took.
    So each value gets a name of its own, as a later step may put another under the same one.
    """
    current = {name: name for name in rows.names}
    levels: list[dict[str, Typed]] = [{}]  # each reads what is there, and the levels before
    tests: list[list[Typed]] = [[]]  # and conditions that read no more than that
    level_of: dict[str, int] = {}

    def read(value: Typed) -> tuple[Typed, int]:
        value = renamed(value, current)
        level = max((level_of.get(name, 0) for name in columns_of(value)), default=0)
        if level == len(levels):
            levels.append({})
            tests.append([])
        return value, level

    for number, step in enumerate(steps):
        match step:
            case Where(condition):
                condition, level = read(condition)
                tests[level].append(condition)
            case Mutate(columns) | Select(columns):
                fresh = {name: f"\0{number} {name}" for name, _ in columns}  # no caller's names
                for name, value in columns:
                    value, level = read(value)
                    levels[level][fresh[name]] = value
                    level_of[fresh[name]] = level + 1
                current = fresh if isinstance(step, Select) else {**current, **fresh}
    needed = [set(current.values())]  # by what comes after each level
    for made, asked in zip(levels[:0:-1], tests[:0:-1], strict=True):
        needed.append(needed[-1].union(*map(columns_of, (*made.values(), *asked))))
    for made, asked in zip(levels, tests, strict=True):
        if asked:
            rows, conditions = _values(rows, asked)
            rows = replace(rows, table=rows.table.filter(conditions))
        if made:
            rows, values = _values(rows, made.values())
            rows = rows.with_columns(dict(zip(made, values, strict=True)))
        rows = rows.only(needed.pop())
    return replace(rows, names={name: rows.names[own] for name, own in current.items()})


def _values(rows: Rows, values: Iterable[Typed]) -> tuple[Rows, list[ir.Value]]:
    """All of them on the row as it is."""
    rows, lighter = rows.light(*values)
    return rows, [rows.value(light) for light in lighter]


def _joined(rows: Rows, step: Join, run: Pass) -> Rows:
    wanted = [there for _, there in step.on] + [there for _, there in step.added]
    there = tuple(f"p{i}" for i in range(len(step.on)))
    public = run.public(Lookup(canonical(step.table.select(wanted), prefix="p"), there))
    on = []
    for (value, _), key in zip(step.on, there, strict=True):
        rows, name = rows.computed(value)
        on.append((name, key))
    fresh = rows.fresh(len(step.added))
    looked_up = {name: public[f"p{len(on) + i}"] for i, name in enumerate(fresh)}
    names = {here: name for (here, _), name in zip(step.added, fresh, strict=True)}
    table = joined(rows.table, on, public, looked_up)
    return rows.on(table, names, deeper=2)
