"""Private bounds of a column: a noisy histogram on a ladder of powers of two.

The rungs that stand out from the noise are occupied, and the outermost of them give the bounds. A
quantile would not do: near an end it is decided by a few rows, and a wrong choice may be any rung.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.query.aggregates.aggregate import (
    Aggregate,
    Bought,
    ColumnLike,
    Expected,
    Flag,
    Output,
    Told,
    Values,
    added_noise,
    read_number,
)
from discreet.query.expressions import Typed
from discreet.query.measures import EdgeBins
from discreet.query.schema import Schema, Type

_LARGEST: Final = 62  # 2^62: values beyond it count as the largest
_SMALLEST: Final = -20
_FALSE: Final = Fraction(1, 1000)  # the chance that an empty rung is taken for an occupied one
_ENDS: Final = ("lower", "upper")


@dataclass(frozen=True)
class Range(Aggregate):
    """Powers of two between which nearly all of a column lies."""

    column: ColumnLike | Typed
    kind = "range"
    error_of = "rank_"
    binned = True
    weight = Fraction(1)

    @property
    def words(self) -> str:
        return f"powers of two between which nearly all of {self.value.words} lies"

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        """None: it is asked for by ``Session.release_bounds``."""
        return ()

    @classmethod
    def read(cls, told: Told) -> Range:
        return Range(told.column)

    def resolve(self, schema: Schema) -> Range:
        return self.on(read_number(self.column, schema, name="bounds"))

    @property
    def edges(self) -> tuple[float, ...]:
        """The rungs: 0 and ± powers of two, from 1 on for whole numbers."""
        least = 0 if self.value.type is Type.INTEGER else _SMALLEST
        powers = [2.0**k for k in range(least, _LARGEST + 1)]
        return (*(-power for power in reversed(powers)), 0.0, *powers)

    @property
    def parts(self) -> tuple[EdgeBins]:
        """How many rows are on each rung."""
        return (EdgeBins(self.value, self.edges),)

    def names(self, name: str) -> list[str]:
        return list(_ENDS)

    def outputs(self, name: str, bought: Bought, values: Values) -> list[Output]:
        """The outer ends of the outermost rungs that stand out, or of the highest one."""
        (part,) = self.parts
        counts, limit = values[part], self._limit(bought)
        stands = (counts > limit) | (counts == counts.max(axis=1, keepdims=True))
        rungs = np.array(self.edges)
        lower = rungs[stands.argmax(axis=1)]
        upper = rungs[stands.shape[1] - stands[:, ::-1].argmax(axis=1)]
        error = np.full(len(counts), 2 * limit)
        return [
            Output(end, "quantile", found, error, (part.words,), error_of=self.error_of)
            for end, found in zip(_ENDS, (lower, upper), strict=True)
        ]

    def expected(self, name: str, bought: Bought, size: int) -> list[Expected]:
        """A rung with more rows than this is nearly always noticed."""
        width = 2 * self._limit(bought)
        return [Expected(end, width, "rows per rung") for end in _ENDS]

    def _limit(self, bought: Bought) -> float:
        """What the noise of all empty rungs stays below, except one time in a thousand."""
        (part,) = self.parts
        return math.ceil(added_noise(bought, part).mechanism.error(1 - _FALSE / part.size))
