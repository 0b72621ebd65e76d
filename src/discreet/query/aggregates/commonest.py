"""The commonest of listed values: which they are, not how often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.numeric.exact import Number, integer
from discreet.query.aggregates.aggregate import (
    ColumnLike,
    Expected,
    Noisy,
    Output,
    listed_array,
    read_column,
    read_listed,
    read_weight,
)
from discreet.query.expressions import Typed
from discreet.query.limits import CHOICES, VALUES, check, taken
from discreet.query.measures import CategoryBins
from discreet.query.purchase import Chooser, CommonestChoice, Counted, Counting, Part, Purchase
from discreet.query.schema import Schema


@dataclass(frozen=True)
class Commonest:
    """The k commonest values, in order."""

    column: ColumnLike | Typed
    k: int
    candidates: tuple[Any, ...]
    weight: Fraction
    label: str = ""
    counts_rows = False
    counted: tuple[Counted, ...] = ()

    def resolve(self, schema: Schema) -> Commonest:
        """The aggregate with its column typed."""
        value, label = read_column(self.column, schema, name="top_k")
        value, candidates = read_listed(value, self.candidates, name="candidates")
        if self.k > len(candidates):
            raise InvalidArgument.of("k", f"at most the {len(candidates)} candidates", self.k)
        return replace(self, column=value, label=label, candidates=candidates)

    @property
    def part(self) -> CommonestChoice:
        """The part that must be bought."""
        assert isinstance(self.column, Typed)
        return CommonestChoice(CategoryBins(self.column, self.candidates), self.k, self.label)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One private choice."""
        return (self.part,)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column per rank, with how far behind the best it may be."""
        return [(column, f"{column}_count_error") for column in self._names(name)]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """One column per rank."""
        chosen = noisy.values[self.part]
        bought = noisy.bought[self.part]
        assert isinstance(bought, Chooser)
        return [
            Output(
                name=column,
                kind="choice",
                values=chosen[:, rank],
                listed=listed_array(self.column, self.candidates),
                error=np.full(len(chosen), bought.errors()[rank]),
                error_name=f"{column}_count_error",
                sources=(self.part.words,),
            )
            for rank, column in enumerate(self._names(name))
        ]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """How many rows fewer than the commonest a chosen value may have."""
        chooser = bought[self.part]
        assert isinstance(chooser, Chooser)
        return [
            Expected(column, float(error), "rows fewer than the best")
            for column, error in zip(self._names(name), chooser.errors(), strict=True)
        ]

    def _names(self, name: str) -> list[str]:
        return [name] if self.k == 1 else [f"{name}_{rank}" for rank in range(1, self.k + 1)]


@spelled
def top_k(
    column: ColumnLike, k: int, *, candidates: Sequence[Any], weight: Number = 1
) -> Commonest:
    """The ``k`` commonest of the listed ``candidates``, in order, one column for each.

    Only which they are is released, so the noise does not grow with the number of candidates.
    Error: how many rows fewer than the best a chosen value may have.

    ``column`` is the name of a column, or a function of a row, as in
    ``lambda row: row.town.lower()``.
    Values that are not listed are not counted: list what could occur, not what does.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    >>> top_k("diagnosis", 3, candidates=["flu", "asthma", "hernia", "hip"]).k
    3
    """
    if isinstance(candidates, str) or not isinstance(candidates, Sequence):
        raise InvalidArgument.of("candidates", "a list of values", candidates)
    values = taken(candidates, VALUES, name="candidates", what="values", hint="list fewer")
    most = integer(k, name="k", minimum=1)
    check(most, CHOICES, name="k", what="choices", hint="a histogram counts all categories")
    return Commonest(column, most, values, read_weight(weight))


@spelled
def most_common(column: ColumnLike, *, candidates: Sequence[Any], weight: Number = 1) -> Commonest:
    """The commonest of the listed ``candidates``: ``top_k`` with k = 1.

    ``column`` and ``weight`` are as in ``top_k``.

    >>> most_common("diagnosis", candidates=["flu", "asthma"]).k
    1
    """
    return top_k(column, 1, candidates=candidates, weight=weight)
