"""Exact draws, many at once: whole numbers of 2⁻²⁰, and outcomes by biased coins.

Noise on the grid is discreet's own integer noise with its scale in grid steps. So the law on the
grid is e^(−|k|/t) to the last digit, and what an auditor finds is never the rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

import discreet as dp
from discreet.noise import uniform
from discreet.noise.bernoulli import Computed, Probability, Rational, coins
from discreet.noise.entropy import source
from discreet.numeric.balls import ball

Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

BITS = 20
STEPS = 1 << BITS


def steps(value: Any) -> int:
    """A number on the grid as a whole number of grid steps."""
    exact = Fraction(value) * STEPS
    assert exact.denominator == 1, "it must lie on the grid"
    return int(exact)


def real(units: Ints) -> NDArray[np.float64]:
    """Grid steps as floats: exact below 2³³."""
    return units * 2.0**-BITS


def discrete_laplace(scale: Any, size: int) -> Ints:
    """P(k) ∝ exp(−|k|/scale) on the integers."""
    return np.asarray(_laplace(scale, 1).release(np.zeros(size, np.int64)))


def laplace(scale: Any, size: int) -> Ints:
    """The same on the grid, in grid steps."""
    return np.asarray(_laplace(scale, STEPS).release(np.zeros(size, np.int64)))


def gaussian(sigma: Any, size: int) -> Ints:
    """Normal noise rounded to the grid, in grid steps."""
    return np.asarray(_gaussian(str(sigma)).release(np.zeros(size, np.int64)))


@cache
def _laplace(scale: Any, steps: int) -> dp.Laplace:
    return dp.Laplace(sensitivity=1, scale=Fraction(scale) * steps, step=1)


@cache
def _gaussian(sigma: str) -> dp.Gaussian:
    return dp.Gaussian(sensitivity=1, sigma=Fraction(sigma) * STEPS, step=1)


def geometric(scale: Any, size: int) -> Ints:
    """P(k) = (1 − p)·p^k for k ≥ 0 with p = e^(−1/scale).

    Folding −1 − k onto k makes it so: p^k and p^(k+1), in proportion 1 : p for every k.
    """
    return _folded(discrete_laplace(scale, size))


def exponential(scale: Any, size: int) -> Ints:
    """Geometric on the grid, in grid steps."""
    return _folded(laplace(scale, size))


def _folded(two_sided: Ints) -> Ints:
    return np.where(two_sided >= 0, two_sided, ~two_sided)


def flips(epsilon: Any, size: int) -> Flags:
    """True with probability 1/(1 + e^ε): the lies of randomized response."""
    return ~coins(_first_of([Fraction(epsilon), Fraction(0)]), size)


def fair(size: int) -> Flags:
    return coins(Rational(Fraction(1, 2)), size)


def chance(p: Any, size: int) -> Flags:
    """True with the rational probability p."""
    return coins(Rational(Fraction(p)), size)


def dice(sides: int, size: int) -> Ints:
    return uniform.integers(sides, size)


def gibbs(exponents: Sequence[Any], size: int) -> Ints:
    """Return i with probability ∝ e^(exponents[i]), one biased coin after another."""
    left = [Fraction(e) for e in exponents]
    out = np.full(size, len(left) - 1, np.int64)
    open_ = np.arange(size)
    for i in range(len(left) - 1):
        heads = coins(_first_of(left[i:]), open_.size)
        out[open_[heads]] = i
        open_ = open_[~heads]
    return out


def gibbs_first(epsilon: Any, categories: int, size: int) -> Flags:
    """True with probability e^ε/(e^ε + categories − 1): randomized response tells the truth."""
    others = [Fraction(0)] * (categories - 1)
    return coins(_first_of([Fraction(epsilon), *others]), size)


def _first_of(exponents: list[Fraction]) -> Probability:
    if len(set(exponents)) == 1:
        return Rational(Fraction(1, len(exponents)))
    # Irrational whenever two exponents differ (Lindemann and Weierstrass).
    first = exponents[0]
    return Computed(lambda: 1 / sum((ball(e - first).exp() for e in exponents), ball(0)))


def numpy_generator() -> np.random.Generator:
    """NumPy's own floats, for the case that is about them; repeatable where ours are."""
    return np.random.default_rng(source().words(4))
