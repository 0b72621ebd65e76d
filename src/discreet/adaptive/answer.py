"""One answer from an analyst or a holdout, with what it says about the population."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor

from discreet.adaptive.arguments import percent


def rounded(mean: Fraction, levels: int) -> Fraction:
    """The nearest multiple of 1/levels; of two equally near, the upper one.

    >>> rounded(Fraction(5, 8), 4)
    Fraction(3, 4)
    """
    return Fraction(floor(mean * levels + Fraction(1, 2)), levels)


@dataclass(frozen=True)
class _Answer:
    value: float  #: as released; noise may take it below 0 or above 1
    error: float
    confidence: float  #: that this and all other answers are within their errors

    @property
    def interval(self) -> tuple[float, float]:
        """Where the population's value lies, cut to [0, 1]."""
        return max(0.0, self.value - self.error), min(1.0, self.value + self.error)

    def __float__(self) -> float:
        return self.value

    def _words(self, how_many: str) -> str:
        sure = f"{percent(self.confidence)}, all {how_many} at once"
        return f"{self.value:.3f} ± {self.error:.3f} in the population ({sure})"


@dataclass(frozen=True)
class PopulationAnswer(_Answer):
    """A share in the sample, and how far the population's share can be from it.

    ``error`` holds for all answers of an analyst at once, with probability ``confidence``.

    >>> answer = PopulationAnswer(value=0.31, error=0.11, confidence=0.95, asked=3, remaining=97)
    >>> float(answer), answer.interval
    (0.31, (0.2, 0.42))
    >>> print(answer)
    0.310 ± 0.110 in the population (95 %, all 100 answers at once)
    """

    asked: int  #: questions so far, this one included
    remaining: int

    def __str__(self) -> str:
        return self._words(f"{self.asked + self.remaining:,} answers")


@dataclass(frozen=True)
class Checked(_Answer):
    """A value that a holdout vouches for: it is within ``error`` of the population's."""

    hit: bool  #: whether training was off, so that this is the holdout's own value

    def __str__(self) -> str:
        source = "the holdout" if self.hit else "training, which the holdout agrees with"
        return f"{self._words('answers')}, from {source}"
