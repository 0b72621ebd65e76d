"""The commonest of listed values: which they are, not how often."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.hints import spelled
from discreet.mechanisms.top_k import TopK
from discreet.neighbors import Relation
from discreet.numeric.exact import Number, integer
from discreet.query.aggregates.aggregate import (
    Aggregate,
    Bought,
    ColumnLike,
    Expected,
    Flag,
    Output,
    Told,
    Values,
    listed_array,
    read_column,
    read_listed,
    read_weight,
)
from discreet.query.contribution import Contribution
from discreet.query.expressions import Tree, Typed, tree
from discreet.query.limits import CHOICES, VALUES, check, taken
from discreet.query.measures import CategoryBins
from discreet.query.purchase import ChoicePart, Chooser, Moves, Spend
from discreet.query.schema import Schema


@dataclass(frozen=True)
class CommonestChoice(ChoicePart[TopK]):
    """The commonest of the listed values, in order: only the ranks of noisy counts are revealed."""

    bins: CategoryBins
    k: int

    @property
    def words(self) -> str:
        return f"{f'the {self.k} ' * (self.k > 1)}commonest {self.bins.value.words}"

    @property
    def width(self) -> int:
        return self.k

    def mechanism(self, each: Spend, contribution: Contribution) -> TopK:
        """Adding a person moves all counts the same way; replacing one moves some up, some down."""
        monotone = contribution.relation is Relation.ADD_REMOVE
        return TopK(k=self.k, rows=contribution.rows, monotone=monotone, **each.for_choice)

    def document(self, mechanism: TopK) -> Tree:
        return {
            "mechanism": "top k",
            "sensitivity": {"rows": str(mechanism.rows)},
            "k": mechanism.k,
            "monotone": mechanism.monotone,
            "candidates": self.bins.size,
            "scale": str(mechanism.scale),
            "epsilon": str(mechanism.epsilon),  # of all k choices together, once
            "part": {"kind": "commonest", "column": tree(self.bins.value)},
        }

    def errors(self, mechanism: TopK, confidence: Fraction, heaviest: int) -> Any:
        """How many rows fewer than the best each may have."""
        return np.full(self.width, mechanism.error(confidence, candidates=self.bins.size))

    def declared(self, mechanism: TopK, times: int) -> Moves:
        """For a choice between counts it only matters how far they move apart."""
        apart = mechanism.rows * times * (1 if mechanism.monotone else 2)
        return {"linf": mechanism.rows, "range": apart}


@dataclass(frozen=True)
class Commonest(Aggregate):
    """The k commonest values, in order."""

    column: ColumnLike | Typed
    k: int
    candidates: tuple[Any, ...]
    weight: Fraction
    kind = "top k"
    error_of = "count_"
    binned = True

    @property
    def words(self) -> str:
        which = f"the {self.k:,} commonest values" if self.k > 1 else "the commonest value"
        return f"{which} of {self.value.words} among {len(self.candidates):,} listed"

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        return (
            Flag(
                "top-k",
                "Which K of the candidates are commonest.",
                lambda asked: (
                    f"top_{asked.column}",
                    top_k(
                        asked.column,
                        integer(asked["k"], name="k of --top-k", minimum=1),
                        candidates=asked.values("candidates"),
                    ),
                ),
                metavar="COLUMN:K:A,B,...",
                parts=("k", "candidates"),
                example="city:3:A,B,C,D",
            ),
            Flag(
                "most-common",
                "Which of the candidates is commonest.",
                lambda asked: (
                    f"commonest_{asked.column}",
                    most_common(asked.column, candidates=asked.values("candidates")),
                ),
                metavar="COLUMN:A,B,...",
                parts=("candidates",),
                example="city:A,B,C",
            ),
        )

    @classmethod
    def read(cls, told: Told) -> Commonest:
        listed = told.values("candidates")
        return top_k(told.column, told["k"], candidates=listed, weight=told["weight"])

    def resolve(self, schema: Schema) -> Commonest:
        value = read_column(self.column, schema, name="top_k")
        value, candidates = read_listed(value, self.candidates, name="candidates")
        if self.k > len(candidates):
            raise InvalidArgument.of("k", f"at most the {len(candidates)} candidates", self.k)
        return self.on(value, candidates=candidates)

    @property
    def parts(self) -> tuple[CommonestChoice]:
        return (CommonestChoice(CategoryBins(self.value, self.candidates), self.k),)

    def names(self, name: str) -> list[str]:
        return [name] if self.k == 1 else [f"{name}_{rank}" for rank in range(1, self.k + 1)]

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        (part,) = self.parts
        chosen, errors = values[part], self._errors(bought)
        return [
            Output(
                name=column,
                kind="choice",
                values=chosen[:, rank],
                listed=listed_array(self.value, self.candidates),
                error=np.full(len(chosen), errors[rank]),
                error_of=self.error_of,
                sources=(part.words,),
            )
            for rank, column in enumerate(self.names(name))
        ]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """How many rows fewer than the commonest a chosen value may have."""
        return [
            Expected(column, float(error), "rows fewer than the best")
            for column, error in zip(self.names(name), self._errors(bought), strict=True)
        ]

    def _errors(self, bought: Bought) -> Any:
        chooser = bought[self.parts[0]]
        assert isinstance(chooser, Chooser)
        return chooser.errors()


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
