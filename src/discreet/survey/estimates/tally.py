"""Counts of the reports: to each question, and to pairs of questions for cross tables.

The size of these counts does not grow with the number of reports.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import Refused
from discreet.survey.randomizers.randomizer import Counts, Randomizer


@dataclass(eq=False)
class Tally:
    """Counts of the reports to one question. Supports are computed from them once, at the end.

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
        self.counts = self.randomizer.counts(self.randomizer.read([]).values)

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


# -- counts for cross tables: reports to one question by reports to another ------------------------


_MOST_CELLS: Final = 1 << 20
_BLOCK: Final = 1 << 22  # numbers multiplied at a time
_EXACT: Final = 1 << 24  # rows whose products float32 adds up exactly


@dataclass(eq=False)
class PairTally:
    """Counts of pairs: a report's answer to the first question by its answer to the second.

    A row or column stands for a report's integer, or for one of its bits being 1, or (in a second
    set of as many) for that bit having been asked at all.
    """

    first: Randomizer
    second: Randomizer

    def __post_init__(self) -> None:
        shape = _features(self.first), _features(self.second)
        if shape[0] * shape[1] > _MOST_CELLS:
            raise Refused(
                f"a cross table of {shape[0]:,} by {shape[1]:,} different reports is too large, "
                f"{_MOST_CELLS:,} cells are the most",
                remedy="ask one of the questions with fewer options",
                code="too-large",
            )
        if not (self.first.crossable and self.second.crossable):
            raise Refused(
                "a cross table is about answers to choose from, not about numbers",
                remedy="ask for the number as a choice among ranges",
            )
        self.counts: Counts = np.zeros(shape, np.int64)

    def add(self, first: NDArray[Any], second: NDArray[Any]) -> None:
        """Count the pairs in two columns."""
        if first.ndim == second.ndim == 1:
            width = self.counts.shape[1]
            codes = first * width + second
            self.counts += np.bincount(codes, minlength=self.counts.size).reshape(self.counts.shape)
            return
        step = min(max(_BLOCK // max(self.counts.shape), 1), _EXACT)
        for start in range(0, len(first), step):
            part = slice(start, start + step)
            left = _indicators(first[part], self.first)
            right = _indicators(second[part], self.second)
            self.counts += (left.T @ right).astype(np.int64)

    def merge(self, other: PairTally) -> None:
        """Count what another machine has counted."""
        self.counts += other.counts

    def read(self) -> tuple[Counts, Counts, Counts, Counts]:
        """J, N, M and m: how many support both, the first, the second, or say something on both."""
        supported, asked = _along(self.counts.T, self.first)
        return *_along(supported.T, self.second), *_along(asked.T, self.second)


def _features(randomizer: Randomizer) -> int:
    return randomizer.outcomes * (2 if randomizer.report == "bits" else 1)


def _indicators(reports: NDArray[Any], randomizer: Randomizer) -> NDArray[np.float32]:
    if reports.ndim == 1:
        return np.asarray(reports[:, None] == np.arange(randomizer.outcomes), np.float32)
    return np.hstack([reports == 1, reports >= 0]).astype(np.float32)


def _along(counts: Counts, randomizer: Randomizer) -> tuple[Counts, Counts]:
    """What a randomizer reads from each row of counts: supports, and how many were asked."""
    shape = (2, -1) if randomizer.report == "bits" else (-1,)
    rows = [row.reshape(shape) for row in counts]
    return (
        np.array([randomizer.supports_of(row) for row in rows]),
        np.array([randomizer.asked_of(row) for row in rows]),
    )
