"""Histograms: how many rows fall into each bin, one column per bin."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.numeric.exact import Number, number
from discreet.query.aggregates.aggregate import (
    Aggregate,
    Asked,
    Bought,
    ColumnLike,
    Expected,
    Flag,
    Output,
    Told,
    Values,
    added_noise,
    read_column,
    read_listed,
    read_number,
    read_weight,
)
from discreet.query.expressions import Typed
from discreet.query.limits import BINS, taken
from discreet.query.measures import CategoryBins, EdgeBins
from discreet.query.schema import Schema, Type


@dataclass(frozen=True)
class Histogram(Aggregate):
    """Counts of rows by bin."""

    column: ColumnLike | Typed
    edges: tuple[Fraction, ...]
    categories: tuple[Any, ...]
    weight: Fraction
    kind = "histogram"
    binned = True

    @property
    def words(self) -> str:
        return f"the number of rows in {self.parts[0].size:,} bins of {self.value.words}"

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        words = "How many rows in each bin, by edges; for a column without numbers, by categories."
        return (
            Flag(
                "histogram",
                words,
                _asked,
                metavar="COLUMN:E1,E2,...",
                parts=("edges or categories",),
                example="age:0,18,65,100",
            ),
        )

    @classmethod
    def read(cls, told: Told) -> Histogram:
        if told["edges"]:
            return histogram(told.column, edges=told["edges"], weight=told["weight"])
        return histogram(told.column, categories=told.values("categories"), weight=told["weight"])

    def resolve(self, schema: Schema) -> Histogram:
        if self.edges:
            return self.on(read_number(self.column, schema, name="histogram"))
        value = read_column(self.column, schema, name="histogram")
        value, categories = read_listed(value, self.categories, name="categories")
        return self.on(value, categories=categories)

    @property
    def parts(self) -> tuple[EdgeBins | CategoryBins]:
        """One part for all bins: a row is in one of them, so all cost as much as one."""
        if self.edges:
            return (EdgeBins(self.value, tuple(map(float, self.edges))),)
        return (CategoryBins(self.value, self.categories),)

    def names(self, name: str) -> list[str]:
        if not self.edges:
            return [f"{name}_{category}" for category in self.categories]
        ends = [f"{float(edge):g}" for edge in self.edges]
        return [f"{name}_{low}_to_{high}" for low, high in pairwise(ends)]

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        (part,) = self.parts
        counts = values[part]
        errors = np.full(len(counts), added_noise(bought, part).error)
        return [
            Output(
                name=column,
                kind="bin",
                values=counts[:, i],
                error=errors,
                sources=(f"{part.words}, bin {i}",),
                integer=True,
                of=name,
            )
            for i, column in enumerate(self.names(name))
        ]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """The error, which is the same for each bin of each group."""
        return [Expected(f"{name}_…", added_noise(bought, self.parts[0]).error, "rows")]


@spelled
def histogram(
    column: ColumnLike,
    *,
    edges: Sequence[Number] | None = None,
    categories: Sequence[Any] | None = None,
    weight: Number = 1,
) -> Histogram:
    """How many rows lie between each two ``edges``, or have each of the listed ``categories``.

    Bins are [low, high). Values beyond the first or last edge are counted in the end bins; values
    that are not listed, and missing ones, are not counted. All bins cost as much as one count.
    Error: the same in each bin of each group.

    ``column`` is the name of a column, or a function of a row, as in ``lambda row: row.days * 24``.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> histogram("age", edges=[0, 18, 65, 120]).edges[1]
    Fraction(18, 1)
    """
    if (edges is None) == (categories is None):
        raise InvalidArgument(
            "edges or categories",
            "given, and only one of them",
            "none" if edges is None else "both",
            hint=Phrase(
                "say where the bins are, as in {edges=[0, 18, 65]}: they may not be taken from the "
                "data"
            ),
        )
    if edges is not None and (isinstance(edges, str) or not isinstance(edges, Iterable)):
        raise _not_edges(InvalidArgument.describe_parameter(edges))
    hint = "make the bins wider"
    listed = () if edges is None else taken(edges, BINS, name="edges", what="numbers", hint=hint)
    ends = tuple(number(edge, name="edges") for edge in listed)
    rising = all(a < b for a, b in pairwise(ends))
    rising = rising and all(abs(end) <= 10**100 for end in ends)
    if edges is not None and (len(ends) < 2 or not rising):
        raise _not_edges("others")
    values = () if categories is None else categories
    values = taken(values, BINS, name="categories", what="values", hint="count several as one")
    return Histogram(column, ends, values, read_weight(weight))


def _asked(asked: Asked) -> tuple[str, Histogram]:
    items = asked.items("edges or categories")
    if asked.kind.is_number or (asked.kind is Type.RAW and all(map(_is_number, items))):
        return asked.column, histogram(asked.column, edges=items)
    return asked.column, histogram(asked.column, categories=asked.values("edges or categories"))


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", text) is not None


def _not_edges(given: str) -> InvalidArgument:
    return InvalidArgument(
        "edges",
        "at least two rising numbers of at most 1e100",
        given,
        hint=Phrase("as in {}", Idiom.EDGES),
    )
