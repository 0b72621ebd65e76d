"""The theorem, against populations so small that every analyst and every outcome can be counted."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from discreet.adaptive.noise_width import (
    excess_of_largest,
    quantile_of_largest,
    superquantile_of_largest,
)
from discreet.adaptive.validity import drift, superquantile
from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, Pure, TotalVariation
from discreet.numeric.balls import lower, upper

# Noise on the sum of the sample's values, in whole steps: e^(−|z|/2), cut at 3.
_NOISE = {z: math.exp(-abs(z) / 2) for z in range(-3, 4)}
_WEIGHT = sum(_NOISE.values())
_QUERIES = ((0, 1), (1, 0), (0, 0), (1, 1))  # all functions of one bit


def _exchange(n, second):
    """P(two answers | sample) as an array by number of ones and both answers, for one analyst."""
    law = np.zeros((n + 1, n + 7, n + 7))
    for ones, z, y in itertools.product(range(n + 1), _NOISE, _NOISE):
        first = ones + z + 3
        q = _QUERIES[second[first]]
        other = q[1] * ones + q[0] * (n - ones) + y + 3
        law[ones, first, other] += _NOISE[z] * _NOISE[y] / _WEIGHT**2
    return law


def _facts(n, second, p):
    """δ(ε) of the whole exchange, and the law of the largest error to the population."""
    law = _exchange(n, second)

    def delta(epsilon):
        pairs = [(i, i + 1) for i in range(n)] + [(i + 1, i) for i in range(n)]
        return max(np.maximum(law[i] - math.exp(epsilon) * law[j], 0).sum() for i, j in pairs)

    draws = np.array([math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in range(n + 1)])
    joint = np.tensordot(draws, law, 1)
    first = np.abs((np.arange(n + 7) - 3) / n - p)
    worst = np.zeros_like(joint)
    for a in range(n + 7):
        q = _QUERIES[second[a]]
        truth = q[1] * p + q[0] * (1 - p)
        worst[a] = np.maximum(first[a], np.abs((np.arange(n + 7) - 3) / n - truth))
    return delta, worst, joint


def _own_error(n, beta):
    """The superquantile of the larger of two |noise|/n."""
    sizes = {}
    for z, y in itertools.product(_NOISE, _NOISE):
        size = max(abs(z), abs(y)) / n
        sizes[size] = sizes.get(size, 0) + _NOISE[z] * _NOISE[y] / _WEIGHT**2
    return min(s + sum(w * max(x - s, 0) for x, w in sizes.items()) / beta for s in [0, *sizes])


@pytest.mark.parametrize(("n", "p", "analysts"), [(2, 0.5, 50), (3, 0.2, 50)])
def test_no_analyst_of_a_small_world_breaks_the_bound(n, p, analysts):
    """Exact: every outcome of every sample. A quarter of the width is broken, so it can fail."""
    choices = np.random.default_rng(7).integers(0, 4, (analysts, n + 7))
    quarter_broken = False
    for second in choices:
        delta, worst, joint = _facts(n, second, p)
        for beta in (0.05, 0.2, 0.5, 0.9):
            grid = np.linspace(0, 3, 31)
            moved = min(1.0, min(math.expm1(e) + delta(e) / beta for e in grid))
            width = _own_error(n, beta) + moved
            assert joint[worst >= width + 1e-12].sum() <= beta
            quarter_broken |= joint[worst >= width / 4].sum() > beta
    assert quarter_broken


def test_drift_is_what_its_formula_says():
    assert drift(Pure(1), failure="0.05") == 1.0  # e − 1 is above what any distance can be
    assert math.isclose(drift(Pure("0.1"), failure="0.001"), math.expm1(0.1), rel_tol=1e-7)
    assert drift(TotalVariation("0.01"), failure="0.1") == pytest.approx(0.1)
    promise = GDP("0.05")
    best = min(math.expm1(e) + promise.delta(e) / 0.05 for e in np.linspace(0, 0.2, 1001))
    assert best * (1 - 1e-6) <= drift(promise, failure="0.05") <= best * (1 + 1e-9)
    for wrong in (0, -1, 1.5):
        with pytest.raises(InvalidArgument):
            drift(promise, failure=wrong)
    with pytest.raises(InvalidArgument, match="guarantee must be a guarantee"):
        drift(0.02, failure="0.05")


@pytest.mark.parametrize("beta", ["1e-9", "0.05", "0.5", "1"])
@pytest.mark.parametrize("mu", ["0.001", "0.3", "2"])
def test_the_drift_is_never_below_the_least_over_all_u_and_never_above_one(mu, beta):
    """Would catch a search that ends before the minimum: u is looked for up to 1 alone, as the
    width is above u. The oracle goes up to 20."""
    from scipy.stats import norm

    m, u = float(mu), np.concatenate([[0.0], np.geomspace(1e-7, 20, 20_000)])
    epsilon = np.log1p(u)
    delta = norm.cdf(m / 2 - epsilon / m) - (1 + u) * norm.cdf(-epsilon / m - m / 2)
    least = min(1.0, float(np.min(u + np.maximum(delta, 0) / float(beta))))
    found = drift(GDP(mu), failure=beta)
    assert least * (1 - 1e-4) - 1e-6 <= found <= least * (1 + 1e-9) + 1e-9 <= 1 + 1e-8
    assert drift(Pure(1), failure=beta) == pytest.approx(min(1, math.tanh(0.5) / float(beta)))


@pytest.mark.parametrize("shape", ["gaussian", "laplace"])
@pytest.mark.parametrize("queries", [1, 7, 1000])
def test_the_largest_of_many_against_mpmath(shape, queries):
    """Would catch a wrong tail, a wrong power, a cut-off that is too near, rounding down."""
    mp = mpmath.mp.clone()
    mp.dps = 40
    s = mp.mpf(2)

    def tail(x):
        one = mp.erfc(x / mp.sqrt(2)) if shape == "gaussian" else mp.exp(-x)
        return 1 - (1 - one) ** queries

    true = mp.quad(tail, [s, s + 2, s + 5, s + 12, s + 60])
    ball = excess_of_largest(shape, queries, Fraction(2))
    assert lower(ball) <= true <= upper(ball)
    assert upper(ball) - lower(ball) < 1e-9
    beta = Fraction(1, 20)
    x = quantile_of_largest(shape, queries, beta)
    assert 0.05 * (1 - 1e-8) <= tail(mp.mpf(x)) <= mp.mpf(1) / 20

    def excess(at):
        return upper(excess_of_largest(shape, queries, Fraction(at)))

    searched = superquantile(excess, failure=beta, upper=x + 3)
    assert superquantile_of_largest(shape, queries, beta) == pytest.approx(searched, rel=1e-8)


def test_means_of_the_largest_are_known():
    harmonic = float(sum(Fraction(1, i) for i in range(1, 101)))
    assert harmonic <= superquantile_of_largest("laplace", 100, Fraction(1)) < harmonic + 1e-9
    half_normal = math.sqrt(2 / math.pi)
    assert superquantile_of_largest("gaussian", 1, Fraction(1)) == pytest.approx(half_normal)
