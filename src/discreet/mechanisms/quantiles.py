"""Quantiles of values on a public grid, several for about the price of one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations, product
from math import ceil, lcm, prod
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument, Phrase
from discreet.guarantees import BoundedRange, Guarantee
from discreet.hints import spelled
from discreet.inputs import RowCounts
from discreet.laws import Gibbs
from discreet.laws.value import DiscreteLaw
from discreet.mechanisms.exponential import step_epsilon
from discreet.mechanisms.mechanism import check_noise, read_values
from discreet.noise.argmax import argmax
from discreet.numeric.balls import arb, ball, precision, sharp, upper
from discreet.numeric.exact import Number, integer, probability, round_up


@dataclass(frozen=True, init=False)
class Quantiles:
    """Chooses, for each probability, a candidate that has about that share of the rows below it.

    ``probabilities`` are between 0 and 1, each once, in any order: ``[0.5]`` is the median.
    ``release(counts)`` takes the number of rows at each candidate. Candidates are public, such
    as a grid between declared bounds. One person is added or removed with at most ``rows``
    rows. (Where a person is *replaced*, say twice as many.) Give the promise as ``epsilon`` or
    as ``rho``, for all probabilities together.

    Each choice is an exponential mechanism: a candidate with d rows between it and the quantile
    is e^(−ε₁d/(2·max(p, 1 − p)·rows)) times as likely as the quantile itself, decided exactly.
    The middle probability comes first; those on either side of it are then asked of the rows on
    that side only (Kaplan, Schnapp and Stemmer 2022), so m probabilities cost ⌊log₂ m⌋ + 1
    choices, not m.

    Cost: ``guarantee``, however many candidates. Error: ``error(0.95, candidates=K)``, in rows.

    >>> ages = np.bincount([31, 44, 45, 52, 60] * 200, minlength=121)
    >>> quartiles = Quantiles(probabilities=(0.25, 0.5, 0.75), epsilon=2)
    >>> quartiles.release(ages)                       # places among the candidates 0, 1, ... 120
    array([44, 45, 52])
    >>> quartiles.levels, quartiles.guarantee
    (2, Composition(2 × BoundedRange(epsilon=Fraction(1, 1))))
    """

    probabilities: tuple[Fraction, ...]
    epsilon: Fraction  #: of all choices together
    rows: int

    @spelled
    def __init__(
        self,
        *,
        probabilities: tuple[Number, ...] | list[Number],
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int = 1,
    ) -> None:
        object.__setattr__(self, "probabilities", read_probabilities(probabilities))
        step = step_epsilon(epsilon=epsilon, rho=rho, steps=self.levels)
        object.__setattr__(self, "epsilon", step * self.levels)
        object.__setattr__(self, "rows", integer(rows, name="rows", minimum=1))
        check_noise(self.rows / step, name="rho" if epsilon is None else "epsilon")

    @property
    def levels(self) -> int:
        """How many choices a row takes part in: ⌊log₂ m⌋ + 1."""
        return depth(len(self.probabilities))

    @property
    def step(self) -> Fraction:
        """The ε₁ of one choice."""
        return self.epsilon / self.levels

    def check(self, candidates: int) -> None:
        """Refuse now what ``release`` would refuse for this many candidates."""
        largest_count(integer(candidates, name="candidates", minimum=1), self.probabilities)

    def release(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return a candidate's index for each probability, in the order they were given.

        Indices never fall where probabilities rise. ``counts`` is one whole number for each
        candidate, below 0 counting as 0. A two-dimensional array has one group per row, and so
        has the result. A call spends ``guarantee`` if one person has at most ``rows`` rows
        in all groups together; else it spends it once for each group that a person can be in.
        """
        rows, shape = read_groups(counts, self.probabilities)
        root = whole(self.probabilities)
        many = spots(rows.shape[1], asked=len(self.probabilities))
        chosen = [select(root, deal(row, many), 0, many, self._choose) for row in rows]
        released = np.array(chosen, np.int64).reshape(len(rows), len(self.probabilities))
        released = released[:, self._ranks]
        return released if len(shape) == 2 else released[0]

    @property
    def _ranks(self) -> NDArray[np.intp]:
        """For each probability, how many are below it."""
        return np.argsort(np.argsort(np.array(self.probabilities, dtype=object)))

    def _choose(self, counts: Counts, p: Fraction) -> int:
        scale = choice_scale(p, rows=self.rows, epsilon=self.step)
        return argmax(-distances(counts, p), scale, "gumbel").index

    @property
    def guarantee(self) -> Guarantee:
        """``levels`` runs of ε₁-bounded range, which is ε-differential privacy and more."""
        # Dealing rows to places and halving those at a split only share rows out: what a person
        # adds is added to the pieces of one depth, r₁ + r₂ + ... ≤ rows. Which pieces these are
        # is known from the places chosen at lesser depth (all of which we may think of as
        # released), and is the same for both neighbours. In
        # piece j the scores move by at most r_j/rows of what the scale allows for, so the
        # losses of its choice lie in an interval of length ε₁·r_j/rows (see `Exponential`).
        # Choices at one depth are independent given the earlier ones: losses add up, and so do
        # the intervals, to at most ε₁. Two probabilities that are asked of one piece count as
        # two depths. Depths follow each other adaptively, as `compose` allows.
        return BoundedRange(self.step).repeat(self.levels)

    def error(
        self, confidence: Number = Fraction(95, 100), *, candidates: int, heaviest: int = 1
    ) -> NDArray[np.float64]:
        """Return w for each probability: with this confidence, all of them are within w rows.

        ``confidence`` is between 0 and 1; 0.95 if left out. ``candidates`` is how many there are
        to choose from.

        That is, at most w rows lie between a released candidate and the true quantile, whatever
        the data. With three or more probabilities it also depends on how many rows share one
        value: ``heaviest`` is the most that do (the size of the group, to be safe). A
        candidate is divided into 1024 to 4 places, the fewer the more candidates there are, and
        a split may be off by half of the rows in one place. Without ``heaviest``, w holds where
        no candidate has more rows than it has places.

        >>> Quantiles(probabilities=[0.5], epsilon=1).error(0.95, candidates=100)
        array([7.60090246])
        """
        sure = probability(confidence, name="confidence")
        k = integer(candidates, name="candidates", minimum=1)
        widths = rank_errors(
            whole(self.probabilities),
            lambda p: choice_scale(p, rows=self.rows, epsilon=self.step) / p.denominator,
            odds=len(self.probabilities) / (1 - sure),
            candidates=k,
            heaviest=integer(heaviest, name="heaviest", minimum=0),
        )
        return np.array([round_up(width) for width in widths])[self._ranks]

    @property
    def inputs(self) -> RowCounts:
        """One person's rows are added or removed."""
        return RowCounts(self.rows)

    def law(self, counts: ArrayLike) -> QuantilesLaw:
        """Return the exact law of ``release(counts)`` for one group."""
        rows, shape = read_groups(counts, self.probabilities)
        if len(shape) != 1:
            raise InvalidArgument("counts", "one group", "a two-dimensional array")
        many = spots(rows.shape[1], asked=len(self.probabilities))
        return QuantilesLaw(rows[0], self.probabilities, self.rows, self.step, many)


