"""One run of the sparse vector technique: a noisy threshold, and the hits that are left of it."""

from __future__ import annotations

import os
import threading
from fractions import Fraction
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import Refused
from discreet.mechanisms.scores import read_score, read_scores
from discreet.noise.grid import FloatGrid, fine_exponent
from discreet.noise.threshold import Comparison, NoisyThreshold

Answer: TypeAlias = bool | float | None
_CHUNK: Final = 1 << 15  # scores compared at once


class Run:
    """Made by ``SparseVector.start``; its noisy threshold is drawn once and never shown.

    The one mechanism with a state: how many hits are left. It cannot be copied, pickled or
    carried into a forked process, where the same hits could be spent again.
    """

    def __init__(
        self,
        *,
        threshold: Fraction,
        threshold_scale: Fraction,
        query_scale: Fraction,
        hits: int,
        gap: bool,
    ) -> None:
        self._threshold = NoisyThreshold(threshold, threshold_scale)
        self._scale, self._gap = query_scale, gap
        self._grid = FloatGrid(fine_exponent(query_scale))
        self._remaining = hits
        self._lock = threading.Lock()  # two threads may not both take the last hit
        self._process = os.getpid()

    @property
    def remaining(self) -> int:
        """How many hits are left."""
        return self._remaining

    @property
    def exhausted(self) -> bool:
        """Whether all hits are used up, so that nothing more is answered."""
        return self._remaining == 0

    def ask(self, score: int | float) -> Any:
        """Return the answer to one score; the next score may depend on it."""
        value = read_score(score)
        with self._lock:
            self._check()
            return self._answer(value)[0]

    def ask_all(self, scores: ArrayLike) -> list[Any]:
        """Return the answers to a flat list or array of scores, up to the last hit."""
        values = read_scores(scores)
        answers: list[Answer] = []
        with self._lock:
            self._check()
            for start in range(0, values.size, _CHUNK):
                answers += self._answer(values[start : start + _CHUNK])
                if self.exhausted:
                    break
        return answers

    def _answer(self, scores: NDArray[Any]) -> list[Answer]:
        comparison = self._threshold.compare(scores, self._scale)
        hits = np.flatnonzero(comparison.above)[: self._remaining].tolist()
        self._remaining -= len(hits)
        # What lies beyond the last hit was compared, but is never told.
        answered = hits[-1] + 1 if self.exhausted else scores.size
        answers: list[Answer] = [None if self._gap else False] * answered
        for place in hits:
            answers[place] = self._lead(comparison, place) if self._gap else True
        return answers

    def _lead(self, comparison: Comparison, place: int) -> float:
        steps = comparison.gap(place, self._grid.exponent)
        return self._grid.join_one(0.0, steps)

    def _check(self) -> None:
        if self.exhausted:
            raise Refused(
                "all hits of this run are used up, so it answers no more; start() draws a new "
                "threshold and spends the guarantee again"
            )
        if os.getpid() != self._process:
            raise Refused("a run cannot be carried into a forked process; start() one there")

    def __reduce__(self) -> NoReturn:
        raise Refused("a run cannot be copied or pickled; start() draws a new one")
