"""σ for an (ε, δ) promise: enough at 60 digits, and hardly more than that."""

from __future__ import annotations

from fractions import Fraction

import pytest
from mpmath import exp, log, mp, mpf, ncdf, sqrt

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import GDP, classic_sigma, gaussian_sigma


def true_delta(sigma: Fraction, epsilon: object, *, sensitivity: object = 1) -> mpf:
    mu, x = (Fraction(str(sensitivity)) / sigma), Fraction(str(epsilon))
    mu, x = mpf(mu.numerator) / mu.denominator, mpf(x.numerator) / x.denominator
    return ncdf(-x / mu + mu / 2) - exp(x) * ncdf(-x / mu - mu / 2)


def probability(delta: object) -> mpf:
    exact = Fraction(str(delta))
    return mpf(exact.numerator) / exact.denominator


@pytest.mark.parametrize(
    ("epsilon", "delta", "sigma"),
    [
        (1, "1e-6", 4.22467888932684),
        ("0.1", "1e-5", 30.7495661319775),
        (10, "1e-5", 0.499888619709009),
        (1, "1e-5", 3.73063163481594),
    ],
)
def test_known_answers(epsilon, delta, sigma):
    ours = gaussian_sigma(sensitivity=1, epsilon=epsilon, delta=delta)
    assert float(ours) == pytest.approx(sigma, rel=1e-13)


@pytest.mark.parametrize("delta", ["1e-300", "1e-15", "1e-5", 0.1, 0.5, 0.999])
@pytest.mark.parametrize("epsilon", ["1e-6", 0.01, 1, 10, 1000, 10000])
def test_enough_and_hardly_more(epsilon, delta):
    """Recomputed at 60 digits; 1e-13 less noise must already be too little."""
    sigma = gaussian_sigma(sensitivity=1, epsilon=epsilon, delta=delta)
    with mp.workdps(80):  # 60 digits, after some are lost where the two terms cancel
        assert true_delta(sigma, epsilon) <= probability(delta)
        assert true_delta(sigma * (1 - Fraction(1, 10**13)), epsilon) > probability(delta)


def test_noise_beyond_every_float_is_refused():
    with pytest.raises(InvalidArgument, match="epsilon must be large enough"):
        gaussian_sigma(sensitivity=1, epsilon="1e-310", delta="1e-310")


def test_it_scales_with_the_sensitivity():
    unit = gaussian_sigma(sensitivity=1, epsilon=1, delta="1e-6")
    assert gaussian_sigma(sensitivity="1/3", epsilon=1, delta="1e-6") == unit / 3


@pytest.mark.no_cover
def test_it_is_enough_when_read_back_as_a_float():
    """A σ printed and typed in again is another number: it must still be enough."""
    for thousandths in range(1, 200):
        sigma = gaussian_sigma(sensitivity=1, epsilon=Fraction(thousandths, 100), delta="1e-6")
        typed = Fraction(repr(float(sigma)))
        assert GDP(1 / typed).epsilon("1e-6") <= thousandths / 100 * (1 + 1e-15)


@pytest.mark.parametrize("delta", ["1e-12", "1e-5", 0.01, 0.5])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1])
def test_claim_12_classic_is_enough_in_its_range(epsilon, delta):
    sigma = classic_sigma(sensitivity=3, epsilon=epsilon, delta=delta)
    with mp.workdps(60):
        assert true_delta(sigma, epsilon, sensitivity=3) < probability(delta)
        formula = 3 * sqrt(2 * log(2 / probability(delta))) / probability(epsilon)
        assert formula <= mpf(sigma.numerator) / sigma.denominator <= formula * (1 + mpf("1e-15"))
    assert gaussian_sigma(sensitivity=3, epsilon=epsilon, delta=delta) < sigma


@pytest.mark.parametrize(("epsilon", "delta"), [(10, 1e-5), (1.0001, 1e-5), (1, 0.51)])
def test_claim_12_classic_is_refused_outside_its_range(epsilon, delta):
    with pytest.raises(Refused, match="exact calibration"):
        classic_sigma(sensitivity=1, epsilon=epsilon, delta=delta)


def test_claim_12_why_it_is_refused():
    """At (10, 1e-5) the formula's noise has a true δ of 1.36441e-5; ln(1.25/δ) is worse still."""
    with mp.workdps(60):
        for constant, truth in [(2, 1.36441e-5), (mpf("1.25"), 2.2654e-5)]:
            sigma = sqrt(2 * log(constant / mpf("1e-5"))) / 10
            delta = GDP(Fraction(str(1 / sigma))).delta(10)
            assert delta == pytest.approx(truth, rel=2e-5)


@pytest.mark.parametrize("formula", [gaussian_sigma, classic_sigma])
@pytest.mark.parametrize(
    ("name", "value"),
    [("sensitivity", 0), ("epsilon", 0), ("epsilon", -1), ("delta", 0), ("delta", 1)],
)
def test_refused_at_the_door(formula, name, value):
    arguments = {"sensitivity": 1, "epsilon": 1, "delta": "1e-6"} | {name: value}
    with pytest.raises(InvalidArgument) as caught:
        formula(**arguments)
    assert caught.value.name == name
