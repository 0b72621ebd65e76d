"""Does it fit? And what an attacker, a group and several facts make of a guarantee."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Failing,
    LaplacePair,
    Least,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
    to_gdp,
    to_pure,
    to_zcdp,
)
from discreet.guarantees.grouped import GroupPrivacy

sizes = st.fractions(Fraction(1, 50), 4, max_denominator=50)
pairs = st.one_of(
    st.builds(Pure, sizes),
    st.builds(LaplacePair, sizes),
    st.builds(LaplacePair, sizes, st.integers(1, 6)),
    st.builds(BoundedRange, sizes),
    st.builds(ResponsePair, sizes, st.integers(2, 9)),
    st.builds(SampledPair, st.builds(LaplacePair, sizes), st.sampled_from(["0.1", "0.5", "1"])),
)
unbounded = st.one_of(
    st.builds(GDP, sizes),
    st.builds(SampledPair, st.builds(GDP, sizes), st.sampled_from(["0.1", "0.5"])),
    st.builds(ZCDP, sizes),
    st.builds(Approx, sizes, st.fractions(0, Fraction(1, 10), max_denominator=100)),
)
reals = st.fractions(-4, 4, max_denominator=20)


@pytest.mark.no_cover
@given(pairs)
def test_everything_fits_within_what_it_converts_to(g):
    """Conversions only weaken: catches one that claims too little."""
    assert g.within(g)
    for weaker in (to_pure(g), to_zcdp(g), to_gdp(g)):
        assert g.within(weaker)
        for x in (-1, 0, Fraction(1, 3), 1, 2):
            assert g.delta(x) <= weaker.delta(x) * (1 + 1e-12) + 1e-15, (weaker, x)


@given(pairs | unbounded, st.fractions(0, 4, max_denominator=20))
def test_an_epsilon_delta_limit_is_one_point(g, x):
    at = Fraction(g.delta(x))
    assert g.within(Approx(x, min(1, at * (1 + Fraction(1, 10**9)) + Fraction(1, 10**30))))
    if at > Fraction(1, 10**12):
        assert not g.within(Approx(x, at * (1 - Fraction(1, 10**9))))


def test_limits_in_every_notion():
    assert GDP(1).within(ZCDP("1/2")) and not GDP(1).within(ZCDP("0.499"))
    assert LaplacePair(1).within(Pure(1)) and not LaplacePair(1).within(Pure("0.99"))
    assert Pure(1).within(TotalVariation("0.4622")) and not Pure(1).within(TotalVariation("0.4621"))
    assert not Pure(1).within(LaplacePair(1)) and LaplacePair("0.99").within(LaplacePair(1))
    assert not GDP(1).within(Pure(100)) and not Approx(1, "1e-9").within(ZCDP(10))
    assert Pure("1/3").repeat(3).within(Pure(1))
    assert compose([LaplacePair("0.1"), GDP("0.1")]).within(Approx(1, "0.001"))
    with pytest.raises(Refused, match="no limit"):
        Pure(1).within(Pure(1).repeat(2))
    for wrong in (1, "Pure(1)", None):
        with pytest.raises(InvalidArgument, match="limit must be a guarantee"):
            Pure(1).within(wrong)
    assert not ZCDP(1).within(GDP(10))  # no theorem here


# -- an attacker -------------------------------------------------------------------------------


@pytest.mark.no_cover
@settings(max_examples=60)  # each looks for the best of all lines
@given(pairs | unbounded, st.fractions(0, 1, max_denominator=50), reals)
def test_no_line_of_the_profile_is_below_the_best_hit_rate(g, f, x):
    """The trade-off curve is the least of its lines: catches a search that stops elsewhere."""
    best = g.tradeoff(f)
    assert f <= Fraction(best) <= 1
    assert best <= math.exp(x) * float(f) + g.delta(x) + 1e-9


def test_trade_off_of_the_gaussian_is_the_known_curve():
    from scipy.stats import norm

    for f in (0.001, 0.01, 0.2, 0.7):
        assert GDP(1).tradeoff(f) == pytest.approx(norm.cdf(1 - norm.isf(f)), rel=1e-9)


def test_claim_16_posterior_after_randomized_response():
    """q = ½: 3r/(1 + 2r), from the law itself."""
    for r in (0.01, 0.3, 0.9):
        q = Fraction(1, 2)
        epsilon = math.log((1 + q) / (1 - q))
        found = Pure(epsilon).posterior(r)
        assert found == pytest.approx(3 * r / (1 + 2 * r), rel=1e-12)


@pytest.mark.no_cover
@settings(max_examples=60)  # each looks for the best of all lines
@given(pairs | unbounded, st.floats(0.01, 0.99), st.floats(0.01, 0.9), reals)
def test_posterior_of_likely_events_holds_for_each_line(g, prior, tau, x):
    """odds ≤ e^x·τ/(τ − δ(x)) for each x with δ(x) < τ, and never less than the prior."""
    found = g.posterior(prior, event_probability=tau)
    assert prior <= found * (1 + 1e-15)
    delta = g.delta(x)
    if delta < tau * 0.999:
        odds = prior / (1 - prior) * max(1.0, math.exp(x) * tau / (tau - delta))
        assert found <= odds / (1 + odds) * (1 + 1e-6)


@pytest.mark.parametrize("tau", [0.01, 0.05, 0.5])
@pytest.mark.parametrize("prior", [0.01, 0.5])
def test_posterior_is_not_below_what_an_event_reaches(prior, tau):
    """Gaussian noise, outputs above a limit that is passed with probability τ: the belief after
    such an output is known. Catches a bound that forgets the failure in τ/(τ − δ)."""
    from scipy.stats import norm

    limit = 1 + norm.isf(tau)  # P(N(1, 1) > limit) = τ
    odds = prior / (1 - prior) * tau / norm.sf(limit)
    assert GDP(1).posterior(prior, event_probability=tau) >= odds / (1 + odds) * (1 - 1e-13)


def test_posterior_is_certain_where_delta_never_ends():
    assert GDP(1).posterior(0.01) == 1.0
    assert GDP(1).posterior(0) == 0.0
    assert Approx(1, "0.01").posterior(0.5, event_probability=0.005) == 1.0


# -- groups and facts --------------------------------------------------------------------------


@given(pairs, st.integers(1, 4), st.fractions(0, 3, max_denominator=10))
def test_claim_17_a_group_is_at_least_one_and_at_most_the_pure_bound(g, k, x):
    assert g.delta(x) <= g.group(k).delta(x) * (1 + 1e-12) + 1e-15
    assert g.group(k).delta(x) <= Pure(k * to_pure(g).epsilon0).delta(x) * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("g", [Pure(1), GDP(1), LaplacePair("0.5"), Approx(1, "0.01")])
@pytest.mark.parametrize("k", [2, 5])
def test_the_group_of_any_profile_covers_the_notions_own(g, k):
    """The triangle inequality holds for every notion, so its own group is at least as tight."""
    for x in (0, 0.5, 2, 7):
        assert g.group(k).delta(x) <= GroupPrivacy(g, k).delta(x) * (1 + 1e-9) + 1e-15


def test_a_failure_of_a_group_grows_like_that_of_epsilon_delta():
    """A failure beside Gaussian noise in one mechanism is not a mechanism of its own: composing
    the two and grouping them part by part would claim 3.7e-5 where 0.978 can be reached."""
    g = Failing(GDP("1/4"), chance="1e-6")
    assert g.group(30).delta(60) == 1
    assert g.delta(0) == pytest.approx(1e-6 + (1 - 1e-6) * GDP("1/4").delta(0), rel=1e-12)


@pytest.mark.no_cover
@given(st.lists(pairs | unbounded, min_size=1, max_size=3), reals)
def test_the_least_of_facts_is_the_least(facts, x):
    g = Least(facts)
    assert g.delta(x) == pytest.approx(min(f.delta(x) for f in facts), rel=1e-12, abs=1e-300)


def test_facts_are_about_single_runs():
    for wrong in ([], [1], [Pure(1).repeat(2)], [SampledPair(GDP(1), "0.1").add]):
        with pytest.raises(InvalidArgument, match="facts"):
            Least(wrong)
