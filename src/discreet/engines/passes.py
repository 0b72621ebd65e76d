"""One pass over a table, wherever it lives: what the embedded DuckDB and Ibis backends share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol

import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.dialects import Dialect
from discreet.engines.ranges import Range


class Pass(Protocol):
    """Expressions are built and compiled first; `prepare` and `batches` touch data."""

    @property
    def dialect(self) -> Dialect:
        """Whose SQL is spoken there."""
        ...

    @property
    def known(self) -> Mapping[str, Range]:
        """Where all values of some columns lie."""
        ...

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        ...

    def public(self, table: pa.Table) -> ir.Table:
        """A table in memory, beside the source."""
        ...

    def compile(self, query: ir.Table) -> Any:
        """The query as `batches` takes it."""
        ...

    def prepare(self) -> None:
        """Make the tables ready to be read."""
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
