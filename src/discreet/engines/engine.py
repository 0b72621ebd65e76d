"""What an engine is: all that is peculiar to one, over defaults that need nothing but Ibis.

An `Engine` says how values, sums and hashes are written for it; a table is `Stored` on one, and
each question takes a `Pass` over it. An engine overrides in its own file what it does differently,
and nobody else asks which engine it is.
"""

from __future__ import annotations

import math
import os
import uuid
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, reduce
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, ClassVar, Final

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.execution import Turn
from discreet.errors import EngineError, InvalidArgument
from discreet.query.public import arrow_type, type_of
from discreet.query.schema import Field, Schema, Type

if TYPE_CHECKING:
    from discreet.engines.aggregation import CompiledQuery
    from discreet.engines.cell_table import CellTable
    from discreet.query.keys import ListedKeys
    from discreet.query.measures import Grid
    from discreet.query.request import Request

HALF: Final = 32  # bits of a sum that is added in halves


# -- the types of columns, as files and engines declare them ---------------------------------------
# No row is looked at.


LARGEST: Final = 2**63 - 1
# NaN, and a date outside the years 1 to 9999, is missing even where nothing may be null.
_MISSING: Final = (Type.REAL, Type.DATE, Type.TIMESTAMP)

# What each type is inside a query: every engine computes with these and no others.
IBIS: Final[dict[Type, dt.DataType]] = {
    Type.BOOLEAN: dt.boolean,
    Type.INTEGER: dt.int64,
    Type.REAL: dt.float64,
    Type.TEXT: dt.string,
    Type.RAW: dt.string,
    Type.DATE: dt.date,
    Type.TIMESTAMP: dt.timestamp,
}
ARROW: Final = {kind: arrow_type(kind) for kind in IBIS}


def ibis_type(kind: dt.DataType) -> Type:
    """The type of an Ibis column.

    >>> ibis_type(dt.Decimal(10, 2)), ibis_type(dt.json)
    (<Type.REAL: 'real'>, <Type.OTHER: 'other'>)
    """
    rules = (
        (dt.Boolean, Type.BOOLEAN),
        (dt.Integer, Type.INTEGER),
        (dt.Floating, Type.REAL),
        (dt.Decimal, Type.REAL),
        (dt.Timestamp, Type.TIMESTAMP),
        (dt.Date, Type.DATE),
    )
    if type(kind) is dt.String:  # JSON is a kind of it
        return Type.TEXT
    return next((found for rule, found in rules if isinstance(kind, rule)), Type.OTHER)


def arrow_schema(schema: pa.Schema) -> Schema:
    return _checked((field.name, _read_as(field.type), field.nullable) for field in schema)


def _read_as(kind: pa.DataType) -> Type:
    """Its type; timestamps with a zone in units other than microseconds can make DuckDB fail."""
    zoned = pa.types.is_timestamp(kind) and kind.tz is not None
    return Type.OTHER if zoned and kind.unit != "us" else type_of(kind)


def _checked(columns: Iterable[tuple[str, Type, bool]]) -> Schema:
    """Names, types and what may be null; refuse two names that differ only in case, which engines
    ignore."""
    fields = [Field(name, kind, null or kind in _MISSING) for name, kind, null in columns]
    schema = Schema(tuple(fields))
    seen: set[str] = set()
    for name in schema.names:
        if name.casefold() in seen:
            raise InvalidArgument(
                "source",
                "a table whose columns differ in more than small and capital letters",
                f'two columns called "{name}"',
                hint="rename one of them",
            )
        seen.add(name.casefold())
    return schema


# -- values in SQL ---------------------------------------------------------------------------------


def quoted(name: str) -> str:
    """The name as a quoted identifier of SQL.

    >>> print(quoted('a"b'))
    "a""b"
    """
    return '"' + name.replace('"', '""') + '"'


def real(value: float) -> ir.Value:
    """An exact double: written as a plain number, it might be read as a decimal first."""
    return ibis.literal(repr(float(value))).cast("float64")


def whole(value: int) -> ir.Value:
    """An integer of 64 bits: written as a plain number, it might be read as one of 32 bits."""
    return ibis.literal(str(value)).cast("int64")


