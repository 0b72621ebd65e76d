"""Where an expression may be cut: parts that can be computed first and named by a column.

Arithmetic looks at how its numbers were made (`limits`): what is known of a product is more than
what is known of a column. So it is cut around, never between its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from discreet.query.expressions import Typed
from discreet.query.schema import Type

# How often an operation may name its argument in SQL, at most; these do so once.
_REPEATS: Final = 5
_PLAIN: Final = frozenset(
    ("and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "is_null", "is_in", "length", "case")
)
_HEAVY: Final = 60  # from here on parts of an expression become columns


class Cut:
    """Expressions in parts that are short in SQL, level by level: each reads those before it.

    Parts are named after the first column that is free, with a mark that no caller's name has.
    """

    def __init__(self, first: str) -> None:
        self.levels: list[dict[str, Typed]] = []
        self._first = first
        self._columns: dict[Typed, tuple[Typed, int]] = {}

    def light(self, value: Typed) -> Typed:
        """An equal expression that is short, if the parts are there."""
        return self._light(value)[0]

    def column(self, value: Typed) -> Typed:
        """The value as a column, if the parts are there."""
        return self._column(value)[0]

    def _light(self, value: Typed) -> tuple[Typed, int]:
        """And how many levels it needs."""
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
    """An equal expression, in which each part that may stand alone is what `put` makes of it.

    >>> from discreet.query.checking import typed
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
    """Does it pass on how large its arguments can be?"""
    steps = ("add", "sub", "mul", "div", "floordiv", "neg", "abs", "case", "fill_null")
    whole_as_real = value.op == "cast" and value.type is Type.REAL
    return value.op in steps or whole_as_real


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
