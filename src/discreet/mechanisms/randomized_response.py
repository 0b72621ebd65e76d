"""Randomized response: each answer is true often enough to count, seldom enough to deny.

Answers are categories 0 … k − 1, of any shape, in their own dtype. What is refused is refused by
type and shape. A category that does not exist is moved to the nearest one that does, so no answer
can make a release fail. No message contains an answer.

With q the probability of keeping an answer, a category that a share s of the answers hold is
reported by an expected share

    p = (1 − q)/k + q·s,        so        s = (p − (1 − q)/k)/q,

and both the estimate and its interval are those of p, mapped through this line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InvalidArgument, Phrase
from discreet.guarantees import Pure, ResponsePair
from discreet.hints import spelled
from discreet.inputs import Categories
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import Values, exactly_one, read_values
from discreet.noise import entropy, uniform
from discreet.noise.bernoulli import Computed, Probability, Rational, coins
from discreet.noise.uniform import LARGEST_BOUND
from discreet.noise.workspace import CHUNK, in_blocks
from discreet.numeric.balls import arb, ball, lower_fraction, sharp, upper
from discreet.numeric.exact import Number, integer, positive, probability

# At ε = 10⁶ a false answer is rarer than one in 10^434294; Arb's exponential goes on to 10³⁰.
LARGEST_EPSILON: Final = 10**6
SMALLEST_EPSILON: Final = Fraction(1, 10**100)
_CHUNK: Final = 2 * CHUNK  # a coin takes 16 bits: more of them fit in the cache


@dataclass(frozen=True, init=False)
class RandomizedResponse:
    """Reports one of k ``categories``, 2 if left out: the true one with probability
    e^ε/(e^ε + k − 1).

    Each of the others is reported with probability 1/(e^ε + k − 1), so no report is more than
    e^ε times likelier from one person than from another. Give the promise (``epsilon``) or the
    lecture's q (``truth``): the truth with probability q, else one of all k categories by a
    fair die, which is the same law with ε = ln(1 + k·q/(1 − q)).

    Answers are integers 0 … k − 1 (with two categories, bools too). Others are moved to the
    nearest category, so no answer can make a release fail. How many there are is public.

    Cost: ``guarantee``, for each person's answer. Error: ``error(0.95, respondents=n)`` for the
    95 % half-width of a share estimated from n reports.

    >>> mechanism = RandomizedResponse(truth=0.5)                  # the lecture's coins: ε = ln 3
    >>> float(mechanism.epsilon), mechanism.law(1).probability(1)
    (1.0986122886681098, Fraction(3, 4))
    >>> reports = mechanism.release(np.arange(10_000) < 3_000)     # 30 % say yes
    >>> reports.dtype, reports.shape
    (dtype('bool'), (10000,))
    >>> estimate = mechanism.estimate(reports)
    >>> abs(estimate.value - 0.3) < 0.1
    True
    """

    epsilon: Fraction  #: the promise; rounded up to a float where ``truth`` was given
    categories: int
    truth: Fraction | None  #: the lecture's q, where the mechanism was given by it

    @spelled
    def __init__(
        self, *, epsilon: Number | None = None, truth: Number | None = None, categories: int = 2
    ) -> None:
        chosen, given = exactly_one(epsilon=epsilon, truth=truth)
        k = _read_categories(categories)
        if chosen == "truth":
            q = probability(given, name="truth")
            loss = Fraction(upper(sharp(lambda: ball(1 + k * q / (1 - q)).log())))
        else:
            q, loss = None, _read_epsilon(given)
        object.__setattr__(self, "epsilon", loss)
        object.__setattr__(self, "categories", k)
        object.__setattr__(self, "truth", q)

    def release(self, value: ArrayLike) -> Any:
        """Return each answer randomized, in the same shape and dtype. Costs ``guarantee``.

        ``value`` is one true answer, or an array of them, one per person.
        """
        answers = read_answers(value, self.categories)
        work = self._flip if self.categories == 2 else self._roll
        return answers.shaped(_in_chunks(work, answers.flat))

    def _flip(self, value: NDArray[Any], out: NDArray[Any]) -> None:
        """Two categories: a coin decides which answers are flipped."""
        yes = value > 0  # what clamping to 0 and 1 comes to
        np.not_equal(yes, coins(self._coin, value.size), out=out, casting="unsafe")

    def _roll(self, value: NDArray[Any], out: NDArray[Any]) -> None:
        """More categories: a coin decides which answers a throw of a k-sided die replaces."""
        clamp(value, self.categories, out)
        # truth + replaced·(die − truth): without branches, which a coin makes unpredictable.
        # Unsigned numbers wrap around, there and back.
        throw = uniform.dice if self.categories <= uniform.MOST_SIDES else uniform.integers
        move: NDArray[Any] = throw(self.categories, value.size)
        truth = out.astype(move.dtype)
        move -= truth
        move *= coins(self._coin, value.size)
        move += truth
        np.copyto(out, move, casting="unsafe")

    @spelled
    def estimate(self, responses: ArrayLike, confidence: Number = Fraction(95, 100)) -> Estimate:
        """Return the share of each category among those who answered; with two, only that of 1.

        ``responses`` are what ``release`` returned, of all who answered: whole numbers from 0 to
        ``categories`` − 1. Unbiased, with its standard error and an interval: see ``Estimate``.
        ``confidence`` is that of the interval, between 0 and 1; 0.95 if left out. Costs nothing.
        """
        answers = read_answers(responses, self.categories)
        return self._channel.estimate(answers.flat, probability(confidence, name="confidence"))

    @cached_property
    def guarantee(self) -> Pure | ResponsePair:
        """ε-differential privacy for each answer, with nobody to be trusted (local privacy).

        With more than two categories it is the tighter profile of this very law.

        >>> RandomizedResponse(epsilon=1).guarantee.tv
        0.4621171572600098
        >>> RandomizedResponse(epsilon=1, categories=10).guarantee.tv
        0.14663257409341549
        """
        # Two true answers a and b differ in the probabilities of the reports a and b alone. Where
        # `truth` was given, ε is rounded up, and the profile grows with ε.
        if self.categories == 2:
            return Pure(self.epsilon)
        return ResponsePair(self.epsilon, self.categories)

    def error(self, confidence: Number = Fraction(95, 100), *, respondents: int) -> float:
        """Return the half-width of an estimated share at the worst true share.

        ``confidence`` is between 0 and 1; 0.95 if left out. ``respondents`` is how many answer.
        By the normal approximation, for planning; ``estimate`` gives intervals without it.

        >>> round(RandomizedResponse(truth=0.5).error(0.95, respondents=10_000), 4)
        0.0196
        """
        return self._channel.half_width(
            probability(confidence, name="confidence"),
            integer(respondents, name="respondents", minimum=1),
        )

    @property
    def variance(self) -> float:
        """The largest variance of one unbiased report of a category around its truth."""
        return self._channel.variance

    @property
    def inputs(self) -> Categories:
        """Any answer may become any other."""
        return Categories(self.categories)

    def law(self, category: int) -> laws.Finite | laws.Gibbs:
        """Return the exact law of ``release(category)``: rational where ``truth`` was given."""
        true = min(max(int(category), 0), self.categories - 1)
        if self.truth is None:
            scores = [int(outcome == true) for outcome in range(self.categories)]
            return laws.Gibbs(scores, rate=self.epsilon)
        weights = [(1 - self.truth) / self.categories] * self.categories
        weights[true] += self.truth
        return laws.Finite(range(self.categories), weights)

    # Each false category has the probability  other = 1/(e^ε + k − 1).  An answer is flipped
    # (k = 2) with probability `other`, or replaced by a throw with probability k·other.

    @cached_property
    def _coin(self) -> Probability:
        """The coin that decides whether an answer is flipped or replaced."""
        sides = 1 if self.categories == 2 else self.categories
        if self.truth is not None:
            return Rational(sides * (1 - self.truth) / self.categories)
        return Computed(partial(_false, sides, self.epsilon, self.categories))

    @cached_property
    def _channel(self) -> Channel:
        if self.truth is not None:
            return Channel(self.truth, self.categories)
        # q = 1 − k·other, to 80 bits
        kept = sharp(lambda: _false(1, self.epsilon, self.categories) * ball(self.epsilon).expm1())
        return Channel(lower_fraction(kept), self.categories)


def _false(sides: int, epsilon: Fraction, categories: int) -> arb:
    """The probability of ``sides`` false categories; irrational for rational ε (Lindemann).

    It is computed as the small number that it is, not as one minus a large one, so that its
    first digits are known at once.
    """
    return sides / (ball(epsilon).exp() + (categories - 1))


def _in_chunks(
    work: Callable[[NDArray[Any], NDArray[Any]], None], value: NDArray[Any]
) -> NDArray[Any]:
    """Return what ``work(value, out)`` writes, chunk by chunk: its arrays stay small."""
    out = np.empty_like(value)
    if value.size <= _CHUNK:
        work(value, out)
        return out

    def block(start: int, end: int) -> None:
        for first in range(start, end, _CHUNK):
            part = slice(first, min(first + _CHUNK, end))
            work(value[part], out[part])

    in_blocks(block, value.size, entropy.source())
    return out


def _read_categories(categories: int) -> int:
    if isinstance(categories, list | tuple):
        raise InvalidArgument.of_data(
            "categories",
            "how many there are",
            categories,
            hint=Phrase("as in {categories=3}; answers are then 0, 1 and 2"),
        )
    k = integer(categories, name="categories", minimum=2)
    if k > uniform.LARGEST_BOUND:
        raise InvalidArgument.of("categories", "at most 2^32", categories)
    return k


def _read_epsilon(epsilon: Number) -> Fraction:
    exact = positive(epsilon, name="epsilon")
    if not SMALLEST_EPSILON <= exact <= LARGEST_EPSILON:
        raise InvalidArgument.of(
            "epsilon",
            f"between 1e-100 and {LARGEST_EPSILON}",
            epsilon,
            hint="below it reports say nothing, beyond it they are the truth",
        )
    return exact


# -- answers ---------------------------------------------------------------------------------------


_BOOLS: Final = (bool, np.bool_)


def read_answers(value: ArrayLike, categories: int) -> Values:
    """Read a scalar, a sequence or an array of integers; for two categories also of bools. They
    keep their dtype.

    >>> read_answers([True, False], 2).flat.dtype, read_answers([3, 1, 2], 4).flat.dtype
    (dtype('bool'), dtype('int64'))
    """
    answers = _read(value)
    dtype = answers.flat.dtype
    if dtype == np.bool_ and categories != 2:
        hint = "bools have two categories"
        raise InvalidArgument.of_data(
            "value", f"integers from 0 to {categories - 1}", value, hint=hint
        )
    if dtype.itemsize < 8 and dtype != np.bool_ and categories - 1 > np.iinfo(dtype).max:
        hint = f"convert it with .astype(np.{np.min_scalar_type(categories - 1)})"
        expected = f"of a dtype that holds {categories - 1}, not {dtype}"
        raise InvalidArgument.of_data("value", expected, value, hint=hint)
    return answers


def clamp(flat: NDArray[Any], categories: int, out: NDArray[Any]) -> None:
    """Write integers moved into 0 … categories − 1 to ``out``, which has their dtype."""
    np.clip(flat, 0, categories - 1, out=out)


def _read(value: ArrayLike) -> Values:
    if type(value) is int:
        # No category lies beyond, so this changes nothing but fits every int into an int64.
        return Values(np.array([min(max(value, 0), LARGEST_BOUND)], np.int64), None)
    if isinstance(value, _BOOLS):
        return Values(np.array([value], np.bool_), None)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        array = np.array(list(value), dtype=object)  # each element as it is: no guessing
        if array.size and all(isinstance(element, _BOOLS) for element in array.flat):
            return Values(array.astype(np.bool_).reshape(-1), array.shape)
    elif not isinstance(value, np.ma.MaskedArray):
        array = np.asarray(value)
        if array.dtype.kind in "biu" and array.ndim:
            if array.size == 0:
                raise InvalidArgument.of_data("value", "at least one answer", value)
            return Values(np.ascontiguousarray(array).reshape(-1), array.shape)
    values = read_values(value)  # refuses what is empty, ragged or not a number
    if not values.whole:
        hint = "round or code the answers first"
        raise InvalidArgument.of_data("value", "integers or bools", value, hint=hint)
    return values


# -- estimates: from randomized answers back to shares ---------------------------------------------


_AT_ONCE = 1 << 18  # responses counted at a time: np.bincount works on a copy of 8 bytes each

Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """Shares estimated from randomized responses: one number for two categories, else k.

    ``value`` is unbiased, so with few responses it may lie outside 0 … 1. ``interval`` holds
    the true share with at least the stated ``confidence``, for each category by itself. It is
    the interval of Clopper and Pearson (1934) for the share of responses, mapped through the
    same line and cut to 0 … 1. It is exact, not an approximation, for respondents sampled at
    random. For the share among these very respondents it is on the safe side, because a sum
    of unequal coins strays less than one of equal coins (Hoeffding 1956).

    >>> import discreet as dp
    >>> found = dp.RandomizedResponse(truth=0.5).estimate([1] * 400 + [0] * 600)
    >>> found.value, found.respondents, [round(end, 3) for end in found.interval]
    (0.3, 1000, [0.239, 0.362])
    """

    value: float | tuple[float, ...]
    standard_error: float | tuple[float, ...]
    interval: Interval | tuple[Interval, ...]
    confidence: float
    respondents: int


@dataclass(frozen=True)
class Channel:
    """What becomes of a share on its way through randomized response."""

    kept: Fraction  #: q
    categories: int  #: k

    @property
    def noise(self) -> Fraction:
        """The probability that a false category is reported: (1 − q)/k."""
        return (1 - self.kept) / self.categories

    def estimate(self, responses: NDArray[Any], confidence: Fraction) -> Estimate:
        """Estimate the share of each category; for two of them, of category 1 alone."""
        n = responses.size
        parts = [self._one(count, n, confidence) for count in _count(responses, self.categories)]
        if self.categories == 2:
            return Estimate(*parts[1], float(confidence), n)
        values, errors, intervals = zip(*parts, strict=True)
        return Estimate(values, errors, intervals, float(confidence), n)

    def _one(self, count: int, n: int, confidence: Fraction) -> tuple[float, float, Interval]:
        value = self._share(Fraction(count, n))
        error = sqrt(count * (n - count) / n**3) / self.kept
        low, high = (self._share(Fraction(p)) for p in _clopper_pearson(count, n, confidence))
        return float(value), float(error), (_cut(low), _cut(high))

    def _share(self, p: Fraction) -> Fraction:
        return (p - self.noise) / self.kept

    def half_width(self, confidence: Fraction, n: int) -> float:
        """z·√(p(1 − p)/n)/q for the p between (1 − q)/k and that plus q which is nearest ½."""
        from scipy.special import ndtri

        p = min(max(Fraction(1, 2), self.noise), self.noise + self.kept)
        z = float(-ndtri(float((1 - confidence) / 2)))
        return z * sqrt(p * (1 - p) / n) / float(self.kept)

    @property
    def variance(self) -> float:
        """p(1 − p)/q² of one report: the larger of those inside and outside the category."""
        inside, outside = self.noise + self.kept, self.noise
        return float(max(inside * (1 - inside), outside * (1 - outside)) / self.kept**2)


def _count(responses: NDArray[Any], categories: int) -> list[int]:
    # Responses are public: one that cannot be a release of this mechanism is a mistake to report.
    if responses.dtype.kind != "b" and not 0 <= responses.min() <= responses.max() < categories:
        raise InvalidArgument(
            "responses",
            f"released by this mechanism, from 0 to {categories - 1}",
            "others too",
            hint=Phrase("pass what release() returned, or state the same {categories=}"),
        )
    total = np.zeros(categories, np.int64)
    for start in range(0, responses.size, _AT_ONCE):
        part = responses[start : start + _AT_ONCE].astype(np.int64)
        total += np.bincount(part, minlength=categories)
    return [int(count) for count in total]


def _clopper_pearson(count: int, n: int, confidence: Fraction) -> Interval:
    """The shares p for which neither tail of Bin(n, p) at ``count`` is below (1 − confidence)/2."""
    from scipy.special import betaincinv

    outside = float((1 - confidence) / 2)
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, outside))
    high = 1.0 if count == n else 1.0 - float(betaincinv(n - count, count + 1, outside))
    return low, high


def _cut(share: Fraction) -> float:
    return float(min(max(share, Fraction(0)), Fraction(1)))
