"""Approximate differential privacy: pure ε, except with probability δ."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.guarantee import LossBound, group_size, unit_interval
from discreet.guarantees.notion import Budget, Notion, plain
from discreet.guarantees.pure import Pure, pure_band, pure_profile, response_atoms
from discreet.guarantees.zcdp import ZCDP
from discreet.hints import spelled
from discreet.numeric.balls import arb, ball, sharp, upper_fraction
from discreet.numeric.bands import Atoms, Band, FloatArray, ends, widen
from discreet.numeric.exact import Number, non_negative, probability


@dataclass(frozen=True, init=False, repr=False)
class Approx(Budget, LossBound):
    """(ε, δ)-differential privacy: P(E) ≤ e^ε·Q(E) + δ for every event E and all neighbours.

    ``epsilon`` is ε, 0 or above. ``delta`` is δ, from 0 to 1; to mean anything it should be far
    below one over the number of people: 1e-6, say.

    >>> promise = Approx(epsilon=1, delta=1e-5)
    >>> promise.delta(1), promise.delta(2)       # δ₀ never goes away
    (1e-05, 1e-05)
    >>> promise.epsilon(0)
    inf
    """

    kind = "approx"
    fields = named(epsilon=NUMBER, delta=NUMBER)

    epsilon0: Fraction  #: the promised ε, exact
    delta0: Fraction  #: the promised δ, exact

    @spelled
    def __init__(self, epsilon: Number, delta: Number) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))
        object.__setattr__(self, "delta0", unit_interval(delta, name="delta"))

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at ``delta``, rounded up; infinite below δ₀."""
        target = unit_interval(delta, name="delta")
        if target < self.delta0:
            return math.inf
        if target == 1:
            return 0.0
        # δ₀ + (1 − δ₀)·p(ε) ≤ δ, solved exactly for the profile p of the pure part.
        return Pure(self.epsilon0).epsilon((target - self.delta0) / (1 - self.delta0))

    def group(self, k: int) -> Approx:
        """What is promised to k people together: k·ε₀ and δ₀·(1 + e^ε₀ + … + e^((k−1)·ε₀)).

        >>> Approx(epsilon=0, delta=0.01).group(3)
        Approx(epsilon=Fraction(0, 1), delta=Fraction(3, 100))
        """
        size = group_size(k)
        if self.epsilon0 == 0 or self.delta0 == 0 or size == 1:
            return Approx(self.epsilon0 * size, min(Fraction(1), self.delta0 * size))
        # By the triangle inequality for hockey-stick divergences (Vadhan 2017, Lemma 2.2).
        if self.epsilon0 * size > 10**6:  # e^(k·ε₀) is beyond any δ₀ that was typed in
            return Approx(self.epsilon0 * size, 1)
        grown = sharp(lambda: ball(self.epsilon0 * size).expm1() / ball(self.epsilon0).expm1())
        return Approx(self.epsilon0 * size, min(Fraction(1), self.delta0 * upper_fraction(grown)))

    @property
    def _bounded(self) -> bool:
        return self.delta0 == 0

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return self.delta0

    @property
    def words(self) -> str:
        """The point, for reading."""
        return f"ε = {plain(self.epsilon0)} at δ = {plain(self.delta0)}"

    def kept(self, slack: Fraction | None) -> tuple[Notion, Fraction]:
        """The greatest ρ that implies it together with the ``slack``, which is half of δ unless
        stated: so the split of δ is fixed when an account is opened."""
        aside = self.delta0 / 2 if slack is None else slack
        rest = without_slack(self.delta0, aside)
        return ZCDP.greatest(epsilon=self.epsilon0, delta=rest), aside

    @property
    def _point(self) -> tuple[Fraction, Fraction]:
        return self.epsilon0, self.delta0

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        return response_atoms(self.epsilon0, categories=2, share=ends(1 - self.delta0)[1])

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        # The worst pair fails outright with probability δ₀ and is randomized response otherwise
        # (Kairouz, Oh and Viswanath 2015).
        return ball(self.delta0) + ball(1 - self.delta0) * pure_profile(self.epsilon0, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        pure, (low, high) = pure_band(self.epsilon0, x), ends(self.delta0)
        return widen(low + (1 - low) * pure.lower, high + (1 - high) * pure.upper, units=8)


def read_slack(slack: Number) -> Fraction:
    """Check a slack that is passed in: with 1, nothing would be promised."""
    exact = non_negative(slack, name="slack")
    if exact < 1:
        return exact
    raise InvalidArgument.of("slack", "0 or above and below 1", slack)


def without_slack(delta: Number, slack: Number) -> Fraction:
    """What is left of δ for the cap: (δ − slack)/(1 − slack).

    >>> without_slack("0.1", slack="0.01")
    Fraction(1, 11)
    """
    whole, part = probability(delta, name="delta"), read_slack(slack)
    if part < whole:
        return (whole - part) / (1 - part)
    raise InvalidArgument.of("slack", "below delta", slack)
