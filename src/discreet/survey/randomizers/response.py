"""Randomized response among k categories, on the grid of probabilities."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InvalidArgument
from discreet.guarantees import Pure, ResponsePair
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import exactly_one
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.numeric.balls import arb
from discreet.numeric.exact import Number, integer, positive, probability
from discreet.survey.chances import least_often, most_often, sentence
from discreet.survey.randomizers.randomizer import (
    GRID,
    IntegerReports,
    least_noise,
    ratio_loss,
    read_integers,
    true_loss,
    writable,
)

MOST_CATEGORIES: Final = 1 << 24


@dataclass(frozen=True, init=False)
class Response(IntegerReports):
    """Reports the true category, or with probability T/2⁵³ the throw of a fair die instead.

    With two categories T/2⁵³ is the probability that the answer is flipped. Give the promise
    (``epsilon``) or the lecture's q (``truth``).

    >>> coins = Response(categories=2, truth=0.5)
    >>> coins.inside, float(coins.epsilon), coins.document()["flip"] * 4 == GRID
    (Fraction(3, 4), 1.0986122886681098, True)
    >>> four = Response(categories=4, epsilon=1)
    >>> reports = four.randomize([0, 1, 2, 3, 3])
    >>> int(four.supports(reports).sum())
    5
    """

    categories: int
    step: int  #: T
    epsilon: Fraction = field(compare=False)  #: the loss of this law, rounded up

    name: ClassVar[str] = "randomized response"
    kind: ClassVar[str] = "response"

    def __init__(
        self, *, categories: int, epsilon: Number | None = None, truth: Number | None = None
    ) -> None:
        chosen, given = exactly_one(epsilon=epsilon, truth=truth)
        k = integer(categories, name="categories", minimum=2, maximum=MOST_CATEGORIES)
        none = GRID // 2 if k == 2 else GRID
        loss = partial(_loss, k)
        if chosen == "truth":
            step = _step_of_truth(probability(given, name="truth"), none)
            lost = true_loss(loss, step)
        else:
            step, lost = least_noise(loss, positive(given, name="epsilon"), none=none)
        self.__dict__.update(categories=k, step=step, epsilon=lost)

    @property
    def outcomes(self) -> int:
        return self.categories

    @property
    def inside(self) -> Fraction:
        return _chances(self.categories, self.step)[0]

    @property
    def outside(self) -> Fraction:
        return _chances(self.categories, self.step)[1]

    @property
    def kept(self) -> Fraction:
        """The lecture's q: the probability that the answer is sent, minus that of its opposite."""
        return self.inside - self.outside

    @cached_property
    def guarantee(self) -> Pure | ResponsePair:
        """Local ε-differential privacy; with more than two categories, its tighter profile."""
        if self.categories == 2:
            return Pure(self.epsilon)
        return ResponsePair(self.epsilon, self.categories)

    @cached_property
    def _mechanism(self) -> RandomizedResponse:
        return RandomizedResponse(truth=self.kept, categories=self.categories)

    def randomize(self, truths: ArrayLike) -> NDArray[np.int64]:
        column = read_integers(truths, self.categories, name="truths")
        if column.size == 0:
            return column.astype(np.int64)
        if column.dtype.kind == "b":
            column = column.view(np.uint8)
        reports: NDArray[np.int64] = self._mechanism.release(column).astype(np.int64, copy=False)
        return reports

    def law(self, truth: int) -> laws.Finite:
        writable(self.outcomes)
        weights = [self.outside] * self.categories
        weights[truth] = self.inside
        return laws.Finite(range(self.categories), weights)

    @property
    def odds(self) -> Fraction:
        return self.inside / self.outside

    def changed(self, opposite: str) -> str:
        if self.categories > 2:
            return self.die(f"all {self.categories:,} options", "Your own answer")
        return self.coin("Your device", "your answer is sent as it is", opposite)

    def denied(self, opposite: str) -> str:
        if self.categories > 2:
            return ""
        return f"people whose answer is {opposite} send the same {least_often(self.outside)}"

    def coin(self, device: str, kept: str, opposite: str) -> str:
        """The sentences of a card about two answers."""
        return (
            f"{device} throws a coin that nobody sees. {sentence(most_often(self.inside))}, "
            f"{kept}; {least_often(self.outside)}, {opposite} is sent."
        )

    def die(self, among: str, own: str) -> str:
        """The sentences of a card about more answers."""
        replaced = self.outside * self.categories  # the die may show what it replaces
        return (
            f"Your device throws a die that nobody sees. {sentence(least_often(replaced))}, your "
            f"answer is put aside and one of {among} is drawn instead, each with the same chance. "
            f"{own} is sent {most_often(self.inside)}."
        )

    def chances(self) -> dict[str, int | str]:
        return {"flip" if self.categories == 2 else "replace": self.step}


def _step_of_truth(q: Fraction, none: int) -> int:
    """⌈none·(1 − q)⌉: an answer that is not used is flipped half the time."""
    step = -((q.numerator - q.denominator) * none // q.denominator)
    if step == none:
        raise InvalidArgument.of(
            "truth", "at least 2^-52", q, hint="so little truth means that reports say nothing"
        )
    return step


def _chances(categories: int, step: int) -> tuple[Fraction, Fraction]:
    """P(the true category is reported), and P(another one is), for each of the others."""
    outside = Fraction(step, GRID * (1 if categories == 2 else categories))
    return 1 - (categories - 1) * outside, outside


def _loss(categories: int, step: int) -> arb:
    return ratio_loss(*_chances(categories, step))
