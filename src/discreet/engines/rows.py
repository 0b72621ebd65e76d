"""Rows while a query is built: a table, and which of its columns holds each of the caller's.

Inside a query every column has a name of ours (c0, c1, ...), and a new one whenever a value
changes. So names of the caller cannot clash or be misread by an engine, and the unit, once read,
cannot be rewritten by any later step. No caller's name begins with a null character.

A long expression is cut into parts, which are computed first, each as a column. Arithmetic looks
at how its numbers were made (`translation`): more is known about a product than about a column. So
an expression is cut around arithmetic, never between its steps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Final, TypeAlias, cast

import ibis
import ibis.expr.datatypes as dt
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from discreet.engines.engine import ARROW, IBIS, Lookup, Pass, real, whole
from discreet.engines.translation import translate, without_zone
from discreet.query.expressions import Typed, as_type, columns_of
from discreet.query.public import type_of
from discreet.query.request import Join, Mutate, Select, Step, Where
from discreet.query.schema import Domain, Schema, Type

UNIT: Final = "u"
_NESTED: Final = 20  # nested projections: writing them as SQL recurses into each
_Values: TypeAlias = tuple[object, ...]
#: takes rows, the column to look up and a name for the result; returns the rows with that column
Find: TypeAlias = Callable[[ir.Table, str, str, Pass], ir.Table]


@dataclass(frozen=True, eq=False)
class Rows:
    """A table; `names` says which of its columns holds each of the caller's, `u` holds the unit."""

    table: ir.Table
    names: Mapping[str, str]
    run: Pass  # says how values are written, and brings lists that are looked up
    domains: Mapping[str, Domain] = field(default_factory=dict)  # of columns that were checked
    depth: int = 0  # projections that build on each other

    def value(self, expression: Typed) -> ir.Value:
        """A row expression on these rows."""
        return translate(renamed(expression, self.names), self.table, self.run.engine)

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
        table = self.run.engine.nested(table, self.depth, depth)
        if depth // _NESTED > self.depth // _NESTED:
            table = table.alias(f"deep{depth}")
        return replace(self, table=table, names={**self.names, **names}, depth=depth)

    def light(self, *expressions: Typed) -> tuple[Rows, list[Typed]]:
        """Equal expressions that are short in SQL, on the same rows with some more columns.

        An operation may name its arguments several times in SQL, so that the text of a tree can
        grow exponentially. Heavy parts become columns, which are named instead; those that do not
        build on each other share one projection. Whether a value is in a long list becomes a column
        too.
        """
        return self._cut(Cut.light, expressions)

    def as_columns(self, *expressions: Typed) -> tuple[Rows, list[Typed]]:
        """The values of expressions as columns of the same rows."""
        return self._cut(Cut.column, expressions)

    def _cut(
        self, made: Callable[[Cut, Typed], Typed], expressions: Iterable[Typed]
    ) -> tuple[Rows, list[Typed]]:
        rows, short = self._with_lists(expressions)
        cut = Cut(rows.fresh(1)[0])
        cuts = [made(cut, expression) for expression in short]
        for level in cut.parts.levels:
            rows = rows.with_columns({name: rows.value(part) for name, part in level.items()})
        return rows, cuts

    def computed(self, expression: Typed) -> tuple[Rows, str]:
        """The rows with a column for the value, null where it is missing, and its name."""
        rows, (lighter,) = self.light(expression)
        (name,) = rows.fresh(1)
        return rows.with_columns({f"\0{name}": rows.value(lighter)}), name

    def looked_up(self, value: Typed, find: Find) -> tuple[Rows, str]:
        """The rows with a column for what `find` looks up for a value, and its name."""
        rows, x = self.computed(value)
        (name,) = rows.fresh(1)
        return rows.on(find(rows.table, x, name, self.run), {f"\0{name}": name}, deeper=2), name

    def _with_lists(self, expressions: Iterable[Typed]) -> tuple[Rows, list[Typed]]:
        """The expressions with a column in place of each long list."""
        rows, short = self, []
        for expression in expressions:
            rows, args = rows._with_lists(expression.args)
            expression = replace(expression, args=tuple(args))
            if expression.op == "is_in" and len(cast(_Values, expression.value)) > FEW:
                values = listed(cast(_Values, expression.value), args[0].type)
                rows, name = rows.looked_up(args[0], partial(is_listed, values=values))
                expression = replace(expression, op="column", args=(), value=f"\0{name}")
            short.append(expression)
        return rows, short


