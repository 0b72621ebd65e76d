"""The width of a bound as a function of the noise, and the best noise to choose.

Noise on a mean of n records is Gaussian with standard deviation σ, or Laplace of scale 1/(n·ε).
More noise hides the sample better, so answers drift less from the population; but they are
themselves further off. Somewhere in between is the least width and, for a given width, the most
noise that keeps it.

The search runs in floats, with approximate formulas that are good enough to find a good place. The
width claimed there is computed anew and rounded up: a bad search costs width, never correctness.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import chain
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.adaptive.validity import drift
from discreet.guarantees import GDP, ZCDP, Guarantee, Pure
from discreet.numeric import balls
from discreet.numeric.balls import arb
from discreet.numeric.exact import round_up, sqrt_up
from discreet.numeric.short_fractions import short_up

# A query's values are rounded to multiples of 2^−32 before they are added up, which moves its
# mean over the population by 2^−33 at most; noise is rounded to a step of 2^−32/n; the answer to
# a float, which is 2^−53 of itself.
ROUNDING = Fraction(1, 2**31)
_RELATIVE = 1 + Fraction(1, 2**50)
_HALVINGS = 40
_COMPOSED = 10**5  # up to this many Laplace answers are composed by their own law, which is slow
_SLIPS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # how far an estimate may have been off
_DIGITS = 6  # of the noise we choose: a short fraction, which a ledger can charge exactly

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Noise:
    """Noise on each answer: Gaussian of standard deviation ``size``, Laplace of scale ``size``."""

    shape: Shape
    size: Fraction
    n: int

    @property
    def one(self) -> GDP | Pure:
        """What one answer costs when a record is replaced, which moves a mean by 1/n."""
        loss = 1 / (self.n * self.size)
        return GDP(loss) if self.shape == "gaussian" else Pure(loss)

    def total(self, queries: int) -> Guarantee:
        """What k answers cost, each query free to depend on the answers before it."""
        if self.shape == "gaussian":
            return self.cap(queries)
        if queries <= _COMPOSED:
            return self.one.repeat(queries)
        # ε-privacy is ε²/2-concentrated (Bun and Steinke 2016): wider by a sixth, but instant.
        return ZCDP(short_up(Fraction(queries, 2) / (self.n * self.size) ** 2))

    def cap(self, queries: int) -> GDP | Pure:
        """The budget that k answers use up exactly, in a notion that an account can be kept in."""
        loss = 1 / (self.n * self.size)
        if self.shape == "gaussian":
            return GDP(short_up(sqrt_up(queries * loss**2)))
        return Pure(queries * loss)

    def own_error(self, queries: int, failure: Fraction) -> Fraction:
        """The largest of the k errors due to noise, in the worst ``failure`` of cases."""
        worst = superquantile_of_largest(self.shape, queries, failure)
        return self.size * Fraction(worst) * _RELATIVE + ROUNDING

    def __str__(self) -> str:
        if self.shape == "gaussian":
            return f"Gaussian, σ = {float(self.size):.4g}"
        return f"Laplace, ε = {float(1 / (self.n * self.size)):.4g}"


def width_of(
    noise: Noise, *, queries: int, failure: Fraction, whole: Guarantee | None = None
) -> float:
    """The width by the theorem of `validity`: the error of the noise plus the drift, rounded up.

    ``whole`` is the guarantee of all that the analyst sees of the sample: these answers, unless
    there are more.
    """
    moved = drift(noise.total(queries) if whole is None else whole, failure=failure)
    return round_up(noise.own_error(queries, failure) + Fraction(moved))


def best_noise(shape: Shape, n: int, *, queries: int, failure: Fraction) -> Noise:
    """The noise with about the least width.

    >>> str(best_noise("gaussian", 10**5, queries=1000, failure=Fraction(1, 20)))
    'Gaussian, σ = 0.01261'
    """
    size, _ = _least(_estimate(shape, n, queries, failure), low=1e-3 / n, high=10.0)
    return Noise(shape, rounded_down(size), n)


def estimated_width(shape: Shape, n: int, *, queries: int, failure: Fraction) -> float:
    """The approximate width of the best noise: fast, and off by one per cent either way."""
    return _least(_estimate(shape, n, queries, failure), low=1e-3 / n, high=10.0)[1]


def most_noise(
    shape: Shape, n: int, *, queries: int, failure: Fraction, error: Fraction
) -> Noise | None:
    """The most noise whose width is at most ``error``; None if no noise reaches it."""
    best = best_noise(shape, n, queries=queries, failure=failure)

    def fits(size: Fraction) -> bool:
        return width_of(Noise(shape, size, n), queries=queries, failure=failure) <= error

    if not fits(best.size):
        return None
    # Beyond the best noise the width grows with the noise, until the noise alone is the error.
    estimate, low, high = _estimate(shape, n, queries, failure), float(best.size), float(error)
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if estimate(np.array([middle]))[0] <= error else (low, middle)
    tried = chain((max(rounded_down(low * (1 - slip)), best.size) for slip in _SLIPS), [best.size])
    return Noise(shape, next(size for size in tried if fits(size)), n)


def rounded_down(size: float) -> Fraction:
    """The size to six digits, never rounded up.

    >>> rounded_down(0.0123456789)
    Fraction(1929, 156250)
    """
    place = _place(size)
    return Fraction(math.floor(Fraction(size) * place)) / place


def rounded_up(size: Fraction) -> Fraction:
    """The size to six digits, never rounded down."""
    place = _place(float(size))
    return Fraction(math.ceil(size * place)) / place


def _place(size: float) -> Fraction:
    """The power of ten that scales a size to a whole number of six digits."""
    return Fraction(10) ** (_DIGITS - 1 - math.floor(math.log10(size)))


def estimated_drift(mu: Floats, beta: float) -> Floats:
    """The drift of μ-GDP, min over ε of e^ε − 1 + δ(ε)/β."""
    epsilon, delta = _best_epsilon(mu, beta)
    moved: Floats = np.expm1(epsilon) + delta / beta
    return moved


def _best_epsilon(mu: Floats, beta: Any) -> tuple[Floats, Floats]:
    """The ε where e^ε − 1 + δ(ε)/β is least for μ-GDP, and δ(ε): ε = μ·(z − μ/2) with Φ(−z) = β.

    For it has the derivative 1 − Φ(−ε/μ − μ/2)/β in e^ε.
    """
    from scipy.special import ndtr, ndtri

    epsilon = np.minimum(np.maximum(mu * (-ndtri(beta) - mu / 2), 0.0), 50.0)
    delta = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-epsilon / mu - mu / 2)
    return epsilon, np.maximum(delta, 0.0)


def _estimate(shape: Shape, n: int, queries: int, failure: Fraction) -> Callable[[Floats], Floats]:
    worst, beta = superquantile_of_largest(shape, queries, failure), float(failure)

    def width(size: Floats) -> Floats:
        loss = 1 / (n * size)
        moved = estimated_drift(np.sqrt(queries) * loss, beta)
        if shape == "laplace":
            # Many together are nearly Gaussian, with μ² = ε² each, and never worse than k·ε.
            moved = np.minimum(moved, np.expm1(np.minimum(queries * loss, 50.0)))
        return worst * size + moved

    return width


def _least(width: Callable[[Floats], Floats], *, low: float, high: float) -> tuple[float, float]:
    """Where the width is least, and its value there, on a grid that is refined three times."""
    for _ in range(4):
        grid = np.geomspace(low, high, 80)
        widths = width(grid)
        place = int(np.argmin(widths))
        low, high = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, 79)])
    return float(grid[place]), float(widths[place])


# -- how large the largest of k independent errors is ----------------------------------------------

# X is the largest of k absolute values of standard noise, N(0, 1) or Laplace of scale 1. With the
# tail q(x) = P(|Z| > x) of one,
#
#     P(X > x) = 1 − (1 − q(x))^k,     E(X − s)₊ = ∫ from s to ∞ of P(X > x) dx.
#
# Arb computes the integrals in balls that hold the true value, so every number here is rounded up
# and off by less than 10⁻⁹ of itself.


Shape: TypeAlias = Literal["gaussian", "laplace"]

_BITS = 128
_FAR: dict[Shape, int] = {"gaussian": 14, "laplace": 80}  # how far beyond s the integral runs
_NUDGE = 2.0**-40


@lru_cache(maxsize=4096)
def superquantile_of_largest(shape: Shape, queries: int, failure: Fraction) -> float:
    """The mean of X in the worst ``failure`` of cases, rounded up: s + E(X − s)₊/β at the
    quantile s, where it is least. With a failure of 1 it is E[X].

    >>> superquantile_of_largest("laplace", 3, Fraction(1))                  # 1 + 1/2 + 1/3
    1.8333333333333335
    >>> round(superquantile_of_largest("gaussian", 1000, Fraction(1, 20)), 6)
    4.275776
    """
    point = 0.0 if failure == 1 else quantile_of_largest(shape, queries, failure)
    with balls.precision(_BITS):
        above = balls.upper_fraction(excess_of_largest(shape, queries, Fraction(point)))
    return round_up(Fraction(point) + above / failure)


def excess_of_largest(shape: Shape, queries: int, s: Fraction) -> arb:
    """E(X − s)₊ as a ball."""
    from flint import acb

    def tail(z: Any, _: bool) -> Any:
        return 1 - (1 - _one(shape, z)) ** queries

    far = s + _FAR[shape]
    near = acb.integral(tail, acb(balls.ball(s)), acb(balls.ball(far))).real
    # P(X > x) ≤ k·q(x), and ∫ q ≤ √(2/π)·e^(−x²/2) or e^(−x): a ball from 0 to that.
    exponent = balls.ball(far * far / 2 if shape == "gaussian" else far)
    beyond = queries * (-exponent).exp()
    return near + balls.ball(0).union(beyond)


@lru_cache(maxsize=4096)
def quantile_of_largest(shape: Shape, queries: int, failure: Fraction) -> float:
    """Some x with P(X > x) ≤ failure, above the least such x by at most one part in 10¹¹.

    >>> round(quantile_of_largest("gaussian", 1, Fraction(1, 20)), 6)
    1.959964
    """
    from scipy.special import ndtri

    one = -math.expm1(math.log1p(-float(failure)) / queries)  # q(x), when P(X > x) = failure
    x = -float(ndtri(one / 2)) if shape == "gaussian" else -math.log(one)
    x = max(x, 0.0)
    with balls.precision(_BITS):  # until it is certain
        while not 1 - (1 - _one(shape, balls.ball(Fraction(x)))) ** queries <= balls.ball(failure):
            x = x * (1 + _NUDGE) + math.ulp(1.0)
    return x


def _one(shape: Shape, z: Any) -> Any:
    """q(z) = P(|Z| > z): erfc(z/√2) or e^(−z)."""
    return (z / balls.ball(2).sqrt()).erfc() if shape == "gaussian" else (-z).exp()


# -- the transfer theorem with its published constants ---------------------------------------------
# Jung, Ligett, Neel, Roth, Sharifi-Malvajerdi and Shenfeld, "A New Analysis of Differential
# Privacy's Generalization Guarantees" (2020).
#
# If answers are within α of the sample's means except with probability b, and (ε, δ)-private when
# a record is replaced, then for all c, d > 0 they are within
#
#     α + (e^ε − 1) + c + 2d  of the population's, except with probability  b/c + δ/d.
#
# It is used here for Gaussian noise, with ε, b, c, d and σ chosen for the least width. `validity`
# proves a sharper form; this one is kept for comparison, and for those who want the published
# statement.


_ROOT = math.sqrt(2 * math.pi)


def jung_width(noise: Noise, *, queries: int, failure: Fraction) -> float:
    """How far k answers with this Gaussian noise can be from the population's, all at once.

    >>> from discreet.adaptive.noise_width import Noise
    >>> noise = Noise("gaussian", Fraction(1, 80), n=10**5)
    >>> round(jung_width(noise, queries=1000, failure=Fraction(1, 20)), 4)
    0.135
    """
    place = _best_place(np.array([float(noise.size)]), noise.n, queries, float(failure))
    _, share, epsilon, c = map(Fraction, place)
    delta = Fraction(noise.cap(queries).delta(epsilon))
    d = delta / ((1 - share) * failure)  # so that δ/d is the rest
    b = min(share * failure * c, Fraction(1, 2))
    alpha = noise.size * Fraction(quantile_of_largest("gaussian", queries, b)) + ROUNDING
    return round_up(alpha + balls.upper_fraction(balls.ball(epsilon).expm1()) + c + 2 * d)


def jung_noise(n: int, *, queries: int, failure: Fraction) -> Noise:
    """The Gaussian noise with about the least such width."""
    low, high = 1e-3 / n, 10.0
    for _ in range(3):
        grid = np.geomspace(low, high, 80)
        best, *_ = _best_place(grid, n, queries, float(failure))
        step = grid[1] / grid[0]
        low, high = best / step, best * step
    return Noise("gaussian", rounded_down(best), n)


def most_jung_noise(n: int, *, queries: int, failure: Fraction, error: Fraction) -> Noise | None:
    """The most Gaussian noise whose width is at most ``error``; None if no noise reaches it."""
    best = jung_noise(n, queries=queries, failure=failure)
    low, high = best.size, error
    if jung_width(best, queries=queries, failure=failure) > error:
        return None
    while (middle := rounded_down(math.sqrt(low * high))) > low:
        noise = Noise("gaussian", middle, n)
        fits = jung_width(noise, queries=queries, failure=failure) <= error
        low, high = (middle, high) if fits else (low, middle)
    return Noise("gaussian", low, n)


def _best_place(sigma: Floats, n: int, queries: int, beta: float) -> list[float]:
    """σ, f, ε and c: the best of a grid of σ and shares f, each with its best ε and c. Of the
    failure probability, b/c is the share f, and δ/d the rest.

    With the union bound α = σ·q, b = 2k·Φ(−q), both have closed forms: setting derivatives to 0,

        ε = μ·(z − μ/2),  Φ(−z) = (1 − f)·β/2,      φ(q) = σ·f·β/(2k),  c = 2k·Φ(−q)/(f·β).
    """
    from scipy.special import ndtr

    s, f = np.meshgrid(sigma, np.linspace(0.05, 0.95, 37), indexing="ij")
    epsilon, delta = _best_epsilon(math.sqrt(queries) / (n * s), (1 - f) * beta / 2)
    density = np.minimum(_ROOT * s * f * beta / (2 * queries), 0.5)  # relative to the peak
    q = np.sqrt(-2 * np.log(density))
    c = 2 * queries * ndtr(-q) / (f * beta)
    width = s * q + np.expm1(epsilon) + c + 2 * delta / ((1 - f) * beta)
    at = np.unravel_index(int(np.argmin(width)), width.shape)
    return [float(found[at]) for found in (s, f, epsilon, c)]
