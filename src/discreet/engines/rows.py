"""Rows while a query is built: a table, and which of its columns holds each of the caller's.

Inside a query every column has a name of ours (c0, c1, ...), and a new one whenever a value
changes. So names of the caller cannot clash or be misread by an engine, and the unit, once read,
cannot be rewritten by any later step. No caller's name begins with a null character.

A long expression is cut into parts, which are computed first, each as a column. Arithmetic looks
at how its numbers were made (`translation`): more is known about a product than about a column. So
an expression is cut around arithmetic, never between its steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias, cast

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import pyarrow as pa

from discreet.engines.calls import real
from discreet.engines.engine import ARROW, IBIS, LARGEST, Dialect, Lookup, Pass
from discreet.engines.lookups import FEW, Bring, Find, is_listed, joined, listed
from discreet.engines.translation import translate
from discreet.query.expressions import Typed, as_type, columns_of
from discreet.query.public import type_of
from discreet.query.request import Join, Mutate, Request, Select, Step, Where
from discreet.query.schema import Domain, Schema, Type

UNIT: Final = "u"
_NESTED: Final = 20  # nested projections: writing them as SQL recurses into each
_Values: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """A table; `names` says which of its columns holds each of the caller's, `u` holds the unit."""

    table: ir.Table
    names: Mapping[str, str]
    dialect: Dialect
    domains: Mapping[str, Domain] = field(default_factory=dict)  # of columns that were checked
    bring: Bring = field(kw_only=True)  # for lists that are looked up
    depth: int = field(default=0, kw_only=True)  # projections that build on each other

    def value(self, expression: Typed) -> ir.Value:
        """A row expression on these rows."""
        return translate(self.renamed(expression), self.table, self.dialect)

    def renamed(self, expression: Typed) -> Typed:
        """The expression with our names for its columns."""
        return renamed(expression, self.names)

    def with_columns(self, columns: Mapping[str, ir.Value]) -> Rows:
        """The rows with new columns; of the old ones, only those with a name are kept."""
        reachable = {*self.names.values(), UNIT}
        kept = [name for name in self.table.columns if name in reachable]
        names = dict(zip(columns, self.fresh(len(columns)), strict=True))
        new = {names[name]: value for name, value in columns.items()}
        return self.on(self.table.select(*kept, **new), names)

    def fresh(self, number: int) -> list[str]:
        """Our names for new columns."""
        taken = (name[1:] for name in self.table.columns if name[0] == "c" and name[1:].isdigit())
        start = 1 + max(map(int, taken), default=-1)
        return [f"c{start + i}" for i in range(number)]

    def on(self, table: ir.Table, names: Mapping[str, str], *, deeper: int = 1) -> Rows:
        """The same rows in a table with more columns, `deeper` projections further in."""
        depth = self.depth + deeper
        if self.dialect is Dialect.POSTGRES and depth // 2 > self.depth // 2:
            # PostgreSQL expands columns of columns in full, unless there is a limit in between.
            table = table.limit(2**62)
        if depth // _NESTED > self.depth // _NESTED:
            table = table.alias(f"deep{depth}")
        return replace(self, table=table, names={**self.names, **names}, depth=depth)

    def only(self, names: Set[str]) -> Rows:
        """The same rows with these names only."""
        return replace(self, names={n: own for n, own in self.names.items() if n in names})

    def light(self, *expressions: Typed) -> tuple[Rows, list[Typed]]:
        """Equal expressions that are short in SQL, on the same rows with some more columns.

        An operation may name its arguments several times in SQL, so that the text of a tree can
        grow exponentially. Heavy parts become columns, which are named instead; those that do not
        build on each other share one projection. Whether a value is in a long list becomes a column
        too.
        """
        rows, short = self._with_lists(expressions)
        cut = Cut(rows.fresh(1)[0])
        lighter = [cut.light(expression) for expression in short]
        return rows._with_parts(cut), lighter

    def as_columns(self, *expressions: Typed) -> tuple[Rows, list[Typed]]:
        """The values of expressions as columns of the same rows."""
        rows, short = self._with_lists(expressions)
        cut = Cut(rows.fresh(1)[0])
        columns = [cut.column(expression) for expression in short]
        return rows._with_parts(cut), columns

    def computed(self, expression: Typed) -> tuple[Rows, str]:
        """The rows with a column for the value, null where it is missing, and its name."""
        rows, (lighter,) = self.light(expression)
        (name,) = rows.fresh(1)
        return rows.with_columns({f"\0{name}": rows.value(lighter)}), name

    def looked_up(self, value: Typed, find: Find) -> tuple[Rows, str]:
        """The rows with a column for what `find` looks up for a value, and its name."""
        rows, x = self.computed(value)
        (name,) = rows.fresh(1)
        return rows.on(find(rows.table, x, name), {f"\0{name}": name}, deeper=2), name

    def _with_lists(self, expressions: Iterable[Typed]) -> tuple[Rows, list[Typed]]:
        """The expressions with a column in place of each long list."""
        rows, short = self, []
        for expression in expressions:
            rows, args = rows._with_lists(expression.args)
            expression = replace(expression, args=tuple(args))
            if expression.op == "is_in" and len(cast(_Values, expression.value)) > FEW:
                values = listed(cast(_Values, expression.value), args[0].type)
                find = partial(is_listed, values=values, bring=self.bring)
                rows, name = rows.looked_up(args[0], find)
                expression = replace(expression, op="column", args=(), value=f"\0{name}")
            short.append(expression)
        return rows, short

    def _with_parts(self, cut: Cut) -> Rows:
        rows = self
        for level in cut.levels:
            rows = rows.with_columns({name: rows.value(part) for name, part in level.items()})
        return rows