def renamed(expression: Typed, names: Mapping[str, str]) -> Typed:
    """The expression with other names for its columns."""
    if expression.op == "column":
        return replace(expression, value=names[str(expression.value)])
    return replace(expression, args=tuple(renamed(arg, names) for arg in expression.args))


# -- from a stored table to rows, each column in its own type --------------------------------------


def read_rows(
    run: Pass, columns: tuple[str, ...], stored: Schema, declared: Schema, *, unit: str | None
) -> Rows:
    """The rows of the source, each column in its declared type."""
    source = run.source()
    names = {name: f"c{i}" for i, name in enumerate(columns)}
    plain = {names[name]: _plain(source[name], stored[name].type, run) for name in columns}
    apart = unit is not None and not _holds(source[unit].type())
    if apart:
        plain[UNIT] = source[unit].cast("string")
    rows = Rows(source.select(**plain), names, run)
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


def _plain(column: ir.Value, kind: Type, run: Pass) -> ir.Value:
    """The column as the one Ibis type that stands for its type; never an error."""
    same = column.type().copy(nullable=True) == IBIS[kind]
    return column if same else run.engine.plain(column, IBIS[kind])


def _holds(kind: dt.DataType) -> bool:
    """Are different values still different in the types of a query? If not, two people could become
    one."""
    fine = isinstance(kind, dt.Timestamp) and (kind.scale or 0) > 6
    return not fine and not isinstance(kind, dt.UInt64)


# -- the steps of a query, on rows -----------------------------------------------------------------


def apply(rows: Rows, steps: tuple[Step, ...]) -> Rows:
    """Apply the steps: joins in order, and what comes between them in few projections."""
    for _, some in groupby(steps, key=lambda step: step if isinstance(step, Join) else None):
        match tuple(some):
            case (Join() as join,):
                rows = _joined(rows, join)
            case row_wise:
                rows = _row_wise(rows, row_wise)
    return rows


def _row_wise(rows: Rows, steps: Iterable[Step]) -> Rows:
    """Compute and filter as early as possible: rows are independent, and nothing can fail.

    Values that do not build on each other are computed in one projection, however many steps they
    come from. So each value gets a name of its own, as a later step may reuse the caller's name.
    """
    current = {name: name for name in rows.names}
    values, tests = Stages(), defaultdict[int, list[Typed]](list)  # each test before its level
    for number, step in enumerate(steps):
        match step:
            case Where(condition):
                condition = renamed(condition, current)
                tests[values.level(condition)].append(condition)
            case Mutate(columns) | Select(columns):
                fresh = {name: f"\0{number} {name}" for name, _ in columns}  # no caller's names
                for name, value in columns:
                    values.put(fresh[name], renamed(value, current))
                current = fresh if isinstance(step, Select) else {**current, **fresh}
    levels = [(made, tests[i]) for i, made in enumerate([*values.levels, {}])]
    needed = [set(current.values())]  # what is needed after each level
    for made, asked in levels[:0:-1]:
        needed.append(needed[-1].union(*map(columns_of, (*made.values(), *asked))))
    for made, asked in levels:
        if asked:
            rows, conditions = _values(rows, asked)
            rows = replace(rows, table=rows.table.filter(conditions))
        if made:
            rows, computed = _values(rows, made.values())
            rows = rows.with_columns(dict(zip(made, computed, strict=True)))
        later = needed.pop()
        rows = replace(rows, names={n: own for n, own in rows.names.items() if n in later})
    return replace(rows, names={name: rows.names[own] for name, own in current.items()})