def call(name: str, result: dt.DataType, *arguments: ir.Value) -> ir.Value:
    """A function of the engine, by the name that it has there."""
    kinds = tuple(argument.type().copy(nullable=True) for argument in arguments)
    return _function(name, kinds, result)(*arguments)


@cache
def _function(
    name: str, kinds: tuple[dt.DataType, ...], result: dt.DataType
) -> Callable[..., ir.Value]:
    """The function, declared to Ibis with a Python signature."""

    def stub() -> None: ...

    names = [Parameter(f"x{i}", Parameter.POSITIONAL_OR_KEYWORD) for i in range(len(kinds))]
    stub.__signature__ = Signature(names)  # type: ignore[attr-defined]
    made: Callable[..., ir.Value] = ibis.udf.scalar.builtin(
        stub, name=name, signature=(kinds, result)
    )
    return made


def floor(x: ir.Value) -> ir.Value:
    """The largest integer not above x; unlike Ibis's own, still a double (an integer in Spark)."""
    return call("floor", dt.float64, x)


# -- an engine -------------------------------------------------------------------------------------


class Engine:
    """What is peculiar to an engine; these defaults use what every backend of Ibis should have."""

    name: ClassVar[str] = ""  #: of its Ibis backend
    title: ClassVar[str] = ""  #: what a sentence calls it
    addresses: ClassVar[tuple[str, ...]] = ()  #: how an address of a database of it begins
    repeats: ClassVar[bool] = False  #: may a later pass run what this one compiled?
    revokes: ClassVar[bool] = False  #: may the right to send tables be taken away meanwhile?

    # -- its tables --------------------------------------------------------------------------------

    def frame(self, source: Any) -> tuple[Stored, str] | None:
        """A frame of its own, as a table, and what to call it; None for anything else."""
        return None

    def stored(self, table: ir.Table) -> Stored:
        """An Ibis table of the caller, where it is."""
        return BackendTable(table, self)

    def schema(self, table: ir.Table) -> Schema:
        """Names and types, from the engine's own metadata."""
        columns = table.schema().items()
        return _checked((name, ibis_type(kind), kind.nullable) for name, kind in columns)

    def check_connection(self, backend: Any) -> None:
        """Refuse a connection that cannot answer."""

    def start(self, table: ir.Table, backend: Any) -> Pass:
        return Pass(self, table, backend, Turn(backend))

    def query(self, request: Request, run: Pass, cells: CellTable) -> CompiledQuery:
        """How a request is answered: all in SQL."""
        from discreet.engines.aggregation import BySumming

        return BySumming.build(request, run, cells)

    # -- values of a row ---------------------------------------------------------------------------

    def plain(self, column: ir.Value, wanted: dt.DataType) -> ir.Value:
        """A stored column as the Ibis type that stands for its type in a query; never an error."""
        if isinstance(column.type(), dt.UInt64):  # those beyond 2^63 - 1 are clamped to it
            largest = ibis.literal(LARGEST, type="uint64")  # least() would turn nulls into it
            column = ibis.ifelse(column > largest, largest, column)
        return column.cast(wanted)

    def is_number(self, x: ir.Value) -> ir.Value:
        """True for numbers and infinities, not true for NaN and null."""
        return x <= real(math.inf)  # NaN is above it, or not comparable

    def truncated(self, x: ir.Value) -> ir.Value:
        """A double of at most 2^53 as an integer, rounded towards 0."""
        return ibis.ifelse(x < real(0.0), x.ceil(), x.floor()).cast("int64")

    def trimmed(self, text: ir.Value) -> ir.Value:
        """The text without spaces at both ends; no other character counts as a space."""
        return text.re_replace("^[ ]+", "").re_replace("[ ]+$", "")

    def part(self, text: ir.Value, start: int, length: int) -> ir.Value:
        """At most `length` characters from `start` on."""
        return text.substr(start, length)

    def substring(self, text: ir.Value, start: int, length: int) -> ir.Value:
        """`part` where the function is called so, and counts from 1."""
        return call("substring", dt.string, text, ibis.literal(start + 1), ibis.literal(length))

    def written(self, day: ir.Value) -> ir.Value:
        """A date as YYYY-MM-DD."""
        parts = (day.year(), 4), (day.month(), 2), (day.day(), 2)
        year, month, day = (number.cast("string").lpad(width, "0") for number, width in parts)
        return year + "-" + month + "-" + day

    def matches(self, text: ir.Value, pattern: str) -> ir.Value:
        """Does the whole text match? The pattern has no line breaks and no capturing groups."""
        return text.re_search(f"^({pattern})$")

    def in_order(self, text: ir.Value) -> ir.Value:
        """Something that compares as the code points of the text do."""
        return text

    def on_grid(self, x: ir.Value, grid: Grid) -> ir.Value:
        """q(x) of a double, as in `Grid.quantise`."""
        lower, upper = ends(grid)
        inside = ibis.cases(
            (x <= real(lower), real(lower)),
            (x <= real(upper), x),
            (self.is_number(x), real(upper)),
            else_=ibis.null("float64"),
        )
        steps = floor(self.scaled(inside, grid.exponent) + real(0.5)).cast("int64")
        return steps - whole(grid.centre) if grid.centre else steps

    def scaled(self, x: ir.Value, exponent: int) -> ir.Value:
        """x·2^k: exact, for |x·2^k| ≤ 2^51, unless it is so small that it rounds to 0 steps."""
        while exponent > 1000:  # 2^k is not a double
            x, exponent = x * real(2.0**1000), exponent - 1000
        return x * real(math.ldexp(1.0, exponent))

    # -- rows, groups and sums ---------------------------------------------------------------------

    def nested(self, table: ir.Table, before: int, depth: int) -> ir.Table:
        """The table, when its projections have become this deep."""
        return table

    def names_keys(self, keys: ListedKeys) -> bool:
        """Should the query itself name the keys, rather than a table that is sent?"""
        return False

    def total(self, value: ir.Value, *, wide: bool) -> list[ir.Scalar]:
        """The sum of an integer, in one part or, where 64 bits may not suffice, as two halves.

        Σ x = 2^32·Σ ⌊x/2^32⌋ + Σ (x mod 2^32), each of which fits 64 bits for up to 2^31 rows.
        """
        if not wide:
            return [value.sum().cast("int64")]
        low = value & ibis.literal(2**HALF - 1, type="int64")
        high = value >> ibis.literal(HALF, type="int8")
        return [high.sum().cast("int64"), low.sum().cast("int64")]

    def hashed(self, salt: int, columns: Sequence[ir.Value]) -> ir.Value:
        """A 64-bit hash of a salt and some columns, to sort by; a missing value is one like others.

        Which groups and rows are kept is decided by comparing hashes, so they must be fair: over
        the salt, every order of different inputs must be equally likely. That is more than
        spreading well.
        """
        return joined_text(signed(salt), columns).hash()


