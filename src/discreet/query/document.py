"""A question as a document: what ledgers keep, certificates show and idempotency keys compare.

The tree is a function of the question alone: no path, no name of a source, nothing of the data.
Numbers are exact text, as in ``"1/2"``; a real literal is the text that Python prints for it. Keys
and public tables are told by their columns, their number and a digest, and keys by themselves
where they are few.
"""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from typing import Final

from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.aggregates.commonest import Commonest
from discreet.query.aggregates.counts import Count, CountUnits
from discreet.query.aggregates.histograms import Histogram
from discreet.query.aggregates.means import Mean
from discreet.query.aggregates.quantiles import Quantile
from discreet.query.aggregates.ranges import Range
from discreet.query.aggregates.spreads import Spread
from discreet.query.aggregates.sums import Sum
from discreet.query.expressions import Typed
from discreet.query.keys import DiscoveredKeys, Keys
from discreet.query.purchases import contribution_mechanism as contribution_mechanism
from discreet.query.purchases import mechanism_documents as mechanism_documents
from discreet.query.steps import Join, Mutate, Select, Step, Where
from discreet.query.table import Grouped, Query, Table
from discreet.query.table_digest import columns_of, table_digest
from discreet.query.trees import Tree, plain_value, tree
from discreet.query.words import contribution_in_words as contribution_in_words
from discreet.query.words import query_in_words as query_in_words

MOST_KEYS: Final = 100  # of which the keys themselves are written

# What an aggregate is called; its own fields follow. These follow from others, so they are not
# told: a label from its column, the quantiles bought together from the other aggregates.
_NAMES: Final[dict[type, str]] = {
    Count: "count",
    CountUnits: "count units",
    Sum: "sum",
    Mean: "mean",
    Quantile: "quantile",
    Histogram: "histogram",
    Commonest: "top k",
    Range: "range",
}
_FOLLOWS: Final = ("label", "counted", "others")


def query_document(query: Query) -> Tree:
    """The query as a tree of JSON values without floats; equal questions have equal trees.

    >>> import discreet as dp, pyarrow as pa
    >>> people = dp.table(pa.table({"age": [34, 51], "ward": ["A", "B"]}))
    >>> query = people.where(lambda row: row.age >= 18).group_by("ward", keys=["A", "B"])
    >>> document = query_document(query.agg(n=dp.count()))
    >>> document["aggregates"], document["keys"]["values"]
    ([{'kind': 'count', 'name': 'n', 'column': None, 'weight': '1'}], [['A'], ['B']])
    """
    limit, kept = query.table.limit, query.contribution
    return {
        "kind": "query",
        **_table(query.table),
        "bound": None if limit is None else {f.name: getattr(limit, f.name) for f in fields(limit)},
        "contribution": {"groups": kept.groups, "rows": kept.rows, "total": kept.total},
        "group": _columns(query.group),
        "keys": _keys(query.keys),
        "aggregates": [_aggregate(name, one) for name, one in query.aggregates],
    }


def contribution_document(grouped: Grouped, *, rows: bool, coverage: Fraction, most: int) -> Tree:
    """The same for a bound on contributions that is bought: how many groups a person is in, or
    how many rows they have in a group, at most, for this share of people."""
    return {
        "kind": "rows in a group" if rows else "groups a person",
        **_table(grouped.table),
        "group": _columns(grouped.group),
        "keys": _keys(grouped.keys),
        "coverage": str(coverage),
        "most": most,
    }


def _table(table: Table) -> Tree:
    """Who is protected, and what is done to each row."""
    return {
        "unit": table.unit.column,
        "relation": str(table.relation),
        "steps": [_step(step) for step in table.steps],
    }


def _step(step: Step) -> Tree:
    match step:
        case Where(condition=condition):
            return {"step": "where", "condition": tree(condition)}
        case Mutate(columns=columns):
            return {"step": "mutate", "columns": _columns(columns)}
        case Select(columns=columns):
            return {"step": "select", "columns": _columns(columns)}
        case Join(table=table, on=on, added=added):
            return {
                "step": "join",
                "table": {
                    "rows": int(table.num_rows),
                    "columns": columns_of(table),
                    "sha256": table_digest(table),
                },
                "on": [{"here": tree(here), "there": there} for here, there in on],
                "added": [{"here": here, "there": there} for here, there in added],
            }


def _columns(columns: tuple[tuple[str, Typed], ...]) -> list[Tree]:
    return [{"name": name, "value": tree(value)} for name, value in columns]


def _keys(keys: Keys | None) -> Tree | None:
    if keys is None:
        return None
    if isinstance(keys, DiscoveredKeys):
        return {"discovered": True}
    table = keys.table
    few = len(keys) <= MOST_KEYS
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True)) if few else []
    return {
        "discovered": False,
        "count": len(keys),
        "columns": columns_of(table),
        "sha256": table_digest(table),
        "values": [[plain_value(cell) for cell in row] for row in rows] if few else None,
    }


def _aggregate(name: str, aggregate: Aggregate) -> Tree:
    told = {
        field.name: plain_value(getattr(aggregate, field.name))
        for field in fields(aggregate)  # type: ignore[arg-type]
        if field.name not in _FOLLOWS
    }
    kind = aggregate.kind if isinstance(aggregate, Spread) else _NAMES[type(aggregate)]
    return {"kind": kind, "name": name, **told}
