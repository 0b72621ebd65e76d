"""Queries that were asked before, as SQL: translating one takes longer than many answers."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from discreet.engines.duckdb_pass import DuckDbPass
from discreet.engines.summing import BySumming
from discreet.query.keys import ListedKeys
from discreet.query.request import Request

_MOST: Final = 64


@dataclass(frozen=True, eq=False)
class Prepared:
    """For each question, its query and the public tables that it names."""

    seen: OrderedDict[object, tuple[Any, dict[str, Any]]] = field(default_factory=OrderedDict)
    checked: OrderedDict[object, None] = field(default_factory=OrderedDict)

    def knows(self, request: Request) -> bool:
        """Was an equal request found good before?"""
        return _asked(request) in self.checked

    def note(self, request: Request) -> None:
        """It was found good."""
        self.checked[_asked(request)] = None
        while len(self.checked) > _MOST:
            self.checked.popitem(last=False)

    def query(self, request: Request, run: DuckDbPass, build: Callable[[], Any]) -> Any:
        """The query of an equal request, with this request's salt; else a new one."""
        asked = _asked(request)
        if (found := self.seen.get(asked)) is not None:
            query, beside = found
            run.beside.update(beside)
            return replace(query, request=request)
        query = build()
        if request.bound is not None and isinstance(query, BySumming):
            return query  # the salt is part of its SQL
        self.seen[asked] = (query, dict(run.beside))
        while len(self.seen) > _MOST:
            self.seen.popitem(last=False)
        return query


def _asked(request: Request) -> object:
    """All of a request but its salt."""
    return (
        request.steps,
        request.unit,
        request.group,
        request.keys.digest if isinstance(request.keys, ListedKeys) else request.keys,
        request.bound,
        request.measures,
    )
