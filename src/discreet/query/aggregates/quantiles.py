"""Quantiles of a bounded column: grid points chosen by rank."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InvalidArgument, Phrase
from discreet.hints import spelled
from discreet.mechanisms.quantiles import Quantiles, choice_scale
from discreet.numeric import exact
from discreet.numeric.exact import Number, positive, round_up
from discreet.numeric.numerals import listed
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
    bounds_flag,
    clamped,
    count_error,
    number_in_words,
    read_bounds,
    read_count,
    read_weight,
)
from discreet.query.contribution import Contribution
from discreet.query.expressions import Tree, Typed, tree
from discreet.query.limits import POINTS, PROBABILITIES, taken
from discreet.query.measures import AllRows, Grid, GridBins, PresenceCounts, log2_up
from discreet.query.purchase import ChoicePart, Chooser, Moves, Spend
from discreet.query.schema import Type

_POINTS = 1024  # of the default grid, where values are not whole numbers
_TIELESS = 2  # up to this many quantiles, the error does not depend on values that many rows share


@dataclass(frozen=True)
class QuantileChoice(ChoicePart[Quantiles]):
    """Grid points near given ranks: an exponential mechanism on each group's counts."""

    bins: GridBins
    probabilities: tuple[Fraction, ...]  # rising

    @property
    def words(self) -> str:
        shares = ", ".join(f"{float(p):g}" for p in self.probabilities)
        return f"quantile{'s' * (self.width > 1)} {shares} of {self.bins.value.words}"

    @property
    def width(self) -> int:
        return len(self.probabilities)

    def mechanism(self, each: Spend, contribution: Contribution) -> Quantiles:
        """Replacing a person takes their rows out of a choice and puts another's in: twice the
        rows. (If the other is in another group, each of the two choices is influenced by half of
        that.)"""
        quantiles = Quantiles(
            probabilities=self.probabilities,
            rows=contribution.rows * contribution.relation.add_remove_steps,
            **each.for_choice,
        )
        quantiles.check(self.bins.size)
        return quantiles

    def document(self, mechanism: Quantiles) -> Tree:
        part = {"kind": "quantiles", "column": tree(self.bins.value)}
        return {**quantiles_document(mechanism, candidates=self.bins.size), "part": part}

    def errors(self, mechanism: Quantiles, confidence: Fraction, heaviest: int) -> Any:
        """How far each rank may be off, in rows."""
        return mechanism.error(confidence, candidates=self.bins.size, heaviest=heaviest)

    def declared(self, mechanism: Quantiles, times: int) -> Moves:
        """Someone with fewer rows in a group influences its choice less, in proportion."""
        return {"l1": mechanism.rows * times}


def quantiles_document(mechanism: Quantiles, *, candidates: int) -> Tree:
    """A mechanism for quantiles among so many candidates."""
    rows, each = mechanism.rows, mechanism.step
    scales = [  # how many rows off a candidate must be to be e times less likely
        choice_scale(p, rows=rows, epsilon=each) / p.denominator for p in mechanism.probabilities
    ]
    return {
        "mechanism": "quantiles",
        "sensitivity": {"rows": str(rows)},
        "probabilities": [str(p) for p in mechanism.probabilities],
        "candidates": candidates,
        "scales": [str(scale) for scale in scales],
        "epsilon": str(mechanism.epsilon),  # of all probabilities together, once
    }


