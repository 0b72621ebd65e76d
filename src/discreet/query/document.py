"""A question as a document: what ledgers keep, certificates show and idempotency keys compare.

The tree is a function of the question alone: no path, no name of a source, nothing of the data.
Numbers are exact text, as in ``"1/2"``; a real literal is the text that Python prints for it. Keys
and public tables are described by their columns, the number of their rows and a digest; keys are
also written out where they are few. There are documents for what a plan bought too, and sentences
that put a question in words.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import Any, Final, TypeAlias

from discreet.errors import InternalError, one_line
from discreet.guarantees import Guarantee
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.quantiles import Quantiles, choice_scale
from discreet.mechanisms.top_k import TopK
from discreet.numeric.table_digest import columns_of, table_digest
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.aggregates.commonest import Commonest
from discreet.query.aggregates.counts import Count, CountUnits
from discreet.query.aggregates.histograms import Histogram
from discreet.query.aggregates.means import Mean
from discreet.query.aggregates.quantiles import Quantile
from discreet.query.aggregates.ranges import Range
from discreet.query.aggregates.sums import Sum
from discreet.query.aggregates.variances import Spread
from discreet.query.contribution import ContributionBound
from discreet.query.expressions import Expression, Typed, in_words
from discreet.query.keys import DiscoveredKeys, Keys
from discreet.query.plan import Plan
from discreet.query.purchase import (
    AddedNoise,
    Additive,
    BinCounts,
    Chooser,
    Finder,
    PresenceCounts,
    PresentCount,
    Purchase,
    RowCount,
    UnitCount,
    ValueSum,
)
from discreet.query.request import Join, Mutate, Select, Step, Where
from discreet.query.schema import Type
from discreet.query.table import Grouped, Query, Table

MOST_KEYS: Final = 100  # up to this many, the keys themselves are written

# What an aggregate is called; its own fields come next. Fields that follow from others are left
# out: a label from its column, the quantiles bought together from the other aggregates.
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
    """The document of a question for a bound on contributions: how many groups a person is in, or
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


# -- what a plan bought, as documents --------------------------------------------------------------
# Each mechanism with its sensitivity, noise and promise.
#
# Sensitivity, scale and σ are in steps of the grid that a number is released on; ``step`` is the
# size of one of them. From these numbers alone a reader can recompute the guarantee, as
# `discreet.certificate` does.


def mechanism_documents(plan: Plan) -> list[Tree]:
    """One document for each part that was bought, in the order of the plan."""
    return [{"for": part.words, **_bought(one)} for part, one in plan.bought.items()]


def contribution_mechanism(mechanism: Quantiles, *, rows: bool, most: int) -> Tree:
    """The document of the choice of a bound on contributions, among 1, 2, ... ``most``."""
    words = "a bound on rows in a group" if rows else "a bound on groups"
    part = {"kind": "people by their rows in a group" if rows else "people by their groups"}
    told = _quantiles(mechanism, candidates=most)
    return {"for": words, **told, "part": part, **_promise(mechanism, 1)}


def _bought(one: Purchase) -> Tree:
    match one:
        case AddedNoise():
            return {**_noise(one), **_promise(one, 1)}
        case Chooser(mechanism=Quantiles() as chosen):
            told = _quantiles(chosen, candidates=one.part.bins.size)
            return {**told, "part": _chosen("quantiles", one), **_promise(one, one.times)}
        case Chooser(mechanism=TopK() as chosen):
            told = _top_k(chosen, candidates=one.part.bins.size)
            return {**told, "part": _chosen("commonest", one), **_promise(one, one.times)}
        case Finder(mechanism=mechanism):
            return {
                "mechanism": "keys",
                "rule": mechanism.rule,
                "sensitivity": {"groups": str(mechanism.max_groups)},
                "epsilon": str(mechanism.epsilon),
                "delta": str(mechanism.delta),
                **_promise(one, 1),
            }
    raise AssertionError  # pragma: no cover


def _noise(one: AddedNoise) -> Tree:
    moved = one.sensitivity
    law: Tree = (
        {"mechanism": "laplace", "scale": str(one.mechanism.scale)}
        if isinstance(one.mechanism, Laplace)
        else {"mechanism": "gaussian", "sigma": str(one.mechanism.sigma)}
    )
    sizes = {"l0": moved.l0, "linf": moved.linf, "l1": moved.l1, "l2": moved.l2}
    return {
        **law,
        "sensitivity": {norm: str(size) for norm, size in sizes.items()},
        "step": str(one.part.step),
        "part": _part(one.part),
    }


