"""Bit patterns against their definition."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from discreet.auditor.sampling.features import exponents, fraction, lowest_bit


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_lowest_bit_is_the_largest_power_of_two_that_divides(y):
    """Catches an exponent that is off by one, also for subnormal numbers."""
    found = lowest_bit(np.array([y]))[0]
    if y == 0:
        assert found == (4001 if math.copysign(1, y) < 0 else 4000)
        return
    ratio = Fraction(y) / Fraction(2) ** int(found)
    assert ratio.denominator == 1 and ratio.numerator % 2 == 1
    assert math.frexp(y)[1] == int(exponents(np.array([y]))[0]) // 4096 - 2048


def test_what_has_no_lowest_bit_is_apart():
    """Catches a crash or a wrong class for the values every mechanism may meet."""
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0])
    assert lowest_bit(odd).tolist() == [4000.0] * 4 + [4001.0]
    assert fraction(odd).tolist() == [0.0] * 5
