"""What is kept of the reports to a question: counts, whose size does not grow with the reports."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.survey.randomizers import Randomizer
from discreet.survey.randomizers.randomizer import Counts


@dataclass(eq=False)
class Tally:
    """Counts of the reports to one question. Supports are read from them once, at the end.

    >>> from discreet.survey.randomizers import Response
    >>> tally = Tally(Response(categories=3, epsilon=1))
    >>> tally.add(np.array([0, 2, 2]))
    >>> tally.add(np.array([1, 2]))
    >>> tally.supports.tolist(), tally.asked.tolist(), tally.respondents
    ([1, 1, 3], [5, 5, 5], 5)
    """

    randomizer: Randomizer
    respondents: int = 0
    counts: Counts = field(init=False)

    def __post_init__(self) -> None:
        bits = self.randomizer.report == "bits"
        empty = np.empty((0, self.randomizer.outcomes), np.int8) if bits else np.empty(0, np.int64)
        self.counts = self.randomizer.counts(empty)

    def add(self, reports: NDArray[Any]) -> None:
        """Count some reports."""
        self.counts += self.randomizer.counts(reports)
        self.respondents += len(reports)

    def merge(self, other: Tally) -> None:
        """Count what another machine has counted."""
        self.counts += other.counts
        self.respondents += other.respondents

    @property
    def supports(self) -> Counts:
        """How many reports support each category."""
        return self.randomizer.supports_of(self.counts)

    @property
    def asked(self) -> Counts:
        """How many reports say something about each category."""
        return self.randomizer.asked_of(self.counts)
