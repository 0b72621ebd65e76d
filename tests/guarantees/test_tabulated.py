"""Tables of compositions: upper bounds everywhere, and near the truth."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.guarantees import GDP, Approx, LaplacePair, Pure, SampledPair, TotalVariation, compose
from discreet.guarantees.tabulated import Tabulated, failing

TAIL = Fraction(1, 10**6)
TWO = compose([Pure(1), Pure("1/2")])


def two_responses(x: float) -> float:
    """δ(x) of two randomized responses, ε = 1 and ε = 1/2, outcome by outcome."""
    total = 0.0
    for a in (1.0, -1.0):
        for b in (0.5, -0.5):
            p = 1 / (1 + math.exp(-a)) / (1 + math.exp(-b))
            total += max(0.0, p * -math.expm1(x - a - b))
    return total


@pytest.fixture(scope="module")
def near():
    return Tabulated(TWO, TAIL)


@given(x=st.floats(-3, 3))
def test_bounds_from_above_and_closely(near, x):
    """Catches a chord taken in ε instead of e^ε, a shifted table and the wrong order for ε < 0."""
    truth = two_responses(x)
    assert truth * (1 - 1e-9) - 1e-15 <= near.delta(x) <= truth * 1.001 + 1e-4


def test_beyond_the_table():
    """Catches a table that ends at 0 where the profile has not."""
    composition = compose([LaplacePair(1), GDP(1)])
    near = Tabulated(composition, TAIL)
    assert near.delta(1000) >= 1e-6
    assert near.delta(-1000) == 1
    assert near.epsilon("1e-3") == composition.epsilon("1e-3")
    assert near.places[0] == 0 and near.places[-1] == composition.epsilon(TAIL)


def test_both_orders_count():
    """Catches a table of one order only, where adding and removing a person differ."""
    sampled = SampledPair(GDP(2), "1/4").repeat(10)
    near = Tabulated(sampled, TAIL)
    for x in (0.0, 0.5, 1.0, -0.5, -1.0):
        assert sampled.delta(x) * (1 - 1e-9) <= near.delta(x) <= sampled.delta(x) * 1.005


def test_single_mechanisms_are_read_exactly():
    """Catches a detour through a table where there is a formula."""
    near = Tabulated(GDP(1), TAIL)
    assert near.delta(20) == GDP(1).delta(20) < 1e-40
    assert near.places == []


def test_many_runs_are_a_cliff():
    """Catches minutes spent on a profile that promises nothing in practice."""
    near = Tabulated(LaplacePair(3).repeat(10**5), TAIL)
    assert near.delta(1) == 1 and near.delta(10**6) <= 1.1e-6


def test_the_chance_of_failing():
    """Catches parts that are not multiplied, counts that are forgotten, and endless powers."""
    assert failing(GDP(1)) == failing(Pure(1).repeat(3)) == 0
    assert failing(compose([TotalVariation("1/2"), Approx(1, "1/4").repeat(2)])) == Fraction(23, 32)
    assert failing(SampledPair(Approx(1, "1/4"), "1/2")) == Fraction(1, 8)
    assert failing(SampledPair(Approx(1, "1/4"), "1/2").add) == 0
    many = failing(Approx(1, "1e-9").repeat(10**6))
    assert 1 - math.exp(-1e-3) <= many <= Fraction(1, 1000)
    assert failing(Approx(1, "1e-3").repeat(10**6)) == 1
