"""Quotients of released columns: do their intervals hold, and where is there no answer?"""

import math

import numpy as np
import pytest

from discreet.laws import DiscreteLaplace

CASES = [(40, 100, 4.0), (0, 60, 3.0), (90, 30, 2.0), (90, 30, 0.27), (90, 30, 0.56)]


@pytest.mark.parametrize(("top", "bottom", "scale"), CASES)
def test_ratio_covers(make, top, bottom, scale):
    """Over all pairs of noise, with their exact probabilities, the true ratio is inside in at
    least 95 of 100, and with half the error it would not be. Catches half-widths without their
    step (0.906 at scale 0.27), and rows with no answer counted as covered."""
    k = np.arange(-math.ceil(16 * scale), math.ceil(16 * scale) + 1)
    masses = np.tanh(1 / (2 * scale)) * np.exp(-np.abs(k) / scale)
    width = float(DiscreteLaplace(center=0, scale=scale).tail(0.95))
    n, d = (grid.reshape(-1) for grid in np.meshgrid(top + k, bottom + k))
    chance = np.outer(masses, masses).reshape(-1)
    wide = np.full(n.shape, width)
    names = [str(i) for i in range(n.size)]
    a = make.counts(n, wide, wards=names)["n"]
    b = make.counts(d, wide, wards=names)["n"]
    ratio = a / b
    known = np.isfinite(ratio.errors)
    inside = known & (np.abs(ratio.values - top / bottom) <= ratio.errors + 1e-12)
    assert chance[inside].sum() >= 0.95
    assert chance[~known].sum() < 0.01
    half = np.abs(ratio.values - top / bottom) <= ratio.errors / 2
    assert scale < 1 or chance[known & half].sum() < 0.95  # a wide step keeps small scales safe


def test_ratio_of_shared_noise(make):
    """Catches a ratio that counts noise in both parts twice: a/a is exact, and so is 2a/a."""
    a = make.counts([100, 40], [6.0, 6.0])["n"]
    assert (a / a).values.tolist() == [1, 1] and (a / a).errors.tolist() == [0, 0]
    assert ((2 * a) / a).errors.tolist() == [0, 0]
    b = make.counts([50, 50], [6.0, 6.0])["n"]
    # A share moves less than a ratio of independent counts: N up takes D up with it.
    share, apart = a / (a + b), a / (make.counts([150, 90], [9.0, 9.0])["n"])
    assert share.errors[0] < apart.errors[0]


@pytest.mark.parametrize("bottom", [0, 3, -6])
def test_ratio_where_the_divisor_may_be_zero(make, bottom):
    """Such a ratio is unknown: nan with an infinite error, and without a warning."""
    a, b = make.counts([100, 100], [6.0, 6.0])["n"], make.counts([bottom, 50], [6.0, 6.0])["n"]
    for ratio in (a / b, 1 / b, 7 * a / b):
        assert math.isnan(ratio.values[0]) and ratio.errors[0] == math.inf
        assert math.isfinite(ratio.values[1]) and math.isfinite(ratio.errors[1])


def test_ratio_of_means_uses_the_box(make):
    """Catches quadrature for quotients of quotients: the corners of both intervals count."""
    frame = {"m": [10.0], "m_error": [1.0], "v": [4.0], "v_error": [1.0]}
    m, v = make.value("m", "mean"), make.value("v", "variance")
    result = make.build(frame, m, make.error("m"), v, make.error("v"))
    assert (result["m"] / result["v"]).errors[0] == pytest.approx(11 / 3 - 2.5)


def test_share_of_a_total(make):
    """Catches a column that cannot be divided by its own sum."""
    a = make.counts([100, 300], [6.0, 6.0])["n"]
    share = a / a.sum()
    assert share.values.tolist() == [0.25, 0.75] and np.all(share.errors < 0.04)
