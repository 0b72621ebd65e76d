"""The exponential mechanism: its law, its promise on neighbours, its error, its doors."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import DiscreetError, InvalidArgument, UnboundedSensitivity
from discreet.guarantees import BoundedRange, Pure
from discreet.laws import DiscreteLaplace, Gibbs
from discreet.mechanisms.exponential import Exponential, grid_points
from discreet.numeric.balls import lower
from discreet.testing import seeded

FALSE_ALARM = 1e-9
DRAWS = 20_000


def loss(p, q, outcomes) -> float:
    """The largest |ln p/q|, which is the ε of the pair."""
    return max(abs(math.log(p.pmf(o) / q.pmf(o))) for o in outcomes)


def fits(draws, law, outcomes) -> bool:
    """Chi-square at a false-alarm rate of 1e-9; outcomes of small probability are left out."""
    counts, n = Counter(draws), len(draws)
    cells = [o for o in outcomes if law.pmf(o) * n >= 10]
    expected = [law.pmf(o) * n for o in cells]
    observed = [counts[o] for o in cells]
    rest = n - sum(expected)
    if rest >= 10:
        expected, observed = [*expected, rest], [*observed, n - sum(observed)]
    scale = sum(observed) / sum(expected)
    return chisquare(observed, [e * scale for e in expected]).pvalue > FALSE_ALARM


@pytest.mark.no_cover
@pytest.mark.parametrize("monotone", [False, True])
def test_release_follows_its_law_and_no_other(monotone):
    """Catches a wrong scale, factor 2 or Gumbel sign: a law 10 % off is rejected."""
    utilities = [0.0, 1.5, 3.25, -2.0, 2.5]
    mechanism = Exponential(sensitivity=1, epsilon=1, monotone=monotone)
    with seeded(1):
        draws = [mechanism.release(utilities) for _ in range(DRAWS)]
    assert fits(draws, mechanism.law(utilities), range(5))
    assert not fits(draws, Gibbs(utilities, rate=Fraction(11, 10) / mechanism.scale), range(5))


@pytest.mark.no_cover
def test_release_on_follows_its_law_and_no_other():
    """Catches a point that is not the one at the chosen index, or a grid off by one."""
    mechanism = Exponential(sensitivity=1, epsilon=4)
    grid = {"interval": (-1, 1), "step": 0.25}
    points = grid_points(*grid.values())
    with seeded(2):
        draws = [mechanism.release_on(**grid, utility=lambda x: -3 * x**2) for _ in range(DRAWS)]
    places = [points.tolist().index(draw) for draw in draws]
    law = mechanism.law(-3 * points**2)
    assert fits(places, law, range(9))
    assert not fits([place + 1 for place in places], law, range(9))


@given(
    utilities=st.lists(st.integers(-6, 6), min_size=1, max_size=6),
    moves=st.lists(st.integers(-2, 2), min_size=6, max_size=6),
    epsilon=st.sampled_from([Fraction(1, 10), 1, 3]),
)
def test_claim_21_neighbours_are_never_further_apart_than_epsilon(utilities, moves, epsilon):
    """Utilities that move by up to Δ = 2 in any direction: exact loss at most ε."""
    moved = [u + move for u, move in zip(utilities, moves, strict=False)]
    mechanism = Exponential(sensitivity=2, epsilon=epsilon)
    apart = loss(mechanism.law(utilities), mechanism.law(moved), range(len(utilities)))
    assert apart <= epsilon * (1 + 1e-12)


@given(
    utilities=st.lists(st.integers(0, 6), min_size=1, max_size=6),
    moves=st.lists(st.integers(0, 1), min_size=6, max_size=6),
)
def test_claim_21_monotone_utilities_need_half_the_noise(utilities, moves):
    moved = [u + move for u, move in zip(utilities, moves, strict=False)]
    mechanism = Exponential(sensitivity=1, epsilon=1, monotone=True)
    assert mechanism.scale == 1
    apart = loss(mechanism.law(utilities), mechanism.law(moved), range(len(utilities)))
    assert apart <= 1 + 1e-12


def test_claim_21_the_promise_is_nearly_used_up():
    """V07: catches a mechanism that is private because it is too noisy."""
    mechanism = Exponential(sensitivity=1, epsilon=1)
    assert loss(mechanism.law([9, 1]), mechanism.law([10, 0]), (0, 1)) == pytest.approx(
        0.9886, abs=1e-4
    )
    assert loss(mechanism.law([0, 0]), mechanism.law([1, -1]), (0, 1)) == pytest.approx(
        0.6201, abs=1e-4
    )


def test_claim_21_without_the_factor_2_it_costs_double():
    """X12: e^(εq) claimed 1, true 1.8912 on (3, 1) and (4, 0), and monotone is not for these."""
    wrong = Exponential(sensitivity=1, epsilon=1, monotone=True)
    assert loss(wrong.law([3, 1]), wrong.law([4, 0]), (0, 1)) == pytest.approx(1.8912, abs=1e-4)


def test_claim_21_ten_million_candidates():
    """The best of 10⁷ is found where it stands out by far, first, last or in between."""
    utilities = np.zeros(10**7)
    for place in (0, 1234567, 10**7 - 1):
        utilities[place] = 1000
        assert Exponential(sensitivity=1, epsilon=1).release(utilities) == place
        utilities[place] = 0


@pytest.mark.parametrize(("n", "epsilon", "mean"), [(100, 1, "0.5"), (40, "1/2", "0.3")])
def test_claim_22_the_mean_by_distance_is_laplace(n, epsilon, mean):
    """u = −|X̄ − l|, Δu = 1/n gives Laplace of scale 2/(nε): on a grid, the discrete law.

    The interval is so wide that what is cut off is below 1e-40. Catches a wrong factor 2.
    """
    mean, epsilon, step = Fraction(mean), Fraction(epsilon), Fraction(1, 50)
    mechanism = Exponential(sensitivity=Fraction(1, n), epsilon=epsilon)
    assert mechanism.scale == 2 / (n * epsilon)
    steps = range(-500, 501)
    ours = Gibbs([-abs(mean - k * step) for k in steps], rate=1 / mechanism.scale)
    lecture = DiscreteLaplace(center=int(mean / step), scale=2 / (n * epsilon) / step)
    for k in range(-30, 70):
        assert ours.pmf(k + 500) == pytest.approx(lecture.pmf(k), rel=1e-12)


@pytest.mark.no_cover
def test_claim_22_release_on_is_laplace_and_no_other():
    """The draws themselves; a scale of 1/(nε), the factor 2 forgotten, is rejected."""
    n, mean = 100, 0.5
    mechanism = Exponential(sensitivity=Fraction(1, n), epsilon=1)
    with seeded(3):
        draws = [
            round(
                100
                * mechanism.release_on(
                    interval=(-1, 2), step=0.01, utility=lambda points: -abs(mean - points)
                )
            )
            for _ in range(DRAWS // 2)
        ]
    assert fits(draws, DiscreteLaplace(center=50, scale=2), range(20, 80))
    assert not fits(draws, DiscreteLaplace(center=50, scale=1), range(20, 80))


def lecture_loss(n: int, epsilon: float, mean: float, point: float) -> float:
    """ln of the density ratio at `point` of means 1/n apart, density ∝ e^(−(nε/2)(X̄ − l)²)
    restricted to [0, 1]."""
    sd = 1 / math.sqrt(n * epsilon)

    def normal(z: float) -> float:
        return math.erfc(-z / math.sqrt(2)) / 2

    def log_density(center: float) -> float:
        inside = normal((1 - center) / sd) - normal(-center / sd)
        return -((center - point) ** 2) / (2 * sd**2) - math.log(inside)

    return abs(log_density(mean + 1 / n) - log_density(mean))


def worst_lecture_loss(n: int, epsilon: float) -> float:
    means = [k / min(n, 200) * (1 - 1 / n) for k in range(min(n, 200) + 1)]
    return max(lecture_loss(n, epsilon, mean, point) for mean in means for point in (0.0, 1.0))


@pytest.mark.parametrize(
    ("n", "epsilon", "share"), [(100, 1, 0.918), (10, 2, 0.802), (10**5, 1, 0.9975)]
)
def test_claim_23_restricted_to_the_unit_interval_the_lecture_holds(n, epsilon, share):
    worst = worst_lecture_loss(n, epsilon)
    assert worst / epsilon == pytest.approx(share, abs=5e-4)
    assert worst < epsilon


@pytest.mark.parametrize("bound", [1, 10, 1000])
def test_claim_23_a_normal_output_is_never_private(bound):
    """Over ℝ the log ratio of N(X̄, 1/(nε)) at l grows with l: it exceeds any bound."""
    n, epsilon, mean = 100, 1, Fraction(1, 2)
    other = mean + Fraction(1, n)
    point = -Fraction(bound + 1)
    log_ratio = n * epsilon * ((other - point) ** 2 - (mean - point) ** 2) / 2
    assert log_ratio > bound * epsilon
    # and so does the mechanism with the claimed Δu = 1/n on a grid as wide
    grid = [point + k * (bound + 2) / Fraction(50) for k in range(51)]
    here, there = (
        Gibbs([-((m - x) ** 2) for x in grid], rate=Fraction(n * epsilon, 2)) for m in (mean, other)
    )
    assert (here.mass(0) / there.mass(0)).log() > Fraction(bound * epsilon).numerator


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_claim_23_sensitivity_on_the_unit_interval(n):
    """(2 − 1/n)/n, found by exact search over means k/n and points; the claimed 1/n is less."""
    points = [Fraction(k, 2 * n) for k in range(2 * n + 1)]
    means = [Fraction(k, n) for k in range(n)]
    found = max(abs((m - x) ** 2 - (m + Fraction(1, n) - x) ** 2) for m in means for x in points)
    assert found == (2 - Fraction(1, n)) / n
    assert found > Fraction(1, n) or n == 1


@pytest.mark.parametrize(("n", "epsilon"), [(10, 2), (100, 1)])
def test_claim_23_ours_on_the_unit_interval_holds(n, epsilon):
    """Sensitivity (2 − 1/n)/n on [0, 1]: at most ε for all means k/n and all grid points."""
    mechanism = Exponential(sensitivity=(2 - Fraction(1, n)) / n, epsilon=epsilon)
    points = [Fraction(k, 20) for k in range(21)]
    found = [
        Gibbs([-((Fraction(k, n) - x) ** 2) for x in points], rate=1 / mechanism.scale)
        for k in range(n + 1)
    ]
    worst = max(loss(found[k], found[k + 1], range(21)) for k in range(n))
    assert worst <= epsilon
    assert mechanism.guarantee == BoundedRange(epsilon)
    assert mechanism.guarantee.within(Pure(epsilon))


@pytest.mark.parametrize("candidates", [1, 2, 50])
@pytest.mark.parametrize("monotone", [False, True])
def test_error_holds_and_is_not_idle(candidates, monotone):
    """One best, all others just below the bound: chosen with probability ≤ 1 − confidence, but
    more than that at half the bound. Catches a lost ln K or a wrong scale."""
    mechanism = Exponential(sensitivity=1, epsilon=0.5, monotone=monotone)
    width = Fraction(mechanism.error(0.95, candidates=candidates))

    def right(gap: Fraction) -> float:
        return lower(Gibbs([0] + [-gap] * (candidates - 1), rate=1 / mechanism.scale).mass(0))

    assert right(width) >= 0.95
    assert candidates == 1 or right(width / 2) < 0.95


def test_error_is_the_stated_formula_rounded_up():
    error = Exponential(sensitivity=1, epsilon=1).error(0.95, candidates=100)
    assert 2 * math.log(100 / 0.05) <= error * (1 + 1e-15)
    assert error == pytest.approx(2 * math.log(2000), rel=1e-15)


def test_law_and_release_read_integers_alike():
    """Beyond int64 both saturate: nothing wraps and nothing raises because of a value."""
    mechanism = Exponential(sensitivity=1, epsilon=1)
    assert mechanism.release([10**30, 0, -(10**30)]) == 0
    assert mechanism.law([10**30, 10**31]).pmf(0) == 0.5


def test_grid_points_are_rounded_once():
    """Catches lower + i·step in floats, where 3 · 0.1 is not 0.3."""
    points = grid_points((Fraction(-1, 3), 2), "0.1")
    exact = [float(Fraction(-1, 3) + Fraction(k, 10)) for k in range(24)]
    assert points.tolist() == exact
    assert grid_points((0, 1), 1).tolist() == [0, 1]
    assert grid_points((0, 1), 2).tolist() == [0]
    assert grid_points((0, 10**7 - 1), 1).size == 10**7


GOOD = {"sensitivity": 1, "epsilon": 1}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": math.nan}, "epsilon must be a finite number"),
        ({"epsilon": "one"}, "epsilon must be a number"),
        ({"epsilon": "1e-300"}, "epsilon must be between"),
        ({"sensitivity": 0}, "sensitivity must be above 0"),
        ({"sensitivity": -1}, "sensitivity must be above 0"),
        ({"monotone": "no"}, "monotone must be True or False"),
        ({"monotone": 1}, "monotone must be True or False"),
    ],
)
def test_bad_parameters(changes, says):
    with pytest.raises(InvalidArgument, match=says):
        Exponential(**(GOOD | changes))


def test_infinite_sensitivity_is_refused():
    with pytest.raises(UnboundedSensitivity, match="bound what one person contributes"):
        Exponential(sensitivity=math.inf, epsilon=1)


@pytest.mark.parametrize(
    ("utilities", "says"),
    [
        ([], "at least one number"),
        ([1.0, math.nan], "finite, got NaN"),
        ([1.0, -math.inf], "finite, got NaN or an infinity"),
        ([[1, 2], [3, 4]], "utilities must be a flat list.*2 dimensions"),
        (np.zeros((2, 2, 2)), "utilities must be a flat list.*3 dimensions"),
        (3, "utilities must be a flat list.*a single number"),
        (np.array([1, "a"], dtype=object), "integers or floats"),
        (["a", "b"], "numbers only|of one shape|at least one"),
        ([True, False], "numbers only|of one shape|at least one"),
        ([1j], "numbers only|of one shape|at least one"),
        (None, "integers or floats"),
    ],
)
def test_bad_utilities(utilities, says):
    mechanism = Exponential(**GOOD)
    for door in (mechanism.release, mechanism.law):
        with pytest.raises(DiscreetError, match=says):
            door(utilities)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"interval": (1, 0)}, "lower below upper, got 1 .* and 0"),
        ({"interval": (0, 0)}, "lower below upper"),
        ({"interval": 1}, "interval must be a pair"),
        ({"interval": (0, math.inf)}, "interval must be a finite number"),
        ({"step": 0}, "step must be above 0"),
        ({"step": "1e-8"}, "at most 10000000 points"),
        ({"interval": ("0.12345678901234567", 1)}, "at most about 15 digits"),
        ({"utility": lambda points: points[:-1]}, "one number for each of the 11 points"),
        ({"utility": lambda points: 0.0}, "what utility returns must be a flat list"),
        ({"utility": lambda points: points * math.nan}, "finite"),
    ],
)
def test_bad_grids(changes, says):
    arguments = {"interval": (0, 1), "step": 0.1, "utility": lambda points: points} | changes
    with pytest.raises(InvalidArgument, match=says):
        Exponential(**GOOD).release_on(**arguments)


@pytest.mark.parametrize("arguments", [{"confidence": 1}, {"confidence": 0}, {"candidates": 0}])
def test_bad_error_questions(arguments):
    with pytest.raises(InvalidArgument, match=next(iter(arguments))):
        Exponential(**GOOD).error(**({"confidence": 0.95, "candidates": 2} | arguments))
