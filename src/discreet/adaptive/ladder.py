"""The Ladder: a leaderboard that says when the best score rises by a step, and nothing else.

Blum and Hardt, "The Ladder: a reliable leaderboard for machine learning competitions", 2015. A
score is published only if it is a step better than the best before it, and then rounded; so even
many submissions learn little from it, and what it shows holds on fresh data.
"""

from __future__ import annotations

import math
import operator
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.adaptive import validity
from discreet.adaptive.arguments import percent, read_confidence, read_count, same_process
from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.guarantees import TotalVariation
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.mechanisms.statistical_queries import (
    LARGEST_SAMPLE,
    UNIT,
    check_column_function,
    sum_of_column,
)
from discreet.numeric.exact import Number, non_negative, positive, round_down, round_up

Score = Callable[[NDArray[Any], NDArray[Any]], Any]

_NUMBERS = "biuf"


@dataclass(frozen=True)
class Standing:
    """What a leaderboard shows after a submission."""

    value: float  #: the rung that the best so far has reached; the baseline if none is
    improved: bool  #: whether this submission is the new best
    interval: tuple[float, float]  #: of the true score of the best so far
    confidence: float  #: that all intervals hold

    @property
    def below(self) -> float:
        """The leader's true score is at least ``value`` less this."""
        return self.value - self.interval[0]

    @property
    def above(self) -> float:
        """No submission so far has a true score above ``value`` plus this."""
        return self.interval[1] - self.value

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.value:.3g}, the best so far; its true score is from {low:.3f} to {high:.3f} "
            f"({percent(self.confidence)}, all submissions at once)"
        )


class Ladder:
    """Judges submissions by ``labels`` that nobody sees, and shows the best score on fixed rungs.

    A submission is a prediction for each label. Its score is the mean of ``score(predictions,
    labels)``, values in [0, 1], one for each record; if left out, whether the two are equal.
    ``submit`` answers with the highest rung (multiples of ``step`` above ``baseline``) that a
    submission so far has reached.

    With probability ``confidence``, after each of ``submissions`` adaptively made ones, the
    interval shown holds the highest *true* score so far: the expected score on labels drawn
    anew, for these records or for new ones. Records must be independent. The proof counts what
    can be submitted (`Rungs`); its bound is sharper than the paper's, and the fewer rungs were
    used, the shorter an interval is. If ``step`` is left out, it is the one of least width.

    There is no privacy: scores are exact on their rungs, and ``guarantee`` says so.

    >>> labels = np.arange(10_000) % 2
    >>> board = Ladder(labels, submissions=1000, step=0.05)
    >>> standing = board.submit(np.ones(10_000))                # right for one half
    >>> standing.value, standing.improved
    (0.5, True)
    >>> [round(end, 3) for end in standing.interval]            # of its true score
    [0.474, 0.583]
    >>> board.submit(labels * 0).improved, board.remaining      # no better
    (False, 998)
    """

    @spelled
    def __init__(
        self,
        labels: ArrayLike,
        *,
        submissions: int,
        confidence: Number = Fraction(95, 100),
        step: Number | None = None,
        baseline: Number = 0,
        score: Score | None = None,
    ) -> None:
        self._score = score
        if score is not None and not callable(score):
            raise InvalidArgument.of("score", "a function", score)
        self._confidence = read_confidence(confidence)
        k = read_count(submissions, name="submissions")
        start = non_negative(baseline, name="baseline")
        if start >= 1:
            raise InvalidArgument.of("baseline", "below 1", baseline)
        if step is not None:
            step = _read_step(step, start)
        self._labels = _read_labels(labels, scored=score is not None)
        self._n = len(self._labels)
        self._rows = np.arange(self._n)
        failure = 1 - self._confidence
        self.rungs: Rungs = (
            best_rungs(n=self._n, submissions=k, failure=failure, baseline=start)
            if step is None
            else Rungs(self._n, k, failure, Fraction(step), start)
        )
        self._process = os.getpid()
        self._rung, self._rises, self._submitted = 0, 0, 0
        self._interval = self.rungs.interval(rung=0, rises=0)
        self._lock = threading.Lock()

    @spelled
    def submit(self, predictions: ArrayLike) -> Standing:
        """Judge ``predictions``, one for each label, in the order of the labels."""
        given = self._read_predictions(predictions)
        same_process(self._process, hint="submit to the process that made the ladder")
        with self._lock:
            if self._submitted == self.rungs.submissions:
                raise Refused(
                    f"all {self._submitted:,} submissions have been made; further ones would need "
                    "fresh labels",
                    code="exhausted",
                )
            self._submitted += 1
            total = sum_of_column(lambda rows: self._values(given, rows), self._rows)
            above = Fraction(total, self._n * UNIT) - self.rungs.baseline
            reached = math.floor(above / self.rungs.step)
            improved = reached > self._rung
            if improved:
                self._rung, self._rises = reached, self._rises + 1
                self._interval = self.rungs.interval(rung=reached, rises=self._rises)
            return self._standing(improved)

    def _values(self, predictions: NDArray[Any], rows: NDArray[Any]) -> NDArray[Any]:
        score = operator.eq if self._score is None else self._score
        return np.asarray(score(predictions[rows], self._labels[rows]))

    def _standing(self, improved: bool) -> Standing:
        value = float(self.rungs.height(self._rung))
        return Standing(value, improved, self._interval, float(self._confidence))

    @property
    def best(self) -> Standing:
        """The present standing."""
        with self._lock:
            return self._standing(False)

    @property
    def step(self) -> Fraction:
        """How far apart the rungs are."""
        return self.rungs.step

    @property
    def error(self) -> float:
        """Half the length of the widest interval that is possible once a rung is reached."""
        return self.rungs.width

    @property
    def remaining(self) -> int:
        """How many submissions may still be made."""
        return self.rungs.submissions - self._submitted

    @property
    def guarantee(self) -> TotalVariation:
        """No privacy at all: one label can decide whether a rung is reached."""
        return TotalVariation(1)

    def explain(self) -> str:
        """What is promised, in words."""
        rungs = self.rungs
        return (
            f"{rungs.submissions:,} submission{'s' * (rungs.submissions > 1)} judged by "
            f"{self._n:,} labels on {rungs.count:,} rung{'s' * (rungs.count > 1)}, "
            f"{float(rungs.step):.3g} apart. With {percent(self._confidence)} confidence, at "
            "every time and once a rung is reached, the leader's true score is at most "
            f"{rungs.radius:.3g} below its rung and no submission's is more than "
            f"{float(rungs.step) + rungs.radius:.3g} above it; "
            "less while few rungs are used.\nNo noise is added: nobody's label is protected."
        )

    def _read_predictions(self, predictions: ArrayLike) -> NDArray[Any]:
        try:
            given = np.asarray(predictions)
        except ValueError:  # rows of different lengths
            raise InvalidArgument.of_data("predictions", "an array", predictions) from None
        if given.ndim == 0 or len(given) != self._n:
            raise InvalidArgument(
                "predictions",
                f"an array with one prediction for each of {self._n:,} labels",
                f"an array of shape {given.shape}",
                hint="predict for every row of the test set, in its order",
            )
        if self._score is None:
            _check_comparable(given, self._labels)
        else:  # which is shown no label
            check_column_function(lambda rows: self._values(given, rows), self._rows)
        return given

    def __reduce__(self) -> NoReturn:
        raise Refused("a ladder cannot be copied or pickled: each copy would start again")

    def __repr__(self) -> str:
        return f"Ladder(n={self._n:,}, step={float(self.step):.3g}, remaining={self.remaining:,})"