def _quantiles(mechanism: Quantiles, *, candidates: int) -> Tree:
    return {
        "mechanism": "quantiles",
        "sensitivity": {"rows": str(mechanism.rows)},
        "probabilities": [str(p) for p in mechanism.probabilities],
        "candidates": candidates,
        "scales": [str(scale) for scale in _scales(mechanism)],
        "epsilon": str(mechanism.epsilon),  # of all probabilities together, once
    }


def _scales(mechanism: Quantiles) -> list[Fraction]:
    """For each probability, how many rows off a candidate must be to be e times less likely."""
    rows, each = mechanism.rows, mechanism.step
    return [
        choice_scale(p, rows=rows, epsilon=each) / p.denominator for p in mechanism.probabilities
    ]


def _top_k(mechanism: TopK, *, candidates: int) -> Tree:
    return {
        "mechanism": "top k",
        "sensitivity": {"rows": str(mechanism.rows)},
        "k": mechanism.k,
        "monotone": mechanism.monotone,
        "candidates": candidates,
        "scale": str(mechanism.scale),
        "epsilon": str(mechanism.epsilon),  # of all k choices together, once
    }


def _chosen(kind: str, one: Chooser) -> Tree:
    return {"kind": kind, "column": tree(one.part.bins.value)}


def _promise(one: Any, times: int) -> Tree:
    """How many times one person influences it, and what is promised for all of them together."""
    guarantee: Guarantee = one.guarantee
    return {"times": times, "guarantee": json.loads(guarantee.to_json())}


def _part(part: Additive) -> Tree:
    """What is counted or added up, and for a sum on which grid."""
    match part:
        case RowCount():
            return {"kind": "rows"}
        case UnitCount():
            return {"kind": "people"}
        case PresentCount(value=value):
            return {"kind": "rows with a value", "column": tree(value)}
        case PresenceCounts(value=value):
            return {"kind": "rows with and without a value", "column": tree(value)}
        case BinCounts(bins=bins):
            return {"kind": "bins", "column": tree(bins.value), "bins": bins.size}
        case ValueSum(total=total):
            grid = total.grid
            return {
                "kind": "sum of squares" if total.squared else "sum",
                "column": tree(total.value),
                "grid": {
                    "exponent": grid.exponent,  # a step of the values is 2^(−exponent)
                    "lower": grid.lower,
                    "upper": grid.upper,
                    "centre": grid.centre,
                    "shift": total.shift,
                    "offset": total.offset,
                },
            }


# -- a question in words ---------------------------------------------------------------------------


def query_in_words(query: Query) -> str:
    """What was asked, in a sentence or two.

    >>> import discreet as dp, pyarrow as pa
    >>> visits = dp.table(pa.table({"id": [1], "days": [3], "ward": ["A"]}), unit="id")
    >>> kept = visits.where(lambda row: row.days > 0).bound(max_groups=3, max_rows_per_group=5)
    >>> question = kept.group_by("ward", keys=["A", "B"]).agg(n=dp.count(), m=dp.mean("days",
    ...     bounds=(0, 60)))
    >>> print(query_in_words(question))
    The number of rows (n) and the mean of days, clamped to 0 to 60 (m), for each of 2 listed \
values of ward; of rows where days > 0. Of each id, at most 3 groups and 5 rows in each are kept.
    """
    asked = _listed([f"{_aggregate_in_words(one)} ({name})" for name, one in query.aggregates])
    first = f"{asked}{_groups(query.group, query.keys)}{_steps(query.table.steps)}."
    kept = _kept(query.table.limit, query.table.unit.column)
    return one_line(first[0].upper() + first[1:] + kept)


def contribution_in_words(grouped: Grouped, *, rows: bool, coverage: Fraction, most: int) -> str:
    """What was asked where a bound on contributions is to be released, in a sentence."""
    unit = grouped.table.unit.column
    what = "rows in any one group" if rows else "groups"
    return one_line(
        f"A bound, at most {most:,}, on the {what} that a share of {float(coverage):g} of all "
        f"{unit} stays within{_groups(grouped.group, grouped.keys)}{_steps(grouped.table.steps)}."
    )


