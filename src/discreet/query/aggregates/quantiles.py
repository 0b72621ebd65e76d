"""Quantiles of a bounded column: grid points chosen by rank."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.numeric import exact
from discreet.numeric.exact import Number, positive, round_up
from discreet.query.aggregates.aggregate import (
    ColumnLike,
    Expected,
    Noisy,
    Output,
    count_error,
    read_bounds,
    read_count,
    read_number,
    read_weight,
)
from discreet.query.expressions import Typed
from discreet.query.limits import POINTS, PROBABILITIES, taken
from discreet.query.measures import Grid, GridBins
from discreet.query.purchase import (
    TIELESS,
    Chooser,
    Counted,
    Counting,
    Part,
    PresenceCounts,
    Purchase,
    QuantileChoice,
    RowCount,
)
from discreet.query.schema import Schema, Type

_POINTS = 1024  # of the default grid, where values are not whole numbers


@dataclass(frozen=True)
class Quantile:
    """Values below which given shares of the rows lie."""

    column: ColumnLike | Typed
    probabilities: tuple[Fraction, ...]
    bounds: tuple[Fraction, Fraction]
    step: Fraction | None
    weight: Fraction
    several: bool  # one column per probability, named after it
    label: str = ""
    others: tuple[Fraction, ...] = ()  # of the same column, bought together with these
    counts_rows = False
    counted: tuple[Counted, ...] = ()

    def resolve(self, schema: Schema) -> Quantile:
        """The aggregate with its column typed."""
        value, label = read_number(self.column, schema, name="quantile")
        return replace(self, column=value, label=label)

    @property
    def part(self) -> QuantileChoice:
        """One part for all probabilities that the query asks of this column."""
        assert isinstance(self.column, Typed)
        together = tuple(sorted({*self.probabilities, *self.others}))
        return QuantileChoice(GridBins(self.column, self.grid), together, self.label)

    @property
    def grid(self) -> Grid:
        """The candidates: multiples of a power of two within the bounds."""
        assert isinstance(self.column, Typed)
        lower, upper = self.bounds
        step = self.step
        if step is None:
            step = (upper - lower) / _POINTS
            step = max(step, Fraction(1)) if self.column.type is Type.INTEGER else step
        exponent = -_floor_log2(step)  # a power of two, not above the step
        scale = Fraction(2) ** exponent
        low, high = -int(-lower * scale // 1), int(upper * scale // 1)
        if high - low >= POINTS:
            raise InvalidArgument(
                "step",
                f"large enough for at most {POINTS:,} points between the bounds",
                "a smaller one",
            )
        if high <= low:
            raise InvalidArgument(
                "bounds",
                "wide enough for two points of the grid",
                f"bounds without two multiples of {round_up(1 / scale):g}",
                hint=Phrase("say a smaller {step=}, or cast the column to real"),
            )
        return Grid(exponent, low, high)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One private choice."""
        return (self.part,)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column per probability, with its error in ranks."""
        return [(column, f"{column}_rank_error") for column, _ in self._names(name)]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """The chosen grid points, and how far their ranks may be off."""
        part = self.part
        chosen = noisy.values[part]
        errors = self._errors(noisy.bought, self._heaviest(noisy))
        return [
            Output(
                name=column,
                kind="quantile",
                values=self._points(chosen[:, part.probabilities.index(p)]),
                error=np.full(len(chosen), errors[p]),
                error_name=f"{column}_rank_error",
                sources=(part.words,),
                integer=self._whole,
                bounds=(float(self.bounds[0]), float(self.bounds[1])),
            )
            for column, p in self._names(name)
        ]

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """The error in ranks, which depends on the group's size only with three or more."""
        errors = self._errors(bought, size)
        by_size = len(self.part.probabilities) > TIELESS
        return [Expected(column, errors[p], "ranks", by_size) for column, p in self._names(name)]

    def _errors(
        self, bought: Mapping[Part, Purchase], heaviest: int | None
    ) -> dict[Fraction, float]:
        chooser = bought[self.part]
        assert isinstance(chooser, Chooser)
        if heaviest is None:
            return dict.fromkeys(self.part.probabilities, math.inf)
        return dict(zip(self.part.probabilities, map(float, chooser.errors(heaviest)), strict=True))

    def unknown_ranks(self, bought: Mapping[Part, Purchase]) -> bool:
        """Does its error depend on how many rows share a value, while no count is asked for?"""
        counted = any(isinstance(part, RowCount | PresenceCounts) for part in bought)
        return len(self.part.probabilities) > TIELESS and not counted

    def _heaviest(self, noisy: Noisy) -> int | None:
        """The most rows that may share a value: those of the largest group, if that is known."""
        if self.unknown_ranks(noisy.bought):
            return None
        if len(self.part.probabilities) <= TIELESS:
            return 1
        part = next(p for p in noisy.bought if isinstance(p, RowCount | PresenceCounts))
        largest = int(read_count(noisy, part, everything=True).max(initial=0))
        return max(1, math.ceil(largest + count_error(noisy.bought[part], everything=True)))

    def _names(self, name: str) -> list[tuple[str, Fraction]]:
        if not self.several:
            return [(name, self.probabilities[0])]
        return [(f"{name}_{float(p):g}", p) for p in self.probabilities]

    def _points(self, indices: Any) -> Any:
        grid = self.grid
        steps = indices + grid.lower
        if self._whole:
            return steps << -grid.exponent
        return np.ldexp(steps.astype(np.float64), -grid.exponent)

    @property
    def _whole(self) -> bool:
        """Are all candidates integers of 64 bits?"""
        grid = self.grid
        largest = max(abs(grid.lower), abs(grid.upper))
        return grid.exponent <= 0 and largest.bit_length() - grid.exponent < 63


