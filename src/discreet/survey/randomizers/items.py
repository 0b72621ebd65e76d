"""Sampled items: of k yes-or-no items a few are drawn by chance, and only those are answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import combinations, product
from math import comb, prod, tanh
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.guarantees import Guarantee, Pure
from discreet.inputs import Categories
from discreet.lazy import cached_property
from discreet.noise.bernoulli import Rational, coins
from discreet.noise.uniform import integers
from discreet.numeric.balls import arb
from discreet.numeric.exact import Number, integer, positive
from discreet.survey.cells import Flags
from discreet.survey.chances import least_often, most_often
from discreet.survey.randomizers.randomizer import (
    GRID,
    BitReports,
    Column,
    chosen,
    in_blocks,
    least_noise,
    ratio_loss,
    read_sets,
    writable,
)

MOST_ITEMS: Final = 1 << 16
_BLOCK: Final = 1 << 22  # bits randomized at a time
_FEW: Final = 6


@dataclass(frozen=True, init=False)
class Items(BitReports):
    """Of k items, s are drawn by chance; each is answered by randomized response with ε/s.

    The draw does not depend on the answers, and every answered item costs at most ε/s, so any two
    sets of items, of whatever size, can be told apart by at most ε. A report is a row of bits with
    −1 for the items not drawn. The variance is least with s near ε/2.

    >>> hobbies = Items(categories=5, epsilon=1)
    >>> hobbies.drawn, hobbies.randomize([[True, True, False, False, True]] * 3).shape
    (1, (3, 5))
    """

    categories: int
    drawn: int  #: s
    step: int  #: an answered bit is flipped with probability step/2⁵³
    epsilon: Fraction = field(compare=False)  #: the loss of this law, rounded up

    name: ClassVar[str] = "sampled items"
    kind: ClassVar[str] = "items"
    least: ClassVar[int] = -1

    def __init__(self, *, categories: int, epsilon: Number) -> None:
        k = integer(categories, name="categories", minimum=2, maximum=MOST_ITEMS)
        asked = positive(epsilon, name="epsilon")
        drawn = _least_variance(k, asked)
        step, lost = least_noise(partial(_loss, drawn), asked, none=GRID // 2)
        self.__dict__.update(categories=k, drawn=drawn, step=step, epsilon=lost)

    @property
    def inside(self) -> Fraction:
        return 1 - self.outside

    @property
    def outside(self) -> Fraction:
        return Fraction(self.step, GRID)

    @cached_property
    def guarantee(self) -> Guarantee:
        """Local ε-differential privacy: s answers to yes-or-no questions."""
        if self.drawn == 1:
            return Pure(self.epsilon)
        # Two opposite sets differ in every drawn item: exactly this composition, and the worst.
        return Pure(self.epsilon / self.drawn).repeat(self.drawn)

    def randomize(self, truths: ArrayLike) -> NDArray[np.int8]:
        """Return a row of bits for each row of bools (chosen items)."""
        rows = read_sets(truths, self.categories, self.categories)
        return in_blocks(self._answer, rows, np.empty(rows.shape, np.int8), _BLOCK // rows.shape[1])

    def _answer(self, held: NDArray[np.bool_]) -> NDArray[np.int8]:
        """Draw s items per row without repetition (Floyd: Bentley 1987), and answer them.

        In the round for i, one of 0 … i is drawn; if it was drawn before, i itself is taken.
        """
        n, k = held.shape
        row = np.arange(n)
        reports = np.full((n, k), -1, np.int8)
        for i in range(k - self.drawn, k):
            item = integers(i + 1, n)
            item[reports[row, item] >= 0] = i
            turned = coins(Rational(self.outside), n)
            reports[row, item] = held[row, item] != turned
        return reports

    def law(self, truth: Any) -> laws.Finite:
        """The exact law of the report, a text of 0, 1 and −, for a row of bools.

        An integer is a place in ``randomizer.sets``.
        """
        k = self.categories
        draws = comb(k, self.drawn)
        writable(draws << self.drawn)
        held = chosen(truth, k, k)
        law = {}
        for places in combinations(range(k), self.drawn):
            for bits in product((0, 1), repeat=self.drawn):
                sent = dict(zip(places, bits, strict=True))
                text = "".join(str(sent.get(place, "-")) for place in range(k))
                right = [(place in held) == bit for place, bit in sent.items()]
                law[text] = prod(self.inside if r else self.outside for r in right) / draws
        return laws.Finite(list(law), list(law.values()))

    @property
    def inputs(self) -> Categories:
        """All sets of items, as ``randomizer.sets`` lists them."""
        return Categories(1 << self.categories)

    def impossible(self, reports: Column) -> Flags:
        return np.asarray(np.count_nonzero(reports >= 0, axis=1) != self.drawn)

    @property
    def part(self) -> float:
        return self.drawn / self.categories

    @property
    def odds(self) -> Fraction:
        few = self.drawn <= _FEW  # a product of exact numbers gets long
        return (self.inside / self.outside) ** self.drawn if few else super().odds

    def changed(self, opposite: str) -> str:
        about = "one" if self.drawn == 1 else f"{self.drawn:,}"
        return (
            f"Your device draws {about} of the {self.categories:,} options, and nothing is sent "
            "about the others. Then a coin that nobody sees decides about each option that was "
            f"drawn: {most_often(self.inside)}, it is sent whether it is yours; "
            f"{least_often(self.outside)}, the opposite is sent."
        )

    def variance(self, share: float | None = None) -> float:
        """The variance of one respondent's contribution to an item's share; at ½, the worst, if
        none is given. Only s of k respondents are asked about the item.
        """
        once = super().variance(0.5 if share is None else share)
        return once * self.categories / self.drawn

    def chances(self) -> dict[str, int | str]:
        return {"drawn": self.drawn, "flip": self.step}


def _least_variance(items: int, epsilon: Fraction) -> int:
    """The s of least variance at share ½:  (k/s)/(4·tanh²(ε/2s))."""
    return max(range(1, items + 1), key=lambda s: s * tanh(epsilon / (2 * s)) ** 2)


def _loss(drawn: int, step: int) -> arb:
    return drawn * ratio_loss(Fraction(GRID - step), Fraction(step))
