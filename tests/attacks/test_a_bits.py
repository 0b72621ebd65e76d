"""Attacks A1 to A5: what the low bits of released floats tell.

Each test is named after its entry in docs/attacks.md, states its false-alarm rate, and rejects
a planted sampler that has the flaw.
"""

from __future__ import annotations

from math import exp

import numpy as np
import pytest
from scipy.stats import beta, chi2_contingency

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.testing import seeded

DRAWS = 100_000
FALSE_ALARM = 1e-9


def features(released: np.ndarray) -> dict[str, np.ndarray]:
    """Bit patterns: is the number a multiple of 2^-k, and how many zeros end its mantissa?"""
    found = {f"multiple of 2^{-k}": np.ldexp(released, k) % 1 == 0 for k in range(-30, 61)}
    mantissas = released.view(np.uint64) & np.uint64(2**52 - 1)
    for k in range(1, 53):
        found[f"{k} zeros at the end"] = mantissas & np.uint64(2**k - 1) == 0
    return found


def broken(here: np.ndarray, there: np.ndarray, epsilon: float) -> list[str]:
    """Name the patterns with P[f | x] > e^ε·P[f | x'] or the other way round, for certain.

    Clopper-Pearson bounds at FALSE_ALARM for each of some 150 patterns, both ways.
    """
    names = []
    for (name, a), b in zip(features(here).items(), features(there).values(), strict=True):
        for one, other in ((a, b), (b, a), (~a, ~b), (~b, ~a)):
            if least(one) > exp(epsilon) * most(other):
                names.append(name)
    return names


def least(hits: np.ndarray) -> float:
    k, n = int(hits.sum()), hits.size
    return float(beta.ppf(FALSE_ALARM, k, n - k + 1)) if k else 0.0


def most(hits: np.ndarray) -> float:
    k, n = int(hits.sum()), hits.size
    return float(beta.isf(FALSE_ALARM, k + 1, n - k)) if k < n else 1.0


def same_residues(here: np.ndarray, there: np.ndarray, step: float, period: int) -> float:
    """Return the p-value that both have the same law of (released/step) mod ``period``."""
    table = []
    for released in (here, there):
        steps = np.ldexp(released, -round(np.log2(step)))
        assert (steps == np.rint(steps)).all(), "off the grid"
        table.append(np.bincount((steps % period).astype(np.int64), minlength=period))
    return float(chi2_contingency(np.array(table), correction=False).pvalue)


def release(mechanism: Laplace | Gaussian, x: float, seed: int) -> np.ndarray:
    with seeded(seed):
        return mechanism.release(np.full(DRAWS, x))


def step_of(released: np.ndarray) -> float:
    """The largest power of two that divides everything released."""
    k = next(k for k in range(-60, 200) if (np.ldexp(released, k) % 1 == 0).all())
    return 2.0**-k


def numpy_laplace(x: float, seed: int, scale: float = 1.0) -> np.ndarray:
    """The textbook sampler in floats, by inverting the distribution function."""
    u = np.random.default_rng(seed).random(DRAWS) - 0.5
    return x - scale * np.sign(u) * np.log1p(-2 * np.abs(u))


def four_uniforms(x: float, seed: int) -> np.ndarray:
    """Laplace noise as a combination of four uniforms (Holohan and Braghin 2021)."""
    u = 1 - np.random.default_rng(seed).random((4, DRAWS))
    return x + np.log(u[0]) * np.cos(np.pi * u[1]) + np.log(u[2]) * np.cos(np.pi * u[3])


def test_a1_porous_support():
    """Mironov 2012: which doubles can come out must not depend on the true answer."""
    mechanism = Laplace(sensitivity=1, epsilon=1)
    here, there = release(mechanism, 0.0, 1), release(mechanism, 1.0, 2)
    assert broken(here, there, epsilon=1) == []
    step = step_of(here)
    assert step == step_of(there) == 2.0**-10
    # No holes: near the centre every multiple of the step is met, on both sides alike.
    for released, x in ((here, 0.0), (there, 1.0)):
        near = released[np.abs(released - x) <= 0.5]
        assert np.unique(near).size == 1025
    assert same_residues(here, there, step, 64) > FALSE_ALARM
    assert broken(numpy_laplace(0.0, 1), numpy_laplace(1.0, 2), epsilon=1)


