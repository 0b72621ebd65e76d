"""Several quantiles from one histogram: the middle one first, then what lies on either side.

Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles", ICML 2022. The
pieces at one depth of the tree share out the rows, so that together they cost one selection.

A row's place among rows with the same value is nobody's secret but matters here: if most values
are 0 and the median is 0, the upper quartile is found among the rows above the median's row,
some of which are 0 too. So before a split each candidate is divided into ``spots`` places, and
its rows are dealt to them in turn; what is split is the row of places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Counts: TypeAlias = NDArray[np.int64]
Choose: TypeAlias = Callable[[Counts, Fraction], int]
"""A place in these counts for this probability, chosen with privacy."""

MOST_SPOTS: Final = 1024
PLACES: Final = 1 << 16  # a selection among as many takes about 2 ms
FEW_SPOTS: Final = 16  # or more, as long as there are no more than 2²² places
MOST_PLACES: Final = 1 << 22


@dataclass(frozen=True)
class Piece:
    """Rows between two quantiles, and what is asked of them."""

    low: Fraction
    high: Fraction
    asked: tuple[Fraction, ...]  #: probabilities of the whole, rising

    @property
    def splits(self) -> bool:
        """Is there more to ask than two probabilities?

        Two are asked of the same rows, at one depth each: a split would save nothing.
        """
        return len(self.asked) > 2

    @property
    def middle(self) -> int:
        return len(self.asked) // 2

    def within(self, p: Fraction) -> Fraction:
        """Where a probability of the whole lies among the rows of this piece."""
        return (p - self.low) / (self.high - self.low)

    @property
    def sides(self) -> tuple[Piece, Piece]:
        """What is left to ask below and above the middle one."""
        p = self.asked[self.middle]
        below, above = self.asked[: self.middle], self.asked[self.middle + 1 :]
        return Piece(self.low, p, below), Piece(p, self.high, above)


def whole(asked: Sequence[Fraction]) -> Piece:
    """All rows."""
    return Piece(Fraction(0), Fraction(1), tuple(sorted(asked)))


def depth(asked: int) -> int:
    """Return ⌊log₂ m⌋ + 1: a side has at most half of the probabilities."""
    return asked.bit_length()


def spots(candidates: int, *, asked: int) -> int:
    """Return into how many places a candidate is divided: 1 where nothing is split.

    >>> [spots(k, asked=3) for k in (10, 1024, 10_000, 2**20)], spots(10, asked=2)
    ([1024, 64, 16, 4], 1)
    """
    if asked <= 2 or candidates == 0:
        return 1
    few = min(FEW_SPOTS, MOST_PLACES // candidates)
    return min(MOST_SPOTS, max(few, PLACES // candidates))


def deal(counts: Counts, spots: int) -> Counts:
    """Deal the rows of each candidate to its places in turn: the first gets one, then the next.

    One more row in a candidate is one more row in one place. An even spread that is rounded
    would not do: there, one more row can take a row from one place and give two others one.

    >>> deal(np.array([5, 0, 1]), 3).tolist()
    [2, 2, 1, 0, 0, 0, 1, 0, 0]
    """
    return ((counts[:, None] + np.arange(spots - 1, -1, -1)) // spots).reshape(-1)


def gather(places: Counts, start: int, spots: int) -> Counts:
    """Add up the places of each candidate; ``start`` is the number of the first place.

    >>> gather(np.array([1, 2, 1, 0, 4]), 4, 3).tolist()         # places 4 and 5, then 6 to 8
    [3, 5]
    """
    edges = np.arange(spots - start % spots, places.size, spots)
    return np.add.reduceat(places, np.concatenate([[0], edges]).astype(np.intp))


def halves(places: Counts, at: int) -> tuple[Counts, Counts]:
    """Split at a place, whose own rows go half to either side, the odd one above."""
    # Both ⌊c/2⌋ and ⌈c/2⌉ never fall when c rises, and they add up to c: so the rows that a
    # person adds to the whole are as many as those added to both sides together.
    below, above = places[: at + 1].copy(), places[at:].copy()
    below[-1] = places[at] // 2
    above[0] -= below[-1]
    return below, above


def select(piece: Piece, places: Counts, start: int, spots: int, choose: Choose) -> list[int]:
    """Return a candidate for each probability asked of the piece, never falling."""
    if not piece.splits:
        counts = gather(places, start, spots)
        return sorted(start // spots + choose(counts, piece.within(p)) for p in piece.asked)
    at = choose(places, piece.within(piece.asked[piece.middle]))
    below, above = (
        select(side, part, first, spots, choose) if side.asked else []
        for side, part, first in zip(
            piece.sides, halves(places, at), (start, start + at), strict=True
        )
    )
    return [*below, (start + at) // spots, *above]


def distances(counts: Counts, p: Fraction) -> Counts:
    """Return for each candidate how many rows lie between it and the p-quantile, times b.

    With p = a/b, n rows in all and those of candidate i from ``below`` to ``through``, that is

        b·max(0, below − p·n, p·n − through),

    0 for the p-quantile itself, however many rows it has.

    >>> distances(np.array([1, 0, 6, 3]), Fraction(1, 2)).tolist()         # the 5th of 10 rows
    [8, 8, 0, 4]
    """
    through: Counts = np.cumsum(counts)
    target = p.numerator * int(through[-1])
    under = np.subtract(target, np.multiply(through, p.denominator, out=through), out=through)
    over = counts * -p.denominator  # below − p·n = −(p·n − through) − its own rows
    over -= under
    np.maximum(over, under, out=over)
    return np.maximum(over, 0, out=over)
