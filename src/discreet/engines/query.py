"""A request as queries of an engine, built before any data is touched."""

from __future__ import annotations

from typing import Any, Protocol

from discreet.engines.duckdb_pass import DuckDbPass
from discreet.engines.measuring import Cells, cells_of, of_somebody
from discreet.engines.passes import Pass
from discreet.engines.placing import keyed, numbered, with_places
from discreet.engines.reading import read_rows
from discreet.engines.sorting import BySorting
from discreet.engines.stepping import apply
from discreet.engines.summing import BySumming
from discreet.query.keys import ListedKeys
from discreet.query.request import Exact, Request
from discreet.query.schema import Schema


class Query(Protocol):
    """Something that is ready to run."""

    def answer(self, run: Any) -> Exact:
        """Run and read: from here on data is touched."""
        ...


def build(
    request: Request, run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema
) -> Query:
    """Translate steps, keys and cells; then the way that suits the engine."""
    cells = _cells(request, run, columns, stored=stored, declared=declared)
    if request.bound is not None and isinstance(run, DuckDbPass):
        return BySorting.build(request, run, cells)
    return BySumming.build(request, run, cells)


def cells_in_groups(
    request: Request, run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema
) -> Cells:
    """The rows of somebody that are in a group of the answer, before they are bounded."""
    cells = _cells(request, run, columns, stored=stored, declared=declared)
    if isinstance(request.keys, ListedKeys):
        return with_places(cells, run.public(numbered(request.keys.table)))
    return keyed(cells)


def _cells(
    request: Request, run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema
) -> Cells:
    rows = read_rows(run, columns, stored=stored, declared=declared, unit=request.unit)
    rows = apply(rows, request.steps, run)
    return of_somebody(cells_of(rows, request.group, request.measures))
