"""The transfer theorem with its published constants: Jung, Ligett, Neel, Roth,
Sharifi-Malvajerdi and Shenfeld, "A New Analysis of Differential Privacy's Generalization
Guarantees" (2020).

Answers that are within α of the sample's means but for a probability b, and (ε, δ)-private when
a record is replaced, are for all c, d > 0 within

    α + (e^ε − 1) + c + 2d  of the population's, but for a probability  b/c + δ/d.

Here for Gaussian noise, with ε, b, c, d and σ chosen for the least width. `validity` proves a
sharper form; this one is kept to compare with, and for those who want the published statement.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from discreet import balls
from discreet.adaptive.noise_tails import quantile_of_largest
from discreet.adaptive.noise_widths import ROUNDING, Floats, Noise, rounded_down
from discreet.exact import round_up

_ROOT = math.sqrt(2 * math.pi)


class _Place(NamedTuple):
    """Where the width is small: b/c is a share of the failure probability, δ/d the rest."""

    sigma: float
    share: float
    epsilon: float
    c: float


def jung_width(noise: Noise, *, queries: int, failure: Fraction) -> float:
    """How far k answers with this Gaussian noise can be from the population's, all at once.

    >>> from discreet.adaptive.noise_widths import Noise
    >>> noise = Noise("gaussian", Fraction(1, 80), n=10**5)
    >>> round(jung_width(noise, queries=1000, failure=Fraction(1, 20)), 4)
    0.135
    """
    place = _best_place(np.array([float(noise.size)]), noise.n, queries, float(failure))
    share, c = Fraction(place.share), Fraction(place.c)
    epsilon = Fraction(place.epsilon)
    delta = Fraction(noise.cap(queries).delta(epsilon))
    d = delta / ((1 - share) * failure)  # so that δ/d is the rest
    b = min(share * failure * c, Fraction(1, 2))
    alpha = noise.size * Fraction(quantile_of_largest("gaussian", queries, b)) + ROUNDING
    return round_up(alpha + balls.upper_fraction(balls.ball(epsilon).expm1()) + c + 2 * d)


def jung_noise(n: int, *, queries: int, failure: Fraction) -> Noise:
    """The Gaussian noise of about the least such width."""
    low, high = 1e-3 / n, 10.0
    for _ in range(3):
        grid = np.geomspace(low, high, 80)
        best = _best_place(grid, n, queries, float(failure)).sigma
        step = grid[1] / grid[0]
        low, high = best / step, best * step
    return Noise("gaussian", rounded_down(best), n)


def most_jung_noise(n: int, *, queries: int, failure: Fraction, error: Fraction) -> Noise | None:
    """The most Gaussian noise whose width is at most ``error``; none if no noise has it."""
    best = jung_noise(n, queries=queries, failure=failure)
    low, high = best.size, error
    if jung_width(best, queries=queries, failure=failure) > error:
        return None
    while (middle := rounded_down(math.sqrt(low * high))) > low:
        noise = Noise("gaussian", middle, n)
        fits = jung_width(noise, queries=queries, failure=failure) <= error
        low, high = (middle, high) if fits else (low, middle)
    return Noise("gaussian", low, n)


def _best_place(sigma: Floats, n: int, queries: int, beta: float) -> _Place:
    """The best of a grid of σ and shares f, each with its best ε and c.

    With the union bound α = σ·q, b = 2k·Φ(−q), both are known: setting derivatives to 0,

        ε = μ·(z − μ/2),  Φ(−z) = (1 − f)·β/2,      φ(q) = σ·f·β/(2k),  c = 2k·Φ(−q)/(f·β).
    """
    from scipy.special import ndtr, ndtri

    s, f = np.meshgrid(sigma, np.linspace(0.05, 0.95, 37), indexing="ij")
    mu = math.sqrt(queries) / (n * s)
    epsilon = np.minimum(np.maximum(mu * (-ndtri((1 - f) * beta / 2) - mu / 2), 0.0), 50.0)
    delta = ndtr(mu / 2 - epsilon / mu) - np.exp(epsilon) * ndtr(-epsilon / mu - mu / 2)
    density = np.minimum(_ROOT * s * f * beta / (2 * queries), 0.5)  # of the peak's
    q = np.sqrt(-2 * np.log(density))
    c = 2 * queries * ndtr(-q) / (f * beta)
    width = s * q + np.expm1(epsilon) + c + 2 * np.maximum(delta, 0.0) / ((1 - f) * beta)
    at = np.unravel_index(int(np.argmin(width)), width.shape)
    return _Place(float(s[at]), float(f[at]), float(epsilon[at]), float(c[at]))
