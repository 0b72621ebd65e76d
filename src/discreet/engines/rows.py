"""Rows in the making: a table, and which of its columns holds what the caller knows by a name.

Inside a query every column has a name of ours (c0, c1, ...), and a new one whenever a value
changes. So names of the caller cannot clash or be misread by an engine, and the unit, once read,
cannot be rewritten by any later step.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import ibis.expr.types as ir

from discreet.engines.dialects import Dialect
from discreet.engines.expressions import translate
from discreet.engines.parts import with_parts
from discreet.query.expressions import Typed
from discreet.query.schema import Domain

UNIT: Final = "u"
# How often an operation may name its argument in SQL, at most; these do so once.
_REPEATS: Final = 5
_PLAIN: Final = frozenset(
    ("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_null", "is_in", "length", "case")
)
_HEAVY: Final = 60  # from here on parts of an expression become columns


@dataclass(frozen=True, eq=False)
class Rows:
    """`names` says which column of the table holds one of the caller's; `u` holds the unit."""

    table: ir.Table
    names: Mapping[str, str]
    dialect: Dialect
    domains: Mapping[str, Domain] = field(default_factory=dict)  # of columns that were checked

    def value(self, expression: Typed) -> ir.Value:
        """A row expression on these rows."""
        return translate(self.renamed(expression), self.table, self.dialect)

    def renamed(self, expression: Typed) -> Typed:
        """The expression in our names."""
        if expression.op == "column":
            return replace(expression, value=self.names[str(expression.value)])
        return replace(expression, args=tuple(map(self.renamed, expression.args)))

    def with_columns(self, columns: Mapping[str, ir.Value], *, keep: bool = True) -> Rows:
        """New columns; those of the caller that are not new are kept or forgotten."""
        start = len(self.table.columns)
        fresh = {name: f"c{start + i}" for i, name in enumerate(columns)}
        table = self.table.mutate(**{fresh[name]: value for name, value in columns.items()})
        return replace(self, table=table, names={**(self.names if keep else {}), **fresh})

    def light(self, expression: Typed) -> tuple[Rows, Typed]:
        """An equal expression that is short in SQL, on the same rows with some columns more.

        An operation may name its arguments several times, so that a tree of them, written down,
        grows beyond all bounds. Heavy parts become columns, which are named instead.
        """
        if weight(expression) <= _HEAVY:
            return self, expression
        rows = self

        def put(part: Typed) -> Typed:
            nonlocal rows
            rows, column = rows.as_column(part)
            return column

        lighter = with_parts(expression, put)
        return rows, lighter

    def as_column(self, expression: Typed) -> tuple[Rows, Typed]:
        """The value of an expression as a column of the same rows."""
        if not expression.args:
            return self, expression
        rows, lighter = self.light(expression)
        name = f"\0{len(rows.table.columns)}"  # no caller's column is called so
        rows = rows.with_columns({name: rows.value(lighter)})
        return rows, replace(lighter, op="column", args=(), value=name)


def weight(expression: Typed) -> int:
    """How long the expression may get in SQL, in columns and literals.

    >>> from discreet.query.checking import typed
    >>> from discreet.query.expressions import Expression, column
    >>> from discreet.query.schema import Schema
    >>> x = column("x")
    >>> weight(typed(Expression("mul", (x, Expression("mul", (x, x)))), Schema.of({"x": "real"})))
    55
    """
    if not expression.args:
        return 1
    return sum(map(weight, expression.args)) * (1 if expression.op in _PLAIN else _REPEATS)
