"""The ways to compare two laws, each against another library or another route: catches a wrong
sum, tail, cut or chord."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from discreet import laws
from discreet.auditor.exact.comparison import Intervals, compare
from discreet.auditor.exact.half_lines import HalfLines
from discreet.auditor.exact.judgement import judge
from discreet.auditor.exact.partitions import Parts
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Guarantee,
    LaplacePair,
    Pure,
    ResponsePair,
)
from discreet.laws.mixture import Mixture

HALF = Fraction(1, 2)


def stick(p, q, x):
    return float(np.maximum(p - math.exp(x) * q, 0).sum())


@pytest.mark.parametrize("x", [0, 0.3, 1, 2.5])
def test_sums_and_half_lines_agree_with_scipy(x):
    k = np.arange(-400, 401)
    exact = Fraction(x).limit_denominator(10)
    for shift, scale in ((1, 1), (4, 3)):
        p, q = (stats.dlaplace(1 / scale).pmf(k - c) for c in (0, shift))
        first, second = (laws.DiscreteLaplace(c, scale) for c in (0, shift))
        assert isinstance(compare(first, second), Parts)
        assert float(compare(first, second).hockey(exact)) == pytest.approx(stick(p, q, x))
        assert float(HalfLines(first, second).hockey(exact)) == pytest.approx(stick(p, q, x))
        assert float(HalfLines(second, first).hockey(exact)) == pytest.approx(stick(q, p, x))
    edges = np.arange(-400, 402) - 0.5
    p, q = (np.diff(stats.norm(c, 2).cdf(edges)) for c in (0, 3))
    first, second = (laws.RoundedGaussian(c, 2, 1) for c in (0, 3))
    assert float(compare(first, second).hockey(exact)) == pytest.approx(stick(p, q, x), abs=1e-13)


@pytest.mark.parametrize("x", [0, 1, 3])
def test_real_laws_by_half_lines_and_by_integration(x):
    first, second = laws.RealGaussian(0, 1), laws.RealGaussian(1, 1)
    truth = GDP(1).delta(x)
    assert float(compare(first, second).hockey(Fraction(x))) == pytest.approx(truth, rel=1e-12)
    assert float(Intervals(first, second).hockey(Fraction(x))) == pytest.approx(truth, rel=1e-9)
    first, second = laws.RealLaplace(0, 1), laws.RealLaplace(2, 1)
    truth = LaplacePair(2).delta(x)
    for side in (compare(first, second), Intervals(first, second)):
        assert float(side.hockey(Fraction(x))) == pytest.approx(truth, rel=1e-9, abs=1e-12)


def test_integration_bounds_hold_the_truth():
    """Laws of two scales, whose ratio is not monotone, by quadrature."""
    first, second = laws.RealLaplace(0, 1), laws.RealLaplace(HALF, HALF)

    def excess(y):
        p = mpmath.exp(-abs(y)) / 2
        q = mpmath.exp(-2 * abs(y - 0.5))
        return max(p - mpmath.e * q, 0)

    truth = mpmath.quad(excess, [-40, -math.log(2), 0, 0.5, 2 + math.log(2), 40])
    value = Intervals(first, second).hockey(Fraction(1))
    assert float(value) == pytest.approx(float(truth), rel=1e-9)
    assert float(value.rad()) < 1e-15


def test_new_laws_against_scipy():
    cut = stats.truncnorm((0 - 0.3) / 0.5, (1 - 0.3) / 0.5, 0.3, 0.5)
    law = laws.CutGaussian(Fraction(3, 10), Fraction(1, 4))
    for y in (0.0, 0.25, 0.9, 1.0):
        assert float(law.cdf(y)) == pytest.approx(cut.cdf(y))
        assert float(law.above(y)) == pytest.approx(cut.sf(y))
        assert float(law.density(y)) == pytest.approx(cut.pdf(y))
    assert float(law.density(2)) == 0
    for law, oracle in (
        (laws.RealGaussian(1, 4), stats.norm(1, 2)),
        (laws.RealLaplace(1, 2), stats.laplace(1, 2)),
    ):
        for y in (-3.0, 1.0, 5.5):
            assert float(law.cdf(y)) == pytest.approx(oracle.cdf(y))
            assert float(law.above(y)) == pytest.approx(oracle.sf(y))
            assert float(law.density(y)) == pytest.approx(oracle.pdf(y))
    for law in (laws.DiscreteLaplace(2, 3), laws.RoundedLaplace(0.3, 2, 1)):
        for x in (-4, 0, 2, 3, 9):
            assert float(law.above(x)) == pytest.approx(1 - float(law.cdf(x - 1)))
    mixed = Mixture(laws.DiscreteLaplace(1, 1), laws.DiscreteLaplace(0, 1), share=0.3)
    expected = 0.3 * stats.dlaplace(1).pmf(1) + 0.7 * stats.dlaplace(1).pmf(2)
    assert mixed.pmf(2) == pytest.approx(expected.item() if hasattr(expected, "item") else expected)


def test_products_of_laws_against_a_full_sum():
    k = np.arange(-60, 61)
    p, q = (stats.dlaplace(1).pmf(k - c) for c in (0, 1))
    joint = [np.multiply.outer(one, one).ravel() for one in (p, q)]
    first, second = ((laws.DiscreteLaplace(c, 1),) * 2 for c in (0, 1))
    side = compare(first, second)
    assert float(side.hockey(HALF)) == pytest.approx(stick(*joint, 0.5))
    event = side.event(HALF)
    assert float(event.first) - math.exp(0.5) * float(event.second) == pytest.approx(
        stick(*joint, 0.5)
    )
    assert event.event((0, 0)) and not event.event((5, 5))


class Dented(Guarantee):
    """The profile of a guarantee times a factor near one ε: right at most grid points."""

    def __init__(self, base, place, width, factor):
        self.base, self.place, self.width, self.factor = base, place, width, factor

    def _over(self, x, *, swapped=False):
        value = self.base._over(x, swapped=swapped)
        near = abs(x - self.place) < self.width
        return (
            value * Fraction(self.factor).numerator / Fraction(self.factor).denominator
            if (near)
            else value
        )

    def _band(self, x, *, swapped=False):
        return self.base._band(x, swapped=swapped)

    def group(self, k):
        raise NotImplementedError


@pytest.mark.parametrize("place", [Fraction(1, 3), Fraction(9, 10), Fraction(13, 10)])
def test_a_profile_that_dips_between_grid_points_is_not_passed(place):
    side = compare(laws.DiscreteLaplace(0, 2), laws.DiscreteLaplace(4, 2))
    good = LaplacePair(2, steps=4)
    assert judge(side, good).holds
    assert judge(side, Dented(good, place, Fraction(1, 20), "0.99")).holds is False


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (LaplacePair(2, steps=4), True),
        (LaplacePair("1.999", steps=4), False),
        (LaplacePair(2), False),  # the real noise shows less than the one on the grid
        (Pure(2), True),
        (GDP("2.3"), True),
        (GDP("1.7"), False),
        (ZCDP(2), True),
        (ZCDP(1), False),
        (Approx(1, 0.40), True),
        (Approx(1, 0.36), False),
    ],
)
def test_claims_about_discrete_laplace_noise(claim, holds):
    side = compare(laws.DiscreteLaplace(0, 2), laws.DiscreteLaplace(4, 2))
    truth = [claim.delta(x) - LaplacePair(2, steps=4).delta(x) for x in np.linspace(0, 2, 81)]
    verdict = judge(side, claim)
    assert verdict.holds is holds, (verdict, min(truth))


def test_orders_of_renyi_against_mpmath():
    """k-ary randomized response: sup D_α/α, by a fine grid of orders."""
    epsilon, k = 2, 3
    other = 1 / (mpmath.exp(epsilon) + k - 1)
    p = [mpmath.exp(epsilon) * other, other, other]
    q = [p[1], p[0], p[2]]

    def order(alpha):
        total = sum(a**alpha * b ** (1 - alpha) for a, b in zip(p, q, strict=True))
        return mpmath.log(total) / (alpha * (alpha - 1))

    truth = max(order(1 + mpmath.mpf(10) ** (i / 20)) for i in range(-80, 40))
    one, two = (laws.Gibbs([int(i == c) for i in range(k)], epsilon) for c in (0, 1))
    side = compare(one, two)
    assert judge(side, ZCDP(Fraction(float(truth)) * Fraction(1001, 1000))).holds
    assert judge(side, ZCDP(Fraction(float(truth)) * Fraction(999, 1000))).holds is False
    assert judge(side, ResponsePair(2, 3)).holds
    assert judge(side, BoundedRange(4)).holds
    assert not judge(side, BoundedRange(2)).holds
