"""One pass over a table, wherever it lives: what the embedded DuckDB and Ibis backends share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.dialects import Dialect


@dataclass(frozen=True, eq=False, repr=False)
class Lookup:
    """A public table in memory: `keys` names the columns that rows are matched by."""

    table: pa.Table
    keys: tuple[str, ...]

    def matches(self, name: str) -> str:
        """SQL for how many rows match how many, where the table is called so."""
        return f"SELECT count(*) FROM {name} AS a JOIN {name} AS b USING ({', '.join(self.keys)})"


class Pass(Protocol):
    """Expressions are built and compiled first; `prepare` and `batches` touch data."""

    @property
    def dialect(self) -> Dialect:
        """Whose SQL is spoken there."""
        ...

    @property
    def beside(self) -> Mapping[str, Lookup]:
        """The public tables that were asked for, by the names they have there."""
        ...

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        ...

    def public(self, lookup: Lookup) -> ir.Table:
        """A table in memory, beside the source."""
        ...

    def compile(self, query: ir.Table) -> Any:
        """The query as `batches` takes it."""
        ...

    def prepare(self) -> None:
        """Make the tables ready to be read."""
        ...

    def matches(self, name: str) -> int:
        """How many rows a public table has when it is joined with itself: as many as it has, if
        its keys are distinct for those who join it."""
        ...

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, as they come."""
        ...

    def interrupt(self) -> None:
        """Stop what is running."""
        ...

    def fraction(self) -> float | None:
        """How much is done, from 0 to 1, where that is known."""
        ...

    def close(self) -> None:
        """Give up what the pass holds."""
        ...
