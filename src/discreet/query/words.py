"""A question in words, for whoever was not there when it was asked."""

from __future__ import annotations

from fractions import Fraction

from discreet.printable import one_line
from discreet.query.aggregates.aggregate import Aggregate
from discreet.query.aggregates.commonest import Commonest
from discreet.query.aggregates.counts import Count, CountUnits
from discreet.query.aggregates.histograms import Histogram
from discreet.query.aggregates.means import Mean
from discreet.query.aggregates.quantiles import Quantile
from discreet.query.aggregates.ranges import Range
from discreet.query.aggregates.spreads import Spread
from discreet.query.aggregates.sums import Sum
from discreet.query.contribution import Bound
from discreet.query.expressions import Expression, Typed, in_words
from discreet.query.keys import DiscoveredKeys, Keys
from discreet.query.schema import Type
from discreet.query.steps import Join, Mutate, Select, Step, Where
from discreet.query.table import Grouped, Query


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
    asked = _listed([f"{_aggregate(one)} ({name})" for name, one in query.aggregates])
    first = f"{asked}{_groups(query.group, query.keys)}{_steps(query.table.steps)}."
    kept = _kept(query.table.limit, query.table.unit.column)
    return one_line(first[0].upper() + first[1:] + kept)


def contribution_in_words(grouped: Grouped, *, rows: bool, coverage: Fraction, most: int) -> str:
    """The same for a bound on contributions that is bought."""
    unit = grouped.table.unit.column
    what = "rows in any one group" if rows else "groups"
    return one_line(
        f"A bound, at most {most:,}, on the {what} that a share of {float(coverage):g} of all "
        f"{unit} stays within{_groups(grouped.group, grouped.keys)}{_steps(grouped.table.steps)}."
    )


def _aggregate(one: Aggregate) -> str:
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
    words = [_step(step) for step in steps]
    return f"; of rows {', '.join(filter(None, words))}" if any(words) else ""


def _step(step: Step) -> str:
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


def _kept(limit: Bound | None, unit: str | None) -> str:
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
