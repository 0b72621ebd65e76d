"""Tables on a connection of the caller, on any backend that Ibis supports."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.engine import Dialect, Lookup, Pass, ibis_schema
from discreet.engines.execution import Turn
from discreet.engines.postgres import PostgresPass, check_connection
from discreet.engines.spark import SparkPass, collated
from discreet.errors import EngineError
from discreet.query.schema import Field, Schema, Type


@dataclass(frozen=True, eq=False, repr=False)
class BackendTable:
    """A table on a connection that the caller opened and keeps."""

    table: ir.Table
    process: int = field(default_factory=os.getpid)

    @property
    def schema(self) -> Schema:
        """Names and types, from the backend's own metadata."""
        schema = ibis_schema(self.table.schema())
        backend: Any = self.table.get_backend()
        for name in collated(self.table, backend) if backend.name == "pyspark" else ():
            schema = schema.with_field(Field(name, Type.OTHER))
        return schema

    @property
    def is_postgres(self) -> bool:
        """Whether the table is in PostgreSQL."""
        backend: Any = self.table.get_backend()
        return bool(backend.name == "postgres")

    def check(self) -> None:
        """Refuse a connection that cannot answer."""
        self._check_process()
        if self.is_postgres:
            backend: Any = self.table.get_backend()
            check_connection(backend.con)

    def open(self, columns: Sequence[str], *, empty: bool = False) -> Pass:
        """One pass over some columns; if `empty`, over none of its rows."""
        self._check_process()
        backend: Any = self.table.get_backend()
        chosen = self.table.select(list(columns))
        chosen = chosen.limit(0) if empty else chosen
        match backend.name:
            case "pyspark":
                return SparkPass(chosen, backend)
            case "postgres":
                return PostgresPass(chosen, backend, Turn(backend.con))
        return BackendPass(chosen, backend, Turn(backend))

    def _check_process(self) -> None:
        if os.getpid() != self.process:  # a connection does not survive a fork
            raise EngineError(
                "the connection of this table belongs to the process that opened it",
                remedy="connect again in this one",
                code="not-shared",
            )


@dataclass(frozen=True, eq=False, repr=False)
class BackendPass:
    """One pass that uses nothing but Ibis; implements `engine.Pass`."""

    table: ir.Table
    backend: Any
    turn: Turn
    beside: dict[str, Lookup] = field(default_factory=dict)

    @property
    def dialect(self) -> Dialect:
        """Unknown: only portable expressions are used."""
        return Dialect.OTHER

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        return self.table

    def public(self, lookup: Lookup) -> ir.Table:
        """A table in memory, which Ibis sends to the backend."""
        self.beside[f"public{len(self.beside)}"] = lookup
        return ibis.memtable(lookup.table)

    def compile(self, query: ir.Table) -> ir.Table:
        """The query as it is: Ibis compiles it when it runs."""
        return query

    def prepare(self) -> None:
        """Wait for our turn; Ibis sends public tables along with a query."""
        self.turn.take()

    def matches(self, name: str) -> int:
        """Counted by a join in Ibis."""
        lookup = self.beside[name]
        here, there = ibis.memtable(lookup.table), ibis.memtable(lookup.table)
        joined = here.inner_join(there, list(lookup.keys))
        return int(self.backend.to_pyarrow(joined.count()).as_py())

    def batches(self, query: ir.Table) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, as they come."""
        yield from self.backend.to_pyarrow_batches(query)

    def interrupt(self) -> None:
        """Stop waiting for our turn. There is no common way to stop a query that runs already."""
        self.turn.stop()

    def fraction(self) -> None:
        """None: progress is not known here."""
        return None

    def close(self) -> None:
        """Give back our turn; the connection stays the caller's."""
        self.turn.give()
