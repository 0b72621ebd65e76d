"""Rows in the making: a table, and which of its columns holds what the caller knows by a name.

Inside a query every column has a name of ours (c0, c1, ...), and a new one whenever a value
changes. So names of the caller cannot clash or be misread by an engine, and the unit, once read,
cannot be rewritten by any later step. Names that begin with a null character are nobody's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias, cast

import ibis.expr.types as ir

from discreet.engines.dialects import Dialect
from discreet.engines.expressions import translate
from discreet.engines.lookups import FEW, Bring, Find, is_listed, listed
from discreet.engines.parts import Cut
from discreet.query.expressions import Typed
from discreet.query.schema import Domain

UNIT: Final = "u"
_NESTED: Final = 20  # projections inside each other: what writes them as SQL calls itself for each
_Values: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """`names` says which column of the table holds one of the caller's; `u` holds the unit."""

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
        """The expression in our names."""
        return renamed(expression, self.names)

    def with_columns(self, columns: Mapping[str, ir.Value]) -> Rows:
        """New columns; of those that are there, only what has a name is kept."""
        reachable = {*self.names.values(), UNIT}
        kept = [name for name in self.table.columns if name in reachable]
        names = dict(zip(columns, self.fresh(len(columns)), strict=True))
        new = {names[name]: value for name, value in columns.items()}
        return self.on(self.table.select(*kept, **new), names)

    def fresh(self, number: int) -> list[str]:
        """Names of ours for new columns."""
        taken = (name[1:] for name in self.table.columns if name[0] == "c" and name[1:].isdigit())
        start = 1 + max(map(int, taken), default=-1)
        return [f"c{start + i}" for i in range(number)]

    def on(self, table: ir.Table, names: Mapping[str, str], *, deeper: int = 1) -> Rows:
        """The same rows in a table with more columns, that many projections deeper."""
        depth = self.depth + deeper
        if self.dialect is Dialect.POSTGRES and depth // 2 > self.depth // 2:
            # It writes columns of columns out in full, unless there is a limit in between.
            table = table.limit(2**62)
        if depth // _NESTED > self.depth // _NESTED:
            table = table.alias(f"deep{depth}")
        return replace(self, table=table, names={**self.names, **names}, depth=depth)

    def only(self, names: Set[str]) -> Rows:
        """The same rows without other names."""
        return replace(self, names={n: own for n, own in self.names.items() if n in names})

    def light(self, *expressions: Typed) -> tuple[Rows, list[Typed]]:
        """Equal expressions that are short in SQL, on the same rows with some columns more.

        An operation may name its arguments several times, so that a tree of them, written down,
        grows beyond all bounds. Heavy parts become columns, which are named instead: those that do
        not build on each other in one projection. So does whether a value is in a long list.
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
        """A column of ours that holds the value, null where it is missing."""
        rows, (lighter,) = self.light(expression)
        (name,) = rows.fresh(1)
        return rows.with_columns({f"\0{name}": rows.value(lighter)}), name

    def looked_up(self, value: Typed, find: Find) -> tuple[Rows, str]:
        """A column of ours with what `find` finds for a value, in a public table."""
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
