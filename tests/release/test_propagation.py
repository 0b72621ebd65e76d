"""Whether errors that are added up still hold, by exact convolution of the laws of the noise."""

import math
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest

from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.release.propagation import NoiseTerm, half_width, half_width_of_sum


def laplace(scale):
    """The masses of a discrete Laplace law around 0, and its half-width."""
    reach = math.ceil(40 * scale) + 5
    ratio = math.exp(-1 / scale)
    masses = (1 - ratio) / (1 + ratio) * ratio ** np.abs(np.arange(-reach, reach + 1))
    return masses, float(DiscreteLaplace(center=0, scale=scale).tail(0.95))


def gaussian(sigma):
    """The masses of a Gaussian law rounded to whole numbers, and its half-width."""
    from scipy.special import ndtr

    reach = math.ceil(9 * sigma) + 3
    k = np.arange(-reach, reach + 1)
    masses = ndtr((k + 0.5) / sigma) - ndtr((k - 0.5) / sigma)
    return masses, float(RoundedGaussian(center=0, sigma=sigma, step=1).tail(0.95))


# Scales around the places where a half-width jumps to the next whole number are the worst ones.
SCALES = (0.1, 0.2, 0.25, 0.27, 0.3, 0.5, 0.56, 0.6, 0.9, 1.0, 1.5, 2.0, 3.7, 6.8, 12.0)
LAWS = [laplace(t) for t in SCALES] + [
    gaussian(s) for s in (0.2, 0.25, 0.6, 0.69, 0.7, 1.15, 1.2, 1.73, 2.6, 3.2, 4.8, 9.0)
]


def noise(name, coefficient, width, *, step=1.0, additive=True, sources=None):
    return NoiseTerm(
        (name,),
        np.array([float(coefficient)]),
        np.array([width]),
        np.array([step]),
        frozenset(sources or {("r", name)}),
        additive,
    )


def stretched(masses, factor):
    """The law of factor·Z."""
    out = np.zeros(factor * (len(masses) - 1) + 1)
    out[::factor] = masses
    return out


def within(masses, width):
    """P(|Z| ≤ width)"""
    middle = len(masses) // 2
    reach = min(math.floor(width), middle)
    return float(masses[middle - reach : middle + reach + 1].sum())


@pytest.mark.parametrize("factors", [(1, 1), (1, 2), (2, 3), (1, 7)])
def test_two_sources_in_quadrature(factors):
    """Catches a rule that is too small for some pair of laws, scales and coefficients."""
    a, b = factors
    for p, v in LAWS:
        for q, w in LAWS:
            width = half_width([noise("a", a, v), noise("b", b, w)])[0]
            assert within(np.convolve(stretched(p, a), stretched(q, b)), width) >= 0.95


def test_plain_quadrature_would_be_too_small():
    """Why a step is added: without it two counts cover 0.87 or 0.90 instead of 0.95."""
    for law, least in ((gaussian(1.15), 0.87), (laplace(0.27), 0.91)):
        masses, width = law
        plain = half_width([noise("a", 1, width, step=0.0), noise("b", 1, width, step=0.0)])[0]
        assert within(np.convolve(masses, masses), plain) < least


def test_continuous_laws_need_no_step():
    """|Z₁ + Z₂| for scales 1 and r: P(> x) = (e^−x − r²e^(−x/r))/(1 − r²), at r = 1
    (1 + x/2)·e^−x, so its 95 % point is 4.11 ≤ √2·ln 20. Catches a wrong law in the module's
    text."""
    ln20 = math.log(20)
    assert (1 + 4.12 / 2) * math.exp(-4.12) < 0.05 < (1 + 4.11 / 2) * math.exp(-4.11)
    assert math.sqrt(2) * ln20 > 4.12
    for r in np.linspace(0.001, 0.999, 500):
        x = ln20 * math.hypot(1, r)
        assert (math.exp(-x) - r**2 * math.exp(-x / r)) / (1 - r**2) <= 0.05


@pytest.mark.parametrize("rows", [2, 3, 10, 40])
def test_sums_over_rows(rows):
    """Catches a rule that fails for many terms, where half-widths of 0 hide real noise."""
    for masses, width in LAWS:
        if len(masses) > 300 and rows > 10:
            continue  # near the normal law long before
        term = replace(noise("a", 1, width), width=np.full(rows, width))
        total = reduce(np.convolve, [masses] * rows)
        assert within(total, half_width_of_sum([term], rows)) >= 0.95


def test_related_noise_adds_up():
    """Catches quadrature between columns of the same source, and for quotients."""
    a, b = noise("a", 1, 3.0, step=0.0), noise("b", 1, 4.0, step=0.0)
    assert half_width([a, b])[0] == 5.0
    shared = noise("b", 1, 4.0, step=0.0, sources={("r", "a"), ("r", "b")})
    assert half_width([a, shared])[0] == 7.0
    assert half_width([a, noise("b", 1, 4.0, step=0.0, additive=False)])[0] == 7.0
    # a and c have nothing in common but b, which shares with both
    c = noise("c", 1, 12.0, step=0.0)
    bridge = noise("b", 1, 4.0, step=0.0, sources={("r", "a"), ("r", "c")})
    assert half_width([a, c, bridge])[0] == 19.0


def test_one_source_is_not_widened():
    """Catches a step added to a column by itself, or where the other's coefficient is 0."""
    assert half_width([noise("a", -2, 3.0)])[0] == 6.0
    assert half_width([noise("a", 1, 3.0), noise("b", 0, math.inf)])[0] == 3.0
    assert half_width([])[0] == 0.0
