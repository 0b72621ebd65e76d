"""The lectures' bounds: above the exact values, and rounded up."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import erfc, mp, mpf, ncdf, sqrt

from discreet import bounds
from discreet.errors import InvalidArgument
from discreet.guarantees import GDP


@pytest.mark.parametrize("t", ["0.1", "0.8", 1, 2, 5, 10, 37])
def test_claim_11_gaussian_tail(t):
    """Above the exact tail, by a factor 1 + 1/t² at most: a lost 2 or √(2π) fails one of them."""
    exact = Fraction(str(t))
    with mp.workdps(60):
        z = mpf(exact.numerator) / exact.denominator
        tail = erfc(z / sqrt(2))
        assert tail <= mpf(bounds.gaussian_tail(t)) <= tail * (1 + 1 / z**2) * (1 + mpf("1e-14"))


@pytest.mark.parametrize("mu", ["0.1", 1, 3])
@pytest.mark.parametrize("epsilon", [-1, 0, "0.5", 2, 10])
def test_claim_08_the_loss_tail_is_sufficient_not_exact(mu, epsilon):
    """Exact value of P(loss > ε), and strictly above δ(ε), which subtracts what it may."""
    m, x = Fraction(str(mu)), Fraction(str(epsilon))
    with mp.workdps(60):
        m_, x_ = mpf(m.numerator) / m.denominator, mpf(x.numerator) / x.denominator
        truth = ncdf(m_ / 2 - x_ / m_)
        ours = bounds.gaussian_loss_tail(mu, epsilon)
        assert truth <= mpf(ours) <= truth * (1 + mpf("1e-15")) + mpf("5e-324")
    if x >= 0:
        assert GDP(mu).delta(epsilon) < ours or ours == 5e-324


def test_gaussian_loss_tail_by_its_own_law():
    """The loss of N(μ, 1) against N(0, 1) at z is μz − μ²/2: above ε beyond z = ε/μ + μ/2."""
    mu, epsilon = mpf(2), mpf(1)
    with mp.workdps(30):
        beyond = 1 - ncdf(epsilon / mu + mu / 2 - mu)
    assert bounds.gaussian_loss_tail(2, 1) == pytest.approx(float(beyond), rel=1e-14)


def test_huge_epsilon_is_vacuous_not_an_error():
    assert bounds.tv_from_epsilon(1000) == float("inf")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: bounds.gaussian_tv(m=0, sigma=1), "m"),
        (lambda: bounds.gaussian_tv(m=1, sigma=0), "sigma"),
        (lambda: bounds.tv_from_epsilon(-1), "epsilon"),
        (lambda: bounds.gaussian_tail(0), "t"),
        (lambda: bounds.gaussian_loss_tail(0, 1), "mu"),
    ],
)
def test_refused_at_the_door(call, name):
    with pytest.raises(InvalidArgument) as caught:
        call()
    assert caught.value.name == name
