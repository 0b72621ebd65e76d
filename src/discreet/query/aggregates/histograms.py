"""Histograms: how many rows fall into each bin, one column per bin."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.errors import Idiom, InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.numeric.exact import Number, number
from discreet.query.aggregates.aggregate import (
    ColumnLike,
    Expected,
    Noisy,
    Output,
    read_column,
    read_listed,
    read_number,
    read_weight,
)
from discreet.query.expressions import Typed
from discreet.query.limits import BINS, taken
from discreet.query.measures import Binned, CategoryBins, EdgeBins
from discreet.query.purchase import AddedNoise, BinCounts, Counted, Counting, Part, Purchase
from discreet.query.schema import Schema


@dataclass(frozen=True)
class Histogram:
    """Counts of rows by bin."""

    column: ColumnLike | Typed
    edges: tuple[Fraction, ...]
    categories: tuple[Any, ...]
    weight: Fraction
    label: str = ""
    counts_rows = False
    counted: tuple[Counted, ...] = ()

    def resolve(self, schema: Schema) -> Histogram:
        """The aggregate with its column typed."""
        if self.edges:
            value, label = read_number(self.column, schema, name="histogram")
            return replace(self, column=value, label=label)
        value, label = read_column(self.column, schema, name="histogram")
        value, categories = read_listed(value, self.categories, name="categories")
        return replace(self, column=value, label=label, categories=categories)

    @property
    def part(self) -> BinCounts:
        """The part that must be bought: a row is in one bin, so all bins cost as much as one."""
        assert isinstance(self.column, Typed)
        bins: Binned = (
            EdgeBins(self.column, tuple(map(float, self.edges)))
            if self.edges
            else CategoryBins(self.column, self.categories)
        )
        return BinCounts(bins, self.label)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One part, which holds the counts of all bins."""
        return (self.part,)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column per bin."""
        return [(column, f"{column}_error") for column in self._names(name)]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """One column per bin."""
        part = self.part
        counts, bought = noisy.values[part], noisy.bought[part]
        assert isinstance(bought, AddedNoise)
        errors = np.full(len(counts), bought.error)
        return [
            Output(
                name=column,
                kind="bin",
                values=counts[:, i],
                error=errors,
                error_name=f"{column}_error",
                sources=(f"{part.words}, bin {i}",),
                integer=True,
                of=name,
            )
            for i, column in enumerate(self._names(name))
        ]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error, which is the same for each bin of each group."""
        noise = bought[self.part]
        assert isinstance(noise, AddedNoise)
        return [Expected(f"{name}_…", noise.error, "rows")]

    def _names(self, name: str) -> list[str]:
        if not self.edges:
            return [f"{name}_{category}" for category in self.categories]
        ends = [f"{float(edge):g}" for edge in self.edges]
        return [f"{name}_{low}_to_{high}" for low, high in pairwise(ends)]


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


def _not_edges(given: str) -> InvalidArgument:
    return InvalidArgument(
        "edges",
        "at least two rising numbers of at most 1e100",
        given,
        hint=Phrase("as in {}", Idiom.EDGES),
    )