@spelled
def quantile(
    column: ColumnLike,
    probability: Number | Sequence[Number],
    *,
    bounds: tuple[Number, Number] | None = None,
    step: Number | None = None,
    weight: Number = 1,
) -> Quantile:
    """The value below which this share of the rows lies, or one for each of several shares.

    ``probability`` is that share, between 0 and 1, or a list of shares, one column for each.
    ``column`` is the name of a column, or a function of a row, as in ``lambda row: row.days * 24``.
    ``bounds`` are (lower, upper), from what is known of the column and not from the data; they
    must be given.
    ``weight`` says how much of the spend it gets relative to the other aggregates of a query: with
    2, twice as much as with 1, the default.

    Chosen by the exponential mechanism among the multiples of a power of two near ``step``
    within ``bounds`` (by default 1 for whole numbers, otherwise about a thousandth of the width).
    All quantiles of one column in a query share one price. Error: in ranks, the same in each
    group; with three or more quantiles it also depends on how many rows share a value, and is
    unknown (infinite) unless the query also asks for a ``count()``.

    >>> quantile("days", [0.25, 0.75], bounds=(0, 60)).probabilities
    (Fraction(1, 4), Fraction(3, 4))
    """
    several = isinstance(probability, Sequence) and not isinstance(probability, str)
    given: Any = probability if several else [probability]
    hint = "a few of them show the shape"
    given = taken(given, PROBABILITIES, name="probability", what="numbers", hint=hint)
    read = tuple(exact.probability(p, name="probability") for p in given)
    if not read or len(set(read)) != len(read):
        raise InvalidArgument("probability", "one or several different numbers", "others")
    return Quantile(
        column,
        read,
        read_bounds(bounds, name="quantile"),
        None if step is None else positive(step, name="step"),
        read_weight(weight),
        several,
    )


@spelled
def median(
    column: ColumnLike,
    *,
    bounds: tuple[Number, Number] | None = None,
    step: Number | None = None,
    weight: Number = 1,
) -> Quantile:
    """The middle value: ``quantile`` at 1/2.

    ``column``, ``bounds``, ``step`` (how fine the answer is) and ``weight`` are as in ``quantile``.

    >>> median("days", bounds=(0, 60)).probabilities
    (Fraction(1, 2),)
    """
    return quantile(column, Fraction(1, 2), bounds=bounds, step=step, weight=weight)


def together(aggregates: list[Any]) -> list[Any]:
    """The aggregates, where quantiles of one column also hold each other's probabilities."""
    asked: dict[Any, tuple[Fraction, ...]] = {}
    for one in aggregates:
        if isinstance(one, Quantile):
            key = (one.column, one.bounds, one.step)
            asked[key] = (*asked.get(key, ()), *one.probabilities)
    return [
        replace(one, others=asked[one.column, one.bounds, one.step])
        if isinstance(one, Quantile)
        else one
        for one in aggregates
    ]


def _floor_log2(x: Fraction) -> int:
    bits = x.numerator.bit_length() - x.denominator.bit_length()
    return bits if Fraction(2) ** bits <= x else bits - 1
