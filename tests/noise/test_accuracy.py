"""The one assumption of the fast path, measured, and what happens where it does not hold."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet import laws
from discreet.noise import accuracy, laplace
from discreet.noise.additive import FloatGrid, IntegerGrid, add, add_one
from discreet.noise.argmax import argmax
from discreet.noise.gaussian import GaussianSampler
from discreet.noise.laplace import DiscreteLaplaceSampler, LaplaceSampler
from discreet.numeric.balls import precision
from discreet.testing import SeededEntropy, seeded

POINTS = pytest.mark.parametrize(
    "count", [200_000, pytest.param(1_000_000, marks=pytest.mark.long)]
)


def uniforms(count: int) -> np.ndarray:
    """Arguments that log meets: what words give, and the hard places among them."""
    rng = np.random.default_rng(1)
    near_one = 1.0 - np.arange(count // 10) * 2.0**-53
    powers = 2.0 ** -np.arange(0.0, 64.0)
    near_powers = (powers[:, None] * (1 + np.arange(-500, 501) * 2.0**-52)).ravel()
    near_root_half = np.sqrt(0.5) + np.arange(-5000, 5000) * 2.0**-53
    tiny = (2.0 * np.arange(count // 10) + 1) * 2.0**-63
    scales = 2.0 ** -(63 * rng.random(count // 10))
    hard = np.concatenate([near_one, near_powers, near_root_half, tiny, scales])
    words = SeededEntropy(1).words(count - hard.size)
    plain = ((words >> np.uint64(1)) | np.uint64(1)).astype(np.float64) * 2.0**-63
    return np.minimum(np.concatenate([plain, hard]), 1.0)


def exponents(count: int) -> np.ndarray:
    """Arguments that exp meets: E from 0 to 44 in a bound, A from 0 to 0.13 in a rejection."""
    rng = np.random.default_rng(2)
    half_logs = (np.arange(1, 128) * math.log(2) / 2)[:, None]
    hard = (half_logs * (1 + np.arange(-200, 201) * 2.0**-52)).ravel()
    hard = np.concatenate([hard, 2.0 ** -np.arange(0.0, 80.0)])
    wide = 44 * rng.random((count - hard.size) // 2)
    narrow = 0.13 * rng.random(count - hard.size - wide.size)
    return np.concatenate([wide, narrow, hard])


def worst(points: np.ndarray, function: str, computed: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the largest relative error of each answer, in units of 2^-52."""
    from flint import arb

    high, low = np.empty(points.size), np.empty(points.size)
    with precision(128):
        for i, x in enumerate(points.tolist()):
            truth = getattr(arb(x), function)()
            high[i] = float(truth.mid())
            low[i] = float((truth - arb(high[i])).mid())
    size = np.where(high == 0, 1.0, np.abs(high))
    return {
        name: float(np.max(np.abs((y - high) - low) / size)) * 2.0**52
        for name, y in computed.items()
    }


def in_pieces(function: np.ufunc, points: np.ndarray) -> np.ndarray:
    """Apply ``function`` to pieces of 1 to 40 numbers: vector code has other ends for them."""
    out, start = np.empty_like(points), 0
    while start < points.size:
        end = start + 1 + start % 40
        out[start:end] = function(points[start:end])
        start = end
    return out


@pytest.mark.no_cover
@POINTS
@pytest.mark.parametrize(("function", "drawn"), [("log", uniforms), ("exp", exponents)])
def test_log_and_exp_keep_the_assumption(function, drawn, count):
    """Against Arb at 128 bits, in all the ways the code calls them."""
    points = drawn(count)
    assert points.size >= count
    vector, scalar = getattr(np, function), getattr(math, function)
    in_place = points.copy()
    errors = worst(
        points,
        function,
        {
            "array": vector(points),
            "in place": vector(in_place, out=in_place),
            "pieces": in_pieces(vector, points),
            "scalar": np.array([scalar(x) for x in points.tolist()]),
        },
    )
    print(f"{function}: worst error in ulps on {points.size} points: {errors}")
    assert max(errors.values()) <= accuracy.ULPS
    assert np.log(np.ones(1000)).max() == 0.0 == math.log(1.0)


def test_this_machine_is_trusted():
    assert accuracy.trusted()
    assert 0 < max(accuracy.error_in_ulps(accuracy.probe_points())) <= accuracy.ULPS