def ends(grid: Grid) -> tuple[float, float]:
    """The ends of a grid, which are exact doubles."""
    return math.ldexp(grid.lower, -grid.exponent), math.ldexp(grid.upper, -grid.exponent)


def signed(salt: int) -> ir.Value:
    """The 64 bits of a salt as an integer of SQL."""
    return ibis.literal(salt - 2**64 if salt >= 2**63 else salt, type="int64")


def joined_text(salt: ir.Value, columns: Sequence[ir.Value]) -> ir.Value:
    """The salt and the columns as one text, from which each part could be read back."""
    texts = [column.cast("string") for column in columns]
    parts = [ibis.coalesce(text.length().cast("string") + ":" + text, "n") for text in texts]
    return reduce(lambda left, right: left + "|" + right, parts, salt.cast("string"))


def is_from(source: object, package: str) -> bool:
    """Is it of a type from this package? Checked by name, so that nothing needs to be imported."""
    return any(kind.__module__.startswith(package) for kind in type(source).__mro__)


# -- a table where it is kept ----------------------------------------------------------------------


class Stored(ABC):
    """A table where it is kept, and the engine that computes there."""

    engine: Engine
    changes_show: ClassVar[bool] = False  #: can everybody see when its rows change?

    @property
    @abstractmethod
    def schema(self) -> Schema:
        """Names and types, from metadata."""

    @abstractmethod
    def open(self, columns: Sequence[str], *, empty: bool = False) -> Pass:
        """One pass over some columns; if `empty`, over none of its rows."""

    @abstractmethod
    def check(self) -> None:
        """Refuse a table that cannot be read, for reasons that do not depend on its rows."""

    def files(self) -> Sequence[str]:
        """The files that it is in."""
        return ()

    def identity(self) -> object:
        """Something that changes when the rows do, where changes show."""
        return None

    def changed(self, *, checked: bool) -> InvalidArgument | None:
        """The error if it no longer has its columns or, where its rows were `checked`, if they may
        have changed at all."""
        return None


