"""Randomized response: each answer is true often enough to count, seldom enough to deny."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.balls import ball, lower_fraction, upper
from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, positive, probability
from discreet.guarantees import Pure, ResponsePair
from discreet.inputs import Categories
from discreet.laws.sharp import sharp
from discreet.lazy import cached_property
from discreet.mechanisms.answers import Answers, clamp, read_answers
from discreet.mechanisms.choice import exactly_one
from discreet.mechanisms.response_estimate import Channel, Estimate
from discreet.noise import entropy, uniform
from discreet.noise.bernoulli import Computed, Probability, Rational, coins
from discreet.noise.workspace import CHUNK, in_blocks
from discreet.spelling import spelled

if TYPE_CHECKING:
    from flint import arb

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

        ``value`` is one true answer, or an array of them, one a person.
        """
        answers = read_answers(value, self.categories)
        return answers.shaped(self._flip(answers) if self.categories == 2 else self._roll(answers))

    def _flip(self, answers: Answers) -> NDArray[Any]:
        """Two categories: a coin says which answers are turned around."""

        def work(value: NDArray[Any], out: NDArray[Any]) -> None:
            yes = value > 0  # what clamping to 0 and 1 comes to
            np.not_equal(yes, coins(self._coin, value.size), out=out, casting="unsafe")

        return _in_chunks(work, answers.flat)

    def _roll(self, answers: Answers) -> NDArray[Any]:
        """More: a coin says which answers are replaced by the throw of a die with k sides."""

        def work(value: NDArray[Any], out: NDArray[Any]) -> None:
            clamp(value, self.categories, out)
            # truth + replaced·(die − truth): without branches, which a coin would mislead.
            # Unsigned numbers wrap around, there and back.
            few = self.categories <= uniform.MOST_SIDES
            throw = uniform.dice if few else uniform.integers
            move: NDArray[Any] = throw(self.categories, value.size)
            truth = out.astype(move.dtype)
            move -= truth
            move *= coins(self._coin, value.size)
            move += truth
            np.copyto(out, move, casting="unsafe")

        return _in_chunks(work, answers.flat)

    @spelled
    def estimate(self, responses: ArrayLike, confidence: Number = Fraction(95, 100)) -> Estimate:
        """Return the share of each category among those who answered; with two, that of ones.

        ``responses`` are what ``release`` returned, of all who answered: whole numbers from 0 to
        ``categories`` − 1. Unbiased, with its standard error and an interval: see ``Estimate``.
        ``confidence`` is that of the interval, between 0 and 1; 0.95 if left out. Costs nothing.
        """
        answers = read_answers(responses, self.categories)
        return self._channel.estimate(answers.flat, probability(confidence, name="confidence"))

    @cached_property
    def guarantee(self) -> Pure | ResponsePair:
        """ε-differential privacy for each answer, without anybody to trust (local privacy).

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

    # A false category has the probability  other = 1/(e^ε + k − 1)  each. An answer is turned
    # around (k = 2) with probability `other`, and replaced by a throw with probability k·other.

    @cached_property
    def _coin(self) -> Probability:
        """The coin that decides about each answer: turned around or replaced?"""
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
        raise InvalidArgument(
            name="categories",
            expected="how many there are",
            given=InvalidArgument.describe_data(categories),
            hint="as in categories=3; answers are then 0, 1 and 2",
        )
    k = integer(categories, name="categories", minimum=2)
    if k > uniform.LARGEST_BOUND:
        given = InvalidArgument.describe_parameter(categories)
        raise InvalidArgument(name="categories", expected="at most 2^32", given=given)
    return k


def _read_epsilon(epsilon: Number) -> Fraction:
    exact = positive(epsilon, name="epsilon")
    if not SMALLEST_EPSILON <= exact <= LARGEST_EPSILON:
        raise InvalidArgument(
            name="epsilon",
            expected=f"between 1e-100 and {LARGEST_EPSILON}",
            given=InvalidArgument.describe_parameter(epsilon),
            hint="below it reports say nothing, beyond it they are the truth",
        )
    return exact
