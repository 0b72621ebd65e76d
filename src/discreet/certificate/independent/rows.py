"""Does every step of a query look at one row at a time, and leave alone whose row it is?

An operation over several rows, or another owner for a row, would let one person move more than is
counted. The list of operations is written down here again, and what is not on it is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

Document = Mapping[str, Any]

_LEAVES: Final = ("column", "literal")
_LOGIC: Final = ("eq", "ne", "lt", "le", "gt", "ge", "and", "or", "not", "is_null", "is_in", "case")
_NUMBERS: Final = ("add", "sub", "mul", "div", "floordiv", "neg", "abs", "floor", "clip")
_CASTS: Final = ("cast", "fill_null")
_LETTERS: Final = ("lower", "upper", "strip", "length", "substring", "concat")
_FOUND: Final = ("startswith", "endswith", "contains")
_DATES: Final = ("year", "month", "day", "weekday", "hour")
OPERATIONS: Final = frozenset((*_LEAVES, *_LOGIC, *_NUMBERS, *_CASTS, *_LETTERS, *_FOUND, *_DATES))
TYPES: Final = frozenset(
    ("boolean", "integer", "real", "text", "date", "timestamp", "raw", "other")
)
_DEEPEST: Final = 200


def row_faults(tree: Document) -> Iterator[str]:
    """What does not fit, in sentences.

    >>> age = {"op": "column", "value": "age", "type": "integer", "nullable": False}
    >>> step = {"step": "mutate", "columns": [{"name": "id", "value": age}]}
    >>> list(row_faults({"unit": "id", "steps": [step], "group": []}))
    ['a step changes the column that says whose row it is']
    """
    unit, steps, group = tree["unit"], tree["steps"], tree["group"]
    if unit is not None and any(unit in _defined(step) for step in steps):
        yield "a step changes the column that says whose row it is"
    if not all(_is_known(one) for one in _expressions(tree)):
        yield "a value is computed by an operation or of a type that this version does not know"
    if not all(_is_column(one["value"], one["name"]) for one in group):
        yield "a group is not the column that it is called after"
    names = [one["name"] for one in group]
    if len(set(names)) != len(names):
        yield "a column is grouped by twice"


def _defined(step: Document) -> list[str]:
    """The names that a step gives a value; a select keeps the unit without naming it."""
    match step["step"]:
        case "mutate" | "select":
            return [column["name"] for column in step["columns"]]
        case "join":
            return [column["here"] for column in step["added"]]
    return []


def _expressions(tree: Document) -> Iterator[Document]:
    for step in tree["steps"]:
        match step["step"]:
            case "where":
                yield step["condition"]
            case "join":
                yield from (pair["here"] for pair in step["on"])
            case _:
                yield from (column["value"] for column in step["columns"])
    yield from (column["value"] for column in tree["group"])
    for aggregate in tree.get("aggregates", ()):
        if aggregate.get("column") is not None:
            yield aggregate["column"]


def _is_known(expression: Document, depth: int = 0) -> bool:
    args = expression.get("args", ())
    leaf = expression["op"] in _LEAVES
    return (
        depth < _DEEPEST
        and expression["op"] in OPERATIONS
        and expression["type"] in TYPES
        and leaf != bool(args)
        and (expression["op"] != "column" or isinstance(expression.get("value"), str))
        and all(_is_known(arg, depth + 1) for arg in args)
    )


def _is_column(expression: Document, name: str) -> bool:
    """The column itself, or read as the type of its keys."""
    if expression["op"] == "cast":
        (expression,) = expression["args"]
    return bool(expression["op"] == "column" and expression["value"] == name)
