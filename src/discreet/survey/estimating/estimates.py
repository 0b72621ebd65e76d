"""From counted reports to shares and means: unbiased, with standard errors and intervals.

What an interval is about is said by ``about``. "population": the respondents are a random sample
of many, and the interval holds the share among those many; it counts the draw of the people and
the randomization. "respondents": the interval holds the share among these very people, and counts
the randomization alone. Either way it does so with the stated confidence for each category by
itself. For all k categories at once with confidence c, ask for 1 − (1 − c)/k (Bonferroni).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.survey.estimating.intervals import (
    About,
    FloatArray,
    Spread,
    cut,
    normal_quantile,
    score_interval,
)
from discreet.survey.estimating.projection import Projected, to_box, to_simplex
from discreet.survey.estimating.tally import Tally

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.plot import Plot


@dataclass(frozen=True, eq=False, repr=False)
class Shares:
    """The share of each answer to a question.

    ``values`` are unbiased, so they may lie below 0 or above 1 and need not add up to 1.
    ``intervals`` (one a row: low, high) are score intervals, cut to 0 … 1. One that lies wholly
    outside is left there: of those about an answer that nobody gave, one in forty does, and more
    of them say that the reports do not follow the law.
    """

    name: str
    labels: Sequence[str]
    values: FloatArray
    standard_errors: FloatArray
    intervals: FloatArray
    respondents: int
    confidence: float
    about: About
    exclusive: bool = field(kw_only=True)  #: one answer excludes the others
    noise: FloatArray = field(kw_only=True)  #: what noise alone may reach; see ``found``

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, label: str) -> Share:
        """One answer."""
        places = [place for place, known in enumerate(self.labels) if known == label]
        if not places:
            known = ", ".join(self.labels[:20])
            raise InvalidArgument(
                name="label",
                expected=f"one of {known}" + (", …" if len(self.labels) > 20 else ""),
                given=InvalidArgument.describe_parameter(label),
            )
        at = places[0]
        low, high = self.intervals[at].tolist()
        return Share(float(self.values[at]), float(self.standard_errors[at]), (low, high))

    def top(self, count: int = 10) -> Shares:
        """The largest estimated shares, the largest first.

        Those that were lucky are more often among them, and an interval is for an answer that
        was named beforehand: of many answers, ``found`` gives those that are there for sure.
        """
        return self._some(np.argsort(-self.values, kind="stable")[:count])

    def found(self) -> Shares:
        """The answers that some people surely gave, the largest first.

        Noise alone lifts one or more of the other answers so high with a probability of at most
        1 − confidence, for all of them together (Bonferroni).
        """
        order = np.argsort(-self.values, kind="stable")
        return self._some(order[self.values[order] > self.noise[order]])

    def _some(self, chosen: NDArray[np.intp]) -> Shares:
        return Shares(
            self.name,
            tuple(self.labels[at] for at in chosen.tolist()),
            self.values[chosen],
            self.standard_errors[chosen],
            self.intervals[chosen],
            self.respondents,
            self.confidence,
            self.about,
            exclusive=False,  # a part of the answers need not add up to 1
            noise=self.noise[chosen],
        )

    def projected(self) -> Projected:
        """The nearest proper shares: at least 0, with sum 1 where one answer excludes the others.

        Labelled post-processing: biased, and without intervals.
        """
        nearest = to_simplex(self.values) if self.exclusive else to_box(self.values)
        return Projected(tuple(self.labels), nearest)

    def to_arrow(self) -> pa.Table:
        """A row for each answer."""
        import pyarrow as pa

        low, high = self.intervals.T
        return pa.table(
            {
                "question": pa.array([self.name] * len(self), pa.string()),
                "answer": pa.array(list(self.labels), pa.string()),
                "estimate": self.values,
                "standard_error": self.standard_errors,
                "low": np.ascontiguousarray(low),
                "high": np.ascontiguousarray(high),
            }
        )

    def plot(self) -> Plot:
        """Draw the shares with their intervals."""
        from discreet.survey.estimating.pictures import draw_shares

        return draw_shares(self)

    def __repr__(self) -> str:
        from discreet.survey.estimating.showing import shares_text

        return shares_text(self)


@dataclass(frozen=True)
class Share:
    """The estimated share of one answer."""

    value: float
    standard_error: float
    interval: tuple[float, float]


def estimate_shares(
    name: str,
    labels: Sequence[str],
    tally: Tally,
    *,
    confidence: Fraction,
    about: About,
    exclusive: bool,
) -> Shares:
    """Shares from the supports that were counted."""
    found = from_supports(
        tally.randomizer,
        tally.supports,
        tally.asked,
        tally.respondents,
        confidence=confidence,
        about=about,
    )
    facts = tally.respondents, float(confidence), about
    noise = from_nobody(tally.randomizer, tally.asked, confidence=confidence)
    return Shares(name, labels, *found, *facts, exclusive=exclusive, noise=noise)


def from_nobody(randomizer: Any, asked: NDArray[np.int64], *, confidence: Fraction) -> FloatArray:
    """What the estimate of an answer that nobody gave stays below, for all answers at once."""
    spread = Spread.of_share(inside=randomizer.inside, outside=randomizer.outside)
    z = normal_quantile(1 - (1 - confidence) / len(asked))
    with np.errstate(divide="ignore"):
        return np.asarray(z * np.sqrt(spread.at(0.0) / asked))


def from_supports(
    randomizer: Any,
    supports: NDArray[np.int64],
    asked: NDArray[np.int64],
    respondents: int,
    *,
    confidence: Fraction,
    about: About,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Values, standard errors and intervals, from N supporting reports among m that could be."""
    inside, outside = randomizer.inside, randomizer.outside
    with np.errstate(divide="ignore", invalid="ignore"):
        # ŝ = (N/m − o)/d
        values = (supports / asked - float(outside)) / float(inside - outside)
    part = (respondents - asked) / max(respondents - 1, 1)
    spread = Spread.of_share(
        inside=inside, outside=outside, drawn=1.0 if about == "population" else part
    )
    low, high = score_interval(values, asked, spread, normal_quantile(confidence))
    # At the estimate, or at the nearest share there is: never 0 by an unlucky draw.
    nearest = np.clip(np.nan_to_num(values), 0.0, 1.0)
    with np.errstate(divide="ignore"):
        errors = np.sqrt(spread.at(nearest) / asked)
    return values, errors, cut(low, high)
