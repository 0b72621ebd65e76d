"""Zero-concentrated differential privacy: Rényi divergence at most ρ·α at every order α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, non_negative, round_up
from discreet.guarantees.profile import delta_at, epsilon_at, group_size

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class ZCDP:
    """ρ-zCDP (Bun and Steinke 2016). Gaussian noise has ρ = (Δ/σ)²/2; ρ adds up.

    >>> promise = ZCDP(rho=0.5)
    >>> round(promise.epsilon("1e-5"), 6)
    4.728387
    >>> promise.group(2)
    ZCDP(rho=Fraction(2, 1))
    """

    rho: Fraction

    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", non_negative(rho, name="rho"))

    def __repr__(self) -> str:
        return f"ZCDP(rho={self.rho!r})"

    def delta(self, epsilon: Number) -> float:
        """The least of three proved bounds, rounded up (see `zcdp_profile`)."""
        return delta_at(self._profile, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 proved for this δ, rounded up; infinite at δ = 0."""
        return epsilon_at(self._profile, delta, reaches_zero=self.rho == 0)

    @property
    def tv(self) -> float:
        """At most √(ρ/2) and √(1 − e^(−ρ)), rounded up."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """Hit rate minus false-alarm rate of the best attacker: the total variation."""
        return self.tv

    def group(self, k: int) -> ZCDP:
        """What is promised to k people together: k²·ρ (Bun and Steinke 2016, Prop. 1.9)."""
        return ZCDP(self.rho * group_size(k) ** 2)

    def _profile(self, x: Fraction) -> arb:
        return zcdp_profile(self.rho, x)


def zcdp_profile(rho: Fraction, x: Fraction) -> arb:
    """An upper bound on δ(x) for x ≥ 0 under ρ-zCDP: the least of

    - √(ρ/2), by Pinsker's inequality, as the KL divergence is at most ρ and δ(x) ≤ δ(0) = TV;
    - √(1 − e^(−ρ)) likewise, by Bretagnolle and Huber (1979), better for large ρ;
    - exp((α−1)(αρ−x))/(α−1)·(1−1/α)^α for any α > 1 (Canonne, Kamath and Steinke 2020,
      Proposition 12). We take the best α in floating point: whichever it is, the bound holds.
    """
    if rho == 0:
        return ball(0)
    pinsker = (ball(rho) / 2).sqrt()
    bretagnolle_huber = (-(-ball(rho)).expm1()).sqrt()
    tv = pinsker.min(bretagnolle_huber)
    u = _best_order(rho, x)  # α − 1
    # log of the third: u·((1+u)·ρ − x) + u·log(u) − (1+u)·log(1+u)
    renyi = ball(u * ((1 + u) * rho - x)) + ball(u) * ball(u).log() - ball(1 + u) * ball(u).log1p()
    return tv.min(renyi.exp()) if renyi < 0 else tv


def _best_order(rho: Fraction, x: Fraction) -> Fraction:
    """The α − 1 = u that makes the Rényi bound least, nearly: the derivative of its logarithm,

        (2u + 1)·ρ − x + log(u/(1 + u)),

    increases with u, so its root is found by bisection on log u.
    """
    slope, shift = min(round_up(rho), 1e300), min(round_up(x), 1e300)
    low, high = -300.0, 300.0
    for _ in range(64):
        middle = (low + high) / 2
        u = math.exp(middle)
        if (2 * u + 1) * slope - shift - math.log1p(1 / u) > 0:
            high = middle
        else:
            low = middle
    return Fraction(math.exp(low))