@pytest.mark.parametrize("sigma", [0.5, 1, 37.3])
def test_a2_gaussian_floating_point(sigma):
    """Jin et al. 2022: the same for Gaussian noise, and for pairs of draws made together."""
    mechanism = Gaussian(sensitivity=1, sigma=sigma)
    here, there = release(mechanism, 0.0, 3), release(mechanism, 1.0, 4)
    # ε such that an (ε, 1e-9) guarantee holds; patterns have probabilities far above that
    assert broken(here, there, epsilon=mechanism.guarantee.epsilon(1e-9)) == []
    step = step_of(here)
    assert step == step_of(there)
    assert same_residues(here, there, step, 64) > FALSE_ALARM
    pairs = np.ldexp(here, -round(np.log2(step))).astype(np.int64).reshape(-1, 2) % 16
    table = np.bincount(pairs[:, 0] * 16 + pairs[:, 1], minlength=256).reshape(16, 16)
    assert chi2_contingency(table).pvalue > FALSE_ALARM
    # The planted error: below 2^-54 there are digits for x = 0 only, whatever ε is.
    plain = np.random.default_rng(5).standard_normal((2, DRAWS)) * sigma
    finer = [np.ldexp(y, 54) % 1 != 0 for y in (plain[0], 1 + plain[1], here, there)]
    assert finer[0].sum() > 100
    assert not finer[1].any() and not finer[2].any() and not finer[3].any()


@pytest.mark.parametrize("other", [1, 2, 2**10, 2**30])
def test_a3_precision_of_the_sum(other):
    """Haney et al. 2022: a sum takes the coarser unit of its terms. Ours is on one grid."""
    mechanism = Laplace(sensitivity=1, scale=1)
    here, there = release(mechanism, 0.0, 6), release(mechanism, float(other), 7)
    step = step_of(here)
    assert step == step_of(there) == 2.0**-10
    assert same_residues(here, there, step, 1024 // 16) > FALSE_ALARM
    # The planted error is exposed with certainty: all against none.
    k = 53 - other.bit_length()
    finer = [np.ldexp(numpy_laplace(float(x), 8), k) % 1 != 0 for x in (0, other)]
    assert finer[0].mean() > 0.2
    assert finer[1].mean() < finer[0].mean() / 2
    fine = [np.ldexp(release(mechanism, float(x), 8), k) % 1 != 0 for x in (0, other)]
    assert not fine[0].any() and not fine[1].any()


def test_a4_more_samples_are_no_fix():
    """The sum of several uniforms leaks as well; the tests above say so."""
    assert broken(four_uniforms(0.0, 1), four_uniforms(1.0, 2), epsilon=1)
    with pytest.raises(AssertionError, match="off the grid"):
        same_residues(four_uniforms(0.0, 1), four_uniforms(1.0, 2), 2.0**-10, 64)


@pytest.mark.parametrize("x", [0.3, -0.1, 1e-300, 5e-324, 1 / 3])
@pytest.mark.parametrize("scale", [1, 4096])
def test_a5_grid_mismatch(x, scale):
    """Data off the grid: the output is on it all the same, and the fraction of x is hidden."""
    mechanism = Laplace(sensitivity=1, scale=scale)
    here, there = release(mechanism, x, 9), release(mechanism, x + 1, 10)
    step = step_of(here)
    assert step == step_of(there) == scale / 1024
    assert broken(here, there, epsilon=1 / scale) == []
    # The law inside the lazy rounding is that of the text book: no rounding is to be charged.
    law = mechanism.law(x)
    assert float(law.interval_mass(x - scale, x + scale)) == pytest.approx(1 - exp(-1), abs=1e-3)


def test_a5_the_planted_mismatch_is_seen():
    """Noise on the grid added to a value off it."""
    mechanism = Laplace(sensitivity=1, scale=1)
    with pytest.raises(AssertionError, match="off the grid"):
        same_residues(0.3 + release(mechanism, 0.0, 1), release(mechanism, 1.3, 2), 2.0**-10, 64)
