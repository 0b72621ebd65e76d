"""Opening a table, wherever it is, and answering requests about it.

A request is compiled into queries of an engine before any data is touched.
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, cast

import ibis
import ibis.expr.operations as ops
import ibis.expr.types as ir
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
from ibis.common.exceptions import IbisError

from discreet.engines import ENGINES
from discreet.engines.aggregation import CompiledQuery, SpreadQuery, check_cells
from discreet.engines.cell_table import cells_of
from discreet.engines.engine import Engine, Pass, Stored, is_from
from discreet.engines.execution import FAILED, run
from discreet.engines.files import CsvFiles, ParquetFiles, file_ids, find
from discreet.engines.frames import ArrowTable, PandasFrame, PolarsFrame, Records
from discreet.engines.rows import apply, read_rows
from discreet.engines.translation import literal
from discreet.errors import Argument, EngineError, InvalidArgument, Phrase
from discreet.query.expressions import Typed, as_type, columns_of
from discreet.query.keys import ListedKeys
from discreet.query.public import PublicTable, decoded, type_of
from discreet.query.request import Exact, Join, Mutate, Request, Select, Where
from discreet.query.schema import Declared, Domain, Field, Schema, Type

# -- questions that were asked before --------------------------------------------------------------


_MOST: Final = 64


@dataclass(frozen=True, eq=False)
class Prepared:
    """For each question, its query and the public tables that it names; and those that passed."""

    seen: OrderedDict[object, tuple[Any, dict[str, Any]]] = field(default_factory=OrderedDict)
    checked: OrderedDict[object, None] = field(default_factory=OrderedDict)


def _remember(among: OrderedDict[object, Any], question: object, what: Any) -> None:
    among[question] = what
    while len(among) > _MOST:
        among.popitem(last=False)


def asked(request: Request) -> object:
    """Everything in a request except its salt."""
    keys = request.keys.digest if isinstance(request.keys, ListedKeys) else request.keys
    return request.steps, request.unit, request.group, keys, request.bound, request.measures


# -- answering requests about a table --------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class IbisSource:
    """A table that can be queried; implements `query.request.TableSource`."""

    stored: Stored
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
        known = most is None and asked(request) in self.prepared.checked
        if known and not self.stored.engine.revokes:
            return
        refusal: InvalidArgument | None = InvalidArgument(
            "query",
            "one that the engine can answer",
            "one that it cannot",
            hint="look for constant conditions, empty lists and columns without a name",
        )
        with contextlib.suppress(Exception):  # its message is not for the caller
            opened = self.stored.open(self._columns(request), empty=True)
            try:
                refusal = self._tried(request, most, opened, known=known)
            finally:
                opened.close()
        if refusal is not None:
            raise refusal
        if most is None:
            _remember(self.prepared.checked, asked(request), None)

    def _tried(
        self, request: Request, most: int | None, opened: Pass, *, known: bool
    ) -> InvalidArgument | None:
        """What is wrong with a question; one that is `known` needs only its rights."""
        query = self._query(request, most, opened)
        if (refusal := opened.refused()) is not None or known:
            return refusal
        opened.prepare()
        query.answer(opened)
        if all(opened.matches(name) == one.table.num_rows for name, one in opened.beside.items()):
            return None
        return InvalidArgument(
            "keys",
            "distinct for the engine that joins them with the table",
            "two that it holds for equal, so that rows would count twice",
            hint="list each key once",
        )

    def _check_stored(self) -> None:
        """Refuse a table that cannot be read, for reasons that do not depend on its rows."""
        self.stored.check()
        if (changed := self._changed()) is not None:
            raise changed

    def measure(self, request: Request) -> Exact:
        """Compute the answer. Any failure once data is touched is an EngineError without detail."""
        _check_size(request)
        return cast(Exact, self._run(request))

    def spread(self, request: Request, most: int) -> tuple[Any, Any]:
        return cast(tuple[Any, Any], self._run(request, most))

    def _run(self, request: Request, most: int | None = None) -> Any:
        """Build a query and run it such that the message of a failure is never shown."""
        columns = self._columns(request)
        opened = run(lambda: self.stored.open(columns))
        try:
            return run(
                lambda: self._answer(request, most, opened),
                interrupt=opened.interrupt,
                fraction=opened.fraction,
            )
        finally:
            with contextlib.suppress(Exception):
                opened.close()

    def _answer(self, request: Request, most: int | None, opened: Pass) -> Any:
        """The answer, unless files changed meanwhile: it may not come from half of a new one."""
        before = self.stored.identity()
        query = self._query(request, most, opened)
        opened.prepare()
        if self._changed() is None:
            answer = query.answer(opened)
            if before == self.stored.identity():
                return answer
        raise EngineError(FAILED)

    def _query(self, request: Request, most: int | None, opened: Pass) -> CompiledQuery:
        """The query, built now, or earlier for the same question with another salt; no data is
        touched."""
        repeats = most is None and opened.engine.repeats
        if repeats and (found := self.prepared.seen.get(asked(request))) is not None:
            query, beside = found
            opened.beside.update(beside)
            return cast(CompiledQuery, replace(query, request=request))
        columns = self._columns(request)
        rows = read_rows(opened, columns, self.kinds, self.schema, unit=request.unit)
        cells = cells_of(apply(rows, request.steps), request.group, request.measures)
        if most is not None:
            return SpreadQuery(request, opened, cells, most=most)
        query = opened.engine.query(request, opened, cells)
        if repeats and not query.salted:
            _remember(self.prepared.seen, asked(request), (query, dict(opened.beside)))
        return query

    def _columns(self, request: Request) -> tuple[str, ...]:
        """The stored columns that a request reads; one at least, so that rows can be counted."""
        values = [value for _, value in request.group]
        for step in request.steps:
            match step:
                case Where(condition):
                    values.append(condition)
                case Mutate(columns) | Select(columns):
                    values += (value for _, value in columns)
                case Join(on=on):
                    values += (value for value, _ in on)
        values += (measure.value for measure in request.measures if hasattr(measure, "value"))
        read = frozenset[str]().union(*map(columns_of, values), {request.unit or ""})
        usable = [field.name for field in self.kinds if field.type is not Type.OTHER]
        return tuple(name for name in usable if name in read) or tuple(usable[:1])

    def _changed(self) -> InvalidArgument | None:
        """The error if what is stored has changed in a way that matters."""
        return self.stored.changed(checked=any(field.domain for field in self.schema))

    def holds(self, public: PublicTable) -> bool:
        """Is that one of its files, or the very object that it was opened with?"""
        mine: set[tuple[int, int]] = set()
        with contextlib.suppress(OSError):  # a file that is gone is refused when it is read
            mine = set(file_ids(self.stored.files()))
        same = self.given is public.given
        if isinstance(self.given, ir.Table) and isinstance(public.given, ir.Table):
            same = bool(self.given.equals(public.given))
        return same or bool(mine & set(public.files))


def _check_size(request: Request) -> None:
    groups = len(request.keys) if isinstance(request.keys, ListedKeys) else 1
    for measure in request.measures:
        check_cells(groups, getattr(measure, "size", 1))


# -- opening a table -------------------------------------------------------------------------------


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
    stored, name = _stored(source, schema, delimiter, untested)
    return _declared(stored, name, schema, given=source)


def _stored(
    source: Any, schema: Mapping[str, Any] | None, delimiter: str, untested: bool
) -> tuple[Stored, str]:
    if isinstance(source, ir.Table):
        if isinstance(source.op(), ops.InMemoryTable):
            return ArrowTable(source.op().data.to_pyarrow(source.schema())), "an Ibis table"
        return _engine(source, untested).stored(source), "an Ibis table"
    if patterns := _patterns(source):
        return _files(patterns, delimiter)
    if isinstance(source, pa.Table | pyarrow.dataset.Dataset):
        _check_text(source)
        return ArrowTable(source), "an Arrow table"
    if is_from(source, "pandas"):
        return PandasFrame(source), "a pandas frame"
    if is_from(source, "polars"):
        return PolarsFrame(source), "a Polars frame"
    for engine in ENGINES.values():
        if (found := engine.frame(source)) is not None:
            return found
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


def _engine(table: ir.Table, untested: bool) -> Engine:
    """The engine of an Ibis table; refuse one whose answers have not been shown to be exact, unless
    `untested`."""
    name = None
    with contextlib.suppress(IbisError):
        name = str(table.get_backend().name)
    if name is None:
        raise InvalidArgument(
            "source",
            "an Ibis table of one connection",
            "one of none, or of several",
            hint='as in ibis.duckdb.connect("visits.db").table("visits")',
        )
    if name not in ENGINES and not untested:
        *others, last = (engine.title for engine in ENGINES.values())
        raise InvalidArgument(
            "source",
            f"a table of {', '.join(others)} or {last}, whose exact answers are tested",
            f"one of {name}",
            hint=Phrase(
                "load it into one of these, or say {untested=True} to rely on it all the same"
            ),
        )
    return ENGINES.get(name) or Engine()


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


def _patterns(source: Any) -> Sequence[str | Path]:
    """A path, a pattern or a list of them, as a list; anything else gives none."""
    match source:
        case str() | Path():
            return [source]
        case [str() | Path(), *_]:
            return cast(Sequence[str | Path], source)
    return []


def _files(patterns: Sequence[str | Path], delimiter: str) -> tuple[Stored, str]:
    paths = find(patterns)
    name = Path(str(patterns[0])).name + (", ..." if len(patterns) > 1 else "")
    ends = {Path(path).suffix.lower() for path in paths}
    if ends <= {".csv", ".tsv", ".txt"}:
        return CsvFiles(tuple(paths), delimiter), name
    if ends & {".csv", ".tsv", ".txt"}:
        raise InvalidArgument("source", "files of one format", "both CSV and others")
    return ParquetFiles(tuple(paths)), name


def _declared(
    stored: Stored, name: str, declared: Mapping[str, Any] | None, *, given: object
) -> IbisSource:
    """Give the columns their declared types, where those can be read from what is stored."""
    kinds = stored.schema
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
    if stored.changes_show:
        return source
    # What can change unnoticed is clamped each time, whatever was found in it at first.
    live = Schema(tuple(replace(field, domain=None) for field in schema))
    return replace(source, schema=live)


def check_domains(source: IbisSource) -> None:
    """Refuse a table with a value outside the domain of its column."""
    fields = [field for field in source.schema if field.domain is not None]
    if not fields:
        return
    outside = run(lambda: _outside(source, fields))
    source._check_stored()  # the files must not have changed meanwhile
    for column, found in zip(fields, outside, strict=True):
        if found:
            raise InvalidArgument(
                f'schema of "{column.name}"',
                "a domain that holds all values of the column",
                "one that some are outside of, or NaN",
                hint=Phrase(
                    "widen the domain, mend the table, or leave the domain out: {bounds=} of a "
                    "question clamp what is beyond them"
                ),
            )


def _outside(source: IbisSource, fields: list[Field]) -> list[bool]:
    """For each column: is there a value beyond its domain, or a NaN?"""
    columns = tuple(field.name for field in fields)
    opened = source.stored.open(columns)
    try:
        plain = Schema(tuple(replace(field, domain=None) for field in source.schema))
        rows = read_rows(opened, columns, source.kinds, plain, unit=None)
        beyond = {}
        for i, field in enumerate(fields):
            x, domain = rows.table[rows.names[field.name]], cast(Domain, field.domain)
            ends = (literal(end, field.type) for end in (domain.lower, domain.upper))
            inside = x.between(*ends)
            beyond[f"n{i}"] = ibis.ifelse(inside, 0, ibis.ifelse(x.isnull(), 0, 1)).max()
        query = opened.compile(rows.table.aggregate(**beyond))
        opened.prepare()
        found = pa.Table.from_batches(opened.batches(query))
    finally:
        opened.close()
    return [bool(found[name][0].as_py()) for name in beyond]


# -- public tables, to join with or to take keys from: read in full, since they may be -------------


def read_public(table: Any) -> PublicTable:
    """Read a public table from anything that a source can be, or from a dict of lists.

    >>> read_public({"ward": ["A", "B"]}).table.num_rows
    2
    """
    made, paths = None, find(_patterns(table))
    try:
        made = decoded(_read_files(paths) if paths else _read(table))
    except (pa.ArrowException, AttributeError, TypeError, ValueError, OSError) as error:
        if isinstance(error, InvalidArgument):
            raise
    if made is not None:
        files = paths or list(getattr(table, "files", ()))  # a dataset has files
        return PublicTable(made, table, tuple(file_ids(files)))
    raise InvalidArgument.of_data(
        "table",
        "a public table: a path, a frame, an Arrow or Ibis table, or a dict of lists",
        table,
    )


def _read(table: Any) -> Any:
    match table:
        case pa.Table():
            return table
        case pyarrow.dataset.Dataset():
            return table.to_table()
        case ir.Table():
            return table.to_pyarrow()
        case Mapping():
            return pa.table(dict(table))
        case list():
            return pa.Table.from_pylist(table)
    for method in ("to_arrow_table", "to_arrow", "toArrow"):  # DuckDB, Polars, Spark
        if hasattr(table, method):
            return getattr(table, method)()
    if hasattr(table, "collect"):  # a lazy frame
        return table.collect().to_arrow()
    return pa.Table.from_pandas(table, preserve_index=False)


def _read_files(paths: list[str]) -> pa.Table:
    csv = (".csv", ".txt")
    return pa.concat_tables(
        pyarrow.csv.read_csv(path) if path.lower().endswith(csv) else pq.read_table(path)
        for path in paths
    )
