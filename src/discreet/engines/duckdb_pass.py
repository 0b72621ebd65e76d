"""One pass over a table in our DuckDB: Ibis compiles, and the connection runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import duckdb
import ibis
import ibis.expr.types as ir
import pyarrow as pa
from ibis.backends.duckdb import Backend

from discreet.engines.dialects import Dialect
from discreet.engines.passes import Lookup

# The optimizers that may run: these look at the question alone. All others are off, and so is what
# a new version of DuckDB adds, since what they look at are rows. Statistics of files and counts of
# rows choose which row groups a scan leaves out, how groups and joins are computed, and which side
# of a join is put into memory, so that time would tell one person's value. (Statistics are not even
# right: they leave NaN out, and a NaN would pass for a number.)
STATIC: Final = (
    "expression_rewriter",
    "in_clause",
    "cte_inlining",
    "materialized_cte",
    "unused_columns",
    "column_lifetime",
    "common_subexpressions",
    "common_aggregate",
    "duplicate_groups",
)

_compiler = Backend()


@dataclass(frozen=True, eq=False, repr=False)
class DuckDbPass:
    """Implements `engine.Pass`."""

    connection: duckdb.DuckDBPyConnection
    table: ir.Table
    attach: Callable[[], None]
    beside: dict[str, Lookup] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        """DuckDB's."""
        return Dialect.DUCKDB

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        return self.table

    def public(self, lookup: Lookup) -> ir.Table:
        """A table in memory, as it is."""
        name = f"public{len(self.beside)}"
        self.beside[name] = lookup
        return ibis.table(ibis.Schema.from_pyarrow(lookup.table.schema), name=name)

    def compile(self, query: ir.Table) -> str:
        """The query in SQL."""
        return str(_compiler.compile(query))

    def prepare(self) -> None:
        """Attach the tables: from here on data is touched."""
        self.attach()
        self.bring()

    def bring(self) -> None:
        """Make the public tables known that came so far."""
        for name, lookup in self.beside.items():
            self.connection.register(name, lookup.table)

    def matches(self, name: str) -> int:
        """By its own join."""
        return int(self.run(self.beside[name].matches(name))[0][0])

    def run(self, statement: str) -> list[Any]:
        """Rows of a small answer, if there is one."""
        return self.connection.execute(statement).fetchall()

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of the answer. (A reader of them as they come would keep one thread busy.)"""
        yield from self.connection.sql(query).to_arrow_table().to_batches()

    def interrupt(self) -> None:
        """Stop what is running."""
        self.connection.interrupt()

    def fraction(self) -> float | None:
        """How much is done, from 0 to 1."""
        percent = self.connection.query_progress()
        return percent / 100 if percent >= 0 else None

    def close(self) -> None:
        """Give up the connection, and its views with it."""
        self.connection.close()