# -- several quantiles from one histogram ----------------------------------------------------------
# Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles", ICML 2022. The pieces
# at one depth of the tree share out the rows, so that together they cost one selection.
#
# A row's place among rows with the same value is no secret, but it matters here: if most values
# are 0 and the median is 0, the upper quartile is found among the rows above the median's row, some
# of which are 0 too. So before a split each candidate is divided into ``spots`` places, and its
# rows are dealt to them in turn; what is split is the row of places.


Counts: TypeAlias = NDArray[np.int64]
Choose: TypeAlias = Callable[[Counts, Fraction], int]
"""A place in these counts for this probability, chosen with privacy."""

MOST_SPOTS: Final = 1024
PLACES: Final = 1 << 16  # a selection among this many takes about 2 ms
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
        """Whether more than two probabilities are asked.

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
    """The piece of all rows."""
    return Piece(Fraction(0), Fraction(1), tuple(sorted(asked)))


def depth(asked: int) -> int:
    """Return ⌊log₂ m⌋ + 1: a side has at most half of the probabilities."""
    return asked.bit_length()


def spots(candidates: int, *, asked: int) -> int:
    """Return the number of places into which a candidate is divided: 1 where nothing is split.

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


# -- what quantiles are taken of -------------------------------------------------------------------


MOST_CANDIDATES: Final = 1 << 20
MOST_ASKED: Final = 1000
# Distances are whole numbers below 2^62, so counts are cut at 2^62/(denominator·candidates).
# With this limit on the product that is at least 2^32 rows at one candidate. A cut never moves
# neighbours apart, and a refusal would depend on the data.
LONGEST: Final = 1 << 30


