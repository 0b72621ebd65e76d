"""The width of a bound as a function of the noise, and the noise that suits best.

Noise on a mean of n records is Gaussian of a standard deviation σ, or Laplace of scale 1/(n·ε).
More of it hides the sample better, so answers drift less from the population; but they are
themselves further off. Somewhere between is the least width, and, for a width that is asked for,
the most noise that keeps it.

The search runs in floats, with formulas near enough to find a good place. What is then claimed
of that place is computed anew and rounded up: a bad search costs width, never truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from discreet.adaptive.noise_tails import Shape, superquantile_of_largest
from discreet.adaptive.validity import drift
from discreet.exact import round_up, sqrt_up
from discreet.guarantees import GDP, ZCDP, Guarantee, Pure
from discreet.guarantees.short import short_up

# A query's values are rounded to multiples of 2^−32 before they are added up, which moves its
# mean over the population by 2^−33 at most; noise is rounded to a step of 2^−32/n; the answer to
# a float, which is 2^−53 of itself.
ROUNDING = Fraction(1, 2**31)
_RELATIVE = 1 + Fraction(1, 2**50)
_HALVINGS = 40
_COMPOSED = 10**5  # so many Laplace answers are composed by their own law, which takes time
_SLIPS = (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2)  # how far an estimate may have been off
_DIGITS = 6  # of a noise that we choose: a short fraction, for a ledger to charge exactly

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
        # ε-privacy is ε²/2-concentrated (Bun and Steinke 2016): wider by a sixth, and at once.
        return ZCDP(short_up(Fraction(queries, 2) / (self.n * self.size) ** 2))

    def cap(self, queries: int) -> GDP | Pure:
        """A budget that k answers fill, in a notion that an account can be kept in."""
        loss = 1 / (self.n * self.size)
        if self.shape == "gaussian":
            return GDP(short_up(sqrt_up(queries * loss**2)))
        return Pure(queries * loss)

    def own_error(self, queries: int, failure: Fraction) -> Fraction:
        """The largest of k errors that noise makes, in its worst ``failure`` of cases."""
        worst = superquantile_of_largest(self.shape, queries, failure)
        return self.size * Fraction(worst) * _RELATIVE + ROUNDING

    def __str__(self) -> str:
        if self.shape == "gaussian":
            return f"Gaussian, σ = {float(self.size):.4g}"
        return f"Laplace, ε = {float(1 / (self.n * self.size)):.4g}"


def width_of(noise: Noise, *, queries: int, failure: Fraction, whole: Guarantee) -> float:
    """The theorem of `validity`: what noise adds, and what the sample drifts; rounded up.

    ``whole`` is the guarantee of everything the analyst sees of the sample.
    """
    moved = Fraction(drift(whole, failure=failure))
    return round_up(noise.own_error(queries, failure) + moved)


def best_noise(shape: Shape, n: int, *, queries: int, failure: Fraction) -> Noise:
    """The noise of about the least width.

    >>> str(best_noise("gaussian", 10**5, queries=1000, failure=Fraction(1, 20)))
    'Gaussian, σ = 0.01261'
    """
    size, _ = _least(_estimate(shape, n, queries, failure), low=1e-3 / n, high=10.0)
    return Noise(shape, rounded_down(size), n)


def estimated_width(shape: Shape, n: int, *, queries: int, failure: Fraction) -> float:
    """About the width of the best noise: fast, and off either way by a part in a hundred."""
    return _least(_estimate(shape, n, queries, failure), low=1e-3 / n, high=10.0)[1]


def most_noise(
    shape: Shape, n: int, *, queries: int, failure: Fraction, error: Fraction
) -> Noise | None:
    """The most noise whose width is at most ``error``; none if no noise has one as small."""
    best = best_noise(shape, n, queries=queries, failure=failure)

    def fits(size: Fraction) -> bool:
        noise = Noise(shape, size, n)
        return (
            width_of(noise, queries=queries, failure=failure, whole=noise.total(queries)) <= error
        )

    if not fits(best.size):
        return None
    # Beyond the best noise the width grows with the noise, until that alone is the error.
    estimate, low, high = _estimate(shape, n, queries, failure), float(best.size), float(error)
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if estimate(np.array([middle]))[0] <= error else (low, middle)
    tried = chain((max(rounded_down(low * (1 - slip)), best.size) for slip in _SLIPS), [best.size])
    return Noise(shape, next(size for size in tried if fits(size)), n)


def rounded_down(size: float) -> Fraction:
    """The size to six digits, never above what it was.

    >>> rounded_down(0.0123456789)
    Fraction(1929, 156250)
    """
    place = _place(size)
    return Fraction(math.floor(Fraction(size) * place)) / place


def rounded_up(size: Fraction) -> Fraction:
    """The size to six digits, never below what it was."""
    place = _place(float(size))
    return Fraction(math.ceil(size * place)) / place


def _place(size: float) -> Fraction:
    """The power of ten that makes six digits a whole number."""
    return Fraction(10) ** (_DIGITS - 1 - math.floor(math.log10(size)))


def estimated_drift(mu: Floats, beta: float) -> Floats:
    """The drift of μ-GDP: ε = μ·(z − μ/2) with Φ(−z) = β is where it is least.

    For e^ε − 1 + δ(ε)/β has the derivative 1 − Φ(−ε/μ − μ/2)/β in e^ε.
    """
    from scipy.special import ndtr, ndtri

    epsilon = np.minimum(np.maximum(mu * (-ndtri(beta) - mu / 2), 0.0), 50.0)
    delta = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-epsilon / mu - mu / 2)
    moved: Floats = np.expm1(epsilon) + np.maximum(delta, 0.0) / beta
    return moved


def _estimate(shape: Shape, n: int, queries: int, failure: Fraction) -> Callable[[Floats], Floats]:
    worst, beta = superquantile_of_largest(shape, queries, failure), float(failure)

    def width(size: Floats) -> Floats:
        loss = 1 / (n * size)
        if shape == "gaussian":
            return worst * size + estimated_drift(np.sqrt(queries) * loss, beta)
        # Many of them together are nearly Gaussian, with μ² = ε² each; and never worse than ε.
        mu = np.sqrt(queries) * loss
        pure = np.expm1(np.minimum(queries * loss, 50.0))
        return worst * size + np.minimum(estimated_drift(mu, beta), pure)

    return width


def _least(width: Callable[[Floats], Floats], *, low: float, high: float) -> tuple[float, float]:
    """Where the width is least, and how much it is, on a grid that closes in three times."""
    for _ in range(4):
        grid = np.geomspace(low, high, 80)
        widths = width(grid)
        place = int(np.argmin(widths))
        low, high = float(grid[max(place - 1, 0)]), float(grid[min(place + 1, 79)])
    return float(grid[place]), float(widths[place])
