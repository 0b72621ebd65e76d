"""How many adaptive questions a sample supports by each method, before anything is asked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.adaptive.arguments import (
    MOST_QUERIES,
    percent,
    read_confidence,
    read_count,
    read_error,
)
from discreet.adaptive.bounds import METHODS, most_queries
from discreet.hints import spelled
from discreet.mechanisms.statistical_queries import LARGEST_SAMPLE
from discreet.numeric.exact import Number

if TYPE_CHECKING:
    from discreet.plot import Plot

PLANNED: Final = ("gaussian", "rounding", "jung", "laplace", "splitting")
NAIVE: Final = "naive reuse: void once a question depends on an answer"
_MANY = 10**12


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
        order = sorted(self.questions, key=lambda method: -self.questions[method])
        lines = [(METHODS[method], _many(self.questions[method])) for method in order]
        naive = "over 10¹²" if self.naive is None else f"{self.naive:,}"
        lines.append((NAIVE, naive))
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
        from discreet.adaptive.plot import draw

        return draw(self)


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
        method: most_queries(method, records, error=wish, failure=failure) for method in PLANNED
    }
    return QuestionPlan(
        records, float(wish), float(1 - failure), questions, _naive(records, wish, failure)
    )


def _many(count: int) -> str:
    return "10⁹ or more" if count == MOST_QUERIES else f"{count:,}"


def _naive(n: int, error: Fraction, failure: Fraction) -> int | None:
    """Hoeffding's inequality and the union bound: the k with 2k·exp(−2n·t²) = β."""
    log = math.log(float(failure) / 2) + 2 * n * float(error) ** 2
    return None if log > math.log(_MANY) else math.floor(math.exp(log))
