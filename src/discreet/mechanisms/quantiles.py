"""Quantiles of values on a public grid, several for about the price of one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, probability, round_up
from discreet.guarantees import BoundedRange, Guarantee
from discreet.inputs import RowCounts
from discreet.mechanisms.grids import check_noise
from discreet.mechanisms.quantiles_counts import (
    largest_count,
    read_groups,
    read_probabilities,
)
from discreet.mechanisms.quantiles_error import rank_errors
from discreet.mechanisms.quantiles_law import QuantilesLaw, choice_scale
from discreet.mechanisms.quantiles_steps import step_epsilon
from discreet.mechanisms.quantiles_tree import (
    Counts,
    deal,
    depth,
    distances,
    select,
    spots,
    whole,
)
from discreet.noise.argmax import argmax
from discreet.spelling import spelled


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
    The middle probability is asked first, then those on either side of the rows on that side
    (Kaplan, Schnapp and Stemmer 2022), so m probabilities cost ⌊log₂ m⌋ + 1 choices, not m.

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
        """Refuse now what ``release`` would refuse for so many candidates."""
        largest_count(integer(candidates, name="candidates", minimum=1), self.probabilities)

    def release(self, counts: ArrayLike) -> NDArray[np.int64]:
        """Return a candidate's index for each probability, in the order they were given.

        Indices never fall where probabilities rise. ``counts`` is one whole number for each
        candidate, below 0 counting as 0. A two-dimensional array is one group a row, answered
        with one group a row. A call spends ``guarantee`` if one person has at most ``rows`` rows
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
        the data. With three and more probabilities it also depends on how many rows share one
        value: say in ``heaviest`` how many at most (the size of the group, to be safe). A
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
        """One person's rows more or less."""
        return RowCounts(self.rows)

    def law(self, counts: ArrayLike) -> QuantilesLaw:
        """Return the exact law of ``release(counts)`` for one group."""
        rows, shape = read_groups(counts, self.probabilities)
        if len(shape) != 1:
            raise InvalidArgument(
                name="counts", expected="one group", given="a two-dimensional array"
            )
        many = spots(rows.shape[1], asked=len(self.probabilities))
        return QuantilesLaw(rows[0], self.probabilities, self.rows, self.step, many)
