"""How many adaptive questions a sample supports by each method, before anything is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np

from discreet.adaptive.arguments import (
    MOST_QUERIES,
    percent,
    read_confidence,
    read_count,
    read_error,
)
from discreet.adaptive.bounds import METHODS, least_width, most_queries
from discreet.adaptive.noise_width import estimated_width
from discreet.hints import spelled
from discreet.mechanisms.statistical_queries import LARGEST_SAMPLE
from discreet.numeric.exact import Number
from discreet.plot import Plot, altair, dressed, limit_line

_NAIVE_WORDS: Final = "naive reuse: void once a question depends on an answer"
_MANY = 10**12
_WIDTH, _HEIGHT = 560, 300
_POINTS = 40
_NAIVE: Final = "naive reuse (void)"
_LABELS: Final = {
    "gaussian": "Gaussian noise",
    "rounding": "rounded answers",
    "jung": "Gaussian, Jung et al.",
    "laplace": "Laplace noise",
    "splitting": "sample splitting",
}
_COLOURS: Final = ("#2f6db3", "#6aa886", "#b678b0", "#c9b24e", "#e0974f", "#9aa3ad")


@dataclass(frozen=True)
class QuestionPlan:
    """How many questions n records can answer within ``error`` of the population."""

    n: int
    error: float
    confidence: float
    questions: dict[str, int]  #: by method
    naive: int | None  #: what reuse would claim; None above 10¹²

    @property
    def best(self) -> str:
        """The method that supports the most questions."""
        return max(self.questions, key=lambda method: self.questions[method])

    def __str__(self) -> str:
        order = sorted(self.questions.items(), key=lambda item: -item[1])
        lines = [
            (METHODS[method], "10⁹ or more" if count == MOST_QUERIES else f"{count:,}")
            for method, count in order
        ]
        lines.append((_NAIVE_WORDS, "over 10¹²" if self.naive is None else f"{self.naive:,}"))
        span = max(len(words) for words, _ in lines)
        width = max(len(count) for _, count in lines)
        head = (
            f"{self.n:,} records, all answers within {self.error:g} of the population "
            f"with {percent(self.confidence)} confidence"
        )
        table = [f"{words.ljust(span)}  {count.rjust(width)}" for words, count in lines]
        return "\n".join([head, "method".ljust(span) + "  questions", "─" * (span + 11), *table])

    def plot(self) -> Plot:
        """The error of each method by the number of questions; ``.save("plan.svg")``."""
        alt = altair()
        failure = 1 - Fraction(repr(self.confidence))
        most = max(100, 4 * max(self.questions.values()))
        counts = np.unique(np.geomspace(1, most, _POINTS).astype(np.int64)).tolist()
        rows = [
            {"k": k, "error": width, "method": label}
            for label, curve in self._curves(counts, failure).items()
            for k, width in zip(counts, curve, strict=True)
            if width <= 0.5
        ]
        names = [*_LABELS.values(), _NAIVE]
        lines = (
            alt.Chart(alt.InlineData(values=rows))
            .mark_line(strokeWidth=2, clip=True)
            .encode(
                x=alt.X(
                    "k:Q",
                    title="adaptive questions",
                    scale=alt.Scale(type="log", domain=[1, most], nice=False),
                    axis=alt.Axis(format="~s", tickCount=6, grid=False),
                ),
                y=alt.Y(
                    "error:Q",
                    title="distance to the population, all answers",
                    scale=alt.Scale(domain=[0, 0.5]),
                ),
                color=alt.Color(
                    "method:N",
                    scale=alt.Scale(domain=names, range=list(_COLOURS)),
                    sort=names,
                    legend=alt.Legend(title=None, symbolType="stroke", labelLimit=200),
                ),
                strokeDash=alt.condition(
                    alt.datum.method == _NAIVE, alt.value([4, 4]), alt.value([1, 0])
                ),
                tooltip=[
                    "method:N",
                    alt.Tooltip("k:Q", title="questions"),
                    alt.Tooltip("error:Q", format=".4f"),
                ],
            )
        )
        wish = limit_line("error:Q", "error", self.error, f"asked for: {self.error:g}")
        chart = alt.layer(lines, *wish).properties(width=_WIDTH, height=_HEIGHT)
        best = self.questions[self.best]
        title = f"What {self.n:,} records support"
        subtitle = [
            f"{best:,} adaptive questions within {self.error:g} of the population at "
            f"{percent(self.confidence)} confidence, by {_LABELS[self.best]};",
            f"{self.questions['splitting']:,} by sample splitting. Naive reuse holds for no "
            "question that depends on an answer.",
        ]
        return Plot(dressed(chart, title, subtitle))

    def _curves(self, counts: list[int], failure: Fraction) -> dict[str, list[float]]:
        def width(method: str, k: int) -> float:
            if method == "gaussian":  # an estimate will do, and is fast
                return estimated_width("gaussian", self.n, queries=k, failure=failure)
            return least_width(method, self.n, queries=k, failure=failure)

        curves = {label: [width(name, k) for k in counts] for name, label in _LABELS.items()}
        beta = float(failure)
        curves[_NAIVE] = [math.sqrt(math.log(2 * k / beta) / (2 * self.n)) for k in counts]
        return curves


@spelled
def plan(n: int, *, error: Number, confidence: Number = Fraction(95, 100)) -> QuestionPlan:
    """How many adaptive questions a sample of ``n`` records supports at this ``error``.

    ``error`` is the most that any answer may be off from the population's, between 0 and 1: 0.1 is
    ten points. ``confidence`` is how sure that is for all answers together, between 0 and 1; 0.95
    if left out.

    Naive reuse (all questions to the same records, no noise, each error as if its question were
    the only one) seems to promise far more, but its promise is void here: it holds only for
    questions that were fixed before the first answer. Numbers above 1,000 are right to three
    digits, those for Laplace noise to about two below 10⁵. Except for Laplace noise, the numbers
    are never too large. Counting stops at 10⁹.

    >>> planned = plan(10**5, error=0.1)
    >>> planned.best, planned.questions["gaussian"] > 3 * planned.questions["splitting"]
    ('gaussian', True)
    """
    records = read_count(n, name="n", most=LARGEST_SAMPLE)
    wish, failure = read_error(error), 1 - read_confidence(confidence)
    questions = {
        method: most_queries(method, records, error=wish, failure=failure) for method in _LABELS
    }
    return QuestionPlan(
        records, float(wish), float(1 - failure), questions, _naive(records, wish, failure)
    )


def _naive(n: int, error: Fraction, failure: Fraction) -> int | None:
    """Hoeffding's inequality and the union bound: the k with 2k·exp(−2n·t²) = β."""
    log = math.log(float(failure) / 2) + 2 * n * float(error) ** 2
    return None if log > math.log(_MANY) else math.floor(math.exp(log))
