"""Numbers in a range: randomly rounded to one of a few levels, then randomized response."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import expm1
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.guarantees import Pure, ResponsePair
from discreet.inputs import Categories
from discreet.mechanisms.mechanism import exactly_one
from discreet.noise.uniform import integers
from discreet.numeric.exact import Number, integer, positive, probability
from discreet.survey.randomizers.randomizer import IntegerReports, in_blocks, read_integers
from discreet.survey.randomizers.response import Response

MOST_STEPS: Final = 1 << 32
_MOST_LEVELS: Final = 64
_BLOCK: Final = 1 << 15  # answers randomized at a time


@dataclass(frozen=True, init=False)
class Levels(IntegerReports):
    """A value i of 0 … m is rounded to one of L levels, without bias, and then randomized.

    The levels are 0, m/(L − 1), …, m. With r drawn fairly below m, the level is
    ⌊(i·(L − 1) + r)/m⌋: its mean is exactly i·(L − 1)/m. Then follows k-ary randomized response
    over the levels, which the promise rests on. L is the number with the least worst-case
    variance: two up to ε near 2, more for larger ε.

    >>> hours = Levels(steps=24, epsilon=1)
    >>> hours.outcomes
    2
    >>> reports = hours.randomize(np.full(100_000, 6))
    >>> bool(abs(hours.counts(reports) @ hours.contributions() / 100_000 - 0.25) < 0.03)
    True
    """

    steps: int  #: m
    response: Response  #: over the L levels
    epsilon: Fraction = field(compare=False, repr=False)  #: that of the response

    name: ClassVar[str] = "stochastic rounding"
    kind: ClassVar[str] = "levels"
    crossable: ClassVar[bool] = False

    def __init__(
        self, *, steps: int, epsilon: Number | None = None, truth: Number | None = None
    ) -> None:
        chosen, given = exactly_one(epsilon=epsilon, truth=truth)
        m = integer(steps, name="steps", minimum=1, maximum=MOST_STEPS)
        if chosen == "truth":
            # The lecture's q is about yes and no, so it implies two levels.
            response = Response(categories=2, truth=probability(given, name="truth"))
        else:
            asked = positive(given, name="epsilon")
            response = Response(categories=_least_variance(m, asked), epsilon=asked)
        self.__dict__.update(steps=m, response=response, epsilon=response.epsilon)

    @property
    def outcomes(self) -> int:
        return self.response.categories

    @property
    def inside(self) -> Fraction:
        return self.response.inside

    @property
    def outside(self) -> Fraction:
        return self.response.outside

    @property
    def odds(self) -> Fraction:
        return self.response.odds

    @property
    def guarantee(self) -> Pure | ResponsePair:
        """That of the response over the levels: the worst values are 0 and m, which stay exact."""
        return self.response.guarantee

    def randomize(self, truths: ArrayLike) -> NDArray[np.int64]:
        """Return a level for each value 0 … m. Costs ``guarantee`` each."""
        column = read_integers(truths, self.steps + 1, name="truths")
        levels = in_blocks(self._round, column, np.empty(column.size, np.uint8), _BLOCK)
        return self.response.randomize(levels)

    def _round(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """⌊(i·(L − 1) + r)/m⌋, when stored as an integer.

        The quotient is at least 1/m ≥ 2⁻³² below the next level and at most 64, where floats lie
        2⁻⁴⁷ apart: rounding never takes it up to that level.
        """
        values = values.astype(np.int64, copy=False)
        total = integers(self.steps, values.size)
        total += values if self.outcomes == 2 else values * (self.outcomes - 1)
        return total / self.steps

    def law(self, truth: int) -> laws.Finite:
        level, over = divmod(truth * (self.outcomes - 1), self.steps)
        up = Fraction(over, self.steps)
        weights = [self.response.outside] * self.outcomes
        weights[level] += (1 - up) * self.response.kept
        if up:
            weights[level + 1] += up * self.response.kept
        return laws.Finite(range(self.outcomes), weights)

    @property
    def inputs(self) -> Categories:
        return Categories(self.steps + 1)

    # A report at level l contributes  (l/(L − 1) − (1 − q)/2)/q,  which is unbiased for i/m: with
    # probability q it is the rounded value, else the throw of a die, whose mean is ½.

    def contributions(self) -> NDArray[np.float64]:
        """What a report of each level contributes to the mean, as a share of the range."""
        q = float(self.response.kept)
        return (np.arange(self.outcomes) / (self.outcomes - 1) - (1 - q) / 2) / q

    def variance(self, share: float | None = None) -> float:
        """The largest variance of one respondent's contribution if the mean is this share of the
        range.

        Respondents are drawn by chance, and the worst population has all its values at the ends.
        """
        x = 0.5 if share is None else share
        q, die = float(self.response.kept), _die(self.outcomes)
        return (q * x + (1 - q) * die - (q * x + (1 - q) / 2) ** 2) / q**2

    def own_variance(self) -> float:
        """The largest variance of a contribution around a respondent's own value."""
        return _worst(float(self.response.kept), self.outcomes)

    def changed(self, opposite: str) -> str:
        """What happens to a level; that a number is rounded to one is said by its question."""
        if self.outcomes > 2:
            return self.response.die(f"the {self.outcomes} marks", "The rounded number")
        return self.response.coin("Then your device", "this mark is sent", opposite)

    def chances(self) -> dict[str, int | str]:
        return self.response.chances()

    def document(self) -> dict[str, int | str]:
        numbers = {"steps": self.steps, "levels": self.outcomes}
        return {"kind": self.kind, **numbers, **self.chances()}


def _die(levels: int) -> float:
    """The mean square of a level thrown by a die: (2L − 1)/(6(L − 1))."""
    return (2 * levels - 1) / (6 * (levels - 1))


def _worst(q: float, levels: int) -> float:
    """The largest variance of a contribution over all values x of the range.

    Between neighbouring levels a and b a rounded x has the mean square (a + b)x − ab, so

        q²·variance = q((a + b)x − ab) + (1 − q)·die − (qx + (1 − q)/2)²,

    a parabola with its top at x = (a + b)/2q − (1 − q)/2q.
    """
    a = np.arange(levels - 1) / (levels - 1)
    b = a + 1 / (levels - 1)
    x = np.clip((a + b - (1 - q)) / (2 * q), a, b)
    square = q * ((a + b) * x - a * b) + (1 - q) * _die(levels)
    return float((square - (q * x + (1 - q) / 2) ** 2).max()) / q**2


def _least_variance(steps: int, epsilon: Fraction) -> int:
    gain = expm1(min(max(float(epsilon), 1e-9), 500.0))  # beyond, the best L is the same

    def worst(levels: int) -> float:
        return _worst(gain / (gain + levels), levels)  # q = (e^ε − 1)/(e^ε + L − 1)

    return min(range(2, min(steps + 1, _MOST_LEVELS) + 1), key=worst)
