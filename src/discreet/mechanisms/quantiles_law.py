"""The exact law of several quantiles: a sum over every way to arrive at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import prod
from typing import TYPE_CHECKING

from discreet.balls import ball, precision
from discreet.laws import Gibbs
from discreet.mechanisms.quantiles_tree import (
    Counts,
    Piece,
    deal,
    distances,
    gather,
    halves,
    whole,
)

if TYPE_CHECKING:
    from flint import arb

_BITS = 192


def choice_scale(p: Fraction, *, rows: int, epsilon: Fraction) -> Fraction:
    """Return how many units of ``distances`` make a candidate e times less likely.

    It is 2Δ/ε, where Δ is how far one person can move a distance. A row that is added raises
    p·n by p; above it, ``below`` and ``through`` rise by 1. So below − p·n and p·n − through
    move by p or by 1 − p, up or down, and the largest of them and 0 by at most max(p, 1 − p).
    With r rows that is r times as much, and distances of p = a/b are in units of 1/b.
    """
    return 2 * max(p.numerator, p.denominator - p.numerator) * rows / epsilon


@dataclass(frozen=True)
class QuantilesLaw:
    """P(indices) of ``Quantiles``, in the order of its probabilities; for a few candidates.

    Where rows are split, it sums over all places inside a candidate, so it takes about
    places^(splits on a path) steps: made to check small cases, not to be fast.
    """

    counts: Counts
    probabilities: tuple[Fraction, ...]
    rows: int
    epsilon: Fraction  #: of one selection
    spots: int

    @property
    def outcomes(self) -> Iterator[tuple[int, ...]]:
        """Every choice of candidates; those that fall where probabilities rise have mass 0."""
        return product(range(self.counts.size), repeat=len(self.probabilities))

    def mass(self, indices: Sequence[int]) -> arb:
        """P(indices) as a ball; 0 for indices that fall where probabilities rise."""
        pairs = sorted(zip(self.probabilities, indices, strict=True))
        with precision(_BITS):
            places = deal(self.counts, self.spots)
            return self._mass(whole(self.probabilities), places, 0, [i for _, i in pairs])

    def pmf(self, indices: Sequence[int]) -> float:
        """P(indices) as a float."""
        return float(self.mass(indices))

    def _mass(self, piece: Piece, places: Counts, start: int, indices: list[int]) -> arb:
        if not piece.asked:
            return ball(1)
        if indices != sorted(indices):
            return ball(0)
        if not piece.splits:
            laws = [self._choice(gather(places, start, self.spots), piece, p) for p in piece.asked]
            first = start // self.spots
            total = ball(0)
            for way in set(permutations(indices)):  # as they were before they were sorted
                total += prod(
                    (law.mass(i - first) for law, i in zip(laws, way, strict=True)), start=ball(1)
                )
            return total
        middle, total = piece.middle, ball(0)
        law = self._choice(places, piece, piece.asked[middle])
        low, high = piece.sides
        for place in range(indices[middle] * self.spots, (indices[middle] + 1) * self.spots):
            at = place - start
            if 0 <= at < places.size:
                below, above = halves(places, at)
                total += (
                    law.mass(at)
                    * self._mass(low, below, start, indices[:middle])
                    * self._mass(high, above, place, indices[middle + 1 :])
                )
        return total

    def _choice(self, counts: Counts, piece: Piece, p: Fraction) -> Gibbs:
        inner = piece.within(p)
        scale = choice_scale(inner, rows=self.rows, epsilon=self.epsilon)
        return Gibbs((-distances(counts, inner)).tolist(), rate=1 / scale)
