"""What is done to each row before anything is counted: steps of a query, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from discreet.query.expressions import Typed
from discreet.query.limits import JOINS, MADE, NODES, STEPS, check

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.query.public import PublicTable


@dataclass(frozen=True, slots=True)
class Where:
    """Keep the rows for which the condition is true; missing is not true."""

    condition: Typed


@dataclass(frozen=True, slots=True)
class Mutate:
    """Add columns, or put others in their place; all see the row as it was before."""

    columns: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, slots=True)
class Select:
    """Keep these columns only (and the unit, which is always kept)."""

    columns: tuple[tuple[str, Typed], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Join:
    """Look columns up in a public table with at most one row a key; rows without one get nulls.

    `on` pairs a column of this table, cast to the type of the public one, with its name there.
    """

    table: pa.Table  # key columns first, then those that are added
    on: tuple[tuple[Typed, str], ...]
    added: tuple[tuple[str, str], ...]  # name here, name in the public table
    origin: PublicTable  # where it came from


Step: TypeAlias = Where | Mutate | Select | Join

_FEWER: Final = "ask several smaller questions"


def check_steps(steps: tuple[Step, ...], *columns: object) -> None:
    """Refuse too many steps, or too much in them and in the columns that are asked."""
    values = [column for column in columns if isinstance(column, Typed)]
    made = joins = 0
    for step in steps:
        match step:
            case Where(condition):
                values.append(condition)
            case Mutate(pairs) | Select(pairs):
                made += len(pairs)
                values += (value for _, value in pairs)
            case Join():
                joins += 1
    check(len(steps), STEPS, name="a question", what="steps", hint=_FEWER)
    check(joins, JOINS, name="a question", what="joins", hint="join the public tables first")
    check(made, MADE, name="a question", what="columns in its steps", hint=_FEWER)
    what = "operations, columns and literals in its expressions"
    check(sum(map(_size, values)), NODES, name="a question", what=what, hint=_FEWER)


def _size(value: Typed) -> int:
    return 1 + sum(map(_size, value.args))
