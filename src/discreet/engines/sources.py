"""Opening a table, wherever it is, and answering requests about it.

A request is compiled into queries of an engine before any data is touched: all in SQL, or on DuckDB
with arrays to decide which rows of each person are kept (`row_sampling`).
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Protocol, TypeAlias, cast

import ibis
import ibis.expr.operations as ops
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa
import pyarrow.dataset
from ibis.common.exceptions import IbisError

from discreet.engines import aggregation
from discreet.engines.aggregation import SumColumns, bounded, check_cells, counted, summed
from discreet.engines.cell_table import BINNED, CellTable, cells_of, of_somebody
from discreet.engines.duckdb import DuckDbPass, Stored, database, open_pass
from discreet.engines.engine import ARROW, Pass, arrow_schema
from discreet.engines.execution import FAILED, run
from discreet.engines.files import CsvFiles, FileSet, ParquetFiles, file_ids, find
from discreet.engines.frames import (
    ArrowTable,
    DuckDbRelation,
    DuckDbTable,
    PandasFrame,
    PolarsFrame,
    Records,
)
from discreet.engines.key_index import are_few, keyed, numbered, placed, with_places
from discreet.engines.portable import BackendTable
from discreet.engines.postgres import PostgresPass
from discreet.engines.row_sampling import BySorting
from discreet.engines.rows import apply, columns_needed, read_rows
from discreet.engines.translation import literal
from discreet.errors import Argument, EngineError, InvalidArgument, Phrase
from discreet.query.expressions import Typed, as_type
from discreet.query.keys import DiscoveredKeys, ListedKeys
from discreet.query.measures import Binned
from discreet.query.public import PublicTable, type_of
from discreet.query.request import Exact, Request
from discreet.query.schema import Declared, Field, Schema, Type

# -- queries that were asked before, as SQL --------------------------------------------------------


_MOST: Final = 64


@dataclass(frozen=True, eq=False)
class Prepared:
    """For each question, its query and the public tables that it names."""

    seen: OrderedDict[object, tuple[Any, dict[str, Any]]] = field(default_factory=OrderedDict)
    checked: OrderedDict[object, None] = field(default_factory=OrderedDict)

    def knows(self, request: Request) -> bool:
        """Has an equal request been checked before?"""
        return _asked(request) in self.checked

    def note(self, request: Request) -> None:
        """Remember that this request has been checked."""
        self.checked[_asked(request)] = None
        while len(self.checked) > _MOST:
            self.checked.popitem(last=False)

    def query(self, request: Request, run: DuckDbPass, build: Callable[[], Any]) -> Any:
        """The query of an equal earlier request with this one's salt, or else a new query."""
        asked = _asked(request)
        if (found := self.seen.get(asked)) is not None:
            query, beside = found
            run.beside.update(beside)
            return replace(query, request=request)
        query = build()
        if request.bound is not None and isinstance(query, BySumming):
            return query  # the salt is part of its SQL
        self.seen[asked] = (query, dict(run.beside))
        while len(self.seen) > _MOST:
            self.seen.popitem(last=False)
        return query


def _asked(request: Request) -> object:
    """Everything in a request except its salt."""
    return (
        request.steps,
        request.unit,
        request.group,
        request.keys.digest if isinstance(request.keys, ListedKeys) else request.keys,
        request.bound,
        request.measures,
    )


# -- opening a table, and answering requests about it ----------------------------------------------


Build: TypeAlias = Callable[..., Any]
TESTED: Final = ("duckdb", "pyspark", "postgres")  # the engines of the conformance suite


