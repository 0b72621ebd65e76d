"""Where an expression may be cut: parts that can be computed first and named by a column.

Arithmetic looks at how its numbers were made (`limits`): what is known of a product is more than
what is known of a column. So it is cut around, never between its steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from discreet.query.expressions import Typed
from discreet.query.schema import Type


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
