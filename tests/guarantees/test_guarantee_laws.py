"""What holds for every guarantee, whatever its notion."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, LaplacePair, Pure, TotalVariation

sizes = st.fractions(Fraction(1, 100), 20, max_denominator=1000)
probabilities = st.fractions(0, 1, max_denominator=10**6)
exact_profiles = st.one_of(
    st.builds(Pure, sizes),
    st.builds(Approx, sizes, probabilities),
    st.builds(GDP, sizes),
    st.builds(TotalVariation, probabilities),
    st.builds(LaplacePair, sizes),
    st.builds(LaplacePair, sizes, st.integers(1, 10**6)),
)
guarantees = exact_profiles | st.builds(ZCDP, sizes)
reals = st.fractions(-25, 25, max_denominator=1000)
SLACK = 1e-11  # ours are rounded up, by an ulp or so each


@given(guarantees)
def test_it_is_a_guarantee(g):
    assert isinstance(g, Guarantee)
    assert g.advantage == g.tv == g.delta(0)


@pytest.mark.no_cover
@given(guarantees, reals, reals)
def test_delta_never_increases(g, x, y):
    assert g.delta(max(x, y)) <= g.delta(min(x, y)) * (1 + SLACK)


@pytest.mark.no_cover
@given(guarantees, reals)
def test_delta_is_at_least_what_any_pair_has(g, x):
    """δ(x) ≥ 1 − e^x for identical laws already, so less would be no divergence at all."""
    assert max(0.0, 1 - math.exp(x)) - SLACK <= g.delta(x) <= 1


@pytest.mark.no_cover
@given(exact_profiles, reals, reals, reals)
def test_delta_is_convex_in_the_ratio(g, x, y, z):
    """Catches a wrong branch at a corner of the profile: no pair has a profile that bends down."""
    x, y, z = sorted((x, y, z))
    left, middle, right = (math.exp(v) for v in (x, y, z))
    if left < middle < right:
        share = (right - middle) / (right - left)
        chord = share * g.delta(x) + (1 - share) * g.delta(z)
        assert g.delta(y) <= chord + 1e-9


@pytest.mark.no_cover
@given(guarantees, reals.filter(lambda x: x > 0))
def test_negative_epsilon_is_the_swapped_pair(g, x):
    """δ(−x) = 1 − e^(−x) + e^(−x)·δ(x) for a symmetric pair."""
    expected = -math.expm1(-x) + math.exp(-x) * g.delta(x)
    assert g.delta(-x) == pytest.approx(expected, rel=SLACK)


@pytest.mark.no_cover
@given(guarantees, probabilities)
def test_epsilon_keeps_its_promise(g, delta):
    """δ at the ε that was returned is at most the δ asked for, read as decimal or as binary."""
    epsilon = g.epsilon(delta)
    if math.isfinite(epsilon):
        for reading in (epsilon, Fraction(epsilon)):
            assert Fraction(g.delta(reading)) <= delta + Fraction(g.delta(reading)) / 2**50


@pytest.mark.no_cover
@given(guarantees, reals.filter(lambda x: x > Fraction(1, 100)))
def test_epsilon_undoes_delta(g, x):
    """The least ε whose δ is that of x is not above x: ε is tight."""
    assert g.epsilon(min(1.0, math.nextafter(g.delta(x), 1))) <= float(x) * (1 + SLACK)


@given(guarantees)
def test_frozen_values(g):
    assert pickle.loads(pickle.dumps(g)) == g == copy.deepcopy(g)
    assert eval(repr(g)) == g
    assert hash(eval(repr(g))) == hash(g)
    with pytest.raises(AttributeError):
        g.tv0 = 0  # type: ignore[misc]


@pytest.mark.no_cover
@given(st.builds(Pure, sizes) | st.builds(LaplacePair, sizes, st.none() | st.integers(1, 50)))
def test_pure_epsilon_is_where_delta_ends(g):
    assert g.epsilon(0) == pytest.approx(float(g.epsilon0), rel=SLACK)
    assert Fraction(g.epsilon(0)) >= g.epsilon0


@pytest.mark.no_cover
@given(sizes, st.integers(1, 10**6), reals)
def test_a_laplace_pair_is_no_worse_than_pure(epsilon, steps, x):
    """On any grid and on none; and a single step is randomized response exactly."""
    for pair in (LaplacePair(epsilon), LaplacePair(epsilon, steps)):
        assert pair.delta(x) <= Pure(epsilon).delta(x) * (1 + SLACK)
    assert LaplacePair(epsilon, 1).delta(x) == Pure(epsilon).delta(x)


@pytest.mark.parametrize(
    "notion", [GDP(1), ZCDP(1), Approx(1, "1e-6"), TotalVariation("0.1")], ids=repr
)
def test_no_epsilon_has_delta_zero(notion):
    assert notion.epsilon(0) == math.inf


def test_ties_are_not_lost():
    """δ₀ asked for exactly is granted at ε₀, though neither is a binary fraction."""
    assert Approx("0.3", "1e-6").epsilon("1e-6") == pytest.approx(0.3, rel=1e-15)
    assert TotalVariation("0.1").epsilon("0.1") == 0
    assert Approx(1, 1).epsilon(1) == 0


def test_groups():
    assert Pure(0.1).group(3) == Pure("0.3")
    assert GDP(0.1).group(3) == GDP("0.3")
    assert ZCDP(0.1).group(3) == ZCDP("0.9")
    assert TotalVariation(0.4).group(3) == TotalVariation(1)
    assert LaplacePair(0.1, 2).group(3) == LaplacePair("0.3", 6)
    assert LaplacePair(0.1).group(3) == LaplacePair("0.3")


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: Pure(-1), "epsilon"),
        (lambda: Pure(math.nan), "epsilon"),
        (lambda: Approx(1, -1), "delta"),
        (lambda: Approx(1, 2), "delta"),
        (lambda: Approx(-1, 0), "epsilon"),
        (lambda: GDP(-1), "mu"),
        (lambda: ZCDP("-1"), "rho"),
        (lambda: TotalVariation(1.5), "tv"),
        (lambda: LaplacePair(1, 0), "steps"),
        (lambda: LaplacePair(1, 1.5), "steps"),
        (lambda: LaplacePair(-1), "epsilon"),
        (lambda: Pure(1).delta(math.inf), "epsilon"),
        (lambda: Pure(1).epsilon(1.5), "delta"),
        (lambda: Pure(1).epsilon(-0.1), "delta"),
        (lambda: Pure(1).posterior(2), "prior"),
        (lambda: GDP(1).group(0), "k"),
        (lambda: ZCDP(1).group(1.5), "k"),
    ],
)
def test_refused_at_the_door(build, name):
    with pytest.raises(InvalidArgument) as caught:
        build()
    assert caught.value.name == name
