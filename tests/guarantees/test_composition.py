"""Compositions by convolution: both bounds hold, and they are close."""

from __future__ import annotations

import math
import tracemalloc
import warnings
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, LooseBound
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Composition,
    Failing,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
    gaussian_sigma,
)

DIGITS = 60
# Some ms an example: no search for the smallest failing one, which would take minutes.
FEW = settings(max_examples=12, phases=(Phase.explicit, Phase.generate))


# -- an independent computation: every sum of losses, one by one, with 60 digits ------------------


def responses(epsilons):
    """All sums of losses of several randomized responses with their probabilities."""
    sums = [(mp.mpf(0), mp.mpf(1))]
    for epsilon in epsilons:
        e = mp.mpf(epsilon.numerator) / epsilon.denominator
        up = 1 / (1 + mp.exp(-e))
        sums = [(loss + s * e, p * (up if s > 0 else 1 - up)) for loss, p in sums for s in (1, -1)]
    return sums


def delta_of(sums, x):
    return mp.fsum(p * -mp.expm1(x - loss) for loss, p in sums if loss > x)


def epsilon_of(sums, delta):
    low, high = mp.mpf(0), max(loss for loss, _ in sums)
    if delta_of(sums, low) <= delta:
        return low
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if delta_of(sums, middle) > delta else (low, middle)
    return high


few = st.lists(st.fractions(Fraction(1, 1000), 3, max_denominator=10**6), min_size=2, max_size=8)
deltas = st.floats(-13, -0.3).map(lambda e: Fraction(10.0**e))


@pytest.mark.no_cover
@FEW
@given(few, deltas, st.sampled_from([None, 1e-3, 1e-5]))
def test_the_bracket_holds_the_truth_at_60_digits(epsilons, delta, tolerance):
    """Catches rounding in the wrong direction anywhere between the profile and the answer."""
    with mp.workdps(DIGITS), warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", LooseBound)
        sums = responses(epsilons)
        truth = epsilon_of(sums, mp.mpf(delta.numerator) / delta.denominator)
        lower, upper = compose(map(Pure, epsilons), tolerance=tolerance).bracket(delta)
        assert lower <= truth <= upper
    tight = upper <= max(lower, 1e-9) * (1 + (tolerance or 1e-3))
    assert tight or (said and tolerance == 1e-5)  # next to the largest loss, 1 GiB may not do


@pytest.mark.no_cover
@FEW
@given(few, st.floats(0, 1))
def test_delta_is_an_upper_bound_at_60_digits(epsilons, share):
    """Also at places where little is left of δ."""
    x = Fraction(share) * sum(epsilons)
    with mp.workdps(DIGITS):
        truth = delta_of(responses(epsilons), mp.mpf(x.numerator) / x.denominator)
        found = compose(map(Pure, epsilons)).delta(x)
        # The oracle itself is good to some units in its 60th digit.
        assert truth - mp.mpf(10) ** -55 <= found <= truth * mp.mpf(1.02) + mp.mpf(10) ** -14


def test_gaussians_by_convolution_agree_with_the_closed_form():
    """Parts that are kept apart: the transform of an unbounded loss, tails included."""
    apart = Composition(((GDP(mu=1), 3), (GDP(mu="0.5"), 4)))
    for delta in ("1e-15", "1e-6", "0.1"):
        lower, upper = apart.bracket(delta)
        truth = GDP(mu=2).epsilon(delta)
        assert lower <= truth <= upper <= lower * (1 + 1e-6)


def test_two_laplace_pairs_agree_with_an_integral():
    """δ(x) = E δ₁(x − L): the outer law and the inner profile by quadrature."""
    a, b = mp.mpf(1), mp.mpf("0.7")

    def inner(x):
        if x >= b:
            return mp.mpf(0)
        if x <= -b:
            return -mp.expm1(x)
        return (
            -mp.expm1((x - b) / 2) if x >= 0 else -mp.expm1(x) + mp.exp(x) * -mp.expm1((-x - b) / 2)
        )

    def truth(x):
        x = mp.mpf(x)
        corners = sorted({-a, a, *(c for c in (x - b, x, x + b) if -a < c < a)})
        smooth = mp.quad(lambda loss: mp.exp((loss - a) / 2) / 4 * inner(x - loss), corners)
        return smooth + inner(x - a) / 2 + mp.exp(-a) / 2 * inner(x + a)

    g = compose([LaplacePair(epsilon=1), LaplacePair(epsilon="0.7")])
    for x in ("-0.5", "0", "0.3", "1.2", "1.65"):
        with mp.workdps(30):
            expected = truth(x)
        # At 0.3 = 1 − 0.7 the profile has a corner, which a grid rounds off a little.
        assert expected <= g.delta(x) <= expected * (1 + (2e-5 if x == "0.3" else 1e-6)), x


