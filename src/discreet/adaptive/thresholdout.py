"""Thresholdout: a holdout that can be asked again and again, as long as training agrees with it.

Dwork, Feldman, Hardt, Pitassi, Reingold and Roth, "The reusable holdout", Science 2015. Each
question is first answered from training data. Only if the holdout disagrees by more than a
threshold is the holdout's own answer given, and only such a hit reveals anything worth counting.

How far can all answers at once be from the population's? The comparisons are those of one run of
the sparse vector technique, with Laplace noise a·A on the threshold T and b·L on each compared
score, where A and L are standard Laplace. With h for the holdout's own mean,

    an answer t from training was no hit:  |h − t| + b·L < T + a·A,  so |t − h| ≤ T + a·A − b·L;
    an answer from the holdout is h ± (b·L − a·A), rounded: off by r more.

All noises are independent and each L is fresh, so the largest error of k answers is at most

    X = max(max(T, r) + W, W′ + r),   W = a·A + b·(the largest of k L's),  W′ with 2k L's,

as Laplace noise is symmetric. It is k in W because, of the two comparisons of a question, only the
one on the side where h lies can leave a·A − b·L in an answer: as T + a·A − b·L when it is no hit,
as r + a·A − b·L when it is one, since a hit on the other side has b·L − a·A > T. It is 2k in W′
because any of them may become a hit that is off by b·L − a·A, and r.

From X to the population there are two ways, and the one with the smaller width is chosen
beforehand: by privacy, superquantile(X) + drift, and by counting, a quantile of X plus the distance
within which all questions that can ever come up are right; both are in `validity`. With all noise
fixed, a question is determined by which of the earlier ones were hits and which of m + 1 values
each hit was answered by: after j hits there are C(k, j + 1)·(m + 1)^j over all times. The failure
allowed is split evenly over j, so the fewer hits there were, the smaller the error of an answer.
"""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.adaptive import validity as counting
from discreet.adaptive.answer import Checked, rounded
from discreet.adaptive.arguments import (
    percent,
    read_confidence,
    read_count,
    read_epsilon,
    read_error,
    same_process,
    upward,
)
from discreet.adaptive.validity import drift, superquantile
from discreet.errors import InvalidArgument, Phrase, Refused
from discreet.guarantees import Guarantee, Pure, TotalVariation
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import read_flag
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.mechanisms.statistical_queries import (
    LARGEST_SAMPLE,
    UNIT,
    Records,
    check_query,
    read_sample,
    sum_of,
)
from discreet.noise.additive import fine_exponent
from discreet.numeric.exact import Number, non_negative, number

if TYPE_CHECKING:
    from discreet.ledger.ledger import Ledger


