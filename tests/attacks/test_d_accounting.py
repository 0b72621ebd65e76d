"""Attacks D1 and D3 of the catalogue: formulas rounded the wrong way, and spends too small to see.

Each test recomputes at 60 digits or in plain fractions, and names the bug it would have caught
elsewhere.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import erfinv, exp, expm1, log, log1p, mp, mpf, ncdf, sinh, sqrt, tanh

from discreet.errors import BudgetExceeded, DiscreetError, InvalidArgument
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    LaplacePair,
    Pure,
    ResponsePair,
    TotalVariation,
    gaussian_sigma,
    gdp_cap,
    zcdp_cap,
)
from discreet.guarantees.filters import Filter

LIMITS = [Pure(1), ZCDP(1), GDP(1)]
LEAST = Fraction(1, 2**64 - 1)  # the smallest charge there is


@pytest.fixture(autouse=True)
def sixty_digits() -> Iterator[None]:
    with mp.workdps(60):
        yield


def real(x: object) -> mpf:
    exact = x if isinstance(x, Fraction) else Fraction(str(x))
    return mpf(exact.numerator) / exact.denominator


# -- D1: formulas and the direction of rounding -------------------------------------------------


def gaussian_delta(mu: mpf, x: mpf) -> mpf:
    with mp.workdps(100):
        return ncdf(-x / mu + mu / 2) - exp(x) * ncdf(-x / mu - mu / 2)


@pytest.mark.parametrize(("delta", "excess"), [("1e-5", mpf("5.0e-12")), ("1e-6", mpf("3.7e-11"))])
def test_d1_analytic_gaussian_is_on_the_safe_side(delta, excess):
    """diffprivlib's analytic Gaussian at ε = 1 has a δ that is too large by 5.0e-12 and 3.7e-11
    of itself. Ours is not, its μ neither; and a σ that is wrong by as little would be seen."""
    sigma = real(gaussian_sigma(sensitivity=1, epsilon=1, delta=delta))
    assert gaussian_delta(1 / sigma, mpf(1)) <= real(delta)
    assert gaussian_delta(real(gdp_cap(epsilon=1, delta=delta).mu), mpf(1)) <= real(delta)
    # δ falls less than (1 + 2·log(1/δ)) times as fast as σ grows.
    wrong = sigma * (1 - excess / (1 + 2 * log(1 / real(delta))))
    assert real(delta) < gaussian_delta(1 / wrong, mpf(1)) < real(delta) * (1 + excess)


def zcdp_delta(rho: mpf, x: mpf) -> mpf:
    """The least of the bounds we cite, the order found by ternary search at 60 digits."""

    def renyi(log_u: mpf) -> mpf:
        u = exp(log_u)
        return u * ((1 + u) * rho - x) + u * log_u - (1 + u) * log1p(u)

    low, high = mpf(-80), mpf(80)
    for _ in range(400):
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if renyi(a) < renyi(b) else (a, high)
    return min(exp(renyi(low)), sqrt(rho / 2), sqrt(-expm1(-rho)))


@pytest.mark.parametrize("rho", ["1e-6", "0.01", "1/3", 2, 40])
@pytest.mark.parametrize("x", [0, "1e-3", "0.1", 1, 10, 100])
def test_d1_zcdp_conversions_round_up(rho, x):
    """OpenDP's `cdp_delta` rounded down once (#2820). Both directions of ours, at 60 digits."""
    truth = zcdp_delta(real(rho), real(x))
    ours = ZCDP(rho).delta(x)
    assert truth <= real(Fraction(ours)) <= truth * (1 + mpf("1e-12")) + mpf("5e-324")
    if 0 < ours < 1:
        epsilon = ZCDP(rho).epsilon(ours)
        assert zcdp_delta(real(rho), real(Fraction(epsilon))) <= real(ours)


@pytest.mark.parametrize("rho", ["1e-16", "1e-9", "1e-3"])
@pytest.mark.parametrize("delta", ["1e-10", "1e-6"])
def test_d1_an_order_near_one_does_not_make_epsilon_zero(rho, delta):
    """TF-Privacy answered ε = 0 with an order of 1 + 1e-8 in its list (#166). Gaussian noise of
    the same ρ is a true lower bound on every ε for zCDP."""
    below = GDP(1 / Fraction(str(1 / sqrt(2 * real(rho))))).epsilon(delta)
    assert ZCDP(rho).epsilon(delta) >= below * (1 - 1e-12)


@pytest.mark.parametrize("epsilon", ["1e-6", "0.01", "1/3", 1, 7, 50])
def test_d1_every_conversion_rounds_up(epsilon):
    """Closed forms at 60 digits: never below, and at most an ulp or two above."""
    e = real(epsilon)

    def z(p: mpf) -> mpf:
        return sqrt(2) * erfinv(1 - 2 * p)

    with mp.workdps(120):
        r, total = exp(-e / 4), exp(e) + 4
        truths = [
            (ZCDP.of(GDP(epsilon)), e**2 / 2),
            (ZCDP.of(Pure(epsilon)), e * tanh(e / 2)),
            (ZCDP.of(LaplacePair(epsilon)), e + exp(-e) - 1),
            (ZCDP.of(LaplacePair(epsilon, 4)), e + e / 4 / sinh(e / 4) * expm1(-e)),
            (ZCDP.of(BoundedRange(epsilon)), log(expm1(e) / e) - 1 + e / expm1(e)),
            (ZCDP.of(ResponsePair(epsilon, 5)), e * expm1(e) / total),
            (GDP.of(Pure(epsilon)), 2 * z(1 / (1 + exp(e)))),
            (GDP.of(LaplacePair(epsilon)), 2 * z(exp(-e / 2) / 2)),
            (GDP.of(LaplacePair(epsilon, 4)), z(r**2 / (1 + r)) + z(r**3 / (1 + r))),
            (GDP.of(BoundedRange(epsilon)), 2 * z(1 / (1 + exp(e / 2)))),
            (GDP.of(ResponsePair(epsilon, 5)), z(1 / total) + z(4 / total)),
        ]
    for ours, truth in truths:
        assert truth <= real(ours.value) * (1 + mpf("1e-55")) <= truth * (1 + mpf("5e-16"))


