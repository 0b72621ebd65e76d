"""Report noisy max: its law, its promise on neighbours, the free gap, its error, its doors."""

from __future__ import annotations

import math
import sys
from collections import Counter
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import DiscreetError, InvalidArgument, UnboundedSensitivity
from discreet.guarantees import BoundedRange, Pure
from discreet.laws import Gibbs, NoisyArgmax
from discreet.laws.noisy_argmax import NoisyLead
from discreet.mechanisms.noisy_max import Chosen, NoisyMax
from discreet.numeric.balls import lower
from discreet.testing import seeded

FALSE_ALARM = 1e-9
DRAWS = 20_000
NOISES = ("laplace", "exponential", "gumbel")


def loss(p, q, outcomes) -> float:
    """The largest |ln p/q|, which is the ε of the pair."""
    return max(abs(math.log(p.pmf(o) / q.pmf(o))) for o in outcomes)


def fits(observed, probabilities) -> bool:
    """Chi-square at a false-alarm rate of 1e-9 over cells that cover everything."""
    n = sum(observed)
    return chisquare(observed, [p * n for p in probabilities]).pvalue > FALSE_ALARM


@pytest.mark.no_cover
@pytest.mark.parametrize("noise", NOISES)
def test_release_follows_its_law_and_no_other(noise):
    """Catches one noise taken for another, a wrong scale or a biased index."""
    scores = [0, 3, 2, -1]
    mechanism = NoisyMax(sensitivity=1, epsilon=1, noise=noise)
    with seeded(4):
        counts = Counter(mechanism.release(scores) for _ in range(DRAWS))
    observed = [counts[i] for i in range(4)]
    assert fits(observed, [mechanism.law(scores).pmf(i) for i in range(4)])
    wider = NoisyMax(sensitivity=1, epsilon=0.85, noise=noise)  # 18 % more noise
    assert not fits(observed, [wider.law(scores).pmf(i) for i in range(4)])
    for other in set(NOISES) - {noise}:
        law = NoisyMax(sensitivity=1, epsilon=1, noise=other).law(scores)
        assert not fits(observed, [law.pmf(i) for i in range(4)])


