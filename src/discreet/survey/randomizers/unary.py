"""Unary encoding: a bit for each item, each bit flipped by a coin of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.guarantees import LossDistribution, Pure
from discreet.inputs import Categories
from discreet.lazy import cached_property
from discreet.noise.bernoulli import Rational, coins
from discreet.numeric.balls import arb, ball
from discreet.numeric.exact import Number, integer, positive
from discreet.survey.chances import least_often, most_often
from discreet.survey.randomizers.randomizer import (
    GRID,
    BitReports,
    chosen,
    exchanged,
    in_blocks,
    least_noise,
    read_integers,
    read_sets,
    sets,
    writable,
)

MOST_ITEMS: Final = 1 << 16
_HALF: Final = Rational(Fraction(1, 2))
_BLOCK: Final = 1 << 22  # bits randomized at a time


@dataclass(frozen=True, init=False)
class Unary(BitReports):
    """A chosen item's bit is 1 with probability ½, any other item's with T/2⁵³.

    For one choice (``most=1``) T/2⁵³ is about 1/(e^ε + 1): optimised unary encoding (Wang,
    Blocki, Li and Jha 2017). For sets of at most ``most`` items it is the least T for which no
    two such sets are told apart by more than ε.

    >>> towns = Unary(categories=8, epsilon=2)
    >>> towns.randomize([3, 3, 0]).shape, float(towns.inside)
    ((3, 8), 0.5)
    >>> hobbies = Unary(categories=8, epsilon=2, most=2)
    >>> towns.outside < hobbies.outside                        # more choices, more noise
    True
    """

    categories: int
    most: int  #: how many items may be chosen
    step: int  #: T
    epsilon: Fraction = field(compare=False)  #: the loss of this law, rounded up

    name: ClassVar[str] = "unary encoding"
    kind: ClassVar[str] = "unary"

    def __init__(self, *, categories: int, epsilon: Number, most: int = 1) -> None:
        k = integer(categories, name="categories", minimum=2, maximum=MOST_ITEMS)
        limit = integer(most, name="most", minimum=1, maximum=k)
        asked = positive(epsilon, name="epsilon")
        step, lost = least_noise(partial(_loss, k, limit), asked, none=GRID // 2)
        self.__dict__.update(categories=k, most=limit, step=step, epsilon=lost)

    @property
    def inside(self) -> Fraction:
        return Fraction(1, 2)

    @property
    def outside(self) -> Fraction:
        return Fraction(self.step, GRID)

    @cached_property
    def guarantee(self) -> Pure | LossDistribution:
        """Local ε-differential privacy; for one choice, its tighter profile."""
        if self.most > 1:
            return Pure(self.epsilon)
        # Two choices are told apart by their own two bits, and only where these differ.
        return exchanged((1 - self.outside) / 2, self.outside / 2)

    def randomize(self, truths: ArrayLike) -> NDArray[np.int8]:
        """Return a row of bits for each truth: a category, or a row of bools (chosen items)."""
        truths = np.asarray(truths)
        k = self.categories
        one = truths.ndim == 1 and self.most == 1
        rows = read_integers(truths, k, name="truths") if one else read_sets(truths, k, self.most)

        def turned(part: NDArray[Any]) -> NDArray[np.bool_]:
            held = part[:, None] == np.arange(k) if one else part
            raised = coins(Rational(self.outside), held.size).reshape(held.shape)
            kept = coins(_HALF, held.size).reshape(held.shape)
            return np.where(held, kept, raised)

        return in_blocks(turned, rows, np.empty((len(rows), k), np.int8), _BLOCK // k)

    def law(self, truth: Any) -> laws.Finite:
        """The exact law of the report, a text of bits, for a category or a row of bools.

        With several choices, an integer is a place in ``randomizer.sets``.
        """
        writable(1 << self.categories)
        held = chosen(truth, self.categories, self.most)
        ones = [self.inside if item in held else self.outside for item in range(self.categories)]
        reports = list(product((0, 1), repeat=self.categories))
        weights = [
            prod(
                (p if bit else 1 - p for p, bit in zip(ones, bits, strict=True)), start=Fraction(1)
            )
            for bits in reports
        ]
        return laws.Finite(["".join(map(str, bits)) for bits in reports], weights)

    @property
    def inputs(self) -> Categories:
        """The categories, or all sets that may be chosen."""
        if self.most == 1:
            return Categories(self.categories)
        writable(1 << self.categories)
        return Categories(len(sets(self.categories, self.most)))

    @property
    def odds(self) -> Fraction:
        return super().odds if self.most > 1 else (1 - self.outside) / self.outside

    def changed(self, opposite: str) -> str:
        return (
            f"Your answer becomes {self.categories:,} marks, one for each option, and a coin that "
            "nobody sees decides about each. An option that is yours is marked "
            f"{most_often(self.inside)}; one that is not is marked too, "
            f"{least_often(self.outside)}."
        )

    def chances(self) -> dict[str, int | str]:
        return {"most": self.most, "raise": self.step}


def _loss(items: int, most: int, step: int) -> arb:
    """The largest log ratio over two sets A and B of at most ``most`` items, and all reports.

    An item of A alone adds at most ln(½/r) (its bit is 1), an item of B alone at most
    ln((1 − r)/½) (its bit is 0), with r = T/2⁵³ ≤ ½. The first is the larger, since
    4r(1 − r) ≤ 1, so A has as many items as allowed, and B as many as are then left for it.
    """
    r = Fraction(step, GRID)
    other = min(most, items - most)
    return most * ball(1 / (2 * r)).log() + other * ball(2 * (1 - r)).log()
