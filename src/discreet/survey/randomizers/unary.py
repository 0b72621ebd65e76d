"""Unary encoding: a bit for each item, each bit flipped by a coin of its own."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.guarantees import LossDistribution, Pure
from discreet.inputs import Categories
from discreet.lazy import cached_property
from discreet.noise.bernoulli import Rational, coins
from discreet.numeric.balls import ball
from discreet.numeric.exact import Number, integer, positive
from discreet.survey.randomizers.randomizer import (
    GRID,
    Counts,
    count_bits,
    exchanged,
    least_noise,
    read_integers,
    read_sets,
    sets,
    true_loss,
    variance_of_share,
    writable,
)

if TYPE_CHECKING:
    from flint import arb

MOST_ITEMS: Final = 1 << 16
_HALF: Final = Rational(Fraction(1, 2))
_BLOCK: Final = 1 << 22  # bits randomized at a time


@dataclass(frozen=True, init=False)
class Unary:
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
    report: ClassVar[Literal["bits"]] = "bits"

    def __init__(self, *, categories: int, epsilon: Number, most: int = 1) -> None:
        k = integer(categories, name="categories", minimum=2, maximum=MOST_ITEMS)
        limit = integer(most, name="most", minimum=1, maximum=k)
        asked = positive(epsilon, name="epsilon")
        loss = partial(_loss, k, limit)
        step = least_noise(loss, asked, none=GRID // 2)
        object.__setattr__(self, "categories", k)
        object.__setattr__(self, "most", limit)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "epsilon", true_loss(loss, step, asked))

    @property
    def outcomes(self) -> int:
        return self.categories

    @property
    def inside(self) -> Fraction:
        """P(an item's bit is 1, if it was chosen)."""
        return Fraction(1, 2)

    @property
    def outside(self) -> Fraction:
        """P(an item's bit is 1, if it was not chosen)."""
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
        if truths.ndim == 1 and self.most == 1:
            column = read_integers(truths, self.categories, name="truths")
            reports = np.empty((column.size, self.categories), np.int8)
            for part in self._blocks(column.size):
                chosen = column[part, None] == np.arange(self.categories)
                reports[part] = self._turn(chosen)
            return reports
        rows = read_sets(truths, self.categories, self.most)
        reports = np.empty(rows.shape, np.int8)
        for part in self._blocks(len(rows)):
            reports[part] = self._turn(rows[part])
        return reports

    def _blocks(self, rows: int) -> list[slice]:
        step = max(1, _BLOCK // self.categories)
        return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]

    def _turn(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        raised = coins(Rational(self.outside), chosen.size).reshape(chosen.shape)
        kept = coins(_HALF, chosen.size).reshape(chosen.shape)
        return np.where(chosen, kept, raised)

    def law(self, truth: Any) -> laws.Finite:
        """The exact law of the report, a text of bits, for a category or a row of bools.

        With several choices, an integer is a place in ``randomizer.sets``.
        """
        writable(1 << self.categories)
        chosen = _chosen(truth, self.categories, self.most)
        ones = [self.inside if item in chosen else self.outside for item in range(self.categories)]
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

    def counts(self, reports: ArrayLike) -> Counts:
        """Two rows: how often each bit was 1, and how often it was asked for."""
        return count_bits(reports, self.categories, least=0)

    def supports_of(self, counts: Counts) -> Counts:
        """The first row: how many reports have each bit set."""
        ones: Counts = counts[0]
        return ones

    def asked_of(self, counts: Counts) -> Counts:
        """The second row: how many reports say something about each item."""
        asked: Counts = counts[1]
        return asked

    def supports(self, reports: ArrayLike) -> Counts:
        """How many reports have each bit set."""
        return self.supports_of(self.counts(reports))

    def asked(self, reports: ArrayLike) -> Counts:
        """How many reports say something about each item."""
        return self.asked_of(self.counts(reports))

    def variance(self, share: float | None = None) -> float:
        """The variance of one respondent's contribution to an estimated share; at 1/k if none is
        given."""
        at = 1 / self.categories if share is None else share
        return variance_of_share(self.inside, self.outside, at)

    def document(self) -> dict[str, int | str]:
        """What a browser needs to randomize in the same way."""
        return {
            "kind": self.kind,
            "categories": self.categories,
            "most": self.most,
            "raise": self.step,
        }


def _chosen(truth: Any, items: int, most: int) -> set[int]:
    if np.ndim(truth) == 1:
        row = read_sets(np.asarray(truth)[None], items, most)[0]
        return set(np.flatnonzero(row).tolist())
    return {truth} if most == 1 else set(sets(items, most)[truth])


def _loss(items: int, most: int, step: int) -> arb:
    """The largest log ratio over two sets A and B of at most ``most`` items, and all reports.

    An item of A alone adds at most ln(½/r) (its bit is 1), an item of B alone at most
    ln((1 − r)/½) (its bit is 0), with r = T/2⁵³ ≤ ½. The first is the larger, since
    4r(1 − r) ≤ 1, so A has as many items as allowed, and B as many as are then left for it.
    """
    r = Fraction(step, GRID)
    other = min(most, items - most)
    return most * ball(1 / (2 * r)).log() + other * ball(2 * (1 - r)).log()
