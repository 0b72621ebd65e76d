"""Opening a table, wherever it is, and answering requests about it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, cast

import ibis.expr.operations as ops
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.dataset
from ibis.common.exceptions import IbisError

from discreet.engines.answering import Inexact, check_cells
from discreet.engines.backends import BackendTable
from discreet.engines.duckdb_pass import DuckDbPass
from discreet.engines.embedded import Stored, open_pass
from discreet.engines.files import CsvFiles, ParquetFiles, find
from discreet.engines.frames import (
    ArrowTable,
    DuckDbTable,
    PandasFrame,
    PolarsFrame,
    Records,
    Relation,
)
from discreet.engines.lookups import named, with_lookups
from discreet.engines.metadata import arrow_schema
from discreet.engines.passes import Pass
from discreet.engines.postgres import PostgresPass
from discreet.engines.prepared import Prepared
from discreet.engines.public import read_public
from discreet.engines.query import build as build_query
from discreet.engines.reading import columns_needed, columns_summed
from discreet.engines.running import run
from discreet.engines.spreading import SpreadQuery
from discreet.errors import InvalidArgument
from discreet.query.checking import as_type
from discreet.query.expressions import Typed
from discreet.query.keys import ListedKeys
from discreet.query.request import Exact, Request
from discreet.query.schema import Field, Schema, Type

Build: TypeAlias = Callable[..., Any]


@dataclass(frozen=True, eq=False, repr=False)
class IbisSource:
    """A table that can be asked; implements `query.request.Source`."""

    stored: Stored | BackendTable
    name: str
    kinds: Schema  #: what the columns are in storage
    schema: Schema  #: what they are declared to be
    prepared: Prepared = field(default_factory=Prepared)

    def __repr__(self) -> str:
        return f"IbisSource({self.name})"  # never what it holds

    def check(self, request: Request) -> None:
        """Build the query, and leave it at that."""
        _check_size(request)
        asked, _ = with_lookups(request)
        on_postgres = isinstance(self.stored, BackendTable) and self.stored.is_postgres
        if self.prepared.knows(asked) and not on_postgres:  # where rights may be taken away
            return
        columns = columns_needed(asked, self.kinds)
        built, may_run = False, True
        with contextlib.suppress(Exception):  # whose words are not for the caller
            opened = self._open(columns)
            try:
                schemas = {"stored": self.kinds, "declared": self.schema}
                self._prepared(asked, build_query, columns, opened, schemas)
                may_run = not isinstance(opened, PostgresPass) or opened.may_prepare()
                built = True
            finally:
                opened.close()
        if not built:
            raise InvalidArgument(
                name="query",
                expected="one that the engine can express",
                given="one that it cannot",
                hint="look for constant conditions, empty lists and columns without a name",
            )
        if not may_run:
            raise InvalidArgument(
                name="table",
                expected="a connection that may create temporary tables, since keys travel in one",
                given="one that is read-only, or has no TEMP right",
                hint="GRANT TEMPORARY ON DATABASE ... TO the role, or leave out keys=",
            )
        self.prepared.note(asked)

    def measure(self, request: Request) -> Exact:
        """Compute; what fails after the first row is touched is an EngineError without detail."""
        _check_size(request)
        asked, names = with_lookups(request)
        return named(cast(Exact, self._run(asked, build_query)), names)

    def spread(self, request: Request, most: int) -> tuple[Any, Any]:
        """Count people by their groups, and by their most rows in one."""
        return cast(tuple[Any, Any], self._run(request, partial(SpreadQuery, most=most)))

    def _run(self, request: Request, build: Build) -> Any:
        """Build a query, then run it where nothing that fails can speak."""
        columns = columns_needed(request, self.kinds)
        opened = run(lambda: self._open(columns))
        try:
            return run(
                lambda: self._answer(request, build, columns, opened),
                interrupt=opened.interrupt,
                fraction=opened.fraction,
            )
        finally:
            with contextlib.suppress(Exception):
                opened.close()

    def _answer(
        self, request: Request, build: Build, columns: tuple[str, ...], opened: Pass
    ) -> Any:
        schemas = {"stored": self.kinds, "declared": self.schema}
        if isinstance(self.stored, ParquetFiles) and isinstance(opened, DuckDbPass):
            # Where all values lie within their bounds, sums are faster. If the files change
            # meanwhile, or a group is too large, they are added again the careful way.
            before = self.stored.identity()
            known = self.stored.ranges(opened.connection, columns_summed(request, columns))
            fast = replace(opened, known=known)
            with contextlib.suppress(Inexact):
                answer = self._prepared(request, build, columns, fast, schemas).answer(fast)
                if self.stored.identity() == before:
                    return answer
        return self._prepared(request, build, columns, opened, schemas).answer(opened)

    def _prepared(
        self,
        request: Request,
        build: Build,
        columns: tuple[str, ...],
        opened: Pass,
        schemas: dict[str, Schema],
    ) -> Any:
        """The query, built now or for the same question before."""
        if not isinstance(opened, DuckDbPass) or build is not build_query:
            return build(request, opened, columns, **schemas)
        return self.prepared.query(
            request, opened, lambda: build(request, opened, columns, **schemas)
        )

    def read_public(self, table: Any) -> pa.Table:
        """Read a public table from anything a source can be."""
        return read_public(table)

    def _open(self, columns: tuple[str, ...]) -> Pass:
        if isinstance(self.stored, BackendTable):
            return self.stored.open(columns)
        return open_pass(self.stored, columns)


def _check_size(request: Request) -> None:
    groups = len(request.keys) if isinstance(request.keys, ListedKeys) else 1
    for measure in request.measures:
        check_cells(groups, getattr(measure, "size", 1))


def open_source(
    source: Any,
    *,
    schema: Mapping[str, Type | str] | None = None,
    delimiter: str = ",",
) -> IbisSource:
    """A path or pattern (Parquet, CSV), a frame, a relation, a table of Ibis or Spark.

    Columns come from metadata, never from rows. The cells of a CSV file take the type they are
    used as, unless `schema` gives one. Rows are read when something is measured.

    >>> open_source(pa.table({"age": [31, 52]})).schema.names
    ('age',)
    >>> open_source([{"age": 31}], schema={"age": "integer"}).schema["age"].type
    <Type.INTEGER: 'integer'>
    """
    if isinstance(source, ir.Table) and isinstance(source.op(), ops.InMemoryTable):
        source = source.op().data.to_pyarrow(source.schema())
    if isinstance(source, ir.Table):
        duckdb = _backend(source) == "duckdb"
        table = DuckDbTable(source) if duckdb else BackendTable(source)
        return _declared(table, "an Ibis table", schema)
    if _is_from(source, "pyspark.sql"):
        from discreet.engines.spark import spark_table

        return _declared(BackendTable(spark_table(source)), "a Spark frame", schema)
    return _declared(*_stored(source, schema, delimiter), schema)


def _backend(table: ir.Table) -> str:
    with contextlib.suppress(IbisError):
        return str(table.get_backend().name)
    raise InvalidArgument(
        name="source",
        expected="an Ibis table of one connection",
        given="one of none, or of several",
        hint='as in ibis.duckdb.connect("visits.db").table("visits")',
    )


def _stored(
    source: Any, schema: Mapping[str, Type | str] | None, delimiter: str
) -> tuple[Stored, str]:
    if isinstance(source, str | Path):
        return _files([source], delimiter)
    if isinstance(source, list | tuple) and source and isinstance(source[0], str | Path):
        return _files(source, delimiter)
    if isinstance(source, pa.Table | pyarrow.dataset.Dataset):
        return ArrowTable(source), "an Arrow table"
    if _is_from(source, "pandas"):
        return PandasFrame(source), "a pandas frame"
    if _is_from(source, "polars"):
        return PolarsFrame(source), "a Polars frame"
    if type(source).__name__ == "DuckDBPyRelation":
        return Relation(source), "a DuckDB relation"
    if isinstance(source, list | tuple):
        if schema is None:
            raise InvalidArgument(
                name="schema",
                expected="given for a list of records, which has no types of its own",
                given="None",
                hint='as in schema={"ward": "text", "days": "integer"}',
            )
        return Records(source, tuple(schema)), "a list of records"
    raise InvalidArgument(
        name="source",
        expected="a path or pattern of Parquet or CSV files, a pandas, Polars or Spark frame, "
        "an Arrow table or dataset, a DuckDB relation or an Ibis table",
        given=InvalidArgument.describe_data(source),
        hint="for a dict of columns say dp.table(pyarrow.table(columns))"
        if isinstance(source, Mapping)
        else 'as in dp.table("visits.csv")',
    )


def _files(patterns: Sequence[str | Path], delimiter: str) -> tuple[Stored, str]:
    paths = find(patterns)
    name = Path(str(patterns[0])).name + (", ..." if len(patterns) > 1 else "")
    ends = {Path(path).suffix.lower() for path in paths}
    if ends <= {".csv", ".tsv", ".txt"}:
        return CsvFiles.open(paths, delimiter=delimiter), name
    if ends & {".csv", ".tsv", ".txt"}:
        raise InvalidArgument(
            name="source", expected="files of one format", given="both CSV and others"
        )
    return ParquetFiles.open(paths), name


def _declared(
    stored: Stored | BackendTable, name: str, types: Mapping[str, Type | str] | None
) -> IbisSource:
    """Give the columns their declared types, where those can be read from what is stored."""
    if isinstance(stored, BackendTable):
        kinds = stored.schema
    else:
        kinds = arrow_schema(stored.columns)
        if isinstance(stored, CsvFiles | Records):
            kinds = Schema(tuple(Field(field.name, Type.RAW) for field in kinds))
    if not kinds.fields:
        raise InvalidArgument(name="source", expected="a table with a column", given="none")
    schema = kinds
    for column, kind in (types or {}).items():
        field = kinds.field(column, argument="schema")
        there = Typed("column", (), field.name, field.type, field.nullable)
        read = as_type(there, Type.parse(kind, name="schema"), argument=f'schema of "{column}"')
        schema = schema.with_field(Field(field.name, read.type, read.nullable))
    return IbisSource(stored, name, kinds, schema)


def _is_from(source: Any, package: str) -> bool:
    """Is it one of a package's own types? Asked by name, so that nothing is imported for it."""
    return any(kind.__module__.startswith(package) for kind in type(source).__mro__)
