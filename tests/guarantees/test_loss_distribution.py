"""Any two laws: claims 1, 4, 5 and 8 for tables and densities."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import (
    GDP,
    LaplacePair,
    LossDistribution,
    ResponsePair,
    to_gdp,
    to_zcdp,
)

from_laws = LossDistribution.from_laws


def normalised(weights):
    total = sum(weights)
    return [Fraction(w, total) for w in weights]


tables = st.integers(2, 5).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(0, 20), min_size=n, max_size=n).filter(any) for _ in range(2))
    )
)


def events(n):
    return itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1))


@pytest.mark.no_cover
@given(tables, st.fractions(-3, 3, max_denominator=20))
def test_claim_05_the_profile_is_the_best_event(weights, x):
    """By trying every event, in both orders: catches a wrong sort and a forgotten order."""
    p, q = map(normalised, weights)
    best = max(
        sum(a[i] for i in event) - math.exp(x) * float(sum(b[i] for i in event))
        for a, b in ((p, q), (q, p))
        for event in events(len(p))
    )
    assert from_laws(p, q).delta(x) == pytest.approx(max(best, 0), abs=1e-12)
    assert from_laws(p, q).delta(x) >= best - 1e-15


@given(tables)
def test_claim_04_the_multiplicative_distance_is_the_largest_log_ratio(weights):
    """Three forms of pure privacy agree: events, points, and the loss everywhere (claim 5)."""
    p, q = map(normalised, weights)
    ratios = [
        math.inf if 0 in (a, b) else abs(math.log(a / b))
        for a, b in zip(p, q, strict=True)
        if a or b
    ]
    distance = from_laws(p, q).epsilon(0)
    assert distance == pytest.approx(max(ratios), rel=1e-12, abs=1e-12)
    assert distance >= max(ratios) * (1 - 1e-15)  # which is rounded itself
    if math.isfinite(distance):
        assert from_laws(p, q).delta(distance) <= 1e-15
    if max(ratios) > 1e-3:
        assert from_laws(p, q).delta(min(max(ratios), 50) * 0.99) > 0


@given(tables, st.fractions(0, 2, max_denominator=20))
def test_claim_08_the_tail_of_the_loss_is_enough_but_not_needed(weights, x):
    """P(loss > ε) ≥ δ(ε): the lecture's condition is sufficient."""
    p, q = map(normalised, weights)
    tails = [
        sum(a for a, b in zip(first, second, strict=True) if a > b * Fraction(math.exp(x)))
        for first, second in ((p, q), (q, p))
    ]
    assert from_laws(p, q).delta(x) <= float(max(tails)) + 1e-12


def test_claim_08_is_not_needed():
    """Randomized response at ε = 1: the tail beyond ½ is 0.73, δ(½) only 0.29."""
    p = 1 / (1 + math.exp(-1))
    g = from_laws([p, 1 - p], [1 - p, p])
    assert g.delta(0.5) < 0.29 < 0.73 < p


@given(tables)
def test_claim_01_total_variation_is_half_the_l1_distance(weights):
    p, q = map(normalised, weights)
    half = sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    assert from_laws(p, q).tv == pytest.approx(float(half), rel=1e-14, abs=1e-16)
    assert Fraction(from_laws(p, q).tv) >= half


def test_a_table_agrees_with_the_notion_it_is_the_law_of():
    e, k = 1.0, 5
    total = math.exp(e) + k - 1
    rows = [[(math.exp(e) if i == j else 1) / total for j in range(k)] for i in range(2)]
    table, notion = from_laws(*rows), ResponsePair(epsilon=1, categories=k)
    for x in (-1, 0, 0.3, 0.99):
        assert table.delta(x) == pytest.approx(notion.delta(x), rel=1e-12)
    assert table.repeat(40).epsilon(1e-6) == pytest.approx(
        notion.repeat(40).epsilon(1e-6), rel=1e-5
    )


def normal(mean):
    return lambda x: -((x - mean) ** 2) / 2 - math.log(math.sqrt(2 * math.pi))


def laplace(mean):
    return lambda x: -np.abs(x - mean) - math.log(2)


@pytest.mark.parametrize(
    ("p", "q", "notion"),
    [(normal(1), normal(0), GDP(1)), (laplace(0), laplace(1), LaplacePair(1))],
)
def test_densities_bracket_the_exact_profile(p, q, notion):
    g = from_laws(p, q, support=(-math.inf, math.inf))
    for x in (-1, 0, 0.5, 0.9):
        assert notion.delta(x) <= g.delta(x) <= notion.delta(x) * (1 + 1e-3) + 1e-6
    lower, upper = g.bracket(1e-3)
    assert lower <= notion.epsilon(1e-3) <= upper
    lower, upper = g.repeat(5).bracket(1e-3)
    assert lower <= notion.repeat(5).epsilon(1e-3) <= upper