EXTREMES = [
    (Pure(epsilon=1), 10**6, "1e-9"),
    (Pure(epsilon="0.001"), 10**6, "1e-15"),
    (LaplacePair(epsilon="0.0001"), 10**5, "1e-15"),
    (SampledPair(GDP(mu="0.5"), rate="0.001"), 10**6, "1e-6"),
    (BoundedRange(epsilon="0.01"), 10**6, "1e-12"),
    (ResponsePair(epsilon=3, categories=100), 10**4, "1e-10"),
    (Approx(epsilon="0.01", delta="1e-12"), 10**4, "1e-6"),
    (LaplacePair(epsilon=1), 2, "1e-15"),
    (GDP(mu="0.001"), 1, "1e-6"),
]


@pytest.mark.parametrize(("g", "k", "delta"), EXTREMES)
def test_extremes_neither_crash_nor_eat_memory(g, k, delta):
    """ε = 0.01 and below, δ = 1e-15, a million runs: within the tolerance and the memory."""
    tracemalloc.start()
    try:
        lower, upper = Composition(((g, k), (Pure(epsilon="0.0003"), 1)), 1e-3).bracket(delta)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0 < lower <= upper <= lower * (1 + 1e-3)
    assert peak < 2**30


def test_a_bound_that_is_looser_than_asked_says_so_and_still_holds():
    g = LaplacePair(epsilon="0.1").repeat(1000)
    _, tight = g.bracket("1e-6")
    small = Composition(g.parts, tolerance=1e-7, memory=2**20)
    with pytest.warns(LooseBound, match="at most 1"):
        lower, upper = small.bracket("1e-6")
    assert lower < tight <= upper * (1 + 1e-7)


def test_a_delta_that_is_used_up_by_failures_is_said_to_be_too_small():
    """Catches advice that cannot help: no memory makes ε finite at the δ that parts fail with."""
    g = compose([Approx(1, "1e-6"), GDP(1)])
    with pytest.warns(LooseBound, match="give a delta above 1e-06, the probability with which"):
        assert g.epsilon("1e-6") == math.inf
    assert g.epsilon("2e-6") < 7


def test_memory_stays_below_the_cap():
    g = Composition(((LaplacePair(epsilon="0.1"), 1000), (GDP(mu=1), 1)), 1e-9, memory=2**26)
    tracemalloc.start()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LooseBound)
        g.bracket("1e-6")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2**26


# -- laws ------------------------------------------------------------------------------------------

sizes = st.fractions(Fraction(1, 100), 2, max_denominator=100)
pairs = st.one_of(
    st.builds(Pure, sizes),
    st.builds(LaplacePair, sizes),
    st.builds(LaplacePair, sizes, st.integers(1, 5)),
    st.builds(BoundedRange, sizes),
    st.builds(ResponsePair, sizes, st.integers(2, 9)),
    st.builds(GDP, sizes),
    st.builds(Approx, sizes, st.fractions(0, Fraction(1, 100), max_denominator=10**4)),
    st.builds(SampledPair, st.builds(GDP, sizes), st.sampled_from(["0.1", "0.5"])),
    st.builds(SampledPair, st.builds(LaplacePair, sizes), st.sampled_from(["0.1", "0.5"])),
    st.builds(TotalVariation, st.fractions(0, Fraction(1, 50), max_denominator=10**3)),
)


@FEW
@given(pairs, st.integers(2, 6), st.fractions(0, 4, max_denominator=10))
def test_repeat_is_composing_k_times(g, k, x):
    assert g.repeat(k).delta(x) == pytest.approx(compose([g] * k).delta(x), rel=1e-9)


@pytest.mark.no_cover
@FEW
@given(st.lists(pairs, min_size=2, max_size=4), st.fractions(0, 4, max_denominator=10))
def test_composition_commutes(parts, x):
    assert compose(parts) == compose(compose([p]) for p in parts)
    forward, backward = compose(parts).delta(x), compose(parts[::-1]).delta(x)
    assert forward == pytest.approx(backward, rel=1e-3, abs=1e-14)


