"""Long lists, looked up in a public table instead of being spelled out in an expression.

A hundred literals take an engine's compiler longer than a million rows take the engine. So the
place of a value in a long list is found by a join, and its place between many edges by several
joins: each goes down one level of a search tree whose nodes are the rows of a small table.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias

import ibis
import ibis.expr.types as ir
import numpy as np
import pyarrow as pa

from discreet.engines.calls import real, whole
from discreet.engines.engine import ARROW, Lookup
from discreet.query.schema import Type

Bring: TypeAlias = Callable[[Lookup], ir.Table]  #: makes a table available next to the source
#: takes rows, the column to look up and a name for the result; returns the rows with that column
Find: TypeAlias = Callable[[ir.Table, str, str], ir.Table]

FEW: Final = 32  # literals that an expression may spell out
_BRANCHES: Final = 16  # of a node, at most
_CUTS: Final = [f"cut{i}" for i in range(1, _BRANCHES)]


def joined(
    table: ir.Table,
    on: Sequence[tuple[str, str]],
    public: ir.Table,
    added: Mapping[str, ir.Value],
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
    moments = (
        value.astimezone(datetime.UTC).replace(tzinfo=None)
        if isinstance(value, datetime.datetime) and value.tzinfo is not None
        else value
        for value in values
    )
    return pa.array(dict.fromkeys(moments), ARROW[kind])


def is_listed(table: ir.Table, x: str, name: str, *, values: pa.Array, bring: Bring) -> ir.Table:
    """A new column: is x one of the distinct values? Missing where x is."""
    public = bring(Lookup(pa.table({"value": values}), ("value",)))
    found = ibis.cases((table[x].isnull(), ibis.null("boolean")), else_=public["value"].notnull())
    return joined(table, [(x, "value")], public, {name: found})


def with_place(table: ir.Table, x: str, name: str, *, values: pa.Array, bring: Bring) -> ir.Table:
    """A new column: the place of x among distinct values, null where it is none of them."""
    places = pa.table({"value": values, "place": np.arange(len(values))})
    public = bring(Lookup(places, ("value",)))
    return joined(table, [(x, "value")], public, {name: public["place"]})


def with_rank(
    table: ir.Table, x: str, name: str, *, cuts: Sequence[float], bring: Bring
) -> ir.Table:
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
        below = bring(Lookup(pa.table(tree), ("node",)))
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
