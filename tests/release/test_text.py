"""How numbers are written."""

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.release.text import exact, number, text, value_and_error, with_error


@pytest.mark.parametrize(
    ("value", "error", "written"),
    [
        (1234, 6.0, "1234 ± 6"),
        (5.3211, 0.1372, "5.32 ± 0.14"),
        (5.3, 0.0996, "5.300 ± 0.100"),
        (1234567, 12345.0, "1234567 ± 12345"),
        (1234567.8, 12344.2, "1234568 ± 12345"),
        (-0.001, 0.5, "0.00 ± 0.50"),
        (3, 0.0, "3 ± 0"),
        (2.5, 0.0, "2.5 ± 0"),
        (2.5, math.inf, "2.5 ± ∞"),
        (math.nan, math.inf, "unknown ± ∞"),
        (0.5, 6.000000000000001, "0.5 ± 6.0"),
        (10**18, 3e15, "1.0000e+18 ± 3.0e+15"),
        (1.5e-12, 2e-13, "1.50e-12 ± 2.0e-13"),
        (0.0, 2e-13, "0.0e+00 ± 2.0e-13"),
        (Decimal("12.50"), 0.5, "12.50 ± 0.50"),
        (Decimal(12), 3.0, "12 ± 3"),
        (12, 3.4, "12 ± 4"),
        ("flu", 12.0, "flu ± 12"),
    ],
)
def test_value_with_error(value, error, written):
    """Catches digits that mean nothing, digits that are missing, and -0.00."""
    assert with_error(value, error) == written


@given(
    st.floats(-1e12, 1e12, allow_nan=False),
    st.floats(1e-12, 1e12, allow_nan=False),
)
def test_what_is_written_is_true(value, error):
    """Catches a written error below the real one, and a value further off than its last digit."""
    left, right = value_and_error(value, error)
    assert float(right) >= error * (1 - 2e-9)
    assert float(right) <= error * 1.11 + 1
    assert abs(float(left) - value) <= error / 10 + 0.5 * (error >= 10)


@given(st.floats(allow_nan=False))
def test_files_keep_every_digit(value):
    """Catches a float that is read back as another one."""
    assert float(exact(value)) == value


def test_alone():
    """Catches a whole number in powers of ten, and six digits of noise."""
    assert number(123456789) == "123456789" and number(1234567.9) == "1234568"
    assert text(Decimal("1E+3")) == "1000" and text(False) == "false"
    assert exact(7) == 7 and exact("x") == "x"
    assert number(0.1 + 0.2) == "0.3" and number(-math.inf) == "-∞" and number(1e-7) == "1e-07"
