"""Each profile against an independent computation at 60 digits: never below, and tight.

The oracle goes back to the definition, a sum or integral of max(0, p − e^x·q) over the outputs
of the pair, so a slip in a closed form, a lost rounding direction or cancellation shows up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import pytest
from mpmath import exp, inf, log, mp, mpf, ncdf, npdf, quad, sqrt

from discreet.guarantees import GDP, ZCDP, Approx, LaplacePair, Pure, TotalVariation

TIGHT = mpf("1e-11")
XS = [-30, -2, -1, "-1/3", "-1e-9", 0, "1e-9", "1/3", 0.5, "0.999999999", 1, 1.5, 4, 30]


@pytest.fixture(autouse=True)
def sixty_digits():
    with mp.workdps(60):
        yield


def real(x: object) -> mpf:
    exact = Fraction(str(x))
    return mpf(exact.numerator) / exact.denominator


def hockey_stick(p: Sequence[mpf], q: Sequence[mpf], x: mpf) -> mpf:
    factor = exp(x)
    gains = (a - factor * b for a, b in zip(p, q, strict=True))
    return mp.fsum(gain for gain in gains if gain > 0)


def assert_tight_upper(ours: float, truth: mpf, *, noise: mpf | int = 0) -> None:
    """`noise` is the error of the oracle itself, where it adds up many terms near 1."""
    assert 0 <= ours <= 1
    assert mpf(ours) >= truth - noise
    assert mpf(ours) <= truth * (1 + TIGHT) + noise + mpf("5e-324")


@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize("epsilon", ["1/100", 1, 3, 40])
def test_pure_is_randomized_response(epsilon, x):
    truth = exp(real(epsilon)) / (1 + exp(real(epsilon)))
    oracle = hockey_stick([truth, 1 - truth], [1 - truth, truth], real(x))
    assert_tight_upper(Pure(epsilon).delta(x), oracle)


@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-5"), (0, "0.1"), (3, "1/3"), (1, 1)])
def test_approx_is_the_worst_pair_of_four_outputs(epsilon, delta, x):
    """Outputs: "first for sure", the two answers of randomized response, "second for sure"."""
    d, truth = real(delta), 1 / (1 + exp(-real(epsilon)))
    p = [d, (1 - d) * truth, (1 - d) * (1 - truth), mpf(0)]
    assert_tight_upper(Approx(epsilon, delta).delta(x), hockey_stick(p, p[::-1], real(x)))


@pytest.mark.parametrize("x", XS)
def test_total_variation_is_a_pair_that_fails_outright(x):
    p = [mpf("0.2"), mpf("0.8"), mpf(0)]
    assert_tight_upper(TotalVariation("0.2").delta(x), hockey_stick(p, p[::-1], real(x)))


@cache
def discrete_laplace(epsilon: object, steps: int) -> tuple[list[mpf], list[mpf]]:
    """The masses of the two laws, cell by cell, the same for every x."""
    r = exp(-real(epsilon) / steps)
    mass = (1 - r) / (1 + r)
    cells = range(-900 * steps, 901 * steps) if steps < 3 else range(-2000, 2001)
    return [mass * r ** abs(k) for k in cells], [mass * r ** abs(k - steps) for k in cells]


@pytest.mark.no_cover
@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize(("epsilon", "steps"), [(2, 4), (1, 1), (1, 7), (3, 2), ("1/2", 5)])
def test_discrete_laplace_by_summing_cells(epsilon, steps, x):
    """Catches an off-by-one in the cell where the best event ends, on ties (x = ε/2, ...) too."""
    oracle = hockey_stick(*discrete_laplace(epsilon, steps), real(x))
    assert_tight_upper(LaplacePair(epsilon, steps).delta(x), oracle, noise=mpf("1e-50"))


@pytest.mark.no_cover
@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize("epsilon", ["1/100", 1, 2, 30])
def test_continuous_laplace_by_integration(epsilon, x):
    e, y = real(epsilon), real(x)
    factor = exp(y)

    def gain(z: mpf) -> mpf:
        return max(mpf(0), exp(-abs(z)) - factor * exp(-abs(z - e))) / 2

    crossing = (e - y) / 2  # the density ratio passes e^x here, if it does at all
    knots = sorted({-inf, mpf(0), e, inf, min(max(crossing, mpf(0)), e)})
    assert_tight_upper(LaplacePair(epsilon).delta(x), quad(gain, knots), noise=mpf("1e-45"))


def test_many_steps_approach_the_continuous_law():
    """A loop over cells would not finish; a wrong geometric sum would not converge."""
    limit = LaplacePair(1).delta("0.3")
    assert limit < LaplacePair(1, steps=10**3 + 1).delta("0.3") < limit + 1e-6
    assert limit <= LaplacePair(1, steps=10**6 + 1).delta("0.3") < limit + 1e-12


def gaussian_truth(mu: mpf, x: mpf) -> mpf:
    with mp.workdps(60):
        # Digits lost when the two terms cancel, and to e^x, are added on top.
        mp.dps += 40
        return ncdf(-x / mu + mu / 2) - exp(x) * ncdf(-x / mu - mu / 2)


@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize("mu", ["1/100", "1/3", 1, 2, 10])
def test_gaussian_at_sixty_digits(mu, x):
    assert_tight_upper(GDP(mu).delta(x), gaussian_truth(real(mu), real(x)))


def test_gaussian_by_integration():
    """The closed form itself against the definition."""
    x, mu = mpf("0.7"), mpf(2)
    crossing = x / mu + mu / 2
    truth = quad(lambda z: npdf(z, mu) - exp(x) * npdf(z), [crossing, crossing + 5, inf])
    assert_tight_upper(GDP(2).delta("0.7"), truth)


@pytest.mark.parametrize(("mu", "x"), [("0.1", 3), ("0.1", "3.6"), (1, 36), (10, 400), (100, 8000)])
def test_gaussian_far_tails(mu, x):
    """δ from 1e-100 to 1e-300, where float arithmetic has long lost all digits or overflowed."""
    truth = gaussian_truth(real(mu), real(x))
    assert truth < mpf("1e-90")
    assert_tight_upper(GDP(mu).delta(x), truth)


@pytest.mark.parametrize("x", XS)
@pytest.mark.parametrize("rho", ["1e-4", 0.5, 2, 50])
def test_zcdp_is_above_the_gaussian_of_the_same_rho(rho, x):
    """Gaussian noise has ρ = μ²/2, so a zCDP bound below its profile is wrong."""
    truth = gaussian_truth(sqrt(2 * real(rho)), real(x))
    assert mpf(ZCDP(rho).delta(x)) >= truth


@pytest.mark.parametrize(("rho", "x"), [("0.5", 4), ("0.01", 1), (2, 10), ("1e-6", "0.02")])
def test_zcdp_is_as_tight_as_canonne_kamath_steinke(rho, x):
    r, y = real(rho), real(x)

    def bound(log_u: mpf) -> mpf:
        u = exp(log_u)
        return exp(u * ((1 + u) * r - y)) / u * (u / (1 + u)) ** (1 + u)

    best = golden_section(bound, mpf(-20), mpf(20))
    assert mpf(ZCDP(rho).delta(x)) <= best * (1 + TIGHT)


def golden_section(f: Callable[[mpf], mpf], low: mpf, high: mpf) -> mpf:
    ratio = (sqrt(5) - 1) / 2
    for _ in range(150):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if log(f(a)) < log(f(b)) else (a, high)
    return f(low)


@pytest.mark.parametrize(
    "notion",
    [Pure(0), Approx(0, 0), GDP(0), ZCDP(0), TotalVariation(0), LaplacePair(0), LaplacePair(0, 3)],
)
def test_nothing_learned(notion):
    """The edge 0 of every parameter: no division by it, and exactly 0."""
    assert notion.delta(0) == 0 == notion.epsilon(0)
    assert_tight_upper(notion.delta(-1), 1 - exp(-1))


@pytest.mark.parametrize(
    "notion",
    [Pure("1e400"), GDP("1e300"), ZCDP("1e400"), LaplacePair("1e300", 7), LaplacePair("1e300")],
)
@pytest.mark.parametrize("x", [0, 1, "1e30", "-1e300", "1e-300"])
def test_huge_parameters_answer_one(notion, x):
    """Overflow must not become NaN, an exception or a small δ."""
    assert notion.delta(x) == 1


@pytest.mark.parametrize("notion", [GDP(1), ZCDP(1), GDP("1e-300"), ZCDP("1e-300")])
def test_a_huge_epsilon_leaves_next_to_nothing(notion):
    assert 0 <= notion.delta("1e300") <= 5e-324
