"""Queries that were asked before, as SQL: translating one takes longer than many answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from discreet.engines.duckdb_pass import DuckDbPass
from discreet.query.keys import ListedKeys
from discreet.query.request import Request

_MOST: Final = 64
_FEW_KEYS: Final = 1000  # lists up to this length are told apart by their contents


@dataclass(frozen=True, eq=False)
class Prepared:
    """For each question, its query and the public tables that it names."""

    seen: OrderedDict[object, tuple[Any, dict[str, Any]]] = field(default_factory=OrderedDict)

    def query(self, request: Request, run: DuckDbPass, build: Callable[[], Any]) -> Any:
        """The query of an equal request, with this request's salt; else a new one."""
        asked = (
            request.steps,
            request.unit,
            request.group,
            _contents(request.keys),
            request.bound,
            request.measures,
            tuple(run.known.items()),
        )
        if (found := self.seen.get(asked)) is not None:
            query, beside = found
            run.beside.update(beside)
            return replace(query, request=request)
        query = build()
        self.seen[asked] = (query, dict(run.beside))
        while len(self.seen) > _MOST:
            self.seen.popitem(last=False)
        return query


def _contents(keys: object) -> object:
    if isinstance(keys, ListedKeys) and len(keys) <= _FEW_KEYS:
        columns = [tuple(column.to_pylist()) for column in keys.table.columns]
        return (*columns, str(keys.table.schema))
    return keys