@pytest.mark.no_cover
@FEW
@given(pairs, pairs, st.fractions(-2, 3, max_denominator=10))
def test_more_never_costs_less(a, b, x):
    """Catches a part that is dropped, and one that is counted against the others."""
    together = compose([a, b]).delta(x)
    assert together >= max(a.delta(x), b.delta(x)) * (1 - 1e-9)


@pytest.mark.no_cover
@FEW
@given(pairs, pairs)
def test_total_variation_is_delta_at_zero_and_at_most_the_sum(a, b):
    g = compose([a, b])
    assert g.tv == g.delta(0) == g.advantage
    assert g.tv <= a.tv + b.tv + 1e-9


@pytest.mark.no_cover
@FEW
@given(pairs, st.fractions(Fraction(1, 10), 3, max_denominator=10))
def test_negative_epsilon_of_a_composition(g, x):
    """δ(−x) ≥ 1 − e^(−x), and both orders are seen from either side."""
    both = g.repeat(2)
    expected = -math.expm1(-x) + math.exp(-x) * both.delta(x)
    assert both.delta(-x) == pytest.approx(expected, rel=1e-6)


@pytest.mark.no_cover
@FEW
@given(st.lists(pairs, min_size=3, max_size=12), st.sampled_from([None, 1e-3]))
def test_going_on_from_what_was_computed_changes_nothing(parts, tolerance):
    """One at a time, asking after each, gives what composing all at once gives."""
    total = parts[0]
    for part in parts[1:]:
        total = compose([total, part], tolerance=tolerance)
        if isinstance(total, Composition):
            total.bracket("1e-5")
    fresh = compose(parts, tolerance=tolerance)
    assert total.epsilon("1e-5") == pytest.approx(fresh.epsilon("1e-5"), rel=2e-3)
    assert total.bracket("1e-5")[0] <= fresh.epsilon("1e-5")


@pytest.mark.parametrize("dimension", [10, 100, 1000])
def test_claim_13_in_many_dimensions_gaussian_noise_beats_laplace(dimension):
    """One count in each of d cells, (1, 1e-6) for all: the Gaussian's σ grows with √d, the
    Laplace scale with d by adding up ε, and with about √d by composing, but stays above."""
    target = Approx(1, "1e-6")
    sigma = float(gaussian_sigma(sensitivity=1, epsilon=1, delta="1e-6")) * math.sqrt(dimension)
    laplace_sd = math.sqrt(2) * dimension  # scale d/ε
    assert sigma < laplace_sd
    # Composed tightly, Laplace noise of the Gaussian's standard deviation is not enough.
    same_sd = LaplacePair(Fraction(math.sqrt(2) / sigma))
    assert not same_sd.repeat(dimension).within(target)


# -- edges -----------------------------------------------------------------------------------------


def test_nothing_and_one_thing_compose_to_themselves():
    assert compose([]) == Pure(0)
    assert compose([Pure(1)]) == Pure(1)
    assert Pure(1).repeat(1) == Pure(1)
    assert GDP(1).repeat(0) == Pure(0)
    assert compose([ZCDP("0.1"), ZCDP("0.2")]) == ZCDP("0.3")


def test_pure_parts_add_up_at_delta_zero():
    g = compose([Pure("0.1"), LaplacePair("0.2"), BoundedRange("0.3")])
    assert g.epsilon(0) == pytest.approx(0.6, rel=1e-12)
    assert g.epsilon(0) >= 0.6
    assert math.isinf(compose([Pure(1), GDP(1)]).epsilon(0))
    assert g.delta("0.6") <= 1e-12


def test_failures_stay_however_large_epsilon_is():
    g = compose([Approx(1, "0.01"), LaplacePair(1), TotalVariation("0.02")])
    assert g.delta(100) == pytest.approx(1 - 0.99 * 0.98, rel=1e-9)
    assert math.isinf(g.epsilon("0.01"))


def test_orders_cannot_be_mixed():
    g = SampledPair(GDP(1), rate="0.1")
    with pytest.raises(InvalidArgument, match="one order"):
        compose([g.add, g.remove])
    with pytest.raises(InvalidArgument, match="one order"):
        compose([g.add, g])
    both = g.repeat(50)
    assert both.delta(1) == max(g.add.repeat(50).delta(1), g.remove.repeat(50).delta(1))


