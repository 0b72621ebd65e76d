"""The k commonest of many candidates, in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InvalidArgument
from discreet.guarantees import BoundedRange, Guarantee
from discreet.hints import spelled
from discreet.inputs import Scores
from discreet.laws import Gibbs
from discreet.laws.value import DiscreteLaw
from discreet.mechanisms.exponential import Exponential, step_epsilon
from discreet.mechanisms.mechanism import check_noise, read_flag, read_scores
from discreet.noise.argmax import argmax
from discreet.numeric.balls import arb, ball, precision
from discreet.numeric.exact import Number, integer, probability

MOST: Final = 10_000
_BITS: Final = 192


@dataclass(frozen=True)
class TopKLaw(DiscreteLaw):
    """P(indices): one choice after another, each among those that are left."""

    counts: tuple[int | float, ...]
    k: int
    scale: Fraction

    @property
    def outcomes(self) -> Iterator[tuple[int, ...]]:
        """Every way to name k different candidates."""
        return permutations(range(len(self.counts)), self.k)

    def mass(self, indices: Sequence[int]) -> arb:
        """P(indices) as a ball; 0 unless these are k different candidates."""
        with precision(_BITS):
            left, total = list(range(len(self.counts))), ball(int(len(indices) == self.k))
            for index in indices:
                if index not in left:
                    return ball(0)
                law = Gibbs([self.counts[i] for i in left], rate=1 / self.scale)
                total *= law.mass(left.index(index))
                left.remove(index)
            return total


@dataclass(frozen=True, init=False)
class TopK:
    """Chooses a candidate by the exponential mechanism and removes it, ``k`` times in all.

    This is the same as adding Gumbel noise to every count once and naming the k largest in order
    (Durfee and Rogers 2019). One person moves each count by at most ``rows``; with
    ``monotone=True``, as for a person who is added or removed, all of them in one direction.
    Where a person is *replaced*, say ``monotone=False``. Give the promise as ``epsilon`` or as
    ``rho``, for all k choices together.

    Cost: ``guarantee``, however many candidates. Error: ``error(0.95, candidates=K)``, in rows.

    >>> commonest = TopK(k=2, epsilon=1)
    >>> commonest.release([10, 500, 20, 300])
    (1, 3)
    >>> commonest.guarantee
    Composition(2 × BoundedRange(epsilon=Fraction(1, 2)))
    """

    k: int
    epsilon: Fraction  #: of all choices together
    rows: int
    monotone: bool

    @spelled
    def __init__(
        self,
        *,
        k: int,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int = 1,
        monotone: bool = True,
    ) -> None:
        object.__setattr__(self, "k", integer(k, name="k", minimum=1, maximum=MOST))
        step = step_epsilon(epsilon=epsilon, rho=rho, steps=self.k)
        object.__setattr__(self, "epsilon", step * self.k)
        object.__setattr__(self, "rows", integer(rows, name="rows", minimum=1))
        object.__setattr__(self, "monotone", read_flag(monotone, name="monotone"))
        check_noise(self.rows / step, name="rho" if epsilon is None else "epsilon")

    @property
    def scale(self) -> Fraction:
        """How many rows make a candidate e times likelier."""
        return self._choice.scale

    @property
    def _choice(self) -> Exponential:
        return Exponential(
            sensitivity=self.rows, epsilon=self.epsilon / self.k, monotone=self.monotone
        )

    def release(self, counts: ArrayLike) -> tuple[int, ...]:
        """Return k indices, the (noisily) commonest first. Each call spends ``guarantee``.

        ``counts`` is a flat list or array, one number for each candidate, at least k.
        """
        scores = read_scores(counts, name="counts")
        self._check(scores.size)
        left, chosen, scale = np.arange(scores.size), [], self.scale
        for _ in range(self.k):
            at = argmax(scores[left], scale, "gumbel").index
            chosen.append(int(left[at]))
            left = np.delete(left, at)
        return tuple(chosen)

    @property
    def guarantee(self) -> Guarantee:
        """k runs of ε/k-bounded range, which is ε-differential privacy and more."""
        # Which candidates are left is known from the answers before: adaptive composition.
        return BoundedRange(self.epsilon / self.k).repeat(self.k)

    def error(self, confidence: Number = Fraction(95, 100), *, candidates: int) -> float:
        """Return w: with this probability each choice is within w rows of the best one left.

        ``confidence`` is between 0 and 1; 0.95 if left out. ``candidates`` is K, how many there
        are to choose from.

        It is scale·(ln K + ln(k/(1 − confidence))), rounded up.
        """
        sure = probability(confidence, name="confidence")
        self._check(integer(candidates, name="candidates", minimum=1))
        return self._choice.error(1 - (1 - sure) / self.k, candidates=candidates)

    @property
    def inputs(self) -> Scores:
        """What one person can do to the counts."""
        return Scores(Fraction(self.rows), self.monotone, least=self.k)

    def law(self, counts: ArrayLike) -> TopKLaw:
        """Return the exact law of ``release(counts)``."""
        scores = read_scores(counts, name="counts")
        self._check(scores.size)
        return TopKLaw(tuple(scores.tolist()), self.k, self.scale)

    def _check(self, candidates: int) -> None:
        if candidates < self.k:
            raise InvalidArgument(
                "k", f"at most the number of candidates, {candidates}", str(self.k)
            )
