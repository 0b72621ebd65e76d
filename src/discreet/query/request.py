"""What a plan asks of an engine, and what comes back: exact integers for each group.

The engine applies the steps, drops rows without a unit and rows whose key is missing or not
listed, bounds what is kept of each person, and only then measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from discreet.query.contribution import Bound
from discreet.query.expressions import Typed
from discreet.query.keys import Keys
from discreet.query.measures import Measure
from discreet.query.public import PublicTable
from discreet.query.schema import Schema
from discreet.query.steps import Step

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, eq=False, repr=False)
class Request:
    """One pass over a table."""

    steps: tuple[Step, ...]
    unit: str | None
    group: tuple[tuple[str, Typed], ...]  # names and values of the key columns; () for one group
    keys: Keys | None  # None exactly where there are no key columns
    bound: Bound | None  # None exactly where there is no unit
    measures: tuple[Measure, ...]
    salt: int  # 64 bits, drawn for this request: decides which rows are kept, and only that


@dataclass(frozen=True, eq=False, repr=False)
class Exact:
    """The answer: for each key, in order, one integer a measure, or a row of integers for bins.

    Columns are arrays of int64; those of a `Total` that is wide are of Python integers (dtype
    object), however small they are. With listed keys they follow the list; discovered ones come
    with their table, which is data, and holds every key that somebody has.
    """

    keys: pa.Table | None  # for discovered keys only
    columns: Mapping[Measure, Any]


class Source(Protocol):
    """A table that can be asked, opened by an engine. Nothing is read before `measure`."""

    @property
    def schema(self) -> Schema:
        """The columns, from metadata alone."""
        ...

    @property
    def name(self) -> str:
        """What to call it: never a value from it."""
        ...

    def check(self, request: Request, most: int | None = None) -> None:
        """Refuse (InvalidArgument) what the engine cannot answer, to `measure` or, with `most`, to
        `spread`; touches no data."""
        ...

    def measure(self, request: Request) -> Exact:
        """Compute. Raises EngineError, without a word from the data, if the engine fails."""
        ...

    def spread(self, request: Request, most: int) -> tuple[Any, Any]:
        """Count people: by how many groups they are in, and by their most rows in one group.

        Two arrays of `most` integers, for 1, 2, ... and `most` or more. Nothing is bounded.
        """
        ...

    def holds(self, public: PublicTable) -> bool:
        """Is what was said to be public this very source, by whatever name?"""
        ...