def renamed(expression: Typed, names: Mapping[str, str]) -> Typed:
    """The expression with other names for its columns."""
    if expression.op == "column":
        return replace(expression, value=names[str(expression.value)])
    return replace(expression, args=tuple(renamed(arg, names) for arg in expression.args))


# -- from a stored table to rows, each column in its own type --------------------------------------


@ibis.udf.scalar.builtin(name="timezone", signature=(("string", "timestamp('UTC')"), "timestamp"))
def _timezone(zone, moment): ...  # type: ignore[no-untyped-def]


def columns_needed(request: Request, schema: Schema) -> tuple[str, ...]:
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
    usable = [field.name for field in schema if field.type is not Type.OTHER]
    return tuple(name for name in usable if name in read) or tuple(usable[:1])


def read_rows(
    run: Pass, columns: tuple[str, ...], *, stored: Schema, declared: Schema, unit: str | None
) -> Rows:
    """The rows of the source, each column in its declared type."""
    source = run.source()
    names = {name: f"c{i}" for i, name in enumerate(columns)}
    plain = {names[name]: _plain(source[name], stored[name].type, run.dialect) for name in columns}
    apart = unit is not None and not _holds(source[unit].type())
    if apart:
        plain[UNIT] = source[unit].cast("string")
    rows = Rows(source.select(**plain), names, run.dialect, bring=run.public)
    casts = {
        name: rows.value(as_type(_column(stored, name), declared[name].type))
        for name in columns
        if declared[name].type is not stored[name].type
    }
    rows = rows.with_columns(casts) if casts else rows
    domains = {rows.names[name]: declared[name].domain for name in columns}
    rows = replace(rows, domains={name: one for name, one in domains.items() if one is not None})
    if unit is None or apart:
        return rows
    person = {UNIT: rows.value(_column(declared, unit))}
    return replace(rows, table=rows.table.mutate(**person))


def canonical(table: pa.Table, *, prefix: str) -> pa.Table:
    """A public table in the types of a query, with our names for its columns.

    >>> canonical(pa.table({"ward": pa.array(["A"]).dictionary_encode()}), prefix="p").schema
    p0: string
    """
    arrays = [column.cast(ARROW[type_of(column.type)]) for column in table.columns]
    return pa.table(arrays, names=[f"{prefix}{i}" for i in range(len(arrays))])


def _column(schema: Schema, name: str) -> Typed:
    return Typed("column", (), name, schema[name].type, schema[name].nullable)


