"""Everything about an answer that is not a number in it, and the largest numbers there could be."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet import session as running
from discreet.query.keys import ListedKeys
from discreet.query.measures import AllRows, Measure, Present, Total, Units
from discreet.query.plan import Plan

ROWS = 2**40  # of a large table


def shape(plan: Plan, columns: Any, listed: ListedKeys | None) -> dict[str, Any]:
    """Add noise, and describe the answer that comes of it."""
    outputs = plan.outputs(plan.draw(columns))
    keys = None if listed is None else listed.table
    frame = {} if keys is None else {name: keys[name] for name in keys.column_names}
    table = running._table(frame, outputs)
    infos = running._infos(plan, outputs)
    return {
        "types": [(f.name, str(f.type), f.nullable) for f in table.schema],
        "rows": table.num_rows,
        "missing": [column.null_count for column in table.columns],
        "keys": None if keys is None else keys.to_pydict(),
        "columns": [repr(info) for info in infos],
        "notes": list(running._notes(plan)),
        "suppressed": running._suppressed(plan),
    }


def unlike(here: Any, there: Any) -> Iterator[tuple[str, str]]:
    """What of two shapes is not the same."""
    if not isinstance(there, dict):
        yield "error", f"one is released, the other fails: {there}"
        return
    for what in here:
        if here[what] != there[what]:
            pair = [here[what], there[what]]
            if isinstance(here[what], list) and len(pair[0]) == len(pair[1]):
                changed = [x != y for x, y in zip(*pair, strict=True)]
                pair = [[x for x, c in zip(side, changed, strict=True) if c] for side in pair]
            yield what, f"{what}: {pair[0]} | {pair[1]}"


def extremes(plan: Plan, columns: Any) -> Iterator[tuple[str, dict[Measure, Any]]]:
    """What the engine could have measured on tables of up to 2^40 rows."""
    for name in ("low", "high", "zero"):
        yield name, {m: _filled(values, _extreme(m, name)) for m, values in columns.items()}


def _extreme(measure: Measure, name: str) -> int:
    if name == "zero":
        return 0
    match measure:
        case AllRows() | Units():
            return ROWS
        case Present():
            return ROWS if name == "high" else 0
        case Total(grid=grid, squared=squared, offset=offset):
            low, high = grid.lower - grid.centre, grid.upper - grid.centre
            if squared:
                low, high = -offset, measure.largest_square - offset
            return ROWS * (high if name == "high" else low)
    return ROWS if name == "high" else 0  # a bin


def _filled(values: Any, number: int) -> Any:
    """In the type that the engine gave."""
    made = np.empty(values.shape, values.dtype)
    made[...] = number if values.dtype == object else min(max(number, -(2**63)), 2**63 - 1)
    return made