@pytest.mark.no_cover
def test_the_gap_follows_its_law_and_no_other():
    """Catches a gap to the wrong candidate, of unnoised scores or in the wrong unit."""
    scores = [0.5, 2.0, 1.0]
    mechanism = NoisyMax(sensitivity=1, epsilon=1, gap=True)
    with seeded(5):
        draws = [mechanism.release(scores) for _ in range(DRAWS // 2)]
    step = mechanism.law(scores).step
    edges = [Fraction(0), Fraction(1), Fraction(2), Fraction(4), Fraction(7)]
    cells = [(i, a, b) for i in range(3) for a, b in zip(edges, [*edges[1:], None], strict=True)]
    observed = [
        sum(d.index == i and d.gap >= a and (b is None or d.gap < b) for d in draws)
        for i, a, b in cells
    ]

    def expected(law: NoisyLead) -> list[float]:
        # A released gap of at least a comes from a real one of at least a − step/2.
        def at_least(i: int, a: Fraction) -> float:
            return float(law.leads_by(i, max(Fraction(0), a - step / 2)))

        return [at_least(i, a) - (0 if b is None else at_least(i, b)) for i, a, b in cells]

    assert fits(observed, expected(mechanism.law(scores)))
    assert not fits(observed, expected(NoisyLead([0, 1.5, 0.5], scale=Fraction(9, 4), step=step)))


def test_the_gap_is_on_a_power_of_two_grid():
    """Whatever the scores: floats off the grid leave no trace in the low bits (attack A5)."""
    mechanism = NoisyMax(sensitivity=1, epsilon=1, gap=True)
    step = float(mechanism.law([0, 0]).step)
    assert math.frexp(step)[0] == 0.5
    assert step <= mechanism.scale / 1000
    for scores in ([0.1, 0.7, math.pi], [3, 1, 2], [1e-300, 1e15 / 3]):
        gap = mechanism.release(scores).gap
        assert gap >= 0
        assert gap % step == 0


def test_gap_law_sums_to_one():
    law = NoisyLead((0, 1, 1), scale=1, step=Fraction(1, 2))
    assert sum(law.pmf((i, k / 2)) for i in range(3) for k in range(120)) == pytest.approx(1)
    assert law.pmf((0, 0.3)) == law.pmf((3, 0)) == law.pmf((0, -0.5)) == 0


def test_gap_saturates():
    """A lead beyond the doubles is the largest double: nothing raises because of a value."""
    best = NoisyMax(sensitivity=1, epsilon=1, gap=True).release([-1.7e308, 1.7e308])
    assert best == Chosen(index=1, gap=sys.float_info.max)


MONOTONE = [move for move in product((0, 1), repeat=3) if any(move)]


@pytest.mark.parametrize("noise", NOISES)
def test_claim_20_monotone_counts_need_only_the_scale_1_over_epsilon(noise):
    """All counts up to 2 of three properties, all rows that could be added: exact loss ≤ ε."""
    mechanism = NoisyMax(sensitivity=1, epsilon=1, monotone=True, noise=noise)
    assert mechanism.scale == 1
    assert mechanism.guarantee == (BoundedRange(1) if noise == "gumbel" else Pure(1))
    found = {counts: mechanism.law(counts) for counts in product(range(4), repeat=3)}
    worst = max(
        loss(found[counts], found[tuple(np.add(counts, move))], range(3))
        for counts in product(range(3), repeat=3)
        for move in MONOTONE
    )
    assert 0.6 < worst <= 1 + 1e-12


def test_claim_20_regardless_of_the_number_of_counts():
    """K = 60 counts of which a row touches one, or all but one: still at most ε."""
    mechanism = NoisyMax(sensitivity=1, epsilon=1, monotone=True)
    base = mechanism.law([3] + [2] * 59)
    for moved in ([4] + [2] * 59, [3] + [3] * 59):
        assert loss(base, mechanism.law(moved), (0, 1)) <= 1 + 1e-12


def test_claim_20_a_replaced_row_is_not_monotone():
    """A histogram with one row moved: 1.82 where 1 was claimed, and up to 2 in general (X11)."""
    wrong = NoisyMax(sensitivity=1, epsilon=1, monotone=True)
    assert loss(wrong.law([9, 1]), wrong.law([10, 0]), (0, 1)) == pytest.approx(1.82, abs=5e-3)
    apart = loss(wrong.law([6, 0, 0, 0, 0]), wrong.law([7, -1, 1, 1, 1]), range(5))
    assert apart == pytest.approx(1.9974, abs=1e-4)


def test_claim_20_the_general_scale_holds_where_the_monotone_one_fails():
    """V09, and the promise is nearly used up."""
    ours = NoisyMax(sensitivity=1, epsilon=1)
    assert ours.scale == 2
    apart = loss(ours.law([6, 0, 0, 0, 0]), ours.law([7, -1, 1, 1, 1]), range(5))
    assert apart == pytest.approx(0.9953, abs=1e-4)
    assert loss(ours.law([9, 1]), ours.law([10, 0]), (0, 1)) <= 1


def test_claim_20_the_caller_is_never_given_the_weaker_case_silently():
    assert NoisyMax(sensitivity=1, epsilon=1).scale == 2
    assert NoisyMax(sensitivity=3, epsilon="1/2").scale == 12
    assert NoisyMax(sensitivity=3, epsilon="1/2", monotone=True).scale == 6


@given(
    scores=st.lists(st.integers(-5, 5), min_size=2, max_size=5),
    moves=st.lists(st.integers(-1, 1), min_size=5, max_size=5),
    noise=st.sampled_from(NOISES),
)
def test_neighbours_are_never_further_apart_than_epsilon(scores, moves, noise):
    """Catches the scale Δ/ε for scores that move both ways."""
    moved = [s + move for s, move in zip(scores, moves, strict=False)]
    mechanism = NoisyMax(sensitivity=1, epsilon=1, noise=noise)
    apart = loss(mechanism.law(scores), mechanism.law(moved), range(len(scores)))
    assert apart <= 1 + 1e-12


@pytest.mark.no_cover
@pytest.mark.parametrize("monotone", [False, True])
@given(
    scores=st.lists(st.integers(-4, 4), min_size=2, max_size=4),
    moves=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    lead=st.integers(0, 12),
)
def test_the_gap_is_free(monotone, scores, moves, lead):
    """P(i leads by g or more), which makes up the whole law, moves by at most e^ε: exact."""
    down = 0 if monotone else 1  # moves are 0..2 or −1..1
    moved = [s + move - down for s, move in zip(scores, moves, strict=False)]
    mechanism = NoisyMax(sensitivity=2 if monotone else 1, epsilon=1, monotone=monotone, gap=True)
    assert mechanism.guarantee == Pure(1)
    here, there = mechanism.law(scores), mechanism.law(moved)
    step = here.step
    for i in range(len(scores)):
        cell = (i, lead * 256 * step)
        assert abs(math.log(here.pmf(cell) / there.pmf(cell))) <= 1 + 1e-9


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("candidates", [1, 2, 40])
def test_error_holds_and_is_not_idle(noise, candidates):
    """One best, all others worse by the bound: the best wins with the stated probability, and
    with less at half the bound. Catches a lost K − 1 or the tail of a single noise."""
    mechanism = NoisyMax(sensitivity=1, epsilon=0.5, noise=noise)
    width = Fraction(mechanism.error(0.95, candidates=candidates))

    def right(gap: Fraction) -> float:
        scores = [Fraction(0)] + [-gap] * (candidates - 1)
        if noise == "gumbel":
            return lower(Gibbs(scores, rate=1 / mechanism.scale).mass(0))
        return lower(NoisyArgmax(scores, scale=mechanism.scale, noise=noise).mass(0))

    assert right(width) >= 0.95
    assert candidates == 1 or right(width / 2) < 0.95


def test_error_is_sharp_for_two():
    """With one rival the bound is the exact quantile of the difference of two noises."""
    for noise in ("laplace", "exponential"):
        mechanism = NoisyMax(sensitivity=1, epsilon=2, noise=noise)
        width = mechanism.error(0.9, candidates=2)
        assert NoisyArgmax((0, -width), 1, noise).pmf(0) == pytest.approx(0.9, abs=1e-12)


GOOD = {"sensitivity": 1, "epsilon": 1}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": None}, "epsilon must be a number"),
        ({"sensitivity": 0}, "sensitivity must be above 0"),
        ({"sensitivity": "1e300", "epsilon": "1e-300"}, "epsilon must be between"),
        ({"noise": "gauss"}, 'noise must be one of "laplace", "exponential", "gumbel"'),
        ({"noise": None}, "noise must be one of"),
        ({"monotone": "False"}, "monotone must be True or False"),
        ({"gap": 1}, "gap must be True or False"),
        ({"gap": True, "noise": "exponential"}, 'free for noise="laplace" alone'),
        ({"gap": True, "noise": "gumbel"}, 'free for noise="laplace" alone'),
    ],
)
def test_bad_parameters(changes, says):
    with pytest.raises(InvalidArgument, match=says):
        NoisyMax(**(GOOD | changes))


def test_infinite_sensitivity_is_refused():
    with pytest.raises(UnboundedSensitivity):
        NoisyMax(sensitivity=math.inf, epsilon=1)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([], "at least one number"),
        (np.array([1.0, math.nan]), "finite, got NaN"),
        ([[1, 2]], "scores must be a flat list"),
        (5, "scores must be a flat list"),
        (np.array([object()]), "integers or floats"),
        ("abc", "integers or floats"),
        ([None, 1], "numbers only|of one shape|at least one"),
    ],
)
def test_bad_scores(scores, says):
    mechanism = NoisyMax(**GOOD)
    for door in (mechanism.release, mechanism.law):
        with pytest.raises(DiscreetError, match=says):
            door(scores)


def test_a_gap_needs_two():
    mechanism = NoisyMax(**GOOD, gap=True)
    for door in (mechanism.release, mechanism.law):
        with pytest.raises(InvalidArgument, match="at least two"):
            door([1])
    assert NoisyMax(**GOOD).release([1]) == 0