def _plain(column: ir.Value, kind: Type, dialect: Dialect) -> ir.Value:
    """The column as the one Ibis type that stands for its type; never an error."""
    found, wanted = column.type(), IBIS[kind]
    if found.copy(nullable=True) == wanted:
        return column
    if isinstance(found, dt.Timestamp) and found.timezone and dialect is Dialect.POSTGRES:
        return _timezone("UTC", column)
    if isinstance(found, dt.Decimal) and dialect is Dialect.POSTGRES:
        return _of_numeric(column)
    if isinstance(found, dt.UInt64):  # those beyond 2^63 - 1 are clamped to it
        largest = ibis.literal(LARGEST, type="uint64")  # least() would turn nulls into it
        return ibis.ifelse(column > largest, largest, column).cast(wanted)
    if dialect is Dialect.DUCKDB and found.is_temporal():  # of any width; sessions are in UTC
        return column.try_cast(wanted)
    return column.cast(wanted)


def _holds(kind: dt.DataType) -> bool:
    """Are different values still different in the types of a query? If not, two people could become
    one."""
    fine = isinstance(kind, dt.Timestamp) and (kind.scale or 0) > 6
    return not fine and not isinstance(kind, dt.UInt64)


def _of_numeric(column: ir.Value) -> ir.Value:
    """PostgreSQL's numeric as a double: it may be NaN, or beyond what a double holds."""
    large, small = (ibis.literal(text).cast(dt.Decimal()) for text in ("1e100", "1e-100"))
    return ibis.cases(
        (column.cast("string") == "NaN", ibis.null("float64")),
        (column > large, real(1e100)),
        (column < -large, real(-1e100)),
        (column.abs() < small, real(0.0)),
        else_=column.cast("float64"),
    )


# -- the steps of a query, on rows -----------------------------------------------------------------


def apply(rows: Rows, steps: tuple[Step, ...], run: Pass) -> Rows:
    """Apply the steps: joins in order, and what comes between them in few projections."""
    for _, some in groupby(steps, key=lambda step: step if isinstance(step, Join) else None):
        match tuple(some):
            case (Join() as join,):
                rows = _joined(rows, join, run)
            case row_wise:
                rows = _row_wise(rows, row_wise)
    return rows


def _row_wise(rows: Rows, steps: Iterable[Step]) -> Rows:
    """Compute and filter as early as possible: rows are independent, and nothing can fail.

    Values that do not build on each other are computed in one projection, however many steps they
    come from. So each value gets a name of its own, as a later step may reuse the caller's name.
    """
    current = {name: name for name in rows.names}
    levels: list[dict[str, Typed]] = [{}]  # each reads the given columns and the levels before it
    tests: list[list[Typed]] = [[]]  # conditions that read no more than that level
    level_of: dict[str, int] = {}

    def read(value: Typed) -> tuple[Typed, int]:
        value = renamed(value, current)
        level = max((level_of.get(name, 0) for name in columns_of(value)), default=0)
        if level == len(levels):
            levels.append({})
            tests.append([])
        return value, level

    for number, step in enumerate(steps):
        match step:
            case Where(condition):
                condition, level = read(condition)
                tests[level].append(condition)
            case Mutate(columns) | Select(columns):
                fresh = {name: f"\0{number} {name}" for name, _ in columns}  # no caller's names
                for name, value in columns:
                    value, level = read(value)
                    levels[level][fresh[name]] = value
                    level_of[fresh[name]] = level + 1
                current = fresh if isinstance(step, Select) else {**current, **fresh}
    needed = [set(current.values())]  # what is needed after each level
    for made, asked in zip(levels[:0:-1], tests[:0:-1], strict=True):
        needed.append(needed[-1].union(*map(columns_of, (*made.values(), *asked))))
    for made, asked in zip(levels, tests, strict=True):
        if asked:
            rows, conditions = _values(rows, asked)
            rows = replace(rows, table=rows.table.filter(conditions))
        if made:
            rows, values = _values(rows, made.values())
            rows = rows.with_columns(dict(zip(made, values, strict=True)))
        rows = rows.only(needed.pop())
    return replace(rows, names={name: rows.names[own] for name, own in current.items()})


def _values(rows: Rows, values: Iterable[Typed]) -> tuple[Rows, list[ir.Value]]:
    """All of the values, computed from the row as it is."""
    rows, lighter = rows.light(*values)
    return rows, [rows.value(light) for light in lighter]


