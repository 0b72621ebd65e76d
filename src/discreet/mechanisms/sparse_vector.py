"""The sparse vector technique: pay for the few scores above a threshold, not for the rest."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NoReturn, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import Pure
from discreet.hints import spelled
from discreet.inputs import Stream
from discreet.laws.sparse_vector import SparseAnswers
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import (
    LARGEST,
    check_noise,
    positive_sensitivity,
    read_flag,
    read_score,
    read_scores,
)
from discreet.noise.additive import FloatGrid, fine_exponent
from discreet.noise.threshold import NoisyThreshold
from discreet.numeric.balls import ball, sharp, upper
from discreet.numeric.exact import Number, integer, number, positive, probability
from discreet.sensitivity import Sensitivity

MOST_HITS: Final = 10**9


@dataclass(frozen=True, init=False)
class SparseVector:
    """Says of each score in a stream whether it is at or above a threshold, up to ``hits`` times.

    ``threshold`` is in the units of the scores, and public. ``epsilon`` is the ε of a whole run.

    This is Algorithm 1 of Lyu, Su and Li, "Understanding the Sparse Vector Technique for
    Differential Privacy", VLDB 2017. The threshold gets Laplace noise of sensitivity/ε₁ once,
    each score gets its own of 2·hits·sensitivity/ε₂, and ε₁ + ε₂ = ε. With ``monotone=True``,
    if one person moves all scores up or all down, hits·sensitivity/ε₂ will do. That is
    ε-differential privacy however long the stream, for scores of which one person can move
    each by at most ``sensitivity``, chosen adaptively or not.

    Answers are True and False. With ``gap=True`` a hit is answered by its noisy lead over the
    noisy threshold, rounded to a multiple of a power of two, and anything else by None. The lead
    is free (Ding, Wang, Zhang and Kifer, "Free Gap Information", VLDB 2019): the proof moves the
    threshold's noise by sensitivity and that of each hit by sensitivity less the change of its
    score, which leaves every lead as it was. That costs ε₁ + hits·(2·sensitivity)/scale = ε;
    for scores that only rise the second move is at most sensitivity, and for scores that only
    fall the threshold need not move, which is the monotone case.

    Cost: ``guarantee``. Error: ``error(0.95, queries=k)`` in the units of the scores.

    >>> mechanism = SparseVector(sensitivity=1, epsilon=1, threshold=1000, hits=2)
    >>> mechanism.release([0, 5000, 10, 7000, 9000])       # it ends with the second hit
    [False, True, False, True]
    >>> run = mechanism.start()                            # or one by one
    >>> run.ask(5000), run.remaining
    (True, 1)
    """

    sensitivity: Fraction
    epsilon: Fraction
    threshold: Fraction
    hits: int
    monotone: bool
    gap: bool

    @spelled
    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number,
        threshold: Number,
        hits: int,
        monotone: bool = False,
        gap: bool = False,
    ) -> None:
        object.__setattr__(self, "sensitivity", positive_sensitivity(sensitivity, norm="linf"))
        object.__setattr__(self, "epsilon", positive(epsilon, name="epsilon"))
        object.__setattr__(self, "threshold", _threshold(threshold))
        object.__setattr__(self, "hits", integer(hits, name="hits", minimum=1, maximum=MOST_HITS))
        object.__setattr__(self, "monotone", read_flag(monotone, name="monotone"))
        object.__setattr__(self, "gap", read_flag(gap, name="gap"))
        check_noise(self.threshold_scale, name="epsilon")
        check_noise(self.query_scale, name="epsilon")

    @cached_property
    def split(self) -> tuple[Fraction, Fraction]:
        """ε₁ for the threshold and ε₂ for the scores; they sum to ε exactly.

        1 : (2·hits)^(2/3), or 1 : hits^(2/3) if monotone, gives the comparison the least variance
        (Lyu, Su and Li, section 4.2). Any split is private, so a rational near it is as good.
        """
        moves = (1 if self.monotone else 2) * self.hits
        ratio = Fraction(moves ** (2 / 3)).limit_denominator(1000)
        return self.epsilon / (1 + ratio), self.epsilon * ratio / (1 + ratio)

    @cached_property
    def threshold_scale(self) -> Fraction:
        """The scale of the noise on the threshold."""
        return self.sensitivity / self.split[0]

    @cached_property
    def query_scale(self) -> Fraction:
        """The scale of the noise on each score."""
        return (1 if self.monotone else 2) * self.hits * self.sensitivity / self.split[1]

    def start(self) -> SparseRun:
        """Draw a noisy threshold, to be asked one score at a time. Spends ``guarantee``."""
        return SparseRun(self)

    def release(self, stream: ArrayLike | Iterable[int | float]) -> list[Any]:
        """Return one answer per score, in order. Each call spends ``guarantee``.

        ``stream`` holds the scores in order. The answers end with the last hit, so they may be
        fewer than the scores. A list or array is compared at once; any other iterable is read one
        score at a time, and no further than the last hit.
        """
        if isinstance(stream, list | tuple) or hasattr(stream, "__array__"):
            return self.start().ask_all(read_scores(stream, name="stream"))
        answers: list[Answer] = []
        iterator, run = _iterate(stream), self.start()
        for score in iterator:
            answers.append(run.ask(score))
            if run.exhausted:
                break
        return answers

    @property
    def guarantee(self) -> Pure:
        """ε-differential privacy for all answers together, with or without the gaps."""
        return Pure(self.epsilon)

    def error(self, confidence: Number = Fraction(95, 100), *, queries: int) -> float:
        """Return α such that, with probability ``confidence``, all of the first k answers are
        α-right.

        ``confidence`` is between 0 and 1; 0.95 if left out. ``queries`` is k, how many scores are
        compared.

        α-right: a hit has a score of at least threshold − α, any other one of at most
        threshold + α (compare Dwork and Roth 2014, Theorem 3.24). With the scales a and b of
        threshold and scores and β = 1 − confidence,

            α = a·ln((a + b)/(a·β)) + b·ln(k·(a + b)/(b·β)),     rounded up:

        the first term is exceeded by the threshold's noise with probability β·a/(a + b), the
        second by one of k noises with at most β·b/(a + b), and these sum to β.
        """
        sure = probability(confidence, name="confidence")
        k = integer(queries, name="queries", minimum=1)
        a, b = self.threshold_scale, self.query_scale
        first, second = (a + b) / (a * (1 - sure)), k * (a + b) / (b * (1 - sure))
        return upper(sharp(lambda: ball(a) * ball(first).log() + ball(b) * ball(second).log()))

    @property
    def inputs(self) -> Stream:
        """What one person can do to the stream."""
        return Stream(self.sensitivity, self.monotone, self.threshold)

    def law(self, scores: ArrayLike) -> SparseAnswers:
        """Return the exact law of ``release(scores)``, its outcomes as tuples."""
        return SparseAnswers(
            read_scores(scores).tolist(),
            threshold=self.threshold,
            threshold_scale=self.threshold_scale,
            query_scale=self.query_scale,
            hits=self.hits,
            step=Fraction(2) ** fine_exponent(self.query_scale) if self.gap else None,
        )


def _threshold(threshold: Number) -> Fraction:
    exact = number(threshold, name="threshold")
    if abs(exact) <= LARGEST:
        return exact
    raise InvalidArgument("threshold", "between -2^900 and 2^900", "a number outside of that")


def _iterate(stream: Any) -> Iterator[Any]:
    if isinstance(stream, Iterable) and not isinstance(stream, str | bytes | Mapping | Set):
        return iter(stream)
    raise InvalidArgument.of_data("stream", "a list, an array or an iterator of numbers", stream)


# -- one run: a noisy threshold, and the hits that are left ----------------------------------------


Answer: TypeAlias = bool | float | None
_CHUNK: Final = 1 << 15  # scores compared at once


class SparseRun:
    """Made by ``SparseVector.start``; its noisy threshold is drawn once and never shown.

    It has a state, which is how many hits are left. So it cannot be copied, pickled or carried
    into a forked process, where the same hits could be spent again.
    """

    def __init__(self, mechanism: SparseVector) -> None:
        self._threshold = NoisyThreshold(mechanism.threshold, mechanism.threshold_scale)
        self._scale, self._gap = mechanism.query_scale, mechanism.gap
        self._grid = FloatGrid(fine_exponent(self._scale))
        self._remaining = mechanism.hits
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
        # Scores beyond the last hit were compared, but the results are never revealed.
        answered = hits[-1] + 1 if self.exhausted else scores.size
        answers: list[Answer] = [None if self._gap else False] * answered
        for place in hits:
            steps = comparison.gap(place, self._grid.exponent) if self._gap else 0
            answers[place] = self._grid.join_one(0.0, steps) if self._gap else True
        return answers

    def _check(self) -> None:
        if self.exhausted:
            raise Refused(
                "all hits of this run are used up, so it answers no more; start() draws a new "
                "threshold and spends the guarantee again",
                code="exhausted",
            )
        if os.getpid() != self._process:
            raise Refused("a run cannot be carried into a forked process; start() one there")

    def __reduce__(self) -> NoReturn:
        raise Refused("a run cannot be copied or pickled; start() draws a new one")