@dataclass(frozen=True, eq=False, repr=False)
class IbisSource:
    """A table that can be queried; implements `query.request.TableSource`."""

    stored: Stored | BackendTable
    name: str
    kinds: Schema  #: what the columns are in storage
    schema: Schema  #: what they are declared to be
    given: object  #: what the caller opened
    prepared: Prepared = field(default_factory=Prepared)

    def __repr__(self) -> str:
        return f"IbisSource({self.name})"  # never what it holds

    def check(self, request: Request, most: int | None = None) -> None:
        """Build the query and run it on no rows, once for each question; if `most` is given, the
        query of `spread`."""
        _check_size(request)
        self._check_stored()
        build = build_query if most is None else _spread(most)
        on_postgres = isinstance(self.stored, BackendTable) and self.stored.is_postgres
        if (known := most is None and self.prepared.knows(request)) and not on_postgres:
            return
        columns = columns_needed(request, self.kinds)
        ran, distinct, may_run = False, True, True
        with contextlib.suppress(Exception):  # its message is not for the caller
            opened = self._open(columns, empty=True)
            try:
                query = self._prepared(request, build, columns, opened)
                may_run = not isinstance(opened, PostgresPass) or opened.may_prepare()
                if may_run and not known:
                    opened.prepare()
                    query.answer(opened)
                    distinct = all(map(partial(_is_distinct, opened), opened.beside))
                ran = True
            finally:
                opened.close()
        if not may_run:
            raise InvalidArgument(
                "table",
                "a connection that may create temporary tables: lists travel in them",
                "one that is read-only, or has no TEMP right",
                hint=Phrase(
                    "GRANT TEMPORARY ON DATABASE ... TO the role, or leave out {keys=} and lists"
                ),
            )
        if not ran:
            raise InvalidArgument(
                "query",
                "one that the engine can answer",
                "one that it cannot",
                hint="look for constant conditions, empty lists and columns without a name",
            )
        if not distinct:
            raise InvalidArgument(
                "keys",
                "distinct for the engine that joins them with the table",
                "two that it holds for equal, so that rows would count twice",
                hint="list each key once",
            )
        if most is None:
            self.prepared.note(request)

    def _check_stored(self) -> None:
        """Refuse a table that cannot be read, for reasons that do not depend on its rows."""
        if isinstance(self.stored, BackendTable):
            self.stored.check()
        else:
            database()
        if (changed := self._changed()) is not None:
            raise changed

    def measure(self, request: Request) -> Exact:
        """Compute the answer. Any failure once data is touched is an EngineError without detail."""
        _check_size(request)
        return cast(Exact, self._run(request, build_query))

    def spread(self, request: Request, most: int) -> tuple[Any, Any]:
        """Count people by how many groups they are in, and by the most rows they have in one."""
        return cast(tuple[Any, Any], self._run(request, _spread(most)))

    def _run(self, request: Request, build: Build) -> Any:
        """Build a query and run it such that the message of a failure is never shown."""
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
        """The answer, unless files changed meanwhile: it may not come from half of a new one."""
        before = self.stored.identity() if isinstance(self.stored, FileSet) else None
        query = self._prepared(request, build, columns, opened)
        opened.prepare()
        if self._changed() is None:
            answer = query.answer(opened)
            if before is None or before == cast(FileSet, self.stored).identity():
                return answer
        raise EngineError(FAILED)

    def _prepared(
        self, request: Request, build: Build, columns: tuple[str, ...], opened: Pass
    ) -> Any:
        """The query, built now or earlier for the same question."""

        def built() -> Any:
            return build(request, opened, columns, stored=self.kinds, declared=self.schema)

        if not isinstance(opened, DuckDbPass) or build is not build_query:
            return built()
        return self.prepared.query(request, opened, built)

    def _changed(self) -> InvalidArgument | None:
        """The error if the files no longer have their columns or, where domains were checked, if
        they have changed at all."""
        if not isinstance(self.stored, FileSet):
            return None
        if not self.stored.is_as_opened():
            return InvalidArgument(
                "table",
                "files that have the columns they were opened with",
                "files that were removed, or replaced by others",
                hint="open the table again",
            )
        if any(field.domain for field in self.schema) and not self.stored.is_untouched():
            return InvalidArgument(
                "table",
                "files as they were when the domains of their columns were checked",
                "files that have changed since",
                hint="open the table again",
            )
        return None

    def holds(self, public: PublicTable) -> bool:
        """Is that one of its files, or the very object that it was opened with?"""
        mine: set[tuple[int, int]] = set()
        with contextlib.suppress(OSError):  # a file that is gone is refused when it is read
            mine = set(file_ids(_paths(self.stored)))
        same = self.given is public.given
        if isinstance(self.given, ir.Table) and isinstance(public.given, ir.Table):
            same = bool(self.given.equals(public.given))
        return same or bool(mine & set(public.files))

    def _open(self, columns: tuple[str, ...], *, empty: bool = False) -> Pass:
        if isinstance(self.stored, BackendTable):
            return self.stored.open(columns, empty=empty)
        return open_pass(self.stored, columns, empty=empty)


def _spread(most: int) -> Build:
    return partial(SpreadQuery, most=most)


def _is_distinct(opened: Pass, name: str) -> bool:
    return opened.matches(name) == int(opened.beside[name].table.num_rows)


