"""Cross tables: how many hold answer v to one question and answer w to another.

The two answers are randomized independently. With φ = (1[supports v] − o)/d for one report, and
ψ likewise for w, the product φψ is unbiased for "holds v and w". Among m reports that say
something about both, N support v, M support w, and J both, so the estimate is

    θ̂ = (J/m − o'·N/m − o·M/m + o·o')/(d·d').

As φ² = ((1 − 2o)·1[supports v] + o²)/d², the mean of φ²ψ² comes from the same four numbers, and
with the margins N/m and M/m held fixed it is linear in θ. So the variance of one report's part is
quadratic in θ, E φ²ψ² − θ + g·θ(1 − θ), with g = 1 about the population and g = (n − m)/(n − 1)
about these respondents: a score interval again (see confidence.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from discreet.plot import Plot
from discreet.release import exports
from discreet.survey.estimates.confidence import (
    About,
    FloatArray,
    VarianceFunction,
    cut,
    normal_quantile,
    score_interval,
)
from discreet.survey.estimates.plot import draw_cross
from discreet.survey.estimates.shares import Projected, to_box, to_simplex
from discreet.survey.estimates.tally import PairTally
from discreet.survey.estimates.text import cross_text
from discreet.survey.randomizers.randomizer import Counts

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.survey.questions import Question

_MORE: Final = 1.5  # variance added to the number of a cell's reports, because it is whole


@dataclass(frozen=True, eq=False, repr=False)
class CrossTable:
    """Shares of pairs of answers: one row for each answer to the first question.

    ``values`` are unbiased. ``intervals[v, w]`` holds the share of those who gave both answers,
    with the stated confidence for each cell by itself, if it was named beforehand.

    They are score intervals, which need enough reports for a normal curve: 95 % intervals held
    94.2 % of the time or more in 20,000 surveys each of 500 or 2,000 people at ε from 1 to 5. The
    variance of the number of a cell's reports is increased by 1.5, because that number is whole,
    and may be so small that no normal curve fits.
    """

    names: tuple[str, str]
    rows: Sequence[str]
    columns: Sequence[str]
    values: FloatArray
    standard_errors: FloatArray
    intervals: FloatArray
    respondents: int
    confidence: float
    about: About
    exclusive: bool = field(default=True, kw_only=True)

    def projected(self) -> Projected:
        """The nearest proper shares of pairs; labelled post-processing, biased, no intervals."""
        nearest = to_simplex(self.values) if self.exclusive else to_box(self.values)
        pairs = tuple(f"{row} and {column}" for row in self.rows for column in self.columns)
        return Projected(pairs, nearest)

    def to_arrow(self) -> pa.Table:
        """A table with one row for each pair of answers."""
        import pyarrow as pa

        first, second = self.names
        low, high = map(np.ascontiguousarray, self.intervals.reshape(-1, 2).T)
        return pa.table(
            {
                first: [row for row in self.rows for _ in self.columns],
                second: list(self.columns) * len(self.rows),
                "estimate": self.values.ravel(),
                "standard_error": self.standard_errors.ravel(),
                "low": low,
                "high": high,
            }
        )

    def to_polars(self) -> Any:
        """A Polars data frame with one row for each pair."""
        return exports.to_polars(self.to_arrow())

    def to_pandas(self) -> Any:
        """A pandas data frame with one row for each pair."""
        return exports.to_pandas(self.to_arrow())

    def plot(self) -> Plot:
        """Draw the shares of pairs with their intervals."""
        return draw_cross(self)

    def __repr__(self) -> str:
        return cross_text(self)


@dataclass(frozen=True)
class Gate:
    """The chances that a report supports an answer: i if the answer is held, o if not."""

    inside: float
    outside: float

    @property
    def gain(self) -> float:
        """d"""
        return self.inside - self.outside


def estimate_cross(
    pairs: PairTally,
    questions: tuple[Question, Question],
    respondents: int,
    *,
    confidence: Fraction,
    about: About,
) -> CrossTable:
    """The cross table from the pairs that were counted."""
    first, second = questions
    gates = _gate(pairs.first), _gate(pairs.second)
    found = from_pairs(*gates, pairs.read(), respondents, confidence=confidence, about=about)
    return CrossTable(
        (first.name, second.name),
        first.categories,
        second.categories,
        *found,
        respondents,
        float(confidence),
        about,
        exclusive=first.exclusive and second.exclusive,
    )


def from_pairs(
    a: Gate,
    b: Gate,
    counts: tuple[Counts, Counts, Counts, Counts],
    respondents: int,
    *,
    confidence: Fraction,
    about: About,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values, standard errors and intervals from J, N, M and m (see above)."""
    both, left, right, size = (np.asarray(count, float) for count in counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        j, p, r = both / size, left / size, right / size
        values = (j - b.outside * p - a.outside * r + a.outside * b.outside) / (a.gain * b.gain)
    part = (respondents - size) / max(respondents - 1, 1)
    nearest = np.clip(np.nan_to_num(values), 0.0, 1.0)
    spread = spread_of_pair(a, b, p, r, 1.0 if about == "population" else part)
    with np.errstate(divide="ignore"):
        more = _MORE / (size * (a.gain * b.gain) ** 2)
    spread = replace(spread, constant=spread.constant + more)
    low, high = score_interval(values, size, spread, normal_quantile(confidence))
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.where(size > 0, np.sqrt(spread.at(nearest) / size), np.inf)
    return values, errors, cut(low, high)


def spread_of_pair(a: Gate, b: Gate, p: FloatArray, r: FloatArray, drawn: Any) -> VarianceFunction:
    """The variance of φψ at θ, with the margins p and r as they were counted.

    An unlucky draw may show impossible margins, below o or above i. Once cut to what is possible,
    they leave at least the variance at θ = 0 of people who hold neither answer.
    """
    oa, ob = a.outside, b.outside
    p, r = np.clip(p, oa, a.inside), np.clip(r, ob, b.inside)
    u, v = 1 - 2 * oa, 1 - 2 * ob
    scale = (a.gain * b.gain) ** 2
    # E φ²ψ² = (u·v·J + u·o'²·p + v·o²·r + o²·o'²)/(d·d')²,  J = d·d'·θ + o'·p + o·r − o·o'
    constant = (u * v * (ob * p + oa * r - oa * ob) + u * ob**2 * p + v * oa**2 * r) / scale
    constant = constant + (oa * ob) ** 2 / scale
    g = np.asarray(drawn, dtype=float)
    slope = u * v / (a.gain * b.gain) - 1 + g
    return VarianceFunction(constant, slope + 0 * constant, -g + 0 * constant)


def _gate(randomizer: Any) -> Gate:
    return Gate(float(randomizer.inside), float(randomizer.outside))