def _aggregate_in_words(one: Aggregate) -> str:
    match one:
        case Count(column=None):
            return "the number of rows"
        case Count(label=label):
            return f"the number of rows with {label}"
        case CountUnits():
            return "the number of people"
        case Sum(label=label, bounds=bounds):
            return f"the sum of {label}, {_clamped(bounds)}"
        case Mean(label=label, bounds=bounds):
            return f"the mean of {label}, {_clamped(bounds)}"
        case Spread(label=label, bounds=bounds, kind=kind):
            name = "variance" if kind == "variance" else "standard deviation"
            return f"the {name} of {label}, {_clamped(bounds)}"
        case Quantile(label=label, bounds=bounds, probabilities=probabilities):
            if probabilities == (Fraction(1, 2),):
                return f"the median of {label}, {_clamped(bounds)}"
            shares = _listed([_number(p) for p in probabilities])
            return f"the quantiles {shares} of {label}, {_clamped(bounds)}"
        case Histogram(label=label, edges=edges, categories=categories):
            bins = max(len(edges) - 1, 0) or len(categories)
            return f"the number of rows in {bins:,} bins of {label}"
        case Commonest(label=label, k=k, candidates=candidates):
            which = f"the {k:,} commonest values" if k > 1 else "the commonest value"
            return f"{which} of {label} among {len(candidates):,} listed"
        case Range(label=label):
            return f"powers of two between which nearly all of {label} lies"
    return type(one).__name__.lower()


def _clamped(bounds: tuple[Fraction, Fraction]) -> str:
    return f"clamped to {_number(bounds[0])} to {_number(bounds[1])}"


def _groups(group: tuple[tuple[str, Typed], ...], keys: Keys | None) -> str:
    if keys is None:
        return ""
    names = _listed([name for name, _ in group])
    if isinstance(keys, DiscoveredKeys):
        return f", for each value of {names} that enough people have"
    return f", for each of {len(keys):,} listed values of {names}"


def _steps(steps: tuple[Step, ...]) -> str:
    words = [_step_in_words(step) for step in steps]
    return f"; of rows {', '.join(filter(None, words))}" if any(words) else ""


def _step_in_words(step: Step) -> str:
    match step:
        case Where(condition=condition):
            return f"where {_expression(condition)}"
        case Mutate(columns=columns):
            return f"with {_listed([f'{n} = {_expression(value)}' for n, value in columns])}"
        case Select(columns=columns):
            made = [(n, v) for n, v in columns if (v.op, v.value) != ("column", n)]
            return f"with {_listed([f'{n} = {_expression(v)}' for n, v in made])}" if made else ""
        case Join(added=added, table=table):
            names = _listed([here for here, _ in added]) or "nothing"
            return f"with {names} looked up in a public table of {table.num_rows:,} rows"


def _kept(limit: ContributionBound | None, unit: str | None) -> str:
    if limit is None or unit is None:
        return ""
    if limit.max_rows is not None:
        are = "is" if limit.max_rows == 1 else "are"
        return f" Of each {unit}, at most {_many(limit.max_rows, 'row')} {are} kept."
    groups = "" if limit.max_groups is None else f"{_many(limit.max_groups, 'group')} and "
    rows = _many(limit.max_rows_per_group or 1, "row")
    return f" Of each {unit}, at most {groups}{rows} in each are kept."


def _expression(value: Typed) -> str:
    def untyped(each: Typed) -> Expression:
        if each.op == "cast" and each.args[0].type is Type.RAW:
            return untyped(each.args[0])  # the cell of a CSV file, as it is used
        return Expression(each.op, tuple(map(untyped, each.args)), each.value)

    return in_words(untyped(value))


def _number(x: Fraction) -> str:
    return f"{x.numerator:,}" if x.denominator == 1 else str(x)


def _many(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _listed(words: list[str]) -> str:
    *others, last = words or [""]
    return f"{', '.join(others)} and {last}" if others else last


# -- row expressions and literals as JSON values ---------------------------------------------------


Tree: TypeAlias = dict[str, Any]


def tree(value: Typed) -> Tree:
    """A typed expression; the type of a literal is stated too, so its text is never ambiguous.

    >>> from discreet.query.schema import Type
    >>> tree(Typed("column", (), "age", Type.INTEGER, True))
    {'op': 'column', 'value': 'age', 'type': 'integer', 'nullable': True}
    """
    told: Tree = {"op": value.op}
    if value.args:
        told["args"] = [tree(arg) for arg in value.args]
    if value.value is not None:
        told["value"] = plain_value(value.value)
    return {**told, "type": str(value.type), "nullable": value.nullable}


def plain_value(value: object) -> Any:
    """A literal, a parameter or a list of them, without floats.

    >>> plain_value((1, 0.5, Fraction(1, 3), datetime.date(2026, 1, 31), None))
    [1, '0.5', '1/3', '2026-01-31', None]
    """
    match value:
        case Typed():
            return tree(value)
        case Enum():
            return str(value)
        case None | bool() | int() | str():
            return value
        case float():
            return repr(value)
        case Fraction():
            return str(value)
        case datetime.date():  # moments are dates too
            return value.isoformat()
        case tuple() | list():
            return [plain_value(each) for each in value]
    raise InternalError(f"a question holds a value of type {type(value).__name__}")