class Thresholdout:
    """Means of functions φ: record → [0, 1] that hold on the population, asked one by one.

    ``training`` is data that may be looked at freely; ``holdout`` was drawn from the population,
    each record independent of the others and of training, and is never shown. A question is
    answered from training where that agrees with the holdout, else from the holdout; ``hits``
    is how often the latter may happen among ``queries`` questions. Training may also be a number:
    then each question brings a ``guess``, computed from about that many records.

    The comparisons are one run of `SparseVector`: Laplace noise on the threshold once, and on
    each comparison, of holdout − training and of training − holdout. A hit is answered by its
    free noisy lead, rounded to a multiple of 1/``levels``. So all answers together are
    ε-differentially private for the holdout, when one of its records is replaced
    (``guarantee``); training has no protection. All answers together are within their
    ``error`` of the population's values with probability ``confidence``: there
    is a bound by privacy and one by counting.

    Give ``epsilon``; or ``error``, to get the least ε with this error; or neither, to get the ε
    with the least width by privacy. ``threshold`` is chosen such that questions that were fixed
    beforehand use up half of the hits, on average. ``private=False`` adds no noise at all:
    errors are much smaller, and nobody in the holdout is protected.

    With a ``ledger`` the guarantee is charged once, before the first answer, to a ``dataset`` of
    its own (``create=True`` makes it), in the name of ``analyst`` if one is given, so that nobody
    can make the holdout a second time.

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
            raise InvalidArgument.of("hits", "at most queries", hits)
        goal = None if error is None else read_error(error)
        loss = None if epsilon is None else read_epsilon(epsilon)
        limit = None if threshold is None else non_negative(threshold, name="threshold")
        if limit is not None and limit > 1:
            expected = "from 0 to 1, as two shares are never further apart"
            raise InvalidArgument.of("threshold", expected, threshold)
        self._private = read_flag(private, name="private")
        if error is not None and epsilon is not None:
            raise InvalidArgument.conflict("error", "given without epsilon")
        if epsilon is not None and not self._private:
            hint = Phrase("leave out {private=False} or epsilon")
            raise InvalidArgument.of("epsilon", "None", epsilon, hint=hint)
        if ledger is not None and not self._private:
            raise Refused(
                "without noise nothing is promised to the holdout, so a ledger has nothing to "
                "charge",
                remedy=Phrase("leave out {ledger=} or {private=False}"),
            )
        if isinstance(training, int | np.integer):
            self._training = None
            size = read_count(training, name="training", most=LARGEST_SAMPLE)
        else:
            self._training = read_sample(training, name="training")
            size = len(self._training)
        if training is holdout:
            raise InvalidArgument(
                "training", "other records than the holdout's, and independent of them", "the same"
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
            from discreet.adaptive.ledger_account import NamedAccount, charge_holdout

            charge_holdout(self.settings, NamedAccount(ledger, create, dataset, analyst))
        self._counts = self.settings.by_counting < self.settings.by_privacy
        mechanism = self.settings.mechanism
        self._run = None if mechanism is None else mechanism.start()
        self._asked, self._used = 0, 0
        self._process = os.getpid()
        self._error = self._stated()
        self._lock = threading.Lock()

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
        samples = [one for one in (self._training, self._holdout) if one is not None]
        expected = "False for records that are not an array"
        check_query(phi, *samples, vectorized=vectorized, expected=expected, hint="")
        target = self._target(phi, guess, vectorized)
        with self._lock:
            self._check_budget()
            self._asked += 1  # counted before any record of the holdout is read
            error = self._error  # of an answer after the hits so far
            off = sum_of(phi, self._holdout, vectorized=vectorized) - target
            lead = self._lead(off)
            if lead is not None:
                self._used += 1
                self._error = self._stated()
        value = Fraction(target, self._n * UNIT)
        if lead is not None:
            value = min(max(rounded(value + lead, self.settings.levels), Fraction(0)), Fraction(1))
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

    def _target(self, phi: Callable[[Any], Any], guess: Number | None, vectorized: bool) -> int:
        """What the holdout's sum is compared with: the training mean, in steps of that sum."""
        if guess is not None:
            mean = number(guess, name="guess")
            if not 0 <= mean <= 1:
                raise InvalidArgument.of("guess", "from 0 to 1", guess)
        elif self._training is None:
            raise InvalidArgument.of(
                "guess",
                "a number, as there is no training data",
                None,
                hint="as in ask(phi, guess=0.8)",
            )
        else:
            total = sum_of(phi, self._training, vectorized=vectorized)
            mean = Fraction(total, len(self._training) * UNIT)
        return math.floor(mean * self._n * UNIT + Fraction(1, 2))

    def _stated(self) -> float:
        """The width by privacy, one for all answers, or by counting, smaller after fewer hits."""
        return self.settings.counted(self._used) if self._counts else self.settings.by_privacy

    def _check_budget(self) -> None:
        terms = self.settings.terms
        same_process(self._process, hint="ask from the process that made the holdout")
        if self._used == terms.hits:
            raise Refused(
                f"the holdout has answered {terms.hits:,} time{'s' * (terms.hits > 1)} in the "
                "place of training, which is all that it was made for; further answers would "
                "need a fresh holdout",
                code="exhausted",
            )
        if self._asked == terms.queries:
            raise Refused(
                f"all {terms.queries:,} questions have been asked; further answers would need a "
                "fresh holdout",
                code="exhausted",
            )

    @property
    def guarantee(self) -> Guarantee:
        """The promise of all answers together to one record of the holdout: Pure(ε), or none."""
        epsilon = self.settings.epsilon
        return TotalVariation(1) if epsilon is None else Pure(epsilon)

    @property
    def error(self) -> float:
        """The width that holds for all answers, whatever is asked."""
        return self.settings.width

    @property
    def method(self) -> str:
        """Which bound gives ``error``: "privacy" or "counting"."""
        return "counting" if self._counts else "privacy"

    @property
    def bounds(self) -> dict[str, float]:
        """Both widths; ``error`` is the one of ``method``."""
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
        "error",
        f"at least {upward(nearest.width)} for {nearest.terms.queries:,} questions and "
        f"{nearest.terms.hits:,} hits on {nearest.terms.n:,} records",
        f"{float(goal):g}",
        hint="ask fewer questions, allow fewer hits, lower the confidence or bring more records",
    )


