"""One pass over a table of PostgreSQL: public tables go in by COPY, answers come by a cursor."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.duckdb import quoted
from discreet.engines.engine import Dialect, Lookup
from discreet.engines.execution import Turn
from discreet.errors import InvalidArgument


@dataclass(frozen=True, eq=False, repr=False)
class PostgresPass:
    """Implements `engine.Pass`; `backend` is the Ibis connection."""

    table: ir.Table
    backend: Any
    turn: Turn
    beside: dict[str, Lookup] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        """The dialect of PostgreSQL."""
        return Dialect.POSTGRES

    def source(self) -> ir.Table:
        """The columns that were asked for; text in a collation that compares code points.

        A collation of the column may treat "a" and "A" as equal, and so may its type (citext): then
        one row would have two keys. Whatever is computed from a column inherits its collation.
        """
        columns = ", ".join(
            f'{quoted(name)}::text COLLATE "C" AS {quoted(name)}'
            if type(kind) is dt.String
            else quoted(name)
            for name, kind in self.table.schema().items()
        )
        stored = self.backend.compile(self.table)
        query = f"SELECT {columns} FROM ({stored}) AS stored"
        return self.backend.sql(query, schema=self.table.schema())

    def public(self, lookup: Lookup) -> ir.Table:
        """A table in memory, under the name that it will have on the server."""
        name = f"public_{uuid.uuid4().hex}"
        self.beside[name] = lookup
        return ibis.table(ibis.Schema.from_pyarrow(lookup.table.schema), name=name)

    def compile(self, query: ir.Table) -> ir.Table:
        """The query as it is: Ibis compiles it when it runs."""
        return query

    def may_prepare(self) -> bool:
        """Whether the public tables can be sent, which takes the right to make temporary tables."""
        if not self.beside:
            return True
        self.turn.take()
        with self._statements() as cursor:
            cursor.execute(
                "SELECT has_database_privilege(current_database(), 'TEMP') "
                "AND current_setting('transaction_read_only') = 'off'"
            )
            return bool(cursor.fetchone()[0])

    def prepare(self) -> None:
        """Wait for our turn, which lasts until the pass is closed, and send the public tables."""
        self.turn.take()
        for name, lookup in self.beside.items():
            table = lookup.table
            kinds = ibis.Schema.from_pyarrow(table.schema)
            self.backend.create_table(name, schema=kinds, temp=True)
            with self._statements() as cursor:
                with cursor.copy(f'COPY "{name}" FROM STDIN') as copy:
                    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
                        copy.write_row(row)
                cursor.execute(f'ANALYZE "{name}"')

    def matches(self, name: str) -> int:
        """Counted by PostgreSQL's own join."""
        with self._statements() as cursor:
            cursor.execute(self.beside[name].matches(quoted(name)))
            return int(cursor.fetchone()[0])

    def batches(self, query: ir.Table) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, as they come."""
        yield from self.backend.to_pyarrow_batches(query)

    def interrupt(self) -> None:
        """Ask the server to stop, unless it is working for another pass."""
        if self.turn.stop():
            self.backend.con.cancel()

    def fraction(self) -> None:
        """None: progress is not known here."""
        return None

    def close(self) -> None:
        """Drop the public tables; the connection stays the caller's."""
        if not self.turn.taken:
            return
        try:
            with self._statements() as cursor:
                for name in self.beside:
                    cursor.execute(f'DROP TABLE IF EXISTS "{name}"')
        finally:
            self.turn.give()

    @contextlib.contextmanager
    def _statements(self) -> Iterator[Any]:
        """A cursor in a transaction of its own, so that the caller's is not affected."""
        with self.backend.con.transaction(), self.backend.con.cursor() as cursor:
            yield cursor


def check_connection(connection: Any) -> None:
    """Refuse a connection that is closed, broken, or in a transaction that has failed."""
    turn, answers = Turn(connection), False
    turn.take()
    try:
        with (
            contextlib.suppress(Exception),  # its message is not for the caller
            connection.transaction(),
            connection.cursor() as cursor,
        ):
            answers = cursor.execute("SELECT 1").fetchone() == (1,)
    finally:
        turn.give()
    if not answers:
        raise InvalidArgument(
            "table",
            "on a connection that answers",
            "one that is closed, lost, or in a transaction that has failed",
            hint="roll back, or connect again",
        )
