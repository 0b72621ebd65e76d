"""What a plan asks of an engine, and what comes back: exact integers for each group.

The engine applies the steps, drops rows without a unit and rows whose key is missing or not
listed, limits the rows of each person, and only then measures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Typed
from discreet.query.keys import Keys
from discreet.query.limits import JOINS, MADE, NODES, STEPS, check
from discreet.query.measures import Measure
from discreet.query.public import PublicTable
from discreet.query.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


# -- what is done to each row before anything is counted -------------------------------------------


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the rows for which the condition is true; missing is not true."""

    condition: Typed


@dataclass(frozen=True, slots=True)
class Mutate:
    """Add or replace columns; all are computed from the row as it was before this step."""

    columns: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Select:
    """Keep these columns only (and the unit, which is always kept)."""

    columns: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Join:
    """Look columns up in a public table, one row per key at most; rows without a match get nulls.

    `on` pairs a column of this table, cast to the type of the public one, with its name there.
    """

    table: pa.Table  # key columns first, then those that are added
    on: tuple[tuple[Typed, str], ...]
    added: tuple[tuple[str, str], ...]  # name here, name in the public table
    origin: PublicTable  # where it came from


Step: TypeAlias = Where | Mutate | Select | Join

_FEWER: Final = "ask several smaller questions"


def check_steps(steps: tuple[Step, ...], *columns: object) -> None:
    """Refuse a question with too many steps, or with too much in its steps and `columns`."""
    tests = [step.condition for step in steps if isinstance(step, Where)]
    made = [one for step in steps if isinstance(step, Mutate | Select) for _, one in step.columns]
    asked = [column for column in columns if isinstance(column, Typed)]
    joins = sum(isinstance(step, Join) for step in steps)
    check(len(steps), STEPS, name="a question", what="steps", hint=_FEWER)
    check(joins, JOINS, name="a question", what="joins", hint="join the public tables first")
    check(len(made), MADE, name="a question", what="columns in its steps", hint=_FEWER)
    size, what = sum(map(_size, [*tests, *made, *asked])), "operations, columns and literals"
    check(size, NODES, name="a question", what=f"{what} in its expressions", hint=_FEWER)


def _size(value: Typed) -> int:
    return 1 + sum(map(_size, value.args))


# -- one pass over a table -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Request:
    """One pass over a table."""

    steps: tuple[Step, ...]
    unit: str | None
    group: tuple[tuple[str, Typed], ...]  # names and values of the key columns; () if not grouped
    keys: Keys | None  # None exactly where there are no key columns
    bound: ContributionBound | None  # None exactly where there is no unit
    measures: tuple[Measure, ...]
    salt: int  # 64 bits, drawn for this request: decides which rows are kept, and only that


@dataclass(frozen=True, eq=False, repr=False)
class Exact:
    """The answer: for each key, in order, one integer per measure, or a row of integers for bins.

    Columns are arrays of int64; those of a `Total` that is wide are of Python integers (dtype
    object), however small they are. Listed keys are in the order of the list; keys to be discovered
    come as a table, which is data: it holds every key that somebody has.
    """

    keys: pa.Table | None  # for discovered keys only
    columns: Mapping[Measure, Any]


class TableSource(Protocol):
    """A table that an engine has opened for questions. No rows are read before `measure`."""

    @property
    def schema(self) -> Schema:
        """The columns, from metadata alone."""

    @property
    def name(self) -> str:
        """What to call it: never a value from it."""

    def check(self, request: Request, most: int | None = None) -> None:
        """Refuse (InvalidArgument) what the engine cannot answer in `measure` or, if `most` is
        given, in `spread`. Touches no data."""

    def measure(self, request: Request) -> Exact:
        """Compute the answer. If the engine fails, raises EngineError, which quotes no data."""

    def spread(self, request: Request, most: int) -> tuple[Any, Any]:
        """Count people by how many groups they are in, and by the most rows they have in a group.

        Two arrays of `most` integers, for 1, 2, ... and `most` or more. No bound is applied.
        """

    def holds(self, public: PublicTable) -> bool:
        """Is the table that was declared public really this source, under whatever name?"""
