"""(ε, δ) caps as ρ and μ: certain at 60 digits, and hardly less than the most possible."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import exp, expm1, log1p, mp, mpf, ncdf, sqrt

from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, ZCDP, gaussian_sigma, gdp_cap, zcdp_cap
from discreet.numeric.short_fractions import is_short

EPSILONS = ["1e-3", "1/3", 0.1, 1, 10, 500]
DELTAS = ["1e-100", "1e-15", "1e-6", 0.01, 0.5]


def real(x: object) -> mpf:
    exact = x if isinstance(x, Fraction) else Fraction(str(x))
    return mpf(exact.numerator) / exact.denominator


def true_gaussian_delta(mu: mpf, x: mpf) -> mpf:
    return ncdf(-x / mu + mu / 2) - exp(x) * ncdf(-x / mu - mu / 2)


def true_zcdp_delta(rho: mpf, x: mpf) -> mpf:
    """The least of the three bounds of `zcdp_profile`, with the best order found anew: the
    logarithm of the third is convex in log(α − 1) where it matters, so by ternary search."""

    def renyi(log_u: mpf) -> mpf:
        u = exp(log_u)
        return u * ((1 + u) * rho - x) + u * log_u - (1 + u) * log1p(u)

    low, high = mpf(-80), mpf(80)
    for _ in range(400):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if renyi(a) < renyi(b) else (a, high)
    return min(exp(renyi(low)), sqrt(rho / 2), sqrt(-expm1(-rho)))


@pytest.mark.no_cover
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_gaussian_cap_is_certain_and_tight(epsilon, delta):
    """Catches a cap rounded up, and one that gives away more than 1e-13 of the budget."""
    mu = real(gdp_cap(epsilon=epsilon, delta=delta).mu)
    with mp.workdps(400):  # 60 digits, after some are lost where the two terms cancel
        x, target = real(epsilon), real(delta)
        assert true_gaussian_delta(mu, x) <= target
        assert true_gaussian_delta(mu * (1 + mpf("1e-13")), x) > target


@pytest.mark.no_cover
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_zcdp_cap_is_certain_and_tight(epsilon, delta):
    """The same for ρ; the bound itself is searched for again, at 60 digits."""
    with mp.workdps(60):
        rho = real(zcdp_cap(epsilon=epsilon, delta=delta).rho)
        x, target = real(epsilon), real(delta)
        assert true_zcdp_delta(rho, x) <= target
        assert true_zcdp_delta(rho * (1 + mpf("1e-13")), x) > target


@pytest.mark.no_cover
@settings(max_examples=40)
@given(
    st.fractions(Fraction(1, 1000), 50, max_denominator=10**6),
    st.fractions(Fraction(1, 10**9), Fraction(1, 2), max_denominator=10**9),
)
def test_the_cap_read_back_is_not_above_what_was_asked(epsilon, delta):
    """Though a cap of 1/3 lies between two floats. Catches a cap for the float above it."""
    for cap in (zcdp_cap(epsilon=epsilon, delta=delta), gdp_cap(epsilon=epsilon, delta=delta)):
        assert Fraction(str(cap.epsilon(delta))) <= epsilon


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_all_of_a_cap_can_be_charged(epsilon, delta):
    """A cap with a longer denominator could not be spent by a single release."""
    assert is_short(zcdp_cap(epsilon=epsilon, delta=delta).rho)
    assert is_short(gdp_cap(epsilon=epsilon, delta=delta).mu)


def test_known_answers():
    assert float(zcdp_cap(epsilon="4.728386984943315", delta="1e-5").rho) == pytest.approx(0.5)
    for epsilon, delta in [(1, "1e-6"), ("0.1", "1e-5"), (10, "1e-5")]:
        sigma = gaussian_sigma(sensitivity=1, epsilon=epsilon, delta=delta)
        mu = gdp_cap(epsilon=epsilon, delta=delta).mu
        assert float(mu * sigma) == pytest.approx(1, abs=1e-15)


def test_types():
    assert isinstance(zcdp_cap(epsilon=1, delta=0.01), ZCDP)
    assert isinstance(gdp_cap(epsilon=1, delta=0.01), GDP)


@pytest.mark.parametrize("cap", [zcdp_cap, gdp_cap])
def test_a_cap_at_zero_epsilon_is_total_variation(cap):
    """ε = 0 is a promise too. Catches a division by it."""
    assert 0.999e-6 < cap(epsilon=0, delta="1e-6").delta(0) <= 1e-6


@pytest.mark.parametrize("cap", [zcdp_cap, gdp_cap])
def test_a_huge_epsilon_ends_at_the_largest_charge(cap):
    notion = cap(epsilon="1e300", delta="1e-6")
    size = notion.rho if isinstance(notion, ZCDP) else notion.mu
    assert 10**12 < size < 2**64


@pytest.mark.parametrize("cap", [zcdp_cap, gdp_cap])
@pytest.mark.parametrize(
    ("epsilon", "delta", "name"),
    [
        (-1, "1e-6", "epsilon"),
        (float("nan"), "1e-6", "epsilon"),
        (1, 0, "delta"),
        (1, 1, "delta"),
        ("1e-300", "1e-300", "epsilon"),
    ],
)
def test_refused_at_the_door(cap, epsilon, delta, name):
    """δ = 0 allows no ρ and no μ; a cap below 2⁻⁶³ would be no budget at all."""
    with pytest.raises(InvalidArgument) as caught:
        cap(epsilon=epsilon, delta=delta)
    assert caught.value.name == name