@dataclass(frozen=True, eq=False, repr=False)
class BackendTable(Stored):
    """A table on a connection that the caller opened and keeps."""

    table: ir.Table
    engine: Engine
    process: int = field(default_factory=os.getpid)

    @property
    def schema(self) -> Schema:
        return self.engine.schema(self.table)

    def check(self) -> None:
        self._check_process()
        self.engine.check_connection(self.table.get_backend())

    def open(self, columns: Sequence[str], *, empty: bool = False) -> Pass:
        self._check_process()
        chosen = self.table.select(list(columns))
        return self.engine.start(chosen.limit(0) if empty else chosen, self.table.get_backend())

    def _check_process(self) -> None:
        if os.getpid() != self.process:  # a connection does not survive a fork
            raise EngineError(
                "the connection of this table belongs to the process that opened it",
                remedy="connect again in this one",
                code="not-shared",
            )


# -- one pass over a table -------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class Lookup:
    """A public table in memory: `keys` names the columns that rows are matched by."""

    table: pa.Table
    keys: tuple[str, ...]

    def matches(self, name: str) -> str:
        """SQL that counts the pairs of rows with equal keys, for a table of this name."""
        return f"SELECT count(*) FROM {name} AS a JOIN {name} AS b USING ({', '.join(self.keys)})"


@dataclass(frozen=True, eq=False, repr=False)
class Pass:
    """One pass over a table. Building and compiling touch no data; `prepare` and `batches` do."""

    engine: Engine
    table: ir.Table
    backend: Any  # the Ibis connection
    turn: Turn  # on that connection, taken by `prepare` and given back by `close`
    #: the public tables that were asked for, by their names in the engine
    beside: dict[str, Lookup] = field(default_factory=dict, kw_only=True)

    def source(self) -> ir.Table:
        """The columns that were asked for, as they are stored."""
        return self.table

    def public(self, lookup: Lookup) -> ir.Table:
        """A public table next to the source; here Ibis sends it along with a query."""
        self.beside[f"public{len(self.beside)}"] = lookup
        return ibis.memtable(lookup.table)

    def named(self, lookup: Lookup, name: str = "") -> ir.Table:
        """`public`, for engines to which `prepare` sends the table under a name."""
        name = name or f"public_{uuid.uuid4().hex}"
        self.beside[name] = lookup
        return ibis.table(ibis.Schema.from_pyarrow(lookup.table.schema), name=name)

    def compile(self, query: ir.Table) -> Any:
        """The query in the form that `batches` takes; here Ibis compiles it when it runs."""
        return query

    def refused(self) -> InvalidArgument | None:
        """The error if the public tables may not be sent."""
        return None

    def prepare(self) -> None:
        """Make the tables ready to be read."""
        self.turn.take()

    def matches(self, name: str) -> int:
        """How many rows a public table has when it is joined with itself: as many as before, if
        the engine holds all of its keys to be distinct."""
        lookup = self.beside[name]
        here, there = ibis.memtable(lookup.table), ibis.memtable(lookup.table)
        joined = here.inner_join(there, list(lookup.keys))
        return int(self.backend.to_pyarrow(joined.count()).as_py())

    def batches(self, query: Any) -> Iterator[pa.RecordBatch]:
        """The rows of the answer, as they come."""
        yield from self.backend.to_pyarrow_batches(query)

    def interrupt(self) -> None:
        """Stop what is running; here only the wait for our turn, as there is no common way."""
        self.turn.stop()

    def fraction(self) -> float | None:
        """How much is done, from 0 to 1, where that is known."""
        return None

    def close(self) -> None:
        """Release what the pass holds; the connection stays the caller's."""
        self.turn.give()
