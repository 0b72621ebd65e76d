"""What is done to each row before anything is counted: steps of a query, in order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from discreet.query.expressions import Typed

if TYPE_CHECKING:
    import pyarrow as pa


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


Step: TypeAlias = Where | Mutate | Select | Join