def _paths(stored: Stored | BackendTable) -> tuple[str, ...]:
    if isinstance(stored, ArrowTable):  # a dataset has files, a table none
        return tuple(getattr(stored.table, "files", ()))
    return stored.paths if isinstance(stored, FileSet) else ()


def _check_size(request: Request) -> None:
    groups = len(request.keys) if isinstance(request.keys, ListedKeys) else 1
    for measure in request.measures:
        check_cells(groups, getattr(measure, "size", 1))


def open_source(
    source: Any,
    *,
    schema: Mapping[str, Any] | None = None,
    delimiter: str = ",",
    untested: bool = False,
) -> IbisSource:
    """Open a path or pattern (Parquet, CSV), a frame, a relation, or a table of Ibis or Spark.

    Columns come from metadata, never from rows. The cells of a CSV file take the type they are
    used as, unless `schema` gives one. Rows are read when something is measured, and now only if a
    domain is declared. Engines that are not tested must be allowed by `untested`.

    >>> open_source(pa.table({"age": [31, 52]})).schema.names
    ('age',)
    >>> open_source([{"age": 31}], schema={"age": "integer"}).schema["age"].type
    <Type.INTEGER: 'integer'>
    """
    if isinstance(source, ir.Table) and isinstance(source.op(), ops.InMemoryTable):
        stored: tuple[Stored | BackendTable, str] = (
            ArrowTable(source.op().data.to_pyarrow(source.schema())),
            "an Ibis table",
        )
    elif isinstance(source, ir.Table):
        backend = _backend(source)
        _check_tested(backend, untested)
        stored = (
            DuckDbTable(source) if backend == "duckdb" else BackendTable(source),
            "an Ibis table",
        )
    elif _is_from(source, "pyspark.sql"):
        from discreet.engines.spark import spark_table

        stored = BackendTable(spark_table(source)), "a Spark frame"
    else:
        stored = _stored(source, schema, delimiter)
    return _declared(*stored, schema, given=source)


def _check_tested(backend: str, untested: bool) -> None:
    """Refuse an engine whose answers have not been shown to be exact, unless `untested`."""
    if backend not in TESTED and not untested:
        raise InvalidArgument(
            "source",
            "a table of DuckDB, Spark or PostgreSQL, whose exact answers are tested",
            f"one of {backend}",
            hint=Phrase(
                "load it into one of these, or say {untested=True} to rely on it all the same"
            ),
        )


def _backend(table: ir.Table) -> str:
    with contextlib.suppress(IbisError):
        return str(table.get_backend().name)
    raise InvalidArgument(
        "source",
        "an Ibis table of one connection",
        "one of none, or of several",
        hint='as in ibis.duckdb.connect("visits.db").table("visits")',
    )


def _stored(source: Any, schema: Mapping[str, Any] | None, delimiter: str) -> tuple[Stored, str]:
    if isinstance(source, str | Path):
        return _files([source], delimiter)
    if isinstance(source, list | tuple) and source and isinstance(source[0], str | Path):
        return _files(source, delimiter)
    if isinstance(source, pa.Table | pyarrow.dataset.Dataset):
        _check_text(source)
        return ArrowTable(source), "an Arrow table"
    if _is_from(source, "pandas"):
        return PandasFrame(source), "a pandas frame"
    if _is_from(source, "polars"):
        return PolarsFrame(source), "a Polars frame"
    if type(source).__name__ == "DuckDBPyRelation":
        return DuckDbRelation(source), "a DuckDB relation"
    if isinstance(source, list | tuple):
        if schema is None:
            raise InvalidArgument.of(
                "schema",
                "given for a list of records, which has no types of its own",
                None,
                hint=Phrase("as in {}", Argument("schema", {"ward": "text", "days": "integer"})),
            )
        return Records(source, tuple(schema)), "a list of records"
    raise InvalidArgument.of_data(
        "source",
        "a path or pattern of Parquet or CSV files, a pandas, Polars or Spark frame, "
        "an Arrow table or dataset, a DuckDB relation or an Ibis table",
        source,
        hint="for a dict of columns say dp.table(pyarrow.table(columns))"
        if isinstance(source, Mapping)
        else 'as in dp.table("visits.csv")',
    )


def _check_text(table: Any) -> None:
    """Refuse bytes that are not valid text: Arrow does not check them, and an engine would fail."""
    if not isinstance(table, pa.Table):
        return
    for name, column in zip(table.column_names, table.columns, strict=True):
        if type_of(column.type) is Type.TEXT:
            with contextlib.suppress(pa.ArrowInvalid):
                column.validate(full=True)
                continue
            raise InvalidArgument(
                "source",
                "a table whose texts are UTF-8",
                f'one where some of "{name}" are not',
                hint="read the file by its path, where such bytes become question marks",
            )


