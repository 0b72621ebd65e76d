"""Which bound wins where, and that none is looser than its textbook form."""

import math
from fractions import Fraction

import pytest

from discreet.adaptive.bounds import bounds, row, splitting_width
from discreet.adaptive.noise_width import Noise

BETA = Fraction(1, 20)


def _width(method, n, k):
    return row(method, n, queries=k, failure=BETA).width


def test_splitting_is_never_looser_than_hoeffding_with_a_union_bound():
    for n, k in ((10**5, 1000), (10**4, 100), (500, 7), (10**6, 1)):
        textbook = math.sqrt(math.log(2 * k / 0.05) / (2 * (n // k)))
        assert splitting_width(n, queries=k, failure=BETA) <= textbook
    assert splitting_width(10, queries=11, failure=BETA) == 1.0


def test_with_published_constants_the_winner_flips_between_ten_to_the_four_and_five():
    """n = 10⁴ with 100 questions: splitting; n = 10⁵ with 1,000: noise, near 0.14 against 0.23."""
    assert _width("splitting", 10**4, 100) == pytest.approx(0.2024, abs=1e-4)
    assert _width("jung", 10**4, 100) == pytest.approx(0.2306, abs=1e-4)
    assert _width("splitting", 10**5, 1000) == pytest.approx(0.2285, abs=1e-4)
    assert _width("jung", 10**5, 1000) == pytest.approx(0.1348, abs=1e-4)
    for n, k, won in ((10**4, 100, "splitting"), (10**5, 1000, "jung")):
        found = bounds(n, queries=k, failure=BETA, methods=("splitting", "jung"))
        assert found.won.method == won


def test_with_the_sharper_theorem_it_flips_earlier():
    assert _width("gaussian", 10**4, 100) == pytest.approx(0.1784, abs=1e-4)
    assert _width("gaussian", 10**5, 1000) == pytest.approx(0.1067, abs=1e-4)
    flip = next(
        k for k in range(40, 100) if _width("gaussian", 10**4, k) <= _width("splitting", 10**4, k)
    )
    assert flip == 63
    assert bounds(10**5, queries=1000, failure=BETA).won.method == "gaussian"
    assert bounds(10**4, queries=2, failure=BETA).won.method == "splitting"
    assert bounds(10**4, queries=100, failure=BETA).won.method == "rounding"


def test_the_sharper_theorem_never_loses_to_the_published_one():
    for n, k, size in ((10**4, 100, "0.02"), (10**3, 5, "0.05"), (10**5, 10, "0.01")):
        noise = Noise("gaussian", Fraction(size), n)
        found = bounds(n, queries=k, failure=BETA, noise=noise)
        assert found["gaussian"].width < found["jung"].width < found["tv"].width


def test_the_chosen_noise_is_the_best_and_the_most():
    best = row("gaussian", 10**4, queries=100, failure=BETA)
    for factor in (Fraction(9, 10), Fraction(11, 10)):
        other = Noise("gaussian", best.noise.size * factor, 10**4)
        found = bounds(10**4, queries=100, failure=BETA, noise=other)
        assert found["gaussian"].width > best.width
    for method in ("gaussian", "jung"):
        most = row(method, 10**4, queries=100, failure=BETA, error=Fraction(1, 4))
        assert Fraction(1, 4) * Fraction(999, 1000) < most.width <= Fraction(1, 4)
        assert most.noise.size > row(method, 10**4, queries=100, failure=BETA).noise.size


def test_the_most_laplace_noise_is_found_where_estimates_are_rough():
    """n = 208, 3 questions at 50 %: the estimate is off by more than a part in a hundred."""
    half = Fraction(1, 2)
    found = row("laplace", 208, queries=3, failure=half, error=Fraction("0.3362"))
    assert found.width <= 0.3362


def test_very_many_laplace_answers_are_bounded_at_once():
    """10⁹ of them: by their own law it would take a minute."""
    whole = Noise("laplace", Fraction(1, 10), 10**6).total(10**9)
    assert whole.rho == Fraction(10**9, 2 * 10**10)


def test_within_an_error_the_most_private_bound_is_used():
    found = bounds(10**4, queries=100, failure=BETA, error=Fraction(1, 4))
    assert found.won.method == "gaussian"  # though splitting and rounding are narrower
    assert found["rounding"].width < found.won.width <= 0.25
    assert str(found).count("← used") == 1
    # 0.16 is out of reach of noise, not of rounding
    assert (
        bounds(10**4, queries=100, failure=BETA, error=Fraction(16, 100)).won.method == "rounding"
    )
