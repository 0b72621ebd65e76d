"""The lectures' statements about guarantees, by number (claims 1, 3, 4, 5, 7 and 16), and the
known answers, each to 1e-11 and on the safe side."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import chain, combinations

import pytest
from mpmath import exp, log, mp, mpf, ncdf, pi, sqrt, tanh

from discreet import bounds
from discreet.guarantees import GDP, ZCDP, LaplacePair, Pure, TotalVariation
from discreet.laws import DiscreteLaplace, Finite, Gibbs
from discreet.numeric.balls import lower, upper


@pytest.mark.parametrize(
    ("ours", "known"),
    [
        (lambda: GDP(1).delta(1), "0.126936737506644"),
        (lambda: GDP(1).tv, "0.382924922548026"),
        (lambda: LaplacePair(2).delta(0.5), "0.527633447258985"),
        (lambda: LaplacePair(2, steps=4).delta(0.5), "0.542020018171024"),
        (lambda: Pure(1).tv, "0.46211715726001"),
        (lambda: ZCDP(0.5).epsilon(1e-5), "4.72838698494331"),
    ],
)
def test_known_answers(ours, known):
    assert ours() == pytest.approx(float(known), rel=1e-11)


def test_zcdp_known_answer_is_not_exceeded():
    assert ZCDP(0.5).epsilon(1e-5) <= 4.72838698494331 * (1 + 1e-14)


def test_claim_01_every_guarantee_reads_as_tv_stability():
    """TV is δ(0), for the weakest notion and for laws summed cell by cell."""
    assert TotalVariation(0.25).tv == 0.25
    here, there = DiscreteLaplace(0, 2), DiscreteLaplace(4, 2)
    distance = sum(abs(here.pmf(k) - there.pmf(k)) for k in range(-80, 85)) / 2
    assert LaplacePair(epsilon=2, steps=4).tv == pytest.approx(distance, abs=1e-12)


def test_claim_03_gaussian_tv():
    """Exact 2Φ(1/(2mσ)) − 1 at m = 100, σ = 0.05; the bound just above; the misprint far off."""
    with mp.workdps(60):
        exact = 2 * ncdf(1 / (2 * mpf(5))) - 1
    ours = GDP(mu=Fraction(1, 5)).tv
    assert mpf(ours) >= exact
    assert ours == pytest.approx(0.0796557, abs=1e-7)
    assert bounds.gaussian_tv(m=100, sigma=0.05) == pytest.approx(0.0797885, abs=1e-7)
    assert misprint(5.0) == pytest.approx(0.178, abs=1e-3)


@pytest.mark.parametrize("spread", ["0.2", "0.5", "0.9", "1", "5", "1000"])
def test_claim_03_the_bound_holds_and_is_nearly_reached(spread):
    exact, bound = GDP(1 / Fraction(spread)).tv, bounds.gaussian_tv(m=1, sigma=spread)
    assert exact <= bound
    # 2Φ(z) − 1 = 2zφ(0)·(1 − z²/6 + ...) at z = 1/(2mσ)
    assert bound <= exact * (1 + 1 / (20 * float(spread) ** 2) + 1e-14) or float(spread) < 1


@pytest.mark.parametrize(("m", "sigma"), [(10, 0.05), (1, 0.2), (3, 0.1)])
def test_claim_03_the_misprint_is_wrong(m, sigma):
    """For mσ from 0.16 to 0.905 the printed 1/√(2πmσ) is below the true distance: no bound."""
    true_tv = GDP(1 / (m * Fraction(str(sigma)))).tv
    assert misprint(m * sigma) < true_tv <= bounds.gaussian_tv(m=m, sigma=sigma)


def misprint(spread: float) -> float:
    return float(1 / sqrt(2 * pi * spread))


def loss(p: float, q: float) -> float:
    return abs(math.log(p / q))


@pytest.mark.parametrize("epsilon", ["1/2", 1, 2])
def test_claim_05_three_forms_agree_on_randomized_response(epsilon):
    """Events, points and privacy loss give the same ε, computed from the law alone."""
    with mp.workdps(40):
        ratio = Fraction(str(exp(mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)))
    p, q = (Finite(("yes", "no"), weights) for weights in ((ratio, 1), (1, ratio)))
    points = max(loss(p.pmf(o), q.pmf(o)) for o in p.outcomes)
    assert points == pytest.approx(event_form(p.pmf, q.pmf, p.outcomes), rel=1e-14)
    assert points == pytest.approx(Pure(epsilon).epsilon(0), rel=1e-14)
    assert points == pytest.approx(largest_loss_with_mass(p.pmf, q.pmf, p.outcomes), rel=1e-14)


@pytest.mark.parametrize("steps", [1, 3])
def test_claim_05_three_forms_agree_on_discrete_laplace(steps):
    here, there = DiscreteLaplace(0, steps), DiscreteLaplace(steps, steps)  # ε = 1
    outcomes = range(-3, steps + 4)
    points = max(loss(here.pmf(k), there.pmf(k)) for k in outcomes)
    assert points == pytest.approx(1, rel=1e-12)
    assert event_form(here.pmf, there.pmf, outcomes) == pytest.approx(points, rel=1e-12)
    assert largest_loss_with_mass(here.pmf, there.pmf, outcomes) == pytest.approx(points, rel=1e-12)
    half_line = upper(here.cdf(0)) / lower(there.cdf(0))  # an event of infinitely many points
    assert math.log(half_line) == pytest.approx(points, rel=1e-12)
    assert LaplacePair(1, steps).epsilon(0) == 1


def event_form(p, q, outcomes) -> float:
    events = chain.from_iterable(combinations(outcomes, size) for size in range(1, len(outcomes)))
    return max(loss(sum(map(p, event)), sum(map(q, event))) for event in events)


def largest_loss_with_mass(p, q, outcomes) -> float:
    return max(loss(p(o), q(o)) for o in outcomes if p(o) > 0)


@pytest.mark.parametrize("epsilon", ["1e-6", 0.1, 1, "1.0986", 5])
def test_claim_07_tv_of_pure(epsilon):
    """tanh(ε/2), at most the lecture's (e^ε − 1)/2, which says nothing from ln 3 on."""
    exact = Fraction(str(epsilon))
    with mp.workdps(60):
        truth = tanh(mpf(exact.numerator) / exact.denominator / 2)
    ours, lecture = Pure(epsilon).tv, bounds.tv_from_epsilon(epsilon)
    assert truth <= mpf(ours) <= truth * (1 + mpf("1e-15"))
    assert ours <= lecture
    assert (lecture >= 1) == (epsilon == 5)