def _files(patterns: Sequence[str | Path], delimiter: str) -> tuple[Stored, str]:
    paths = find(patterns)
    name = Path(str(patterns[0])).name + (", ..." if len(patterns) > 1 else "")
    ends = {Path(path).suffix.lower() for path in paths}
    if ends <= {".csv", ".tsv", ".txt"}:
        return CsvFiles.open(paths, delimiter=delimiter), name
    if ends & {".csv", ".tsv", ".txt"}:
        raise InvalidArgument("source", "files of one format", "both CSV and others")
    return ParquetFiles.open(paths), name


def _declared(
    stored: Stored | BackendTable,
    name: str,
    declared: Mapping[str, Any] | None,
    *,
    given: object,
) -> IbisSource:
    """Give the columns their declared types, where those can be read from what is stored."""
    if isinstance(stored, BackendTable):
        kinds = stored.schema
    else:
        kinds = arrow_schema(stored.columns)
        if isinstance(stored, CsvFiles | Records):
            kinds = Schema(tuple(Field(field.name, Type.RAW) for field in kinds))
    if not kinds.fields:
        raise InvalidArgument("source", "a table with a column", "none")
    schema = kinds
    for column, written in (declared or {}).items():
        said = Declared.read(written)
        field = kinds.field(column, argument="schema")
        there = Typed("column", (), field.name, field.type, field.nullable)
        argument = f'schema of "{column}"'
        read = as_type(there, said.type or field.type, argument=argument)
        domain = said.domain_of(read.type, argument=argument)
        schema = schema.with_field(Field(field.name, read.type, read.nullable, domain))
    source = IbisSource(stored, name, kinds, schema, given)
    check_domains(source)
    if isinstance(stored, FileSet):
        return source
    # What can change unnoticed is clamped each time, whatever was found in it at first.
    live = Schema(tuple(replace(field, domain=None) for field in schema))
    return replace(source, schema=live)


def check_domains(source: IbisSource) -> None:
    """Refuse a table with a value outside the domain of its column."""
    fields = [field for field in source.schema if field.domain is not None]
    if not fields:
        return
    columns = tuple(field.name for field in fields)
    outside = run(lambda: _outside(source, columns))
    source._check_stored()  # the files must not have changed meanwhile
    for column, found in zip(columns, outside, strict=True):
        if found:
            raise InvalidArgument(
                f'schema of "{column}"',
                "a domain that holds all values of the column",
                "one that some are outside of, or NaN",
                hint=Phrase(
                    "widen the domain, mend the table, or leave the domain out: {bounds=} of a "
                    "question clamp what is beyond them"
                ),
            )


def _outside(source: IbisSource, columns: tuple[str, ...]) -> list[bool]:
    """For each column: is there a value beyond its domain, or a NaN?"""
    opened = source._open(columns)
    try:
        plain = Schema(tuple(replace(field, domain=None) for field in source.schema))
        rows = read_rows(opened, columns, stored=source.kinds, declared=plain, unit=None)
        beyond = {}
        for i, name in enumerate(columns):
            field, x = source.schema[name], rows.table[rows.names[name]]
            assert field.domain is not None
            ends = (literal(end, field.type) for end in (field.domain.lower, field.domain.upper))
            inside = x.between(*ends)
            beyond[f"n{i}"] = ibis.ifelse(inside, 0, ibis.ifelse(x.isnull(), 0, 1)).max()
        query = opened.compile(rows.table.aggregate(**beyond))
        opened.prepare()
        found = pa.Table.from_batches(opened.batches(query))
    finally:
        opened.close()
    return [bool(found[name][0].as_py()) for name in beyond]


def _is_from(source: Any, package: str) -> bool:
    """Is it of a type from this package? Checked by name, so that nothing needs to be imported."""
    return any(kind.__module__.startswith(package) for kind in type(source).__mro__)


# -- a request as queries, built before any data is touched ----------------------------------------


class CompiledQuery(Protocol):
    """A query that is ready to run."""

    def answer(self, run: Any) -> Exact:
        """Run the query and read its answer: from here on data is touched."""
        ...