def _values(rows: Rows, values: Iterable[Typed]) -> tuple[Rows, list[ir.Value]]:
    """All of the values, computed from the row as it is."""
    rows, lighter = rows.light(*values)
    return rows, [rows.value(light) for light in lighter]


def _joined(rows: Rows, step: Join) -> Rows:
    wanted = [there for _, there in step.on] + [there for _, there in step.added]
    there = tuple(f"p{i}" for i in range(len(step.on)))
    public = rows.run.public(Lookup(canonical(step.table.select(wanted), prefix="p"), there))
    on = []
    for (value, _), key in zip(step.on, there, strict=True):
        rows, name = rows.computed(value)
        on.append((name, key))
    fresh = rows.fresh(len(step.added))
    looked_up = {name: public[f"p{len(on) + i}"] for i, name in enumerate(fresh)}
    names = {here: name for (here, _), name in zip(step.added, fresh, strict=True)}
    table = joined(rows.table, on, public, looked_up)
    return rows.on(table, names, deeper=2)


# -- long lists, looked up in a public table instead of being spelled out in an expression ---------
# A hundred literals take an engine's compiler longer than a million rows take the engine. So the
# place of a value in a long list is found by a join, and its place between many edges by several
# joins: each goes down one level of a search tree whose nodes are the rows of a small table.


FEW: Final = 32  # literals that an expression may spell out
_BRANCHES: Final = 16  # of a node, at most
_CUTS: Final = [f"cut{i}" for i in range(1, _BRANCHES)]


def joined(
    table: ir.Table, on: Sequence[tuple[str, str]], public: ir.Table, added: Mapping[str, ir.Value]
) -> ir.Table:
    """All rows, with columns of a public table that has each key at most once."""
    equal = [table[here] == public[there] for here, there in on]
    kept = {name: table[name] for name in table.columns}
    return table.left_join(public, equal).select(**kept, **added)


def listed(values: Sequence[object], kind: Type) -> pa.Array:
    """The values of a list, each once: 0.0 and -0.0 are the same, and so are equal timestamps.

    >>> listed([0.0, 1.5, -0.0], Type.REAL).to_pylist()
    [0.0, 1.5]
    """
    return pa.array(dict.fromkeys(map(without_zone, values)), ARROW[kind])


def is_listed(table: ir.Table, x: str, name: str, run: Pass, *, values: pa.Array) -> ir.Table:
    """A new column: is x one of the distinct values? Missing where x is."""
    public = run.public(Lookup(pa.table({"value": values}), ("value",)))
    found = ibis.cases((table[x].isnull(), ibis.null("boolean")), else_=public["value"].notnull())
    return joined(table, [(x, "value")], public, {name: found})


def with_place(table: ir.Table, x: str, name: str, run: Pass, *, values: pa.Array) -> ir.Table:
    """A new column: the place of x among distinct values, null where it is none of them."""
    places = pa.table({"value": values, "place": np.arange(len(values))})
    public = run.public(Lookup(places, ("value",)))
    return joined(table, [(x, "value")], public, {name: public["place"]})


