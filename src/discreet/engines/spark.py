"""Spark: a frame, or a table of an Ibis connection."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, cast

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.engine import Engine, Pass, Stored, call, is_from, signed
from discreet.engines.execution import Turn
from discreet.query.keys import ListedKeys
from discreet.query.schema import Field, Schema, Type

FEW: Final = 1000  # keys that a query may name

# No scan may skip what statistics of its files, or of another table, rule out.
_SKIPPING: Final = (
    "spark.sql.parquet.filterPushdown",
    "spark.sql.orc.filterPushdown",
    "spark.sql.optimizer.dynamicPartitionPruning.enabled",
    "spark.sql.optimizer.runtime.bloomFilter.enabled",
)
_silent: Counter[int] = Counter()  # how many of our queries each thread is running


def _may_be_logged(record: logging.LogRecord) -> bool:
    """False for threads that run a query of ours; other threads may log as usual."""
    return not _silent[record.thread or 0]


class Spark(Engine):
    """Spark: an answer takes stages, and a bad value may stop it or not, as its settings say."""

    name = "pyspark"
    title = "Spark"
    part = Engine.substring

    def frame(self, source: Any) -> tuple[Stored, str] | None:
        """In a session of our own, since Ibis changes settings; nothing is computed yet."""
        if not is_from(source, "pyspark.sql"):
            return None
        name = f"discreet_{uuid.uuid4().hex}"
        source.createOrReplaceGlobalTempView(name)
        session = source.sparkSession.newSession()
        for setting in _SKIPPING:
            session.conf.set(setting, "false")
        session.table(f"global_temp.{name}").createOrReplaceTempView(name)
        return self.stored(ibis.pyspark.connect(session).table(name)), "a Spark frame"

    def schema(self, table: ir.Table) -> Schema:
        """Text with a collation, under which different texts can be equal, is of another type: one
        row could have two keys."""
        schema, backend = super().schema(table), cast(Any, table.get_backend())
        for stored in backend._session.sql(backend.compile(table)).schema.fields:
            if stored.dataType.simpleString().startswith("string collate"):
                schema = schema.with_field(Field(stored.name, Type.OTHER))
        return schema

    def start(self, table: ir.Table, backend: Any) -> Pass:
        return SparkPass(self, table, backend, Turn(backend))

    def truncated(self, x: ir.Value) -> ir.Value:
        return x.cast("int64")

    def trimmed(self, text: ir.Value) -> ir.Value:
        return call("btrim", dt.string, text, ibis.literal(" "))

    def written(self, day: ir.Value) -> ir.Value:
        return day.cast("string")

    def matches(self, text: ir.Value, pattern: str) -> ir.Value:
        # In Java $ also matches before a line break at the end; "nothing follows" does not.
        return text.re_search(f"^({pattern})(?!(?s:.))")

    def names_keys(self, keys: ListedKeys) -> bool:
        """A few of one column: sending them as a table costs another stage."""
        return keys.table.num_columns == 1 and len(keys) <= FEW

    def hashed(self, salt: int, columns: Sequence[ir.Value]) -> ir.Value:
        """Nulls are skipped, so they are marked separately."""
        missing = [column.isnull() for column in columns]
        return call("xxhash64", dt.int64, signed(salt), *columns, *missing)


@dataclass(frozen=True, eq=False, repr=False)
class SparkPass(Pass):
    """One pass over a table of Spark, which takes and returns Arrow tables itself."""

    tag: str = field(default_factory=lambda: f"discreet_{uuid.uuid4().hex}")

    public = Pass.named

    def compile(self, query: ir.Table) -> str:
        return str(self.backend.compile(query))

    def prepare(self) -> None:
        """Send the public tables. Ibis would send them through pandas, which loses nulls."""
        for name, lookup in self.beside.items():
            self._session.createDataFrame(lookup.table).createOrReplaceTempView(name)

    def matches(self, name: str) -> int:
        return int(self._session.sql(self.beside[name].matches(name)).collect()[0][0])

    def batches(self, query: str) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, collected in the driver."""
        from pyspark.logger import PySparkLogger

        # PySpark logs the values that a failing query quotes. The logger must be of PySpark's own
        # class, which is decided by whoever asks for it first.
        PySparkLogger.getLogger("SQLQueryContextLogger").addFilter(_may_be_logged)
        thread = threading.get_ident()
        _silent[thread] += 1
        self._session.addTag(self.tag)
        try:
            yield from self._session.sql(query).toArrow().to_batches()
        finally:
            self._session.removeTag(self.tag)
            _silent[thread] -= 1

    def interrupt(self) -> None:
        self._session.interruptTag(self.tag)

    def close(self) -> None:
        for name in self.beside:
            self._session.catalog.dropTempView(name)

    @property
    def _session(self) -> Any:
        return self.backend._session
