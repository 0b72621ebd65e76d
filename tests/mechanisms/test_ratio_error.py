"""The error of a mean: coverage by exact sums over both noises, tails, width, doors."""

from __future__ import annotations

import math
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from discreet.errors import InvalidArgument
from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.ratio_error import (
    expected_mean_error,
    laplace_tail,
    mean_error,
    single_tail,
    std_error,
    tail_point,
    variance_error,
)
from discreet.testing import seeded

CUT = 1e-6  # of probability, left out on each side of an exact sum


def chances(scale: float, noise: str) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers and their probabilities under noise of a scale, all but about CUT."""
    reach = math.ceil(-math.log(CUT) * scale) if noise == "laplace" else math.ceil(5 * scale) + 1
    k = np.arange(-reach, reach + 1)
    if noise == "laplace":
        return k, math.tanh(0.5 / scale) * np.exp(-np.abs(k) / scale)
    return k, norm.cdf((k + 0.5) / scale) - norm.cdf((k - 0.5) / scale)


def outcomes(n, m, scale_s, scale_n, noise):
    """Every S and N of a group, and how likely."""
    (x, p), (y, q) = chances(scale_s, noise), chances(scale_n, noise)
    return (m * n + x)[:, None] + 0 * y, n + y + 0 * x[:, None], p[:, None] * q


def is_right(S, N, m, h, width):
    ratio = np.where(N == 0, 0, S / np.where(N == 0, 1, N))
    return np.abs(np.clip(ratio, -h, h) - m) <= width


def test_the_sums_below_are_over_the_noise_that_is_released():
    """Catches a formula of another noise: laws of the mechanisms, to 12 digits."""
    for noise, law in (
        ("laplace", DiscreteLaplace(center=0, scale=2)),
        ("gaussian", RoundedGaussian(center=0, sigma=2, step=1)),
    ):
        for k, p in list(zip(*chances(2, noise), strict=True))[::3]:
            assert p == pytest.approx(law.pmf(int(k)), rel=1e-9)


CORNERS = list(product([0.3, 12], [0.2, 1, 4], [1, 40], [0, 1, 8, 300], [-1, 0, 0.5]))
# scale_s, scale_n, h, n, m/h


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_every_corner_is_covered(noise):
    """P(|S/N clipped − m| ≤ w) ≥ 95 %, as an exact sum, for small and large bounds, sizes from
    0 and means up to the bounds. Half of w is caught, and so is q at m = 0 for all m."""
    halved, flat = 1.0, 1.0
    for scale_s, scale_n, h, n, share in CORNERS:
        m = share * h
        S, N, p = outcomes(n, m, scale_s, scale_n, noise)
        known = {"scale_s": scale_s, "scale_n": scale_n, "noise": noise}
        width = mean_error(S, N, half_width=h, **known)
        assert (width <= 2 * h).all()
        assert (width[N <= 0] == 2 * h).all()
        assert p[is_right(S, N, m, h, width)].sum() >= 0.95 - 4 * CUT
        halved = min(halved, p[is_right(S, N, m, h, width / 2)].sum())
        alone = tail_point(scale_s, scale_n, 0, noise=noise)
        naive = np.where(N > 0, alone / np.maximum(N, 1), 2 * h)
        flat = min(flat, p[is_right(S, N, m, h, naive)].sum())
    assert halved < 0.9
    assert flat < 0.9


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_the_error_before_the_data_holds(noise):
    """Both the true error and the one that will be reported, exactly, at every corner."""
    tight = 1.0
    for scale_s, scale_n, h, n, share in CORNERS:
        S, N, p = outcomes(n, share * h, scale_s, scale_n, noise)
        known = {"scale_s": scale_s, "scale_n": scale_n, "noise": noise, "half_width": h}
        width = expected_mean_error(n, **known)
        assert p[is_right(S, N, share * h, h, width)].sum() >= 0.95 - 4 * CUT
        assert p[mean_error(S, N, **known) <= width].sum() >= 0.95 - 4 * CUT
        tight = min(tight, p[is_right(S, N, share * h, h, width / 2)].sum())
    assert tight < 0.95
    assert expected_mean_error([3, 10**6], **known).shape == (2,)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(
    ("scale_n", "limit"), [(0.3, 1.2), (1, 1.1), (2.9, 1.1), (3.1, 1.15), (20, 1.1)]
)
def test_large_groups_are_not_told_too_wide(noise, scale_n, limit):
    """Within 30 % of q(m)/n for the exact 95 % point of |X − m·Y|, at n = 10⁵, over all N."""
    n, h, scale_s = 100_000, 500.0, 60
    for m in (0.0, 20.0, -300.0):
        S, N, p = outcomes(n, m, scale_s, scale_n, noise)
        far = np.abs(S - m * N).ravel()
        order = np.argsort(far)
        ideal = far[order][np.searchsorted(np.cumsum(p.ravel()[order]), 0.95)] / n
        known = {"scale_s": scale_s, "scale_n": scale_n, "noise": noise, "half_width": h}
        assert np.median(mean_error(S, N, **known)) <= limit * ideal


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_variance_and_standard_deviation_are_covered(noise):
    """n = 4000 draws of the mechanisms a case; a coverage below 93 % has a chance of 1e-8 if it
    is 95 %. A tenth of the width is caught."""
    h, scales = 10, {"scale_s1": 20, "scale_s2": 100, "scale_n": 2}
    mechanism = Laplace if noise == "laplace" else Gaussian
    caught = 1.0
    for seed, x in enumerate(
        [np.repeat([-10, 10], 20), np.full(30, 9), np.full(400, -10), np.arange(-10, 11), [3]]
    ):
        x = np.asarray(x)
        exact = [x.sum(), (x * x - h * h // 2).sum(), x.size]
        with seeded(seed):
            S1, S2, N = (
                mechanism(sensitivity=1, **{_size(noise): scale}).release(np.full(4000, value))
                for scale, value in zip(scales.values(), exact, strict=True)
            )
        size = np.where(N > 0, N, 1)
        mean = np.clip(S1 / size, -h, h)
        v = np.clip(np.clip(S2 / size, -h * h / 2, h * h / 2) + h * h / 2 - mean**2, 0, h * h)
        width = variance_error(S1, S2, N, half_width=h, noise=noise, **scales)
        off = np.abs(v - x.var())
        assert np.mean(off <= width) >= 0.93
        assert (width <= h * h).all()
        assert (width[N <= 0] == h * h).all()
        caught = min(caught, np.mean(off <= width / 10))
        spread = std_error(v, width, half_width=h)
        assert np.mean(np.abs(np.sqrt(v) - x.std()) <= spread) >= 0.93
    assert caught < 0.9


def _size(noise: str) -> str:
    return "scale" if noise == "laplace" else "sigma"


def test_the_laplace_tail_is_the_formula():
    """Against 60 digits, for scales far apart, equal and nearly so: catches cancellation."""
    with mpmath.workdps(60):
        for r, miss in product([0, 1e-9, 0.1, 0.9, 1 - 1e-7, 1 - 1e-12, 1], [0.5, 0.05, 1e-9]):
            q = float(laplace_tail(np.float64(3), np.float64(3 * r), miss))
            x, b = mpmath.mpf(q) / 3, mpmath.mpf(float(np.float64(3 * r) / 3))
            if b == 1:
                passed = (1 + x / 2) * mpmath.exp(-x)
            elif b == 0:
                passed = mpmath.exp(-x)
            else:
                passed = (mpmath.exp(-x) - b**2 * mpmath.exp(-x / b)) / (1 - b**2)
            assert float(passed) == pytest.approx(miss, rel=1e-6)
            assert passed <= miss * (1 + 1e-12)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("scale", [0.05, 0.4, 1, 3.7, 200])
def test_single_tails_are_the_least_that_hold(noise, scale):
    """P(|Y| > k) ≤ miss < P(|Y| > k − 1) by the exact law."""
    k, p = chances(scale, noise)
    for miss in (0.5, 0.05, 0.001):
        least = single_tail(scale, miss, noise)
        assert p[np.abs(k) <= least].sum() >= 1 - miss - 2 * CUT
        assert least == 0 or p[np.abs(k) <= least - 1].sum() < 1 - miss


def test_tail_points_rise_with_the_mean_and_the_step():
    """What the iteration rests on; a grid of 1 costs at most half a step of each noise."""
    m = np.linspace(0, 50, 400)
    for noise in ("laplace", "gaussian"):
        coarse = tail_point(30, 2, m, noise=noise)
        fine = tail_point(30, 2, m, noise=noise, step="0.001")
        assert (np.diff(coarse) >= 0).all()
        assert (np.diff(fine) >= 0).all()
        assert (coarse >= fine).all()
        assert (coarse <= fine + 0.51).all()
        assert (tail_point(30, 2, -m, noise=noise) == coarse).all()


def test_shapes_and_refusals():
    """Any shape; a bad noise, scale or confidence is named."""
    known = {"scale_s": 1, "scale_n": 1, "half_width": 5, "noise": "laplace"}
    assert mean_error(np.zeros((2, 3)), np.full((2, 3), 9), **known).shape == (2, 3)
    assert mean_error([], [], **known).shape == (0,)
    assert mean_error(10**6, 1e-300, **known) == 10
    assert isinstance(expected_mean_error(100, **known), float)
    for name, value in [
        ("noise", "cauchy"),
        ("scale_s", 0),
        ("scale_n", -1),
        ("half_width", 0),
        ("confidence", 1),
    ]:
        with pytest.raises(InvalidArgument) as refusal:
            mean_error([1], [1], **{**known, name: value})
        assert refusal.value.name == name