def read_probabilities(given: Any) -> tuple[Fraction, ...]:
    """Read distinct probabilities strictly between 0 and 1, in any order.

    >>> read_probabilities([0.5, "1/3"])
    (Fraction(1, 2), Fraction(1, 3))
    """
    listed = isinstance(given, tuple | list)
    if not listed or not 1 <= len(given) <= MOST_ASKED:
        raise InvalidArgument(
            "probabilities",
            f"a list or tuple of 1 to {MOST_ASKED} numbers",
            f"{len(given)} of them" if listed else InvalidArgument.describe_parameter(given),
            hint=Phrase("for the median, {probabilities=[0.5]}"),
        )
    exact = tuple(probability(p, name="probabilities") for p in given)
    if len(set(exact)) == len(exact):
        return exact
    raise InvalidArgument("probabilities", "distinct", "some of them twice")


def read_groups(counts: Any, probabilities: tuple[Fraction, ...]) -> tuple[Counts, tuple[int, ...]]:
    """Return counts as groups × candidates, and the shape they came in."""
    if isinstance(counts, np.ndarray) and counts.ndim == 2 and len(counts) == 0:
        return np.zeros(counts.shape, np.int64), counts.shape  # no groups: not a mistake
    values = read_values(counts, name="counts")
    shape = values.shape or ()
    if not values.whole or len(shape) not in (1, 2):
        raise InvalidArgument.of_data(
            "counts",
            "whole numbers, one for each candidate, in one row or one row per group",
            counts,
            hint="count the values at each candidate",
        )
    groups = values.flat.reshape(-1, shape[-1])
    return np.clip(groups, 0, largest_count(shape[-1], probabilities)), shape


def largest_count(candidates: int, probabilities: tuple[Fraction, ...]) -> int:
    if candidates > MOST_CANDIDATES:
        raise InvalidArgument(
            "counts",
            f"those of at most {MOST_CANDIDATES} candidates",
            str(candidates),
            hint="take a coarser grid",
        )
    denominator = lcm(*(p.denominator for p in probabilities))
    if denominator * candidates > LONGEST:
        raise InvalidArgument(
            "probabilities",
            f"multiples of 1/d with d up to {LONGEST // candidates} for {candidates} candidates",
            f"multiples of 1/{denominator}" if denominator < 10**20 else "finer ones",
            hint="round them, for example to three digits",
        )
    return (1 << 62) // (denominator * candidates)


# -- the exact law of several quantiles ------------------------------------------------------------


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
class QuantilesLaw(DiscreteLaw):
    """P(indices) of ``Quantiles``, in the order of its probabilities; for a few candidates.

    Where rows are split, it sums over all places inside a candidate, so it takes about
    places^(splits on a path) steps: it is meant for checking small cases.
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


# -- how many rows off several quantiles may be ----------------------------------------------------


def rank_errors(
    root: Piece,
    scale: Callable[[Fraction], Fraction],
    *,
    odds: Fraction,
    candidates: int,
    heaviest: int,
) -> list[Fraction]:
    """Return for each probability asked, rising, how many rows it may be off.

    ``scale`` is the scale in rows of a choice for a probability, ``odds`` one over the chance
    that any one choice is worse, ``heaviest`` the most rows at one candidate.
    """
    many = spots(candidates, asked=len(root.asked))
    # A split is made in the middle of a place, so up to half of the place's rows off.
    half_place = ceil(Fraction(ceil(Fraction(heaviest, many)), 2))

    def missed(p: Fraction, among: int) -> Fraction:
        # as `Exponential.error`: those further off weigh at most 1/odds together
        return Fraction(upper(sharp(lambda: ball(scale(p)) * ball(among * odds).log())))

    def widths(piece: Piece, low: Fraction, high: Fraction) -> list[Fraction]:
        # Let the rows of a piece begin `low` off the quantile where they should, and end `high`
        # off. Then the place that is looked for in it, its inner p-quantile, is off by
        # (1 − p)·low + p·high, and what is chosen instead by `missed` more.
        inner = [piece.within(p) for p in piece.asked]
        off = [(1 - p) * low + p * high for p in inner]
        if not piece.splits:
            both = [o + missed(p, candidates) for o, p in zip(off, inner, strict=True)]
            return [max(both) for _ in both]  # they may swap
        width = off[piece.middle] + missed(inner[piece.middle], candidates * many)
        edge = width + half_place
        below, above = piece.sides
        return [*widths(below, low, edge), width, *widths(above, edge, high)]

    return widths(root, Fraction(0), Fraction(0))