def with_rank(table: ir.Table, x: str, name: str, run: Pass, *, cuts: Sequence[float]) -> ir.Table:
    """A new column: how many of many rising cuts are at most x, null where x is missing."""
    depth = 2
    while _BRANCHES**depth <= len(cuts):
        depth += 1
    branches = next(b for b in range(2, _BRANCHES + 1) if b**depth > len(cuts))
    # A full tree has more leaves than are needed; values that reach the rest are beyond the last
    # cut.
    padded = np.array([*cuts, *[cuts[-1]] * (branches**depth - 1 - len(cuts))])
    numbers = [whole(i) for i in range(branches)]
    width = branches ** (depth - 1)
    ends = [constant(end) for end in padded[width - 1 :: width].tolist()]
    node = search(table[x], ends, numbers)
    for level in range(1, depth):
        here, down = f"{name} {level}", f"{name} from {level}"
        table = table.mutate(**{here: node})
        width //= branches
        starts = [padded[i * width - 1 :: width * branches] for i in range(1, branches)]
        tree = {"node": np.arange(branches**level), **dict(zip(_CUTS, starts, strict=False))}
        below = run.public(Lookup(pa.table(tree), ("node",)))
        branch = search(table[x], [below[cut] for cut in _CUTS[: branches - 1]], numbers)
        table = joined(table, [(here, "node")], below, {down: branch})
        node = table[here] * whole(branches) + table[down]
    rank = ibis.least(node, whole(len(cuts)))
    return table.mutate(**{name: ibis.ifelse(table[x].isnull(), ibis.null("int64"), rank)})


def search(x: ir.Value, cuts: Sequence[ir.Value], leaves: Sequence[ir.Value]) -> ir.Value:
    """leaves[i] where i of the rising cuts are at most x; a decision tree of log₂ n steps."""
    if not cuts:
        return leaves[0]
    middle = len(cuts) // 2
    return ibis.ifelse(
        x < cuts[middle],
        search(x, cuts[:middle], leaves[: middle + 1]),
        search(x, cuts[middle + 1 :], leaves[middle + 1 :]),
    )


def constant(number: float) -> ir.Value:
    """A number as a literal of its own type."""
    return real(number) if isinstance(number, float) else whole(number)


# -- where an expression may be cut ----------------------------------------------------------------


# How many times an operation names its argument in SQL, at most; those in _PLAIN do so once.
_REPEATS: Final = 5
_PLAIN: Final = frozenset(
    ("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_null", "is_in", "length", "case")
)
_HEAVY: Final = 60  # parts of an expression that is heavier than this become columns


class Stages:
    """Named values, level by level: each reads the given columns and the levels before it."""

    def __init__(self) -> None:
        self.levels: list[dict[str, Typed]] = []
        self._after: dict[str, int] = {}

    def level(self, value: Typed) -> int:
        """The first level at which a value can be computed."""
        return max((self._after.get(name, 0) for name in columns_of(value)), default=0)

    def put(self, name: str, value: Typed) -> None:
        """Compute a value under this name, as early as possible."""
        level = self.level(value)
        if level == len(self.levels):
            self.levels.append({})
        self.levels[level][name] = value
        self._after[name] = level + 1


class Cut:
    """Expressions cut into parts that are short in SQL.

    Parts are named after the first free column, with a mark that no caller's name has.
    """

    def __init__(self, first: str) -> None:
        self.parts = Stages()
        self._first = first
        self._columns: dict[Typed, Typed] = {}

    def light(self, value: Typed) -> Typed:
        """An equal expression that is short, given the parts as columns."""
        return value if weight(value) <= _HEAVY else with_parts(value, self.column)

    def column(self, value: Typed) -> Typed:
        """The value as a column, given the parts as columns."""
        if not value.args:
            return value
        if value not in self._columns:
            lighter = self.light(value)
            name = f"\0{self._first} {len(self._columns)}"
            self.parts.put(name, lighter)
            self._columns[value] = replace(value, op="column", args=(), value=name)
        return self._columns[value]


def with_parts(value: Typed, put: Callable[[Typed], Typed]) -> Typed:
    """An equal expression in which each part that may be cut off is replaced by `put(part)`.

    >>> from discreet.query.expressions import Expression, column, typed
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

    >>> from discreet.query.expressions import Expression, column, typed
    >>> x = column("x")
    >>> weight(typed(Expression("mul", (x, Expression("mul", (x, x)))), Schema.of({"x": "real"})))
    55
    """
    if not expression.args:
        return 1
    return sum(map(weight, expression.args)) * (1 if expression.op in _PLAIN else _REPEATS)
