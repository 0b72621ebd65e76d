"""Short fractions: the nearest one on the right side, and sums that never fall short."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.numeric import short_fractions
from discreet.numeric.short_fractions import (
    LARGEST,
    bound_up,
    is_short,
    short_down,
    short_up,
    sum_up,
)

words = st.integers(1, LARGEST)
shorts = st.builds(Fraction, words, words)
longs = st.builds(Fraction, st.integers(1, 2**200), st.integers(1, 2**200)).filter(
    lambda x: x < LARGEST
)


@given(st.fractions(0, 12, max_denominator=500))
def test_nearest_neighbours_by_brute_force(x):
    """With 12 as the largest number all fractions can be listed. Catches a walk down the tree
    that stops a step early or late, or that runs past one of the two bounds."""
    largest = 12
    everything = [Fraction(n, d) for n in range(largest + 1) for d in range(1, largest + 1)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(short_fractions, "LARGEST", largest)
        assert short_up(x) == min(y for y in everything if y >= x)
        assert short_down(x) == max(y for y in everything if y <= x)


@given(longs)
def test_short_on_the_right_side_and_tight(x):
    """Catches a rounding in the wrong direction; and precision lost, which must be 2⁻⁶³ of x
    down to 2⁻⁶³ (a multiple of 2⁻⁶⁴ would have none left there)."""
    down, up = short_down(x), short_up(x)
    assert down <= x <= up and is_short(down) and is_short(up)
    if Fraction(1, 2**63) < x < 2**63:
        assert (up - down) / x <= Fraction(1, 2**62)


@given(longs, shorts)
def test_no_other_short_fraction_is_passed(x, cap):
    """What fits below a short cap still fits when it is rounded up."""
    if x <= cap:
        assert short_up(x) <= cap
    else:
        assert short_down(x) >= cap


@given(shorts)
def test_short_stays_as_it_is(x):
    assert short_up(x) == short_down(x) == bound_up(x) == x


@pytest.mark.parametrize("x", ["1e-300", "1e-25", "1e-19", "0.1", "1e19", "1e20", "1e300", "1e400"])
def test_a_bound_is_within_an_ulp_at_any_size(x):
    x = Fraction(x) * Fraction(2**200 + 1, 2**200)  # too long to be a float or short
    assert x <= bound_up(x) <= x * (1 + Fraction(1, 2**51))


@given(st.lists(shorts | longs.map(short_up), max_size=40))
def test_sums_are_never_below_and_stay_small(parts):
    """Against plain fractions. Catches a sum rounded down or to the nearest, and one whose
    denominator grows with every part."""
    total = (0, 1)
    for part in parts:
        total = sum_up(total, part)
        assert gcd(*total) == 1 and total[1].bit_length() <= 256
    truth = sum(parts, Fraction(0))
    assert truth <= Fraction(*total) <= truth + len(parts) * Fraction(1, 2**128)


@pytest.mark.no_cover
@given(st.lists(st.integers(1, 2**60).map(lambda n: Fraction(n, 10**19)), max_size=40))
def test_sums_with_a_common_denominator_are_exact(parts):
    """Decimals, as people type them, are never rounded at all."""
    total = (0, 1)
    for part in parts:
        total = sum_up(total, part)
    assert Fraction(*total) == sum(parts, Fraction(0))
