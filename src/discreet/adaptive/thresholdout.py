"""Thresholdout: a holdout that can be asked again and again, as long as training agrees with it.

Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "The reusable holdout", Science 2015. Each
question is first answered from training data. Only if the holdout disagrees by more than a
threshold is the holdout's own answer given, and only such a hit tells anything worth counting.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from fractions import Fraction
from os import PathLike
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.adaptive.answer import Checked
from discreet.adaptive.doors import (
    percent,
    read_confidence,
    read_count,
    read_epsilon,
    read_error,
    same_process,
    upward,
)
from discreet.adaptive.thresholdout_bound import MOST_HITS, Settings, Terms, choose
from discreet.errors import InvalidArgument, Refused
from discreet.exact import Number, non_negative, number
from discreet.guarantees import Guarantee, Pure, TotalVariation
from discreet.mechanisms.query_values import (
    EXAMPLE,
    UNIT,
    check_column_function,
    sum_of_column,
    sum_of_records,
)
from discreet.mechanisms.scores import read_flag
from discreet.mechanisms.statistical_queries import LARGEST_SAMPLE, Records, read_sample
from discreet.spelling import spelled

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class Thresholdout:
    """Means of functions φ: record → [0, 1] that hold on the population, asked one by one.

    ``training`` is data that may be looked at freely; ``holdout`` was drawn from the population,
    one record independent of the other and of training, and is never shown. A question is
    answered from training where that agrees with the holdout, else from the holdout; ``hits``
    is how often that may happen among ``queries`` questions. In the place of training there may
    be a number: then each question brings a ``guess``, from about as many records.

    The comparisons are one run of `SparseVector`: Laplace noise on the threshold once, and on
    each comparison, of holdout − training and of training − holdout. A hit is answered by its
    free noisy lead, rounded to a multiple of 1/``levels``. So all answers together are
    ε-differentially private for the holdout, when one of its records is replaced
    (``guarantee``); training has no protection. All answers together are within their
    ``error`` of the population's values with probability ``confidence``: see
    `thresholdout_bound`, which knows a bound by privacy and one by counting.

    Give ``epsilon``, or ``error``, for the least ε that gives this error, or neither, for the ε
    of the least width by privacy. ``threshold`` is chosen such that questions that were fixed
    beforehand use up half of the hits, on average. ``private=False`` adds no noise at all:
    errors are much smaller, and nobody in the holdout is protected.

    With a ``ledger`` the guarantee is charged once, before the first answer, to a ``dataset`` of
    its own (``create=True`` makes it), in the name of ``analyst`` if one is given: nobody can make
    the holdout a second time.

    >>> clicks = np.arange(20_000) % 4 == 0                      # a quarter of all records
    >>> train, held = clicks[:10_000], clicks[10_000:]
    >>> holdout = Thresholdout(train, held, queries=100, hits=5, epsilon=1)
    >>> answer = holdout.ask(lambda click: click)
    >>> answer.value, answer.hit, round(answer.error, 3), holdout.guarantee
    (0.25, False, 0.061, Pure(epsilon=Fraction(1, 1)))
    >>> overfitted = holdout.ask(lambda click: click, guess=0.9)
    >>> overfitted.hit, overfitted.value < 0.4, holdout.remaining_hits
    (True, True, 4)
    """

    @spelled
    def __init__(
        self,
        training: Records | int,
        holdout: Records,
        *,
        queries: int,
        hits: int,
        confidence: Number = Fraction(95, 100),
        error: Number | None = None,
        epsilon: Number | None = None,
        threshold: Number | None = None,
        private: bool = True,
        ledger: str | PathLike[str] | Ledger | None = None,
        create: bool = False,
        dataset: str | None = None,
        analyst: str | None = None,
    ) -> None:
        self._confidence = read_confidence(confidence)
        asked = read_count(queries, name="queries")
        used = read_count(hits, name="hits", most=MOST_HITS)
        if used > asked:
            given = InvalidArgument.describe_parameter(hits)
            raise InvalidArgument(name="hits", expected="at most queries", given=given)
        goal = None if error is None else read_error(error)
        loss = None if epsilon is None else read_epsilon(epsilon)
        limit = None if threshold is None else _read_threshold(threshold)
        self._private = read_flag(private, name="private")
        if error is not None and epsilon is not None:
            given = "both"
            raise InvalidArgument(name="error", expected="given without epsilon", given=given)
        if epsilon is not None and not self._private:
            hint = "leave out private=False or epsilon"
            given = InvalidArgument.describe_parameter(epsilon)
            raise InvalidArgument(name="epsilon", expected="None", given=given, hint=hint)
        if ledger is not None and not self._private:
            raise Refused(
                "without noise nothing is promised to the holdout, so a ledger has nothing to "
                "charge: leave out ledger= or private=False"
            )
        if isinstance(training, int | np.integer):
            self._training = None
            size = read_count(training, name="training", most=LARGEST_SAMPLE)
        else:
            self._training = read_sample(training, name="training")
            size = len(self._training)
        if training is holdout:
            raise InvalidArgument(
                name="training",
                expected="other records than the holdout's, and independent of them",
                given="the same",
            )
        self._holdout = read_sample(holdout, name="holdout")
        self._n = len(self._holdout)
        terms = Terms(self._n, size, asked, used, failure=1 - self._confidence)
        self.settings: Settings = choose(
            terms, private=self._private, epsilon=loss, threshold=limit, error=goal
        )
        if goal is not None and self.settings.width > goal:
            raise _too_narrow(goal, self.settings)
        if self.settings.width >= 1:
            raise _nothing(self.settings)
        if ledger is not None:
            self._charge(ledger, create=create, dataset=dataset, analyst=analyst)
        self._counts = self.settings.by_counting < self.settings.by_privacy
        mechanism = self.settings.mechanism
        self._run = None if mechanism is None else mechanism.start()
        self._asked, self._used = 0, 0
        self._process = os.getpid()
        self._error = self._stated()
        self._lock = threading.Lock()

    def _charge(self, ledger: str | PathLike[str] | Ledger, **where: Any) -> None:
        from discreet.adaptive.holdout_account import charge_holdout

        assert self.settings.epsilon is not None
        terms = self.settings.terms
        told = {
            "for": "a reusable holdout",
            "mechanism": "SparseVector",
            "epsilon": str(self.settings.epsilon),
            "records": self._n,
            "queries": terms.queries,
            "hits": terms.hits,
        }
        charge_holdout(Pure(self.settings.epsilon), told=told, ledger=ledger, **where)

    @spelled
    def ask(
        self, phi: Callable[[Any], Any], *, guess: Number | None = None, vectorized: bool = False
    ) -> Checked:
        """Return the mean of φ: that of training (or the ``guess``) where the holdout agrees.

        ``phi`` is φ, a function of one record, or of an array of rows with ``vectorized=True``,
        treated one by one; what it returns is clamped to [0, 1], and NaN or an exception counts as
        0. A ``guess``, from 0 to 1, takes the place of training's mean; it is needed where training
        is a number.
        """
        self._check(phi, vectorized)
        target = self._target(phi, guess, vectorized)
        with self._lock:
            self._check_budget()
            self._asked += 1  # counted before any record of the holdout is read
            error = self._error  # of a question after the hits so far
            off = _total(phi, self._holdout, vectorized) - target
            lead = self._lead(off)
            if lead is not None:
                self._used += 1
                self._error = self._stated()
        value = Fraction(target, self._n * UNIT)
        if lead is not None:
            value = self._rounded(value + lead)
        return Checked(float(value), error, float(self._confidence), lead is not None)

    def _lead(self, off: int) -> Fraction | None:
        """By how much the holdout is off from training, noise included; None if they agree."""
        steps = self._n * UNIT
        if self._run is None:
            return Fraction(off, steps) if abs(off) > self.settings.threshold * steps else None
        for sign in (1, -1):
            gap = self._run.ask(sign * off)
            if gap is not None:  # the lead over the noisy threshold
                return sign * (self.settings.threshold + Fraction(gap) / steps)
        return None

    def _rounded(self, value: Fraction) -> Fraction:
        levels = self.settings.levels
        return Fraction(min(max(math.floor(value * levels + Fraction(1, 2)), 0), levels), levels)

    def _target(self, phi: Callable[[Any], Any], guess: Number | None, vectorized: bool) -> int:
        """What the holdout's sum is compared with: the training mean, in steps of that sum."""
        if guess is not None:
            mean = number(guess, name="guess")
            if not 0 <= mean <= 1:
                given = InvalidArgument.describe_parameter(guess)
                raise InvalidArgument(name="guess", expected="from 0 to 1", given=given)
        elif self._training is None:
            raise InvalidArgument(
                name="guess",
                expected="a number, as there is no training data",
                given="None",
                hint="as in ask(phi, guess=0.8)",
            )
        else:
            mean = Fraction(_total(phi, self._training, vectorized), len(self._training) * UNIT)
        return math.floor(mean * self._n * UNIT + Fraction(1, 2))

    def _stated(self) -> float:
        """By privacy one width holds for all; by counting, answers after fewer hits are nearer."""
        return self.settings.counted(self._used) if self._counts else self.settings.by_privacy

    def _check(self, phi: Callable[[Any], Any], vectorized: bool) -> None:
        if not callable(phi):
            given = InvalidArgument.describe_parameter(phi)
            raise InvalidArgument(name="phi", expected="a function", given=given, hint=EXAMPLE)
        for records in (self._training, self._holdout) if vectorized else ():
            if isinstance(records, np.ndarray):
                check_column_function(phi, records)
            elif records is not None:
                raise InvalidArgument(
                    name="vectorized", expected="False for records that are no array", given="True"
                )

    def _check_budget(self) -> None:
        terms = self.settings.terms
        same_process(self._process, hint="ask from the process that made the holdout")
        if self._used == terms.hits:
            raise Refused(
                f"the holdout has answered {terms.hits:,} time{'s' * (terms.hits > 1)} in the "
                "place of training, which is all that it was made for; further answers would "
                "need a fresh holdout"
            )
        if self._asked == terms.queries:
            raise Refused(
                f"all {terms.queries:,} questions have been asked; further answers would need a "
                "fresh holdout"
            )

    @property
    def guarantee(self) -> Guarantee:
        """What all answers together say about one record of the holdout: Pure(ε) or nothing."""
        epsilon = self.settings.epsilon
        return TotalVariation(1) if epsilon is None else Pure(epsilon)

    @property
    def error(self) -> float:
        """The width that all answers keep, whatever is asked."""
        return self.settings.width

    @property
    def method(self) -> str:
        """Which bound gives ``error``: "privacy" or "counting"."""
        return "counting" if self._counts else "privacy"

    @property
    def bounds(self) -> dict[str, float]:
        """Both widths; that of the method is the one that is stated."""
        return {"privacy": self.settings.by_privacy, "counting": self.settings.by_counting}

    @property
    def threshold(self) -> float:
        """How far training and holdout may be apart, before noise."""
        return float(self.settings.threshold)

    @property
    def remaining(self) -> int:
        """How many questions may still be asked."""
        terms = self.settings.terms
        return 0 if self._used == terms.hits else terms.queries - self._asked

    @property
    def remaining_hits(self) -> int:
        """How often the holdout may still answer in the place of training."""
        return self.settings.terms.hits - self._used

    def explain(self) -> str:
        """What is promised, in words."""
        terms = self.settings.terms
        privacy = (
            f"To each record of the holdout it promises {self.guarantee}, all answers together, "
            "when it is replaced by another."
            if self.settings.epsilon is not None
            else "No noise is added: nobody in the holdout is protected."
        )
        other = "privacy" if self._counts else "counting"
        beside = f"{self.bounds[other]:.4g}" if self.bounds[other] < 1 else "nothing"
        promise = (
            f"All answers are within {self.error:.4g} of the population with "
            f"{percent(self._confidence)} confidence, by {self.method} (by {other}: {beside})."
        )
        return (
            f"{terms.queries:,} adaptive question{'s' * (terms.queries > 1)} to a holdout of "
            f"{self._n:,} records, at most {terms.hits:,} of them answered from it: where training "
            f"is off by more than about {self.threshold:.3g}.\n{promise}\n{privacy}"
        )

    def __reduce__(self) -> NoReturn:
        raise Refused("a holdout cannot be copied or pickled: each copy would count its own hits")

    def __repr__(self) -> str:
        return (
            f"Thresholdout(n={self._n:,}, error={self.error:.3g}, guarantee={self.guarantee!r}, "
            f"remaining={self.remaining:,}, remaining_hits={self.remaining_hits:,})"
        )


