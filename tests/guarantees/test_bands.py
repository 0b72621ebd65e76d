"""Profiles in floats with both bounds, against the same profiles in ball arithmetic.

Everything a composition claims rests on these bounds: an upper one below the truth would make
every composed δ too small.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Failing,
    LaplacePair,
    Least,
    LossDistribution,
    Pure,
    ResponsePair,
    SampledPair,
    TotalVariation,
    compose,
)
from discreet.guarantees.grouped import GroupPrivacy
from discreet.numeric.balls import lower_fraction, sharp, upper_fraction
from discreet.numeric.bands import atoms, band, widen

sizes = st.integers(-9, 3).flatmap(
    lambda power: st.fractions(Fraction(1, 10), 1, max_denominator=997).map(
        lambda f: f * Fraction(10) ** power
    )
)
chances = st.integers(1, 12).map(lambda n: Fraction(1, 10**n + 1))
simple = st.one_of(
    st.builds(Pure, sizes),
    st.builds(Approx, sizes, chances),
    st.builds(GDP, sizes),
    st.builds(ZCDP, sizes),
    st.builds(TotalVariation, chances),
    st.builds(LaplacePair, sizes),
    st.builds(LaplacePair, sizes, st.integers(1, 10**5)),
    st.builds(BoundedRange, sizes),
    st.builds(ResponsePair, sizes, st.integers(2, 10**6)),
    st.builds(
        lambda a, b: LossDistribution.from_laws(
            [Fraction(a, a + 5), Fraction(5, a + 5)], [Fraction(b, b + 3), Fraction(3, b + 3)]
        ),
        st.integers(1, 50),
        st.integers(1, 50),
    ),
)
made = st.one_of(
    simple,
    st.builds(SampledPair, simple, chances | st.just(Fraction(1, 2))),
    st.builds(Failing, simple, chances),
    st.builds(GroupPrivacy, simple, st.integers(2, 5)),
    st.builds(lambda a, b: Least([a, b]), simple, simple),
)
places = st.lists(st.floats(0, 1) | st.floats(0, 50) | st.just(0.0), min_size=1, max_size=6)


@given(made, places, st.booleans())
def test_bands_hold_the_balls(g, xs, swapped):
    """At random places, and at the end of a bounded loss, where a profile has its last corner."""
    reach = g._reach(1e-9, swapped=swapped)
    ends = [reach, reach * (1 - 1e-12), reach / 3] if 0 < reach < 1e6 else []
    x = np.array(sorted({*xs, *ends}))
    bounds = g._band(x, swapped=swapped)
    for point, low, high in zip(x.tolist(), bounds.lower, bounds.upper, strict=True):
        truth = sharp(lambda p=point: g._over(Fraction(p), swapped=swapped))
        assert Fraction(float(low)) <= max(Fraction(0), upper_fraction(truth)), point
        # The ball itself has a width, and floats end at 1e-308.
        assert lower_fraction(truth) <= Fraction(float(high)) + Fraction(1, 10**300), point


def test_what_overflowed_is_unknown():
    """NaN must never read as 0."""
    unknown = np.array([np.nan])
    assert band(unknown, error=0.0).upper == widen(unknown, unknown, units=1).upper == 1
    assert band(unknown, error=0.0).lower == widen(unknown, unknown, units=1).lower == 0


def test_atoms_are_rounded_up():
    made = atoms([1.0], [0.5], rounding=1e-10, units=4)
    assert made.losses[0] > 1 and made.masses[0] > 0.5


@pytest.mark.parametrize("rho", ["0.001", "0.1", "2"])
def test_zcdp_composes_with_others(rho):
    """Through its profile: at least what it has alone, at most what adding up gives."""
    both = compose([ZCDP(rho), Pure("0.3"), LaplacePair("0.2")])
    alone = ZCDP(rho).epsilon("1e-6")
    assert alone <= both.epsilon("1e-6") <= ZCDP(rho).epsilon("5e-7") + 0.5 + 1e-6


def test_too_many_categories_are_refused():
    with pytest.raises(InvalidArgument, match="categories"):
        ResponsePair(1, 10**400)