@pytest.mark.parametrize("bad", [[1], [Pure(1), "Pure(1)"], [None]])
def test_only_guarantees_compose(bad):
    with pytest.raises(InvalidArgument, match=r"guarantees\["):
        compose(bad)


@pytest.mark.parametrize("k", [-1, 1.5, "many", 10**10])
def test_bad_counts_are_refused(k):
    with pytest.raises(InvalidArgument, match="k must be"):
        Pure(1).repeat(k)


def test_the_least_of_facts_composes_better_than_each():
    """By its convex envelope: catches composing the minimum fact by fact only."""
    facts = [Pure(epsilon=2), Approx(epsilon="0.5", delta="0.01")]
    both = Least(facts).repeat(20).epsilon("0.2")
    assert both < min(g.repeat(20).epsilon("0.2") for g in facts)
    # It still covers a law of which both facts are true: it fails half-way with δ = 0.01.
    law = LossDistribution.from_laws([0.005, 0.6192, 0.3758], [0.0007, 0.3758, 0.6235])
    assert all(law.within(g) for g in facts)
    assert law.repeat(20).epsilon("0.2") <= both


# -- nothing dies ------------------------------------------------------------------------------

HARD = [
    [Pure(10**6), GDP(1)],
    [GDP(240), LaplacePair(1)],
    [GDP(1000), Pure(1)],
    [ZCDP(10**10), Pure(1)],
    [GDP("1e-160"), Pure(1)],
    [GDP("1e-200"), Pure("1e-250")],
    [SampledPair(GDP(1), "1e-400"), LaplacePair(1)],
    [Pure(10**400), GDP(1)],
    [TotalVariation(1), LaplacePair(1), GDP(1)],
    [LossDistribution.from_laws([1, 0], [0, 1]), LaplacePair(1), GDP(1)],
    pytest.param(
        [Failing(GDP(1), "1e-6").group(2).repeat(2), LaplacePair(1)], marks=pytest.mark.long
    ),
    [LossDistribution.from_laws([0.6, 0.4], [0.4, 0.6]).group(3).repeat(2), Pure(1)],
    *(
        pytest.param(
            [LossDistribution.from_laws([0.6, 0.4], [0.4, 0.6]).group(3).repeat(times), Pure(1)],
            marks=pytest.mark.long,
        )
        for times in (5, 20)
    ),
    [LossDistribution.from_laws([0.5, 0.499, 0.001], [0.5, 0.5, 0]), LaplacePair(1)],
]


@pytest.mark.no_cover
@pytest.mark.parametrize("parts", HARD, ids=str)
@pytest.mark.filterwarnings("ignore::discreet.errors.LooseBound")
def test_sizes_that_no_grid_can_hold_are_added_up(parts):
    """Catches overflow, division by 0 and NaN: there is always an answer, and it is a bound."""
    g = compose(parts, tolerance=1e-3)
    lower, upper = g.bracket("1e-6")
    assert 0 <= lower <= upper
    for x in (-1, 0, 1, 10**400):
        assert 0 <= g.delta(x) <= 1
    single = max(part.epsilon("1e-6") for part in parts)
    assert upper >= single * (1 - 1e-9)


@pytest.mark.parametrize("tolerance", [0, -1, math.nan, "x", 1e-300, 2])
def test_bad_tolerances_are_refused_at_once(tolerance):
    with pytest.raises(InvalidArgument, match="tolerance"):
        compose([Pure(1), GDP(1)], tolerance=tolerance)


@pytest.mark.parametrize("memory", [0, -5, 1, math.nan, "1GB", None])
def test_bad_memory_limits_are_refused_at_once(memory):
    with pytest.raises(InvalidArgument, match="memory"):
        compose([Pure(1), GDP(1)], memory=memory)


def test_many_gaussians_stay_short():
    """Catches exact sums of ten thousand squares, which take seconds and fill pages."""
    generator = np.random.default_rng(1)
    mus = generator.uniform(0.001, 0.01, 10_000)
    total = compose(GDP(float(mu)) for mu in mus)
    assert float(total.mu) == pytest.approx(math.sqrt(float(mus @ mus)), rel=1e-12)
    assert total.mu.denominator.bit_length() <= 64


def test_mechanisms_compose_as_their_guarantees():
    class Mechanism:
        guarantee = Pure("0.1")

    assert compose([Mechanism(), GDP(1)]) == compose([Pure("0.1"), GDP(1)])
