"""The two laws that a mechanism's output has at worst, with one person and without.

For each pair: the largest loss, the ρ and the μ² that it takes from an account, and the tail of
its privacy loss L = log P/Q under P, from which compositions are computed.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING, TypeAlias

from discreet.certificate.independent.reals import real

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True)
class Shift:
    """Discrete Laplace noise, P(k) ∝ r^|k| with r = e^(−ε/n), moved by n whole steps."""

    epsilon: Fraction
    steps: int

    @property
    def rate(self) -> Fraction:
        """1/scale, in steps."""
        return self.epsilon / self.steps

    def rho(self) -> arb:
        """The Kullback-Leibler divergence b·(E|K − n| − E|K|), by first moments.

        K is symmetric, so E|K − n| = n + 2·E(K − n)⁺, and P(K ≥ j) = r^j/(1 + r) makes
        E(K − n)⁺ = r^(n+1)/(1 − r²). That no order α has a larger D_α/α than α → 1 is a theorem
        (Harrison and Manurangsi 2026); the tests look at many.
        """
        b = real(self.rate)
        r = (-b).exp()
        return real(self.epsilon) - 2 * b * r * -(-real(self.epsilon)).expm1() / -(-2 * b).expm1()

    def mu(self) -> arb:
        """The largest z(a) + z(b) over corners of the trade-off curve (Dong, Roth and Su 2022).

        "Up to m" has the false-alarm rate P(K ≤ m − n) = r^(n−m)/(1 + r) and misses
        P(K > m) = r^(m+1)/(1 + r): a·b is the same for all m, and the middle decides.
        """
        n, b = self.steps, self.rate
        both = 1 + (-real(b)).exp()
        found = [
            _z((-real((n - m) * b)).exp() / both) + _z((-real((m + 1) * b)).exp() / both)
            for m in {(n - 1) // 2, n // 2}
        ]
        return max(found, key=float)

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """P(L ≥ x), or P(L > x): output k ≤ n loses (n − 2k)·b, those below 0 as much as 0."""
        n, at = self.steps, (self.steps - x / self.rate) / 2
        m = ceil(at) - 1 if strict else floor(at)
        if m < 0:
            return real(0)
        if m >= n:
            return real(1)
        return 1 - (-real((m + 1) * self.rate)).exp() / (1 + (-real(self.rate)).exp())


@dataclass(frozen=True)
class Normal:
    """Gaussian noise moved by μ standard deviations; given by μ², which adds up."""

    square: Fraction

    def rho(self) -> Fraction:
        """D_α = α·μ²/2 between two normal laws."""
        return self.square / 2

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """L is normal with mean μ²/2 and variance μ²."""
        return ((real(x) - real(self.square / 2)) / real(2 * self.square).sqrt()).erfc() / 2

    def delta(self, x: Fraction) -> arb:
        """The profile itself: Φ(μ/2 − x/μ) − e^x·Φ(−μ/2 − x/μ) (Balle and Wang 2018)."""
        mean, width = real(self.square / 2), real(2 * self.square).sqrt()
        over = ((real(x) - mean) / width).erfc() / 2
        return over - real(x).exp() * ((real(x) + mean) / width).erfc() / 2


@dataclass(frozen=True)
class Range:
    """A choice whose losses lie in an interval of length ε: two losses, t and t − ε, at worst.

    With y = e^((x−ε)/2) the largest profile over all t is (1 − y)²/(1 − e^(−ε)), at t = (x + ε)/2.
    """

    epsilon: Fraction

    def rho(self) -> arb:
        """The largest Kullback-Leibler divergence t − ε·(e^t − 1)/(e^ε − 1), at e^t = (e^ε − 1)/ε;
        that no order α has more is a theorem (Cesar and Rogers 2021)."""
        e = real(self.epsilon)
        grown = e.expm1()
        return (grown / e).log() - 1 + e / grown

    def mu(self) -> arb:
        """The corner at t = ε/2 has a = b = 1/(1 + e^(ε/2))."""
        return 2 * _z(1 / (1 + real(self.epsilon / 2).exp()))

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """δ − δ′ of the profile: (1 − y)/(1 − e^(−ε)), from 1 at −ε to 0 at ε, without atoms."""
        if x >= self.epsilon:
            return real(0)
        if x <= -self.epsilon:
            return real(1)
        return real((x - self.epsilon) / 2).expm1() / (-real(self.epsilon)).expm1()


@dataclass(frozen=True)
class Response:
    """Randomized response with odds e^ε: the worst of all that is ε-private; and with chance
    `failing` everything is told (Kairouz, Oh and Viswanath 2015)."""

    epsilon: Fraction
    failing: Fraction = Fraction(0)

    def rho(self) -> arb:
        """Its Kullback-Leibler divergence ε·tanh(ε/2); no order has more."""
        return real(self.epsilon) * real(self.epsilon / 2).tanh()

    def mu(self) -> arb:
        """One corner, a = b = 1/(1 + e^ε)."""
        return 2 * _z(1 / (1 + real(self.epsilon).exp()))

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """Losses ε and −ε, the first with probability 1/(1 + e^(−ε)); `failing` is kept apart."""
        e = self.epsilon
        if x > e or (strict and x == e):
            return real(0)
        if x < -e or (not strict and x == -e):
            return real(1)
        return 1 / (1 + (-real(e)).exp())


Pair: TypeAlias = Shift | Normal | Range | Response
Counted: TypeAlias = tuple[Pair, int]  # and how often


def _z(p: arb) -> arb:
    """Φ⁻¹(1 − p)"""
    return real(2).sqrt() * (2 * p).erfcinv()
