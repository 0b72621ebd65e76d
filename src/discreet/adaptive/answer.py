"""One answer, with what is known about the population."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.adaptive.doors import percent


@dataclass(frozen=True)
class Answer:
    """A share, and how far that of the population can be from it.

    ``error`` holds for all answers of an analyst at once, with probability ``confidence``.

    >>> answer = Answer(value=0.31, error=0.11, confidence=0.95, asked=3, remaining=97)
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
        """Where the population's share is, within 0 and 1."""
        return max(0.0, self.value - self.error), min(1.0, self.value + self.error)

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        sure = f"{percent(self.confidence)}, all {self.asked + self.remaining:,} answers at once"
        return f"{self.value:.3f} ± {self.error:.3f} in the population ({sure})"
