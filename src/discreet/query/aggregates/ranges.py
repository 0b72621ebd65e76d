"""Private bounds of a column: a noisy histogram on a ladder of powers of two.

The rungs that stand out from the noise are occupied, and the outermost of them give the bounds. A
quantile would not do: near an end it is decided by a few rows, and a wrong choice may be any rung.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.query.aggregates.aggregate import (
    ColumnLike,
    Expected,
    Noisy,
    Output,
    read_number,
)
from discreet.query.expressions import Typed
from discreet.query.measures import EdgeBins
from discreet.query.purchase import AddedNoise, BinCounts, Counted, Counting, Part, Purchase
from discreet.query.schema import Schema, Type

_LARGEST: Final = 62  # 2^62: values beyond it count as the largest
_SMALLEST: Final = -20
_FALSE: Final = Fraction(1, 1000)  # the chance that an empty rung is taken for an occupied one


@dataclass(frozen=True)
class Range:
    """Powers of two between which nearly all of a column lies."""

    column: ColumnLike | Typed
    label: str = ""
    weight = Fraction(1)
    counts_rows = False
    counted: tuple[Counted, ...] = ()

    def resolve(self, schema: Schema) -> Range:
        """The aggregate with its column typed."""
        value, label = read_number(self.column, schema, name="bounds")
        return replace(self, column=value, label=label)

    @property
    def edges(self) -> tuple[float, ...]:
        """The rungs: 0 and ± powers of two, from 1 on for whole numbers."""
        assert isinstance(self.column, Typed)
        least = 0 if self.column.type is Type.INTEGER else _SMALLEST
        powers = [2.0**k for k in range(least, _LARGEST + 1)]
        return (*(-power for power in reversed(powers)), 0.0, *powers)

    @property
    def part(self) -> BinCounts:
        """How many rows are on each rung."""
        assert isinstance(self.column, Typed)
        return BinCounts(EdgeBins(self.column, self.edges), self.label)

    def parts(self, counting: Counting) -> tuple[Part, ...]:
        """One histogram."""
        return (self.part,)

    def columns(self, name: str) -> list[tuple[str, str]]:
        """One column for each end."""
        return [(end, f"{end}_rank_error") for end in ("lower", "upper")]

    def outputs(self, name: str, noisy: Noisy, counting: Counting) -> list[Output]:
        """The outer ends of the outermost rungs that stand out, or of the highest one."""
        counts = noisy.values[self.part]
        limit = self._limit(noisy.bought)
        stands = (counts > limit) | (counts == counts.max(axis=1, keepdims=True))
        ends = np.array(self.edges)
        lower = ends[stands.argmax(axis=1)]
        upper = ends[stands.shape[1] - stands[:, ::-1].argmax(axis=1)]
        return [self._output("lower", lower, limit), self._output("upper", upper, limit)]

    def _output(self, end: str, values: Any, limit: float) -> Output:
        return Output(
            name=end,
            kind="quantile",
            values=values,
            error=np.full(len(values), 2 * limit),
            error_name=f"{end}_rank_error",
            sources=(self.part.words,),
        )

    def expected(
        self, name: str, bought: Mapping[Part, Purchase], counting: Counting, size: int
    ) -> list[Expected]:
        """A rung with more rows than this is nearly always noticed."""
        width = 2 * self._limit(bought)
        return [Expected(end, width, "rows per rung") for end in ("lower", "upper")]

    def _limit(self, bought: Mapping[Part, Purchase]) -> float:
        """What the noise of all empty rungs stays below, except one time in a thousand."""
        noise = bought[self.part]
        assert isinstance(noise, AddedNoise)
        return math.ceil(noise.mechanism.error(1 - _FALSE / self.part.bins.size))
