"""Pure differential privacy: no event is more than e^ε times likelier on a neighbour."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.guarantee import Guarantee, LossBound, group_size
from discreet.guarantees.notion import Notion
from discreet.hints import spelled
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import UNIT, Atoms, Band, FloatArray, atoms, ends, widen
from discreet.numeric.exact import Number


@dataclass(frozen=True, init=False, repr=False)
class Pure(Notion, LossBound):
    """ε-differential privacy: no output is more than e^ε times as likely from one dataset as from
    its neighbour. ``epsilon`` is ε, 0 or above: with 1 it is 2.72 times, with 0.1 it is 1.11 times.

    >>> promise = Pure(epsilon=1)
    >>> promise.tv                      # tanh(ε/2), reached by randomized response
    0.4621171572600098
    >>> promise.delta(1)
    0.0
    >>> promise.posterior(0.01)         # from 1 % to at most this, whatever is released
    0.026723630989395227
    >>> promise.group(3)
    Pure(epsilon=Fraction(3, 1))
    """

    kind = "pure"
    fields = named(epsilon=NUMBER)
    parameter, symbol, sum_symbol, adjective = "epsilon", "ε", "ε", "pure "

    epsilon0: Fraction  #: the promised ε, exact

    @spelled
    def __init__(self, epsilon: Number) -> None:
        super().__init__(epsilon)

    def group(self, k: int) -> Pure:
        """What is promised to k people together: k·ε₀."""
        return Pure(self.epsilon0 * group_size(k))

    def failing(self, chance: Fraction) -> Guarantee:
        """This promise, but for a failure of probability ``chance``: that is (ε, δ)."""
        from discreet.guarantees.approx import Approx

        return Approx(self.epsilon0, chance) if chance else self

    @classmethod
    def _of_pure(cls, epsilon: Fraction) -> Pure:
        """Pure ``epsilon``, as it is."""
        return cls(epsilon)

    @classmethod
    def _of_zcdp(cls, rho: Fraction) -> Pure:
        """Refused, as for Gaussian noise, which may be behind ``rho``."""
        return cls._of_gaussian(rho)

    @property
    def _point(self) -> tuple[Fraction, Fraction]:
        return self.epsilon0, Fraction(0)

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        return response_atoms(self.epsilon0, categories=2)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        return pure_profile(self.epsilon0, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        return pure_band(self.epsilon0, x)


def pure_profile(epsilon: Fraction, x: Fraction) -> arb:
    """δ(x) of randomized response, the worst ε-private pair, for x ≥ 0:

        (e^ε − e^x)/(1 + e^ε)  up to ε, then 0  (Kairouz, Oh and Viswanath 2015).

    >>> print(pure_profile(Fraction(1), Fraction(0)).str(15, radius=False))
    0.462117157260010
    """
    if x >= epsilon:
        return ball(0)
    # (e^ε − e^x)/(1 + e^ε) = (1 − e^(x−ε))/(1 + e^(−ε)): nothing overflows.
    return -ball(x - epsilon).expm1() / (1 + (-ball(epsilon)).exp())


def pure_band(epsilon: Fraction, x: FloatArray) -> Band:
    """`pure_profile` in floats, at many x."""
    low, high = (-np.expm1(np.minimum(x - end, 0.0)) / (1 + np.exp(-end)) for end in ends(epsilon))
    return widen(low, high, units=16)


def response_atoms(epsilon: Fraction, *, categories: int, share: float = 1.0) -> Atoms:
    """The losses of k-ary randomized response: ε for the truth, −ε for the other answer."""
    low, high = ends(epsilon)
    small = math.exp(-low)
    truth = share / (1 + (categories - 1) * small)
    rest = (categories - 2) * small * truth
    return atoms(
        [high, 0.0, -low],
        [truth, rest, small * truth],
        rounding=2 * UNIT * high,
        units=64 + 8 * high,
    )


# -- k runs under one pure ε, by the binomial formula ----------------------------------------------


MOST_RUNS = 4096  # beyond, the transform is faster and tight enough


def repeated_pure(epsilon: Fraction, runs: int, x: Fraction) -> arb:
    """δ(x) of k independent randomized responses, for x ≥ 0 (Kairouz, Oh, Viswanath 2015):

        Σ over i of C(k, i)·p^(k−i)·(1−p)^i·(1 − e^(x − (k−2i)·ε))⁺,  p = e^ε/(1 + e^ε).

    >>> print(repeated_pure(Fraction(1, 10), 100, Fraction(2)).str(12, radius=False))
    0.0201401784282
    """
    if x >= runs * epsilon:  # also where nothing is spent
        return ball(0)
    # With r = e^(−ε), the term at i is C(k, i)·r^i/(1 + r)^k, and its loss is above x up to m.
    m = math.ceil((runs - x / epsilon) / 2) - 1
    r = (-ball(epsilon)).exp()
    # Σ C(k,i)·r^i − e^x·Σ C(k,i)·r^(k−i): two sums of positive terms.
    over, under = ball(0), ball(0)
    choose = 1
    power, mirror = ball(1), (ball(x) - ball(runs * epsilon)).exp()
    grow = ball(epsilon).exp()
    for i in range(m + 1):
        weight = ball(choose)
        over += weight * power
        under += weight * mirror
        power, mirror = power * r, mirror * grow
        choose = choose * (runs - i) // (i + 1)
    return (over - under) / (1 + r) ** runs
