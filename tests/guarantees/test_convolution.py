"""What the convolution assumes of floating point, measured; and its pieces, one by one."""

from __future__ import annotations

import math

import flint
import numpy as np
import pytest
from scipy import fft
from scipy.special import erfcx, ndtr

from discreet.guarantees import GDP, BoundedRange, LaplacePair, Pure, ResponsePair, SampledPair
from discreet.guarantees.convolution import grid_loss, lower_hull, short_step
from discreet.numeric.bands import UNIT

RNG = np.random.default_rng(7)
POINTS = np.concatenate(
    (RNG.uniform(0, 1, 2000), RNG.uniform(0, 30, 2000), 10.0 ** RNG.uniform(-8, 6, 2000))
)


def largest_error(values, exact):
    """In units of 2⁻⁵³, relative."""
    with_bits = flint.ctx.prec
    flint.ctx.prec = 200
    try:
        worst = 0.0
        for x, value in zip(POINTS.tolist(), values.tolist(), strict=True):
            truth = exact(flint.arb(x))
            if value and truth.is_finite() and abs(truth) > 1e-300:
                worst = max(worst, float(abs((flint.arb(value) - truth) / truth)))
    finally:
        flint.ctx.prec = with_bits
    return worst / UNIT


@pytest.mark.parametrize(
    ("name", "function", "exact", "assumed"),
    [
        ("expm1", lambda x: np.expm1(-x), lambda x: (-x).expm1(), 4),
        ("log1p", np.log1p, lambda x: x.log1p(), 4),
        ("exp", lambda x: np.exp(-np.minimum(x, 600)), lambda x: (-x).exp(), 4),
        ("erfcx", erfcx, lambda x: (x * x).exp() * x.erfc(), 64),
        ("ndtr", ndtr, lambda x: 1 - (x / flint.arb(2).sqrt()).erfc() / 2, 64),
    ],
)
def test_elementary_functions_err_by_less_than_assumed(
    name, function, exact, assumed, record_property
):
    """A library that is less exact than assumed would make bounds that do not hold."""
    points = POINTS if name != "exp" else np.minimum(POINTS, 600)
    if name == "exp":
        keep = POINTS <= 600
        values = np.where(keep, function(POINTS), 0.0)
    else:
        values = function(points)
    error = largest_error(values, exact)
    record_property("measured", f"{name} errs by {error:.2f} units; {assumed} assumed")
    assert error <= assumed / 2


@pytest.mark.parametrize("size", [2**10, 3 * 5 * 2**12, 2**20])
def test_transforms_err_by_less_than_assumed(size, record_property):
    """8·log₂(N) units for masses that sum to 1, against the transform in extended precision."""
    if np.finfo(np.longdouble).nmant < 63:
        pytest.fail("this machine has no extended precision to measure the transform with")
    worst = 0.0
    for kind in ("spread", "few", "peak"):
        masses = RNG.exponential(size=size)
        if kind != "spread":
            masses[(100 if kind == "few" else 3) :] = 0
        masses /= masses.sum()
        exact = fft.rfft(masses.astype(np.longdouble))
        worst = max(worst, float(np.max(np.abs(fft.rfft(masses) - exact))) / UNIT)
    record_property("measured", f"a transform of {size} errs by {worst:.2f} units")
    assert worst <= 8 * math.log2(size) / 4


@pytest.mark.parametrize(
    "g",
    [
        Pure("0.7"),
        LaplacePair(1),
        LaplacePair(1, steps=7),
        LaplacePair(1, steps=10**5),
        GDP(1),
        BoundedRange(1),
        ResponsePair(1, 5),
        SampledPair(GDP(1), "0.1"),
        SampledPair(LaplacePair(2), "0.3"),
    ],
)
@pytest.mark.parametrize("swapped", [False, True])
def test_the_grid_lies_above_the_profile_and_meets_it_at_the_dots(g, swapped):
    """Catches a mass in the wrong place or lost: above everywhere, equal at the dots."""
    step = short_step(1 / 64)
    loss = grid_loss(g, step, tail=1e-12, swapped=swapped)
    points = loss.points * step
    for j in range(0, 70, 3):
        x = j * step
        above = float(loss.masses @ np.maximum(0.0, -np.expm1(np.minimum(x - points, 0.0))))
        above += loss.infinite
        truth = g._band(np.array([x]), swapped=swapped)
        assert above >= truth.lower[0] * (1 - 1e-12)
        assert above <= truth.upper[0] * (1 + 1e-9) + 2e-12
    under_q = float(loss.masses @ np.exp(-points))
    assert loss.masses.sum() + loss.infinite == pytest.approx(1, abs=1e-9)
    assert under_q == pytest.approx(1, abs=1e-9)


def test_the_hull_keeps_the_corners_only():
    x = np.linspace(0, 3, 50)
    bent = np.minimum(np.exp(-x), np.exp(-2 * x) + 0.1)
    corners = lower_hull(x, bent)
    slopes = np.diff(bent[corners]) / np.diff(np.exp(x[corners]))
    assert np.all(np.diff(slopes) > 0)
    assert corners[0] == 0 and corners[-1] == 49


def test_multiples_of_a_short_step_are_exact():
    step = short_step(0.1)
    for j in (3, 12345, 2**26 + 1):
        assert float(j * step) == j * step
        assert (j * step) / step == j
