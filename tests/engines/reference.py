"""A request answered in plain Python: sixty lines that an engine is held against.

Rows are dicts. What is kept of each person is given from outside: all, unless `kept` says so.
"""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

from discreet.query.keys import ListedKeys
from discreet.query.measures import (
    AllRows,
    CategoryBins,
    EdgeBins,
    GridBins,
    Measure,
    Present,
    Total,
    Units,
)
from discreet.query.request import Join, Mutate, Request, Select, Step, Where
from tests.engines.evaluate import Row, evaluate

Person = tuple[Any, Row]  # the unit as it was read, and the row as it is now
Kept = Callable[[list[tuple[Any, Any, Row]]], list[tuple[Any, Any, Row]]]


def measure(
    rows: Iterable[Row], request: Request, kept: Kept = lambda rows: rows, units: Any = None
) -> dict[tuple[Any, ...], dict[Measure, Any]]:
    """For each key, one integer a measure, or a list of them for bins. `units` are those of the
    rows, where they are not what is read of their column."""
    rows = list(rows)
    units = units or [row[request.unit] if request.unit else None for row in rows]
    people = list(zip(units, rows, strict=True))
    if request.unit:
        people = [(unit, row) for unit, row in people if unit is not None and unit == unit]
    for step in request.steps:
        people = apply(step, people)
    keyed = [
        (tuple(evaluate(value, row) for _, value in request.group), unit, row)
        for unit, row in people
    ]
    keyed = [item for item in keyed if None not in item[0]]
    keys = list(dict.fromkeys(key for key, _, _ in keyed))
    if request.keys is None:
        keys = [()]
    elif isinstance(request.keys, ListedKeys):
        keys = list(zip(*(column.to_pylist() for column in request.keys.table), strict=True))
    groups: dict[Any, list[tuple[Any, Row]]] = {key: [] for key in keys}
    for key, unit, row in kept([item for item in keyed if item[0] in groups]):
        groups[key].append((unit, row))
    return {
        key: {wanted: count(wanted, members) for wanted in request.measures}
        for key, members in groups.items()
    }


def apply(step: Step, people: list[Person]) -> list[Person]:
    match step:
        case Where(condition):
            return [(unit, row) for unit, row in people if evaluate(condition, row) is True]
        case Mutate(columns):
            return [(unit, {**row, **computed(columns, row)}) for unit, row in people]
        case Select(columns):
            return [(unit, computed(columns, row)) for unit, row in people]
        case Join(table, on, added):
            public = {tuple(row[name] for _, name in on): row for row in table.to_pylist()}
            found = [public.get(tuple(evaluate(v, row) for v, _ in on), {}) for _, row in people]
            return [
                (unit, {**row, **{here: more.get(there) for here, there in added}})
                for (unit, row), more in zip(people, found, strict=True)
            ]


def computed(columns: Iterable[tuple[str, Any]], row: Row) -> Row:
    return {name: evaluate(value, row) for name, value in columns}


def count(wanted: Measure, members: list[Person]) -> Any:
    if isinstance(wanted, AllRows):
        return len(members)
    if isinstance(wanted, Units):
        units = [unit for unit, _ in members]
        return len(members) if None in units else len(set(units))
    cells = [evaluate(wanted.value, row) for _, row in members]
    cells = [cell for cell in cells if cell is not None]
    match wanted:
        case Present():
            return len(cells)
        case Total(_, grid, squared, shift, offset):
            steps = [grid.quantise(cell) for cell in cells]
            if not squared:
                return sum(steps)
            return sum(
                math.floor(Fraction(q * q, 2**shift) + Fraction(1, 2)) - offset for q in steps
            )
        case GridBins(_, grid):
            places = [grid.quantise(cell) - grid.lower for cell in cells]
        case EdgeBins(_, edges):
            places = [min(max(bisect_right(edges, c) - 1, 0), len(edges) - 2) for c in cells]
        case CategoryBins(_, values):
            places = [values.index(cell) for cell in cells if cell in values]
    return [places.count(i) for i in range(wanted.size)]