def build_query(
    request: Request, run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema
) -> CompiledQuery:
    """Translate steps, keys and cells, and continue in the way that suits the engine."""
    cells = _cells(request, run, columns, stored=stored, declared=declared)
    if request.bound is not None and isinstance(run, DuckDbPass):
        return BySorting.build(request, run, cells)
    return BySumming.build(request, run, cells)


def cells_in_groups(
    request: Request, run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema
) -> CellTable:
    """The rows that have a unit and are in a group of the answer, before any bound is applied."""
    cells = _cells(request, run, columns, stored=stored, declared=declared)
    if isinstance(request.keys, ListedKeys):
        return with_places(cells, run.public(numbered(request.keys.table)))
    return keyed(cells)


def _cells(
    request: Request, run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema
) -> CellTable:
    rows = read_rows(run, columns, stored=stored, declared=declared, unit=request.unit)
    rows = apply(rows, request.steps, run)
    return of_somebody(cells_of(rows, request.group, request.measures))


# -- queries all in SQL: windows apply the bound, the engine groups --------------------------------


@dataclass(frozen=True, eq=False)
class BySumming:
    """One query for all single numbers, one for each measure with bins."""

    request: Request
    sums: tuple[SumColumns, ...]
    numbers: Any
    bins: dict[Binned, Any]

    @classmethod
    def build(cls, request: Request, run: Pass, cells: CellTable) -> BySumming:
        """Apply the bound, group, and place the groups."""
        listed = None
        if isinstance(request.keys, ListedKeys) and (
            request.bound is not None or not are_few(request.keys, run.dialect)
        ):
            listed = run.public(numbered(request.keys.table))
        if request.bound is not None:
            # Rows outside all groups of the answer must not use up what is kept of a person.
            cells = with_places(cells, listed) if listed is not None else keyed(cells)
            cells = bounded(cells, request.bound, salt=request.salt, dialect=run.dialect)
            listed = None
        elif isinstance(request.keys, ListedKeys) and listed is None:
            listed = request.keys
        grouped, sums = summed(cells, request.measures, run.dialect)
        bins = {
            measure: run.compile(placed(counted(cells, measure), cells, listed))
            for measure in request.measures
            if isinstance(measure, BINNED)
        }
        return cls(request, sums, run.compile(placed(grouped, cells, listed)), bins)

    def answer(self, run: Pass) -> Exact:
        """Run the query for single numbers first: it returns the keys that occur."""
        keys, batches = self.request.keys, run.batches(self.numbers)
        if isinstance(keys, DiscoveredKeys):
            schema = pa.schema([(name, ARROW[value.type]) for name, value in self.request.group])
            table, columns = aggregation.found(batches, self.sums, schema)
            for measure, query in self.bins.items():
                rows = run.batches(query)
                columns[measure] = aggregation.binned_by_key(rows, table, measure.size)
            return Exact(table, columns)
        columns = aggregation.dense(batches, self.sums, keys)
        for measure, query in self.bins.items():
            columns[measure] = aggregation.binned(run.batches(query), keys, measure.size)
        return Exact(None, columns)


# -- the contribution histogram: people by groups and rows -----------------------------------------


class SpreadQuery:
    """Two queries: people by their number of groups, and by their most rows in one group."""

    def __init__(
        self,
        request: Request,
        run: Pass,
        columns: tuple[str, ...],
        *,
        stored: Schema,
        declared: Schema,
        most: int,
    ) -> None:
        cells = cells_in_groups(request, run, columns, stored=stored, declared=declared)
        each = cells.table.group_by(["u", *cells.keys]).aggregate(n=cells.table.count())
        people = each.group_by("u").aggregate(groups=each.count(), rows=each.n.max())
        self._most = most
        self._queries = [run.compile(_tally(people, name, most)) for name in ("groups", "rows")]

    def answer(self, run: Pass) -> tuple[Any, Any]:
        """People with 1, 2, ... groups, and with 1, 2, ... rows; the last count includes more."""
        groups, rows = (_counts(run.batches(query), self._most) for query in self._queries)
        return groups, rows


def _tally(people: ir.Table, name: str, most: int) -> ir.Table:
    limit = ibis.literal(most, type="int64")
    size = people[name].cast("int64")
    sized = people.select(b=ibis.ifelse(size > limit, limit, size))
    return sized.group_by("b").aggregate(n=sized.count())


def _counts(batches: Iterator[pa.RecordBatch], most: int) -> Any:
    counts = np.zeros(most, np.int64)
    for batch in batches:
        counts[batch["b"].to_numpy() - 1] = batch["n"].to_numpy()
    return counts