def _joined(rows: Rows, step: Join, run: Pass) -> Rows:
    wanted = [there for _, there in step.on] + [there for _, there in step.added]
    there = tuple(f"p{i}" for i in range(len(step.on)))
    public = run.public(Lookup(canonical(step.table.select(wanted), prefix="p"), there))
    on = []
    for (value, _), key in zip(step.on, there, strict=True):
        rows, name = rows.computed(value)
        on.append((name, key))
    fresh = rows.fresh(len(step.added))
    looked_up = {name: public[f"p{len(on) + i}"] for i, name in enumerate(fresh)}
    names = {here: name for (here, _), name in zip(step.added, fresh, strict=True)}
    table = joined(rows.table, on, public, looked_up)
    return rows.on(table, names, deeper=2)


# -- where an expression may be cut ----------------------------------------------------------------


# How many times an operation names its argument in SQL, at most; those in _PLAIN do so once.
_REPEATS: Final = 5
_PLAIN: Final = frozenset(
    ("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_null", "is_in", "length", "case")
)
_HEAVY: Final = 60  # parts of an expression that is heavier than this become columns


class Cut:
    """Expressions cut into parts that are short in SQL, level by level: each reads those before it.

    Parts are named after the first free column, with a mark that no caller's name has.
    """

    def __init__(self, first: str) -> None:
        self.levels: list[dict[str, Typed]] = []
        self._first = first
        self._columns: dict[Typed, tuple[Typed, int]] = {}

    def light(self, value: Typed) -> Typed:
        """An equal expression that is short, given the parts as columns."""
        return self._light(value)[0]

    def column(self, value: Typed) -> Typed:
        """The value as a column, given the parts as columns."""
        return self._column(value)[0]

    def _light(self, value: Typed) -> tuple[Typed, int]:
        """The short expression, and how many levels of parts it needs."""
        level = 0

        def put(part: Typed) -> Typed:
            nonlocal level
            column, needs = self._column(part)
            level = max(level, needs)
            return column

        lighter = value if weight(value) <= _HEAVY else with_parts(value, put)
        return lighter, level

    def _column(self, value: Typed) -> tuple[Typed, int]:
        if not value.args:
            return value, 0
        if value not in self._columns:
            lighter, level = self._light(value)
            if level == len(self.levels):
                self.levels.append({})
            name = f"\0{self._first} {len(self._columns)}"
            self.levels[level][name] = lighter
            self._columns[value] = replace(value, op="column", args=(), value=name), level + 1
        return self._columns[value]


def with_parts(value: Typed, put: Callable[[Typed], Typed]) -> Typed:
    """An equal expression in which each part that may be cut off is replaced by `put(part)`.

    >>> from discreet.query.expressions import typed
    >>> from discreet.query.expressions import Expression, column
    >>> from discreet.query.schema import Schema
    >>> clipped = Expression("clip", (column("x"),), (0.0, 1.0))
    >>> tree = typed(Expression("add", (clipped, clipped)), Schema.of({"x": "real"}))
    >>> parts = []
    >>> _ = with_parts(tree, lambda part: parts.append(part.op) or part)
    >>> parts
    ['column', 'column']
    """
    looks = _looks_at_arguments(value)
    args = tuple(
        with_parts(arg, put) if looks and arg.type.is_number else put(arg) for arg in value.args
    )
    return replace(value, args=args)


def _looks_at_arguments(value: Typed) -> bool:
    """Does the size of its result follow from the sizes of its arguments?"""
    steps = ("add", "sub", "mul", "div", "floordiv", "neg", "abs", "case", "fill_null")
    whole_as_real = value.op == "cast" and value.type is Type.REAL
    return value.op in steps or whole_as_real


def weight(expression: Typed) -> int:
    """How long the expression may get in SQL, in columns and literals.

    >>> from discreet.query.expressions import typed
    >>> from discreet.query.expressions import Expression, column
    >>> from discreet.query.schema import Schema
    >>> x = column("x")
    >>> weight(typed(Expression("mul", (x, Expression("mul", (x, x)))), Schema.of({"x": "real"})))
    55
    """
    if not expression.args:
        return 1
    return sum(map(weight, expression.args)) * (1 if expression.op in _PLAIN else _REPEATS)