def test_the_probe_sees_a_bad_log_and_a_bad_exp(monkeypatch):
    """Five ulps off at one point in the middle is enough."""
    points, good_log, good_exp = accuracy.probe_points(), np.log, np.exp

    def off(function):
        def bad(x):
            y = function(x)
            y[77] *= 1 + 5 * 2.0**-52
            return y

        return bad

    monkeypatch.setattr(np, "log", off(good_log))
    assert max(accuracy.error_in_ulps(points)) > accuracy.ULPS
    monkeypatch.setattr(np, "log", good_log)
    monkeypatch.setattr(np, "exp", off(good_exp))
    assert max(accuracy.error_in_ulps(points)) > accuracy.ULPS
    monkeypatch.setattr(np, "exp", lambda x: good_exp(x) * 0)
    assert max(accuracy.error_in_ulps(points)) == math.inf


@pytest.fixture
def untrusted(monkeypatch):
    """A machine whose log misses by more than is allowed, and no fast path to fall back on."""
    monkeypatch.setattr(accuracy, "ULPS", 0.0)
    accuracy.trusted.cache_clear()

    def forbidden(*arguments, **options):
        raise AssertionError("the fast path was taken")

    for law in (DiscreteLaplaceSampler, LaplaceSampler, GaussianSampler):
        for path in ("one", "fast", "closer"):
            monkeypatch.setattr(law, path, forbidden)
    yield
    monkeypatch.undo()
    accuracy.trusted.cache_clear()


CASES = {
    "discrete": (DiscreteLaplaceSampler(Fraction(2)), laws.DiscreteLaplace(center=0, scale=2), 0),
    "laplace": (
        LaplaceSampler(Fraction(2)),
        laws.RoundedLaplace(center=0.25, scale=2, step=1),
        0.25,
    ),
    "gaussian": (
        GaussianSampler(Fraction(2)),
        laws.RoundedGaussian(center=0.25, sigma=2, step=1),
        0.25,
    ),
}


@pytest.mark.no_cover
@pytest.mark.parametrize("name", CASES)
def test_without_trust_every_draw_is_slow_and_right(name, untrusted, chi_square):
    """20,000 draws, false-alarm rate 1e-9."""
    law, exact, value = CASES[name]
    grid = IntegerGrid() if name == "discrete" else FloatGrid(0)
    with seeded(5):
        draws = add(np.full(20_000, value, grid.dtype), law, grid)
        assert isinstance(add_one(value, law, grid), int | float)
    cells = np.arange(-9, 10)
    counts = np.bincount(np.clip(draws, -10, 10).astype(np.int64) + 10, minlength=21)
    middle = [float(exact.pmf(int(k))) for k in cells]
    ends = [float(exact.cdf(-10)), float(1 - exact.cdf(9))]
    assert chi_square(counts, [ends[0], *middle, ends[1]]) > 1e-9


def test_without_trust_the_same_candidate_wins(monkeypatch):
    scores = np.arange(200)
    with seeded(6):
        fast = [argmax(scores, Fraction(30), "gumbel").index for _ in range(50)]
    monkeypatch.setattr(accuracy, "ULPS", 0.0)
    accuracy.trusted.cache_clear()
    with seeded(6):
        slow = [argmax(scores, Fraction(30), "gumbel").index for _ in range(50)]
    monkeypatch.undo()
    accuracy.trusted.cache_clear()
    assert fast == slow and len(set(fast)) > 10


def test_a_wrong_log_makes_wrong_noise(monkeypatch, chi_square):
    """The planted error: were a bad log trusted, the fit would show it."""
    assert accuracy.trusted()
    good = np.log
    monkeypatch.setattr(laplace.np, "log", lambda x, out: np.multiply(good(x), 1.01, out=out))
    with seeded(7):
        draws = add(
            np.zeros(1_000_000, np.int64), DiscreteLaplaceSampler(Fraction(2)), IntegerGrid()
        )
    exact = laws.DiscreteLaplace(center=0, scale=2)
    counts = np.bincount(np.clip(draws, -10, 10) + 10, minlength=21)
    middle = [exact.pmf(int(k)) for k in range(-9, 10)]
    end = float(exact.cdf(-10))
    assert chi_square(counts, [end, *middle, end]) < 1e-9


def test_the_fast_path_is_in_use(monkeypatch):
    """Catches a change that leaves every draw to the slow path: right, but slow."""
    slow = []
    exact = DiscreteLaplaceSampler.slow

    def counted(self, tape, index, offset):
        slow.append(index)
        return exact(self, tape, index, offset)

    monkeypatch.setattr(DiscreteLaplaceSampler, "slow", counted)
    with seeded(8):
        add(np.zeros(1_000_000, np.int64), DiscreteLaplaceSampler(Fraction(2)), IntegerGrid())
    assert len(slow) <= 1
