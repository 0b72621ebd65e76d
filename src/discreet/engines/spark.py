"""One pass over a table of Spark, which takes and returns Arrow tables itself."""

from __future__ import annotations

import logging
import threading
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import ibis
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.engine import Dialect, Lookup

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


def spark_table(frame: Any) -> ir.Table:
    """The frame in a session of our own, since Ibis changes settings; nothing is computed yet."""
    name = f"discreet_{uuid.uuid4().hex}"
    frame.createOrReplaceGlobalTempView(name)
    session = frame.sparkSession.newSession()
    for setting in _SKIPPING:
        session.conf.set(setting, "false")
    session.table(f"global_temp.{name}").createOrReplaceTempView(name)
    return ibis.pyspark.connect(session).table(name)


def collated(table: ir.Table, backend: Any) -> list[str]:
    """Text columns with a collation, under which different texts can be equal: one row could have
    two keys."""
    fields = backend._session.sql(backend.compile(table)).schema.fields
    return [f.name for f in fields if f.dataType.simpleString().startswith("string collate")]


@dataclass(frozen=True, eq=False, repr=False)
class SparkPass:
    """Implements `engine.Pass`; `backend` is the Ibis connection, used for its compiler."""

    table: ir.Table
    backend: Any
    beside: dict[str, Lookup] = field(default_factory=dict)
    tag: str = field(default_factory=lambda: f"discreet_{uuid.uuid4().hex}")

    @property
    def dialect(self) -> Dialect:
        """The dialect of Spark."""
        return Dialect.SPARK

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        return self.table

    def public(self, lookup: Lookup) -> ir.Table:
        """A table in memory, under the name that it will have in Spark."""
        name = f"public_{uuid.uuid4().hex}"
        self.beside[name] = lookup
        return ibis.table(ibis.Schema.from_pyarrow(lookup.table.schema), name=name)

    def compile(self, query: ir.Table) -> str:
        """The query in SQL."""
        return str(self.backend.compile(query))

    def prepare(self) -> None:
        """Send the public tables. Ibis would send them through pandas, which loses nulls."""
        for name, lookup in self.beside.items():
            self._session.createDataFrame(lookup.table).createOrReplaceTempView(name)

    def matches(self, name: str) -> int:
        """Counted by Spark's own join."""
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
        """Stop the jobs of this pass."""
        self._session.interruptTag(self.tag)

    def fraction(self) -> None:
        """None: progress is not known here."""
        return None

    def close(self) -> None:
        """Forget the public tables; the session stays the caller's."""
        for name in self.beside:
            self._session.catalog.dropTempView(name)

    @property
    def _session(self) -> Any:
        return self.backend._session
