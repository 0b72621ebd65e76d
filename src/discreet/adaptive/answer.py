"""One answer from an analyst or a holdout, with what it says about the population."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.adaptive.arguments import percent


@dataclass(frozen=True)
class PopulationAnswer:
    """A share in the sample, and how far the population's share can be from it.

    ``error`` holds for all answers of an analyst at once, with probability ``confidence``.

    >>> answer = PopulationAnswer(value=0.31, error=0.11, confidence=0.95, asked=3, remaining=97)
    >>> float(answer), answer.interval
    (0.31, (0.2, 0.42))
    >>> print(answer)
    0.310 ± 0.110 in the population (95 %, all 100 answers at once)
    """

    value: float  #: as released; noise may take it below 0 or above 1
    error: float
    confidence: float
    asked: int  #: questions so far, this one included
    remaining: int

    @property
    def interval(self) -> tuple[float, float]:
        """Where the population's share lies, cut to [0, 1]."""
        return _within(self.value, self.error)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        sure = f"{percent(self.confidence)}, all {self.asked + self.remaining:,} answers at once"
        return _words(self.value, self.error, sure)


@dataclass(frozen=True)
class Checked:
    """A value that a holdout vouches for: it is within ``error`` of the population's."""

    value: float
    error: float
    confidence: float  #: that this and all other answers are within their errors
    hit: bool  #: whether training was off, so that this is the holdout's own value

    @property
    def interval(self) -> tuple[float, float]:
        """Where the population's value lies."""
        return _within(self.value, self.error)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        source = "the holdout" if self.hit else "training, which the holdout agrees with"
        sure = f"{percent(self.confidence)}, all answers at once"
        return f"{_words(self.value, self.error, sure)}, from {source}"


def _within(value: float, error: float) -> tuple[float, float]:
    return max(0.0, value - error), min(1.0, value + error)


def _words(value: float, error: float, sure: str) -> str:
    return f"{value:.3f} ± {error:.3f} in the population ({sure})"