@dataclass(frozen=True)
class Quantile(Aggregate):
    """Values below which given shares of the rows lie."""

    column: ColumnLike | Typed
    probabilities: tuple[Fraction, ...]
    bounds: tuple[Fraction, Fraction]
    step: Fraction | None
    weight: Fraction
    several: bool  # one column per probability, named after it
    others: tuple[Fraction, ...] = ()  # of the same column, bought together with these
    kind = "quantile"
    error_of = "rank_"
    binned = True

    @property
    def words(self) -> str:
        shares = listed([number_in_words(p) for p in self.probabilities])
        median = self.probabilities == (Fraction(1, 2),)
        return clamped("median" if median else f"quantiles {shares}", self.value, self.bounds)

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        words = "The value below which this share of rows lies, or several shares with commas."
        return (
            bounds_flag("median", "The median.", lambda c, bounds, _: median(c, bounds=bounds)),
            Flag(
                "quantile",
                words,
                _asked,
                metavar="COLUMN:SHARE:LOWER:UPPER",
                parts=("share", "lower", "upper"),
                example="income:0.9:0:200000",
            ),
        )

    @classmethod
    def read(cls, told: Told) -> Quantile:
        shares = told.items("probabilities")
        return quantile(
            told.column,
            shares[0] if len(shares) == 1 and told["several"] is False else shares,
            bounds=told["bounds"],
            step=told["step"],
            weight=told["weight"],
        )

    @property
    def document(self) -> Tree:
        """Its fields, without those that follow from the other aggregates."""
        return {name: told for name, told in super().document.items() if name != "others"}

    def together(self, others: Sequence[Aggregate]) -> Quantile:
        """With the probabilities of all quantiles of its column that are chosen on its grid."""
        mine = (self.column, self.bounds, self.step)
        alike = (one for one in others if isinstance(one, Quantile))
        alike = (one for one in alike if (one.column, one.bounds, one.step) == mine)
        return replace(self, others=tuple(p for one in alike for p in one.probabilities))

    @property
    def part(self) -> QuantileChoice:
        """One part for all probabilities that the query asks of this column."""
        together = tuple(sorted({*self.probabilities, *self.others}))
        return QuantileChoice(GridBins(self.value, self.grid), together)

    @property
    def parts(self) -> tuple[QuantileChoice]:
        return (self.part,)

    @property
    def grid(self) -> Grid:
        """The candidates: multiples of a power of two within the bounds."""
        lower, upper = self.bounds
        step = self.step
        if step is None:
            step = (upper - lower) / _POINTS
            step = max(step, Fraction(1)) if self.value.type is Type.INTEGER else step
        exponent = log2_up(1 / step)  # a power of two, not above the step
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

    def names(self, name: str) -> list[str]:
        return [f"{name}_{float(p):g}" for p in self.probabilities] if self.several else [name]

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """The chosen grid points, and how far their ranks may be off."""
        part = self.part
        chosen = values[part]
        errors = self._errors(bought, self._heaviest(bought, values))
        return [
            Output(
                name=column,
                kind="quantile",
                values=self._points(chosen[:, part.probabilities.index(p)]),
                error=np.full(len(chosen), errors[p]),
                error_of=self.error_of,
                sources=(part.words,),
                integer=self._whole,
                bounds=(float(self.bounds[0]), float(self.bounds[1])),
            )
            for column, p in zip(self.names(name), self.probabilities, strict=True)
        ]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """The error in ranks, which depends on the group's size only with three or more."""
        errors, by_size = self._errors(bought, size), self.part.width > _TIELESS
        names = zip(self.names(name), self.probabilities, strict=True)
        return [Expected(column, errors[p], "ranks", by_size) for column, p in names]

    def notes(self, bought: Bought) -> Iterator[str]:
        """Whether the ranks are known."""
        if self._unknown_ranks(bought):
            yield (
                "how far the ranks of three and more quantiles are off is known only beside a count"
            )
        yield from super().notes(bought)

    def warnings(self, bought: Bought) -> Iterator[str]:
        """Whether the ranks will be known."""
        if self._unknown_ranks(bought):
            yield (
                f"how far {self.part.words} may be off is not known without the number of rows: "
                "add dp.count(), or ask for fewer than three."
            )

    def _errors(self, bought: Bought, heaviest: int | None) -> dict[Fraction, float]:
        part, chooser = self.part, bought[self.part]
        assert isinstance(chooser, Chooser)
        if heaviest is None:
            return dict.fromkeys(part.probabilities, math.inf)
        return dict(zip(part.probabilities, map(float, chooser.errors(heaviest)), strict=True))

    def _unknown_ranks(self, bought: Bought) -> bool:
        """Does its error depend on how many rows share a value, while no count is asked for?"""
        counted = any(isinstance(part, AllRows | PresenceCounts) for part in bought)
        return self.part.width > _TIELESS and not counted

    def _heaviest(self, bought: Bought, values: Values) -> int | None:
        """The most rows that may share a value: those of the largest group, if that is known."""
        if self._unknown_ranks(bought):
            return None
        if self.part.width <= _TIELESS:
            return 1
        largest = int(read_count(bought, values, None).max(initial=0))
        return max(1, math.ceil(largest + count_error(bought, None)))

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


def _asked(asked: Asked) -> tuple[str, Quantile]:
    shares: Any = asked.items("share")
    one = len(shares) == 1
    bounds = (asked["lower"], asked["upper"])
    made = quantile(asked.column, shares[0] if one else shares, bounds=bounds)
    kind = f"p{float(100 * made.probabilities[0]):g}" if one else "quantile"
    return f"{kind}_{asked.column}", made
