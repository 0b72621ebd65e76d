"""PostgreSQL: a table of an Ibis connection."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir

from discreet.engines.engine import Engine, Pass, call, joined_text, quoted, real, signed
from discreet.engines.execution import Turn
from discreet.errors import InvalidArgument, Phrase


class Postgres(Engine):
    """PostgreSQL, whose casts, order of texts and rights are those of the session."""

    name = "postgres"
    title = "PostgreSQL"
    addresses = ("postgres:", "postgresql:")
    revokes = True
    part = Engine.substring

    def check_connection(self, backend: Any) -> None:
        """Refuse a connection that is closed, broken, or in a transaction that has failed."""
        turn, answers = Turn(backend.con), False
        turn.take()
        try:
            with (
                contextlib.suppress(Exception),  # its message is not for the caller
                backend.con.transaction(),
                backend.con.cursor() as cursor,
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

    def start(self, table: ir.Table, backend: Any) -> Pass:
        return PostgresPass(self, table, backend, Turn(backend.con))

    def plain(self, column: ir.Value, wanted: dt.DataType) -> ir.Value:
        found = column.type()
        if isinstance(found, dt.Timestamp) and found.timezone:
            return call("timezone", dt.timestamp, ibis.literal("UTC"), column)
        if isinstance(found, dt.Decimal):  # which may be NaN, or beyond what a double holds
            large, small = (ibis.literal(text).cast(dt.Decimal()) for text in ("1e100", "1e-100"))
            return ibis.cases(
                (column.cast("string") == "NaN", ibis.null("float64")),
                (column > large, real(1e100)),
                (column < -large, real(-1e100)),
                (column.abs() < small, real(0.0)),
                else_=column.cast("float64"),
            )
        return super().plain(column, wanted)

    def truncated(self, x: ir.Value) -> ir.Value:
        return call("trunc", dt.float64, x).cast("int64")

    def trimmed(self, text: ir.Value) -> ir.Value:
        return call("btrim", dt.string, text, ibis.literal(" "))

    def written(self, day: ir.Value) -> ir.Value:
        return call("to_char", dt.string, day, ibis.literal("YYYY-MM-DD"))

    def in_order(self, text: ir.Value) -> ir.Value:
        return call("convert_to", dt.binary, text, ibis.literal("UTF8"))

    def scaled(self, x: ir.Value, exponent: int) -> ir.Value:
        """Underflow raises, so what would is 0 from the start."""
        if exponent < 0:
            tiny = math.ldexp(1.0, -exponent - 100)
            x = ibis.ifelse(x.abs() < real(tiny), real(0.0), x)
        return super().scaled(x, exponent)

    def nested(self, table: ir.Table, before: int, depth: int) -> ir.Table:
        """Columns of columns are expanded in full, unless there is a limit in between."""
        return table.limit(2**62) if depth // 2 > before // 2 else table

    def hashed(self, salt: int, columns: Sequence[ir.Value]) -> ir.Value:
        """The hash of a short text under a salt is not fair, unless it is hashed once more and the
        text has the salt in it."""
        text = joined_text(signed(salt), columns)
        once = call("hashtextextended", dt.int64, text, signed(salt))
        return call("hashint8extended", dt.int64, once, ibis.literal(0, type="int64"))


@dataclass(frozen=True, eq=False, repr=False)
class PostgresPass(Pass):
    """One pass over a table of PostgreSQL: public tables go in by COPY, answers by a cursor."""

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

    public = Pass.named

    def refused(self) -> InvalidArgument | None:
        if not self.beside:
            return None
        self.turn.take()
        with self._statements() as cursor:
            cursor.execute(
                "SELECT has_database_privilege(current_database(), 'TEMP') "
                "AND current_setting('transaction_read_only') = 'off'"
            )
            if cursor.fetchone()[0]:
                return None
        return InvalidArgument(
            "table",
            "a connection that may create temporary tables: lists travel in them",
            "one that is read-only, or has no TEMP right",
            hint=Phrase(
                "GRANT TEMPORARY ON DATABASE ... TO the role, or leave out {keys=} and lists"
            ),
        )

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
        with self._statements() as cursor:
            cursor.execute(self.beside[name].matches(quoted(name)))
            return int(cursor.fetchone()[0])

    def interrupt(self) -> None:
        """Ask the server to stop, unless it is working for another pass."""
        if self.turn.stop():
            self.backend.con.cancel()

    def close(self) -> None:
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