# -- the distance from the answers to the population -----------------------------------------------


_CELLS: Final = 128  # of the grid that noise is rounded up to, per b
_LOW, _HIGH = 8.0, 30.0  # noise below −8a counts as −8a; above 30a it is added by its formula
_UP: Final = 1 + 1e-9  # far more than the rounding error of all sums here
_NICE: Final = ("1", "1.25", "1.6", "2", "2.5", "3.15", "4", "5", "6.3", "8")  # a tenth of a decade
_SHARES: Final = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 50))  # of the failure, for noise
MOST_HITS: Final = 10_000
_STEP: Final = 2.0**-32  # by which values are rounded


@dataclass(frozen=True)
class LargestNoise:
    """A bound on the law of a·A + b·max(L₁, …, L_k), with independent standard Laplace A, L.

    Both terms are rounded up to a grid, so every number about the sum is rounded up.

    >>> noise = LargestNoise(1.0, 2.0, 100)
    >>> noise.tail(20.0) < 0.01 < noise.tail(15.0)
    True
    """

    a: float
    b: float
    count: int

    @cached_property
    def _law(self) -> tuple[NDArray[np.float64], ...]:
        """The values x of the sum, P(sum ≥ x) and E(sum − x)₊; all terms added are positive."""
        step = self.b / _CELLS
        first, chance = _rounded_up(self.a, 1, -_LOW, step)
        largest, chances = _rounded_up(self.b, self.count, math.log(self.count) - _LOW, step)
        reached = np.convolve(chance, chances)[::-1].cumsum()[::-1]
        excess = step * np.append(reached[:0:-1].cumsum()[::-1], 0.0)
        values = first + largest + step * np.arange(reached.size, dtype=np.float64)
        return values, reached * _UP, excess * _UP

    def tail(self, x: float) -> float:
        """At least P(noise > x)."""
        values, reached, _ = self._law
        place = int(np.searchsorted(values, x, side="right"))
        return (float(reached[place]) if place < reached.size else 0.0) + math.exp(-_HIGH)

    def excess(self, s: float) -> float:
        """At least E(noise − s)₊."""
        # (u + v − s)₊ ≤ (min(u, U) + min(v, V) − s)₊ + (u − U)₊ + (v − V)₊
        values, _, excess = self._law
        below = max(0.0, float(values[0]) - s)  # the first is linear between values, and before
        beyond = (self.a + self.b) * math.exp(-_HIGH) / 2
        return float(np.interp(s, values, excess)) + below + beyond

    @property
    def most(self) -> float:
        """Beyond this value there is next to no probability."""
        return (self.a + self.b) * _HIGH + self.b * math.log(self.count)