def _check_comparable(predictions: NDArray[Any], labels: NDArray[Any]) -> None:
    """Refuse predictions that could not be equal to any label: that would be a mistake.

    The predictions are the submitter's own, and the type of the labels is public, so the refusal
    reveals nothing.
    """
    given, kind = predictions.dtype.kind, labels.dtype.kind
    numbers = given in _NUMBERS and kind in _NUMBERS
    same = numbers or given == kind or "O" in (given, kind) or {given, kind} <= {"U", "T"}
    whole = kind not in "biu" or given not in "f" or bool(np.all(predictions == predictions // 1))
    missing = given == "f" and bool(np.isnan(predictions).any())
    if predictions.ndim == 1 and same and whole and not missing:
        return
    raise InvalidArgument(
        "predictions",
        f"one for each label and of its kind, {labels.dtype}",
        f"an array of {predictions.dtype} of shape {predictions.shape}"
        + (", with NaN in it" if missing else ", with fractions in it" if not whole else ""),
        hint=Phrase("round probabilities to labels, or give the ladder a {score=}"),
    )


def _read_labels(labels: ArrayLike, *, scored: bool) -> NDArray[Any]:
    try:
        array = np.array(labels)
    except ValueError:  # rows of different lengths
        array = np.zeros(())
    if 0 < array.ndim <= (array.ndim if scored else 1) and 0 < len(array) <= LARGEST_SAMPLE:
        array.flags.writeable = False
        return array
    raise InvalidArgument.of_data(
        "labels",
        f"an array of 1 to {LARGEST_SAMPLE:,} labels"
        + ("" if scored else ", one number or text each"),
        labels,
        hint="" if scored else Phrase("labels of several numbers need a {score=}"),
    )


def _read_step(step: Number, baseline: Fraction) -> Fraction:
    exact = positive(step, name="step")
    if (1 - baseline) / MOST_RUNGS <= exact <= 1 - baseline:
        return exact
    raise InvalidArgument.of(
        "step",
        f"between 1/{MOST_RUNGS} of the scores above the baseline and all of them",
        step,
        hint="leave it out for the step of least error",
    )


# -- ladder bound ----------------------------------------------------------------------------------
# How many submissions a ladder can ever be asked to judge, and what follows for its rungs.
#
# A ladder of m rungs answers each of k submissions by the rung that the best so far has reached.
# The answers never fall, so a history of t answers is determined by the times at which the best
# rose and the rungs it rose to: with j rises there are C(t, j)·C(m, j) of them, C(t + m, m) in all.
# A submission is determined by the history before it. So the number of submissions that can ever be
# made is, with j rises before them,
#
#     N(j) = Σ over t < k of C(t, j)·C(m, j) = C(k, j + 1)·C(m, j),      in all C(k + m, m + 1),
#
# by the Vandermonde and hockey-stick identities. Blum and Hardt ("The Ladder", 2015, Theorem 3.1)
# bound the same number by e·(4k/η)^(1/η + 2) for rungs η apart.
#
# The failure allowed is split evenly over j, so a ladder of which few rungs were used has shorter
# intervals. All submissions after j rises have a sample mean within KL(p̂‖p) ≤ L(j)/n of their true
# mean, L(j) = ln(2·(number of j's)·N(j)/β), on both sides: see `validity`.


MOST_RUNGS: Final = 1000
_STEP: Final = 2.0**-32  # by which values are rounded


@dataclass(frozen=True)
class Rungs:
    """The scores baseline, baseline + step, …, up to 1, for n records and k submissions.

    >>> rungs = Rungs(n=10**4, submissions=1000, failure=Fraction(1, 20), step=Fraction(1, 10))
    >>> rungs.count, math.comb(1010, 11) == sum(rungs.questions(j) for j in range(11))
    (10, True)
    >>> low, high = rungs.interval(rung=7, rises=3)        # the best so far has reached 0.7
    >>> round(low, 3), round(high, 3)
    (0.664, 0.832)
    """

    n: int
    submissions: int
    failure: Fraction
    step: Fraction
    baseline: Fraction = Fraction(0)

    @property
    def count(self) -> int:
        """m: how many rungs lie above the baseline."""
        return math.floor((1 - self.baseline) / self.step)

    @property
    def _classes(self) -> int:
        return min(self.count, self.submissions - 1) + 1

    def questions(self, rises: int) -> int:
        """N(j): how many different submissions there are after j rises."""
        return math.comb(self.submissions, rises + 1) * math.comb(self.count, rises)

    @cached_property
    def _exponents(self) -> list[float]:
        """The largest L(i) over i ≤ j, for each j."""
        most, exponents = 0, []
        for j in range(self._classes):
            most = max(most, self.questions(j))
            exponents.append(validity.exponent(2 * self._classes * most, failure=self.failure))
        return exponents

    def height(self, rung: int) -> Fraction:
        """The score at a rung."""
        return self.baseline + rung * self.step

    def interval(self, *, rung: int, rises: int) -> tuple[float, float]:
        """Where the true score of the best so far lies, if it rose to this rung in j rises.

        The leader was submitted after j − 1 rises and reached the rung; every submission so far
        came after at most j rises, and did not reach the next rung.
        """
        low = 0.0
        if rises:
            height, exponent = round_down(self.height(rung)), self._exponents[rises - 1]
            low = max(0.0, validity.lower_end(height, self.n, exponent) - _STEP)
        next_up = min(1.0, round_up(self.height(rung + 1)))
        exponent = self._exponents[min(rises, self._classes - 1)]
        return low, min(1.0, validity.upper_end(next_up, self.n, exponent) + _STEP)

    @cached_property
    def radius(self) -> float:
        """How far any submission's score can be from its true score, whatever happens."""
        # N(j) grows as long as (k − j − 1)·(m − j) > (j + 2)·(j + 1), so it has a single peak.
        k, m, j = self.submissions, self.count, 0
        while j + 1 < self._classes and (k - j - 1) * (m - j) > (j + 2) * (j + 1):
            j += 1
        most = validity.exponent(2 * self._classes * self.questions(j), failure=self.failure)
        return min(1.0, validity.radius(self.n, most) + _STEP)

    @property
    def width(self) -> float:
        """Half the length of the widest interval: step/2 + radius."""
        return min(1.0, round_up(self.step / 2) + self.radius)


def best_rungs(*, n: int, submissions: int, failure: Fraction, baseline: Fraction) -> Rungs:
    """The step of least width: more rungs are finer, but allow more different submissions."""
    # The width falls to one minimum and then rises, apart from the rounding of logarithms.
    best = Rungs(n, submissions, failure, 1 - baseline, baseline)
    for count in range(2, MOST_RUNGS + 1):
        rungs = Rungs(n, submissions, failure, (1 - baseline) / count, baseline)
        if rungs.width > best.width * 1.05:
            break
        best = min(best, rungs, key=lambda one: one.width)
        if rungs.radius >= 1:  # as it is with even more rungs
            break
    return best
