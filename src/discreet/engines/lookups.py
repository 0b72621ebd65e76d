"""Long lists of categories: looked up in a table, not in an expression.

A row's place among a thousand categories is found by a join in a hundredth of the time that an
expression takes. So a request for them becomes one with a join more, and bins of places.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import pyarrow as pa

from discreet.engines.metadata import ARROW
from discreet.query.expressions import Typed
from discreet.query.grid import Grid
from discreet.query.measures import Categories, GridBins, Measure
from discreet.query.request import Exact, Request
from discreet.query.schema import Type
from discreet.query.steps import Join

FEW: Final = 32  # categories that are searched in an expression


def with_lookups(request: Request) -> tuple[Request, Mapping[Measure, Measure]]:
    """An equal request, and what each of its measures was called in the first one."""
    steps, names = request.steps, dict[Measure, Measure]()
    for i, measure in enumerate(request.measures):
        if isinstance(measure, Categories) and measure.size > FEW:
            name = f"\0place {i}"  # no caller's column is called so
            table = pa.table(
                {
                    "value": pa.array(measure.values, ARROW[measure.value.type]),
                    "place": pa.array(range(measure.size), pa.int64()),
                }
            )
            steps += (Join(table, ((measure.value, "value"),), ((name, "place"),)),)
            place = Typed("column", (), name, Type.INTEGER, True)
            names[GridBins(place, Grid(0, 0, measure.size - 1))] = measure
        else:
            names[measure] = measure
    return replace(request, steps=steps, measures=tuple(names)), names


def named(answer: Exact, names: Mapping[Measure, Measure]) -> Exact:
    """The answer in the names of the first request."""
    return Exact(answer.keys, {names[measure]: cells for measure, cells in answer.columns.items()})
