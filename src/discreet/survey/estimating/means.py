"""The mean of a number that was rounded by chance and randomized: unbiased, with an interval.

A report of level l contributes e_l, whose mean is the respondent's own value x as a share of the
range (see Levels). The variance of n contributions is estimated by the sample's,

    v̂ = Σ (e − mean)²/(n − 1),

and never taken as less than the least that the randomization leaves, which is that of people who
all hold a value on one level. The interval is mean ± t·√(v̂/n), with Student's t for n − 1.

About the respondents alone, the variance of the x among them does not count: v̂ minus it. Their
mean square is only known from below: it is at least the square of the mean, and at least the mean
square of the levels without w²/4, which is what rounding between levels w apart can add. So these
intervals are on the safe side: they cover at least as often as stated.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan, sqrt
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from discreet.survey.estimating.intervals import About, FloatArray, cut
from discreet.survey.estimating.tally import Tally
from discreet.survey.randomizers import Levels

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.plot import Plot


@dataclass(frozen=True, repr=False)
class Mean:
    """The mean answer to a question for a number, in its own units.

    ``value`` is unbiased for answers on the question's steps, so it may lie outside the bounds.
    ``variance`` is that of one respondent's contribution, of which most is randomization.
    """

    name: str
    value: float
    standard_error: float
    interval: tuple[float, float]
    variance: float
    unit: str
    bounds: tuple[float, float]
    respondents: int
    confidence: float
    about: About

    def to_arrow(self) -> pa.Table:
        """One row."""
        import pyarrow as pa

        return pa.table(
            {
                "question": pa.array([self.name], pa.string()),
                "answer": pa.array(["mean"], pa.string()),
                "estimate": [self.value],
                "standard_error": [self.standard_error],
                "low": [self.interval[0]],
                "high": [self.interval[1]],
            }
        )

    def plot(self) -> Plot:
        """Draw the mean with its interval, within the bounds."""
        from discreet.survey.estimating.pictures import draw_mean

        return draw_mean(self)

    def __repr__(self) -> str:
        from discreet.survey.estimating.showing import mean_text

        return mean_text(self)


def estimate_mean(question: Any, tally: Tally, *, confidence: Fraction, about: About) -> Mean:
    """The mean from the levels that were counted."""
    levels, n = cast(Levels, tally.randomizer), tally.respondents
    found = from_levels(levels, tally.counts, n, confidence=confidence, about=about)
    share, variance, (low, high) = (part.tolist() for part in found)
    lower, width = float(question.lower), float(question.upper - question.lower)
    return Mean(
        question.name,
        lower + width * share,
        width * sqrt(variance / n) if n else inf,
        (lower + width * low, lower + width * high),
        width**2 * variance,
        question.unit,
        (lower, lower + width),
        n,
        float(confidence),
        about,
    )


def from_levels(
    levels: Levels, counts: NDArray[np.int64], n: int, *, confidence: Fraction, about: About
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean, variance of a contribution and interval, as shares of the range.

    ``counts`` has the levels along its last axis. A single report says nothing about variances,
    so it gets the worst, and the whole range as its interval.
    """
    each, shape = levels.contributions(), counts.shape[:-1]
    share = counts @ each / n if n else np.full(shape, nan)
    if n < 2:
        whole = np.broadcast_to([0.0, 1.0], (*shape, 2))
        return share, np.full(shape, levels.variance()), whole
    squares = counts @ each**2 / n
    variance = np.asarray((squares - share**2) * (n / (n - 1)))
    if about == "respondents":
        variance = np.minimum(variance, squares - _least_square(levels, counts / n, share))
    variance = np.maximum(variance, _least_variance(levels))
    reach = _student(confidence, n) * np.sqrt(variance / n)
    return share, variance, cut(share - reach, share + reach)


def _least_square(levels: Levels, parts: FloatArray, share: FloatArray) -> FloatArray:
    """The least that the mean of x² can be, for answers with these reports."""
    q, places = float(levels.response.kept), _places(levels)
    of_levels = (parts @ places**2 - (1 - q) * np.mean(places**2)) / q
    return np.asarray(np.maximum(share**2, of_levels - places[1] ** 2 / 4))


def _least_variance(levels: Levels) -> float:
    """q·e_l² + (1 − q)·(mean of e²) − x_l², for the level x_l that makes it least."""
    q, places, each = float(levels.response.kept), _places(levels), levels.contributions()
    return float((q * each**2 + (1 - q) * np.mean(each**2) - places**2).min())


def _places(levels: Levels) -> FloatArray:
    """The levels as shares of the range."""
    return np.arange(levels.outcomes) / (levels.outcomes - 1)


def _student(confidence: Fraction, n: int) -> float:
    from scipy.special import stdtrit

    return float(-stdtrit(n - 1, float((1 - confidence) / 2)))