def _rounded_up(
    scale: float, count: int, low: float, step: float
) -> tuple[float, NDArray[np.float64]]:
    """The largest of `count` Laplace numbers of this scale, moved up to low, low + step, …"""
    high = math.log(count) + _HIGH
    size = math.ceil((high - low) * scale / step) + 1
    x = low + np.arange(size) * (step / scale)
    # P(max > x) = 1 − (1 − q)^k, with q = e^(−x)/2 above 0 and 1 − e^x/2 below.
    tail = np.exp(-np.abs(x)) / 2
    below = np.where(x < 0, np.log(tail), np.log1p(-tail))
    above = -np.expm1(count * below)
    above[-1] = 0.0  # the mass beyond is counted here, and its excess by its formula
    return low * scale, -np.diff(above, prepend=1.0)


@dataclass(frozen=True)
class Terms:
    """What the parties agree on beforehand."""

    n: int  # records of the holdout
    training: int
    queries: int
    hits: int
    failure: Fraction

    @property
    def false_alarm(self) -> float:
        """How likely a question fixed beforehand may be a hit; on average, that uses half of the
        hits."""
        return min(0.5, self.hits / (2 * self.queries))

    @property
    def fluctuation(self) -> float:
        """u: two samples disagree by more than u with probability at most false_alarm/2
        (Hoeffding)."""
        variance = (1 / self.n + 1 / self.training) / 4
        return math.sqrt(2 * variance * math.log(4 / self.false_alarm))

    def questions(self, used: int, levels: int) -> int:
        """How many different questions can come after `used` hits."""
        return math.comb(self.queries, used + 1) * int((levels + 1) ** used)

    def exponent(self, used: int, levels: int, failure: Fraction) -> float:
        """L of both sides of each of them: the largest after `used` hits or fewer."""
        # Their number grows as long as (k − j − 1)·(m + 1) > j + 2, so it has a single peak in j.
        turning = -((2 - (self.queries - 1) * (levels + 1)) // (levels + 2))
        most = self.questions(min(used, max(turning, 0)), levels)
        return counting.exponent(2 * min(self.hits, self.queries) * most, failure=failure)


@dataclass(frozen=True)
class Settings:
    """Noise, threshold and grid, and the width that follows from them."""

    terms: Terms
    epsilon: Fraction | None  #: None: no noise
    threshold: Fraction  #: in the units of the answers

    @cached_property
    def levels(self) -> int:
        """m: answers from the holdout are multiples of 1/m, which moves them by at most T/2."""
        least = max(self.threshold, Fraction(1, self.terms.n))
        return math.ceil(1 / least)

    @cached_property
    def mechanism(self) -> SparseVector | None:
        """The mechanism that compares, in steps of 2^−32 of one record."""
        if self.epsilon is None:
            return None
        return SparseVector(
            sensitivity=UNIT,
            epsilon=self.epsilon,
            threshold=self.threshold * self.terms.n * UNIT,
            hits=self.terms.hits,
            gap=True,
        )

    @cached_property
    def _noise(self) -> tuple[LargestNoise, LargestNoise, float]:
        """W and W′ in units of 1/(n·ε), and that unit."""
        assert self.epsilon is not None
        a, b = _scales(self.terms.hits)
        unit = float(1 / (self.terms.n * self.epsilon)) * _UP
        k = self.terms.queries
        return _largest(a, b, k), _largest(a, b, 2 * k), unit

    @property
    def _rounding(self) -> float:
        """r: answers from the holdout are rounded to 1/m, and leads to a power of two."""
        lead = 0.0
        if self.mechanism is not None:
            step = Fraction(2) ** fine_exponent(self.mechanism.query_scale)
            lead = float(step / (2 * self.terms.n * UNIT))
        return (0.5 / self.levels + lead + _STEP) * _UP

    @property
    def _agreed(self) -> float:
        """max(T, r): how far an answer is off, apart from the noise W."""
        return max(float(self.threshold) * _UP + _STEP, self._rounding)

    def largest_error(self, failure: Fraction) -> float:
        """x such that all answers are within x of the holdout's values, except with probability
        `failure`."""
        t = self._agreed
        if self.epsilon is None:
            return t
        w, wide, unit = self._noise

        def chance(x: float) -> float:
            return w.tail((x - t) / unit) + wide.tail((x - self._rounding) / unit)

        low, high = 0.0, wide.most * unit + t
        if chance(high) > failure:  # the table of the noise does not reach this far
            return math.inf
        for _ in range(50):
            x = (low + high) / 2
            low, high = (low, x) if chance(x) <= failure else (x, high)
        return high

    @cached_property
    def by_privacy(self) -> float:
        """The width by privacy: superquantile of X plus drift."""
        if self.epsilon is None:
            return 1.0
        t = self._agreed
        w, wide, unit = self._noise

        def excess(s: float) -> float:
            return unit * (w.excess((s - t) / unit) + wide.excess((s - self._rounding) / unit))

        beta = self.terms.failure
        error = superquantile(excess, failure=beta, upper=w.most * unit + t)
        return min(1.0, error + drift(Pure(self.epsilon), failure=beta) + _STEP)

    @cached_property
    def _share(self) -> Fraction:
        """The part of the failure that goes to the noise, chosen for the least width."""
        if self.epsilon is None:
            return Fraction(0)
        return min(_SHARES, key=lambda share: self._counted(self.terms.hits - 1, share))

    def counted(self, used: int) -> float:
        """The width by counting for a question after `used` hits."""
        return self._counted(used, self._share)

    def _counted(self, used: int, share: Fraction) -> float:
        beta = self.terms.failure
        last = min(used, self.terms.queries - 1)
        distance = self.terms.exponent(last, self.levels, beta * (1 - share))
        error = self.largest_error(beta * share)
        return min(1.0, error + counting.radius(self.terms.n, distance) + _STEP)

    @cached_property
    def by_counting(self) -> float:
        """The width by counting after all hits but one; it is never wider before."""
        return self.counted(self.terms.hits - 1)

    @property
    def width(self) -> float:
        """The smaller of the two widths, which is chosen beforehand."""
        return min(self.by_privacy, self.by_counting)


def choose(
    terms: Terms,
    *,
    private: bool,
    epsilon: Fraction | None,
    threshold: Fraction | None,
    error: Fraction | None,
) -> Settings:
    """The settings of least width by privacy or, if `error` is given, of least ε for that width.

    If none reaches the error, the nearest settings are returned.
    """

    def settings(epsilon: Fraction | None) -> Settings:
        return Settings(
            terms, epsilon, _threshold(terms, epsilon) if threshold is None else threshold
        )

    if epsilon is not None or not private:
        return settings(epsilon)
    tried = [settings(Fraction(nice) * Fraction(10) ** i) for i in range(-4, 2) for nice in _NICE]
    if error is None:
        return min(tried, key=lambda one: one.by_privacy)
    reaching = (one for one in tried if one.width <= error)
    return next(reaching, None) or min(tried, key=lambda one: one.width)


def _threshold(terms: Terms, epsilon: Fraction | None) -> Fraction:
    """T, such that a question fixed beforehand is a hit with a chance of false_alarm or less.

    Its two values differ by at most u; and with a chance of at most false_alarm/4 on each side
    the noise of a comparison is above w, where P(a·A + b·L > w) is (b²·e^(−w/b) −
    a²·e^(−w/a))/(2·(b² − a²)). No guarantee rests on this rule: it decides how long the hits last.
    """
    if epsilon is None:
        return Fraction(terms.fluctuation)
    a, b = _scales(terms.hits)
    low, high = 0.0, 60.0 * b
    for _ in range(50):
        w = (low + high) / 2
        tail = (b * b * math.exp(-w / b) - a * a * math.exp(-w / a)) / (2 * (b * b - a * a))
        low, high = (low, w) if tail <= terms.false_alarm / 4 else (w, high)
    return Fraction(min(1.0, terms.fluctuation + high / (terms.n * float(epsilon))))


def _scales(hits: int) -> tuple[float, float]:
    """a and b in units of 1/(n·ε): a smaller ε widens both."""
    unit = SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=hits)
    return float(unit.threshold_scale), float(unit.query_scale)


_largest = cache(LargestNoise)