@given(
    st.fractions(Fraction(1, 100), 20, max_denominator=100),
    st.fractions(Fraction(1, 10**9), Fraction(1, 2), max_denominator=10**9),
)
def test_d1_caps_and_what_they_promise_agree(epsilon, delta):
    """A cap that is rounded up lets a session spend what it does not have."""
    assert zcdp_cap(epsilon=epsilon, delta=delta).delta(epsilon) <= math.nextafter(delta, 1)
    assert gdp_cap(epsilon=epsilon, delta=delta).delta(epsilon) <= math.nextafter(delta, 1)


def test_d1_failures_add_up():
    """A hundred releases that fail with δ₀ = 0.01 each fail in 0.634 of all sessions. SmartNoise's
    odometer said 0.237 (with δ·(1 − δ) for a power); the account never says less than the truth."""
    account = Filter(limit=Pure(1000), slack="0.999")
    for k in range(1, 100):
        account = account.charge(Approx(1, "0.01"))
        assert account.delta(1000) >= 1 - 0.99**k
    with pytest.raises(BudgetExceeded):
        account.charge(Approx(1, "0.01"))


# -- D3: float ledgers -----------------------------------------------------------------------------


def full(limit: Pure | ZCDP | GDP) -> Filter:
    return Filter(limit=limit, slack="1e-6").charge(limit, slack="1e-6")


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
@pytest.mark.parametrize("size", [5e-324, 2.3e-308, 1e-17, Fraction(5e-324), "1e-400", LEAST])
def test_d3_a_full_account_refuses_the_smallest_spend(limit, size):
    """In floats 1.0 + 5e-324 <= 1.0 is true, and so a spent account grants it for ever."""
    assert 1.0 + 5e-324 <= 1.0
    account = full(limit)
    for cost in (type(limit)(size), Pure(size), TotalVariation(size)):
        with pytest.raises(DiscreetError):
            account.charge(cost)
    assert account == full(limit)


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
@pytest.mark.parametrize("size", [0, 5e-324, 2.3e-308, "1e-400", Fraction(1, 2**65 + 1)])
def test_d3_absurd_costs_are_a_mistake(limit, size):
    """Zero, subnormal and endless numbers are refused as such, however much is left."""
    with pytest.raises(InvalidArgument):
        Filter(limit=limit).charge(type(limit)(size))
    for value in (-1, math.nan, math.inf, -5e-324):
        with pytest.raises(InvalidArgument):
            Filter(limit=limit).charge(type(limit)(value))


@pytest.mark.parametrize("limit", [Pure(2), ZCDP(2)], ids=repr)
def test_d3_a_hundred_thousand_tiny_charges_add_up(limit):
    """1.0 + 1e-17 == 1.0 in floats, so all of these would be free after the first."""
    tiny = type(limit)("1e-17")
    account = Filter(limit=limit).charge(type(limit)(1))
    in_floats = 1.0
    for _ in range(10**5):
        account = account.charge(tiny)
        in_floats += 1e-17
    assert in_floats == 1.0
    assert account.total == 1 + Fraction(1, 10**12)


def test_d3_a_hundred_thousand_tiny_mu_add_up():
    """The same for squares, which are smaller still."""
    account, tiny = Filter(limit=GDP(2)).charge(GDP(1)), GDP("1e-12")
    for _ in range(10**5):
        account = account.charge(tiny)
    assert account.total == 1 + Fraction(1, 10**19)


@given(st.lists(st.builds(Fraction, st.just(1), st.integers(2**20, 2**64 - 1)), max_size=60))
def test_d3_long_sums_are_never_below_the_truth(sizes):
    """Random denominators pass 256 bits at once, and from then on sums are rounded: up, and by
    less than 2⁻¹²⁸ a charge. With μ² and for the slack too."""
    for kind, square in ((Pure, False), (ZCDP, False), (GDP, True)):
        account = Filter(limit=kind(100), slack="0.9")
        for size in sizes:
            account = account.charge(kind(size), slack=size)
            assert account.total.denominator.bit_length() <= 256
        for ours, truth in (
            (account.total, sum((x * x if square else x for x in sizes), Fraction(0))),
            (account.spent_slack, sum(sizes, Fraction(0))),
        ):
            assert truth <= ours <= truth + len(sizes) * Fraction(1, 2**128)


@pytest.mark.parametrize("limit", LIMITS, ids=repr)
def test_d3_a_refused_charge_leaves_no_trace(limit):
    """Other libraries booked the slack, or the first of several parts, and then refused. Both
    caps are overrun one at a time; the account must be able to do what it could before."""
    account = Filter(limit=limit, slack="1e-6").charge(type(limit)("1/2"), slack="5e-7")
    before = copy.deepcopy(account)
    rest = before.remaining(type(limit)("1/10"), slack="1e-9")
    for cost, slack in [("1/10", "1e-6"), (2, "1e-9"), (2, "1e-6"), ("1e-30", 0)]:
        with pytest.raises(DiscreetError):
            account.charge(type(limit)(cost), slack=slack)
        assert account == before
        assert account.remaining(type(limit)("1/10"), slack="1e-9") == rest