def _total(phi: Callable[[Any], Any], records: Records, vectorized: bool) -> int:
    if vectorized and isinstance(records, np.ndarray):
        return sum_of_column(phi, records)
    return sum_of_records(phi, records)


def _read_threshold(threshold: Number) -> Fraction:
    exact = non_negative(threshold, name="threshold")
    if exact <= 1:
        return exact
    given = InvalidArgument.describe_parameter(threshold)
    expected = "from 0 to 1, as two shares are never further apart"
    raise InvalidArgument(name="threshold", expected=expected, given=given)


def _nothing(settings: Settings) -> Refused:
    terms = settings.terms
    noise = "" if settings.epsilon is None else f" at ε = {float(settings.epsilon):g}"
    return Refused(
        f"with {terms.hits:,} of {terms.queries:,} answers from {terms.n:,} records{noise} nothing "
        "can be said about the population, for every share is within 1 of every other: bring more "
        "records, allow fewer hits or a larger epsilon, or lower the confidence"
    )


def _too_narrow(goal: Fraction, nearest: Settings) -> InvalidArgument:
    return InvalidArgument(
        name="error",
        expected=f"at least {upward(nearest.width)} for {nearest.terms.queries:,} questions and "
        f"{nearest.terms.hits:,} hits on {nearest.terms.n:,} records",
        given=f"{float(goal):g}",
        hint="ask fewer questions, allow fewer hits, lower the confidence or bring more records",
    )