@pytest.mark.parametrize("prior", ["0.001", "1/10", "1/2", "9/10"])
def test_claim_16_posterior(prior):
    """Randomized response with q = ½ (ε = ln 3): 3r/(1 + 2r) ≤ 3r, which is the law's own Bayes."""
    with mp.workdps(60):
        ln3 = Fraction(str(log(3)))
    r = Fraction(prior)
    yes_if_true, yes_if_false = Fraction(3, 4), Fraction(1, 4)
    bayes = yes_if_true * r / (yes_if_true * r + yes_if_false * (1 - r))
    assert bayes == 3 * r / (1 + 2 * r) <= 3 * r
    assert Pure(ln3).posterior(r) == pytest.approx(float(bayes), rel=1e-14)


def test_claim_16_certainty_stays_certain():
    assert Pure(1).posterior(0) == 0
    assert Pure(1).posterior(1) == 1
    assert Pure("1e300").posterior("1e-300") == 1


def test_claim_04_multiplicative_distance() -> None:
    """Claim 4: the largest |log ratio| over *all* events is reached at a point, and it is the ε
    at which the profile of the pair reaches 0. Catches a distance taken in one direction only,
    and a guarantee whose ε(0) is below it."""
    for law, other, promised in (
        (Finite(range(3), (6, 3, 1)), Finite(range(3), (3, 3, 4)), None),  # not symmetric
        (Gibbs((1, 0, 0, 0), rate=2), Gibbs((0, 0, 1, 0), rate=2), Pure(2)),
    ):
        outcomes = range(3 if promised is None else 4)
        masses = [(float(law.mass(k)), float(other.mass(k))) for k in outcomes]
        points = max(abs(math.log(p / q)) for p, q in masses)
        events = max(
            abs(math.log(sum(p for p, _ in event) / sum(q for _, q in event)))
            for size in range(1, len(masses))
            for event in combinations(masses, size)
        )
        assert events == pytest.approx(points, abs=1e-12)
        if promised is None:
            assert points == pytest.approx(math.log(4))  # reached where the *second* law is larger
        else:
            assert points <= promised.epsilon(0) <= points * (1 + 1e-12)
