"""Zero-concentrated differential privacy: Rényi divergence at most ρ·α at every order α."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee, group_size
from discreet.hints import spelled
from discreet.numeric.balls import ball
from discreet.numeric.bands import UNIT, Band, FloatArray, ends, widen
from discreet.numeric.exact import Number, non_negative, round_up, sqrt_up

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class ZCDP(Guarantee):
    """ρ-zCDP (Bun and Steinke 2016). Gaussian noise has ρ = (Δ/σ)²/2; ρ adds up.

    ``rho`` is ρ, 0 or above.

    >>> promise = ZCDP(rho=0.5)
    >>> round(promise.epsilon("1e-5"), 6)
    4.728387
    >>> promise.group(2)
    ZCDP(rho=Fraction(2, 1))
    """

    rho: Fraction

    @spelled
    def __init__(self, rho: Number) -> None:
        object.__setattr__(self, "rho", non_negative(rho, name="rho"))

    def __repr__(self) -> str:
        return f"ZCDP(rho={self.rho!r})"

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``: the ε of Gaussian noise of this ρ,
        and what is proved for all mechanisms."""
        if self.rho == 0:
            return 0.0, 0.0
        mu = 2 * self.rho / sqrt_up(2 * self.rho)  # at most √(2ρ)
        upper = self.epsilon(delta)
        return min(GDP(mu).bracket(delta)[0], upper), upper

    def group(self, k: int) -> ZCDP:
        """What is promised to k people together: k²·ρ (Bun and Steinke 2016, Prop. 1.9)."""
        return ZCDP(self.rho * group_size(k) ** 2)

    @property
    def _bounded(self) -> bool:
        return self.rho == 0

    @property
    def _convex(self) -> bool:
        return False  # the least of three bounds

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        # Bun and Steinke 2016, Proposition 1.3: ρ + 2·√(ρ·ln(1/δ)).
        rho = float(self.rho)
        return rho + 2 * math.sqrt(-rho * math.log(tail))

    def _over(self, x: Fraction) -> arb:
        return zcdp_profile(self.rho, x)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        return zcdp_band(self.rho, x)


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


def zcdp_band(rho: Fraction, x: FloatArray) -> Band:
    """`zcdp_profile` in floats, at many x; the best orders by the same bisection, all at once."""
    if rho == 0:
        return Band(np.zeros_like(x), np.zeros_like(x))
    slope = round_up(rho)
    left, right = np.full_like(x, -40.0), np.full_like(x, 40.0)
    for _ in range(50):
        middle = (left + right) / 2
        u = np.exp(middle)
        rising = (2 * u + 1) * slope - x - np.log1p(1 / u) > 0
        left, right = np.where(rising, left, middle), np.where(rising, middle, right)
    u = np.exp(left)

    def at(r: float, side: int) -> FloatArray:
        cost, gain = u * ((1 + u) * r), u * x
        log_u, log_1u = u * np.log(u), (1 + u) * np.log1p(u)
        error = 16 * UNIT * (cost + gain + np.abs(log_u) + log_1u)
        renyi = np.exp(np.minimum(cost - gain + log_u - log_1u + side * error, 0.0))
        tv = min(math.sqrt(r / 2), math.sqrt(-math.expm1(-r)))
        value: FloatArray = np.minimum(renyi, tv)
        return value

    low, high = ends(rho)
    return widen(at(low, -1), at(high, 1), units=32)