def test_densities_on_a_half_line_and_on_an_interval():
    """Exponential laws of rates 1 and 2: the total variation is 1/4. Uniform against 2x: 1/4."""
    half = from_laws(lambda x: -x, lambda x: math.log(2) - 2 * x, support=(0, math.inf))
    assert half.tv == pytest.approx(0.25, abs=1e-5)
    whole = from_laws(lambda x: 0 * x, lambda x: np.log(2 * x), support=(0, 1))
    assert whole.tv == pytest.approx(0.25, abs=1e-5)
    left = from_laws(lambda x: x, lambda x: math.log(2) + 2 * x, support=(-math.inf, 0))
    assert left.tv == pytest.approx(0.25, abs=1e-5)


def test_least_rho_and_mu_of_a_table():
    """Against the closed forms of randomized response: within 0.1 %, never below."""
    p = 1 / (1 + math.exp(-1))
    g = from_laws([p, 1 - p], [1 - p, p])
    assert 1 <= float(to_zcdp(g).rho) / math.tanh(0.5) <= 1.001
    assert float(to_gdp(g).mu) == pytest.approx(1.232035385345, rel=1e-8)
    assert g.within(to_gdp(g)) and g.within(to_zcdp(g))


def test_no_finite_rho_where_one_law_gives_what_the_other_never_does():
    g = from_laws([0.5, 0.5, 0], [0.5, 0.25, 0.25])
    assert math.isinf(g.epsilon(0))
    assert g.delta(100) == pytest.approx(0.25)
    with pytest.raises(Refused):
        to_zcdp(g)


@pytest.mark.parametrize(
    ("p", "q", "message"),
    [
        ([0.5, 0.5], [1.0], "probabilities, outcome by outcome"),
        ([0.5, 0.4], [0.5, 0.5], "add up to 1"),
        ([1.5, -0.5], [0.5, 0.5], "0 or above"),
        ([math.nan, 1], [0.5, 0.5], "finite"),
        ([], [], "list of finite"),
        ([[0.5, 0.5]], [[0.5, 0.5]], "list of finite"),
        ([0.5, 0.5], lambda x: x, "a mix"),
        (lambda x: x, lambda x: x, "a mix"),
    ],
)
def test_bad_tables_are_refused(p, q, message):
    with pytest.raises(InvalidArgument, match=message):
        from_laws(p, q)


def test_bad_densities_are_refused():
    with pytest.raises(InvalidArgument, match="integrates to 1"):
        from_laws(lambda x: -x, lambda x: -2 * x, support=(0, math.inf))
    with pytest.raises(InvalidArgument, match="one log density"):
        from_laws(lambda x: 0.0, lambda x: 0 * x, support=(0, 1))
    with pytest.raises(InvalidArgument, match="lower below upper"):
        from_laws(normal(0), normal(1), support=(1, 0))


def test_what_rounding_explains_is_no_failure():
    """Ten times 0.1 is not 1 in floats; it would be an infinite distance if taken literally."""
    assert from_laws([0.1] * 10, [0.1] * 10).epsilon(0) == pytest.approx(0, abs=1e-12)
    lacking = from_laws([0.5, 0.4999999], [0.5, 0.5])
    assert lacking.delta(100) == pytest.approx(1e-7, rel=1e-6)


def test_either_law_may_be_the_one_with_the_person():
    """In two runs the person may play P in one and Q in the other. Catches composing a table
    with itself in one order only, which is too little: 0.313 for 0.363 in this case."""
    p, q = [Fraction(1, 20), Fraction(19, 20)], [Fraction(1, 2), Fraction(1, 2)]
    twice = from_laws(p, q).repeat(2)
    runs = [(a * b, c * d) for a, c in zip(p, q, strict=True) for b, d in zip(q, p, strict=True)]
    mixed = from_laws([a for a, _ in runs], [b for _, b in runs])
    for x in (0, 0.5, 1.5, 2):
        assert mixed.delta(x) <= twice.delta(x)
    assert mixed.delta(1.5) == pytest.approx(0.36296, abs=1e-5)
    assert from_laws(p, q).delta(1) == from_laws(q, p).delta(1)


def test_probabilities_may_be_written_as_fractions():
    assert from_laws(["1/3", "2/3"], ["2/3", "1/3"]).tv == pytest.approx(1 / 3)


@pytest.mark.no_cover
@pytest.mark.parametrize("cells", [512, 1024, 4096])
def test_far_tails_that_floats_cannot_hold_still_count(cells):
    """Catches a finite multiplicative distance of two normal laws: their ratio has no bound, but
    where it is large both densities are 0 as floats."""
    g = from_laws(normal(0), normal(1), support=(-math.inf, math.inf), cells=cells)
    assert g.epsilon(0) == math.inf
    assert g.delta(5) < 1e-6
