"""One pass over a table of PostgreSQL: public tables come by COPY, answers by a cursor."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.dialects import Dialect
from discreet.engines.ranges import Range


@dataclass(frozen=True, eq=False, repr=False)
class PostgresPass:
    """Implements `passes.Pass`; `backend` is the connection of Ibis."""

    table: ir.Table
    backend: Any
    beside: dict[str, pa.Table] = field(default_factory=dict)

    @property
    def known(self) -> Mapping[str, Range]:
        """Nothing, without another pass."""
        return {}

    @property
    def dialect(self) -> Dialect:
        """PostgreSQL's."""
        return Dialect.POSTGRES

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        return self.table

    def public(self, table: pa.Table) -> ir.Table:
        """A table in memory, under a name that the server will know."""
        name = f"public_{uuid.uuid4().hex}"
        self.beside[name] = table
        return ibis.table(ibis.Schema.from_pyarrow(table.schema), name=name)

    def compile(self, query: ir.Table) -> ir.Table:
        """Ibis compiles when it runs."""
        return query

    def may_prepare(self) -> bool:
        """Whether the public tables can be brought: they are temporary ones."""
        if not self.beside:
            return True
        with self.backend.con.cursor() as cursor:
            cursor.execute(
                "SELECT has_database_privilege(current_database(), 'TEMP') "
                "AND current_setting('transaction_read_only') = 'off'"
            )
            return bool(cursor.fetchone()[0])

    def prepare(self) -> None:
        """Bring the public tables."""
        for name, table in self.beside.items():
            kinds = ibis.Schema.from_pyarrow(table.schema)
            self.backend.create_table(name, schema=kinds, temp=True)
            with self.backend.con.cursor() as cursor:
                with cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
                    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                        copy.write_row(row)
                cursor.execute(f'ANALYZE "{name}"')

    def batches(self, query: ir.Table) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, as they come."""
        yield from self.backend.to_pyarrow_batches(query)

    def interrupt(self) -> None:
        """Ask the server to stop."""
        self.backend.con.cancel()

    def fraction(self) -> None:
        """Not known."""
        return None

    def close(self) -> None:
        """Drop the public tables; the connection stays the caller's."""
        with self.backend.con.cursor() as cursor:
            for name in self.beside:
                cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
