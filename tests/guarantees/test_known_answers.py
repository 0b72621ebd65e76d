"""Numbers known to many digits: reached to 1e-11, and never below.

Each would catch a formula that is slightly off, and a rounding in the wrong direction.
"""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import Refused
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    Composition,
    LaplacePair,
    Pure,
    ResponsePair,
    SampledPair,
    classic_sigma,
    gaussian_sigma,
)

DELTAS = [
    ("one Gaussian", GDP(mu=1), 1, 0.126936737506644),
    ("its total variation", GDP(mu=1), 0, 0.382924922548026),
    ("Laplace, real", LaplacePair(epsilon=2), "0.5", 0.527633447258985),
    ("Laplace, whole steps", LaplacePair(epsilon=2, steps=4), "0.5", 0.542020018171024),
    ("randomized response", ResponsePair(epsilon=1, categories=2), 0, 0.46211715726001),
    ("30 × (1, 1e-3)", Approx(epsilon=1, delta="0.001").repeat(30), 20, 0.0861420405462117),
    ("100 × 0.1", Pure(epsilon="0.1").repeat(100), 2, 0.0201401784281915),
    ("10⁴ Gaussians", GDP(mu="0.01").repeat(10**4), 1, 0.126936737506644),
    ("sampled, remove", SampledPair(GDP(mu=1), rate="0.8").remove, 1, 0.0816951786585355),
    ("sampled, add", SampledPair(GDP(mu=1), rate="0.8").add, 1, 0.0231362104090898),
]


@pytest.mark.parametrize(("what", "guarantee", "epsilon", "known"), DELTAS)
def test_delta_to_eleven_digits_on_the_safe_side(what, guarantee, epsilon, known):
    found = guarantee.delta(epsilon)
    assert found == pytest.approx(known, rel=1e-11), what
    assert found >= known * (1 - 1e-14), what  # the known number itself has 15 digits


@pytest.mark.parametrize(
    ("epsilon", "delta", "known"),
    [
        (1, "1e-6", 4.22467888932684),
        ("0.1", "1e-5", 30.7495661319775),
        (10, "1e-5", 0.499888619709009),
    ],
)
def test_sigma_to_eleven_digits_and_enough(epsilon, delta, known):
    sigma = gaussian_sigma(sensitivity=1, epsilon=epsilon, delta=delta)
    assert float(sigma) == pytest.approx(known, rel=1e-11)
    assert GDP(1 / sigma).within(Approx(epsilon, delta))


def test_claim_12_the_classic_sigma_is_refused_where_it_would_break_its_promise():
    with pytest.raises(Refused, match="up to 1"):
        classic_sigma(sensitivity=1, epsilon=10, delta="1e-5")
    # σ² = 2·ln(2/δ)/ε²: what it would have promised, and what it would have kept.
    sigma = Fraction("0.494086483230015")  # √(2·ln(2·10⁵))/10
    assert GDP(1 / sigma).delta(10) == pytest.approx(1.36441e-5, rel=1e-4)


def test_zcdp_is_at_least_as_tight_as_canonne_kamath_steinke():
    assert ZCDP(rho="0.5").epsilon("1e-5") <= 4.72838698494332


def test_the_convolution_agrees_with_the_binomial_formula():
    """The same question by the transform: catches a mass, a tilt or a sign that is off."""
    exact = Pure(epsilon="0.1").repeat(100).delta(2)
    parts = ((Pure(epsilon="0.1"), 99), (LaplacePair(epsilon="0.1", steps=1), 1), (GDP(mu=0), 1))
    assert Composition(parts)._closed is None
    # The profile has a corner at 2 = 20 × 0.1, which a grid rounds off a little.
    assert Composition(parts).delta(2) == pytest.approx(exact, rel=1e-6)
    assert Composition(parts).delta(2) >= exact
