"""Numbers at the door and outward rounding, against Fractions."""

import math
import sys
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.numeric.exact import (
    integer,
    non_negative,
    number,
    positive,
    probability,
    round_down,
    round_up,
    sqrt_up,
)

MAX = sys.float_info.max
TINY = math.ulp(0.0)

# Fractions of every size a float can have, and beyond both ends.
fractions_of_any_size = st.builds(
    lambda n, d, e: Fraction(n, d) * Fraction(2) ** e,
    st.integers(-(2**70), 2**70),
    st.integers(1, 2**70),
    st.integers(-1300, 1300),
)


@pytest.mark.parametrize(
    ("value", "exact"),
    [
        (3, Fraction(3)),
        (-0.0, Fraction(0)),
        (0.1, Fraction(1, 10)),
        (1e-6, Fraction(1, 10**6)),
        (5e-324, Fraction(5, 10**324)),
        (MAX, Fraction(17976931348623157 * 10**292)),
        (Fraction(1, 3), Fraction(1, 3)),
        (Decimal("0.10"), Fraction(1, 10)),
        (Decimal("1e3"), Fraction(1000)),
        ("0.1", Fraction(1, 10)),
        ("1/3", Fraction(1, 3)),
        (" -2/6 ", Fraction(-1, 3)),
        ("1e-6", Fraction(1, 10**6)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float16(0.1), Fraction(1, 10)),
        (np.longdouble("0.1"), Fraction(1, 10)),
        (np.int64(-7), Fraction(-7)),
        (np.uint8(200), Fraction(200)),
    ],
    ids=repr,
)
def test_number_reads_what_was_typed(value, exact):
    """Catches 0.1 read as the binary fraction nearest to it, in any of its spellings."""
    assert number(value, name="x") == exact
    assert type(number(value, name="x")) is Fraction


def test_number_ignores_print_options():
    """Catches a float32 read through a printer that an application has reconfigured."""
    with np.printoptions(legacy="1.13", precision=2):
        assert number(np.float32(0.123456), name="x") == Fraction("0.123456")
        assert number(np.float64(0.123456), name="x") == Fraction("0.123456")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_number_of_a_float_prints_as_that_float(value):
    assert float(number(value, name="x")) == value
    assert number(value, name="x") == Fraction(repr(value))


@pytest.mark.parametrize(
    "value",
    [
        True,
        np.True_,
        None,
        1j,
        np.complex128(1),
        b"1",
        [1],
        (1, 2),
        np.array(1.0),
        np.array([1.0, 2.0]),
        {1},
        "",
        "one",
        "1/0",
        "0.5/3",
        "1/3e9",
        "1e99999999999999999999999",
        math.nan,
        math.inf,
        -math.inf,
        np.float64("nan"),
        np.float32("inf"),
        Decimal("NaN"),
        Decimal("sNaN"),
        Decimal("-Infinity"),
        "nan",
        "inf",
    ],
    ids=repr,
)
@pytest.mark.parametrize("door", [number, positive, non_negative, probability, integer])
def test_what_is_no_finite_number_is_refused_at_every_door(door, value):
    """Catches a bool taken for 1, and NaN or infinity passing for a number."""
    with pytest.raises(InvalidArgument, match=r"^epsilon must be .*, got ") as caught:
        door(value, name="epsilon")
    assert caught.value.name == "epsilon"


@pytest.mark.parametrize(
    "value",
    [
        "1e999999999",
        "1e-999999999",
        Decimal("1e999999999"),
        Decimal("0e999999999"),
        Decimal("1e-999999999"),
        "9" * 10**7,
        "1/" + "9" * 10**7,
        1 << 33_219_281,  # as long as 10^(10^7), which takes seconds to write down
        Fraction(1, 1 << 5000),
        np.longdouble("1e4000"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_absurd_sizes_are_refused_before_they_are_written_out(value):
    """Catches a parameter that stalls the process: in full, the smallest has 10⁷ digits."""
    tracemalloc.start()
    with pytest.raises(InvalidArgument, match=r"fits in 4096 bits|a finite number") as caught:
        number(value, name="x")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10**6
    assert len(str(caught.value)) < 200


def test_the_size_limit_is_where_it_says():
    assert number(2**4096 - 1, name="x") == 2**4096 - 1
    assert number(f"{2**4096 - 1}/{2**4096 - 3}", name="x") == Fraction(2**4096 - 1, 2**4096 - 3)
    assert number("1e1233", name="x") == 10**1233
    with pytest.raises(InvalidArgument, match="4096 bits"):
        number(2**4096, name="x")


@pytest.mark.parametrize(
    ("door", "accepted", "refused"),
    [
        (positive, [TINY, 1, 1e300], [0, -TINY, -1]),
        (non_negative, [0, -0.0, TINY], [-TINY, -1]),
        (probability, [TINY, 0.5, Fraction(10**30 - 1, 10**30)], [0, 1, -1, 2, 1.0, "1"]),
        (integer, [-3, 0, 2.0, "7", np.int8(1), 1e6], [0.5, "1/3", TINY]),
    ],
)
def test_ranges_include_and_exclude_their_ends(door, accepted, refused):
    """Catches >= where > was meant."""
    for value in accepted:
        assert door(value, name="x") == number(value, name="x")
    for value in refused:
        with pytest.raises(InvalidArgument, match=r"^x must be .*, got "):
            door(value, name="x")


def test_integer_keeps_its_minimum():
    assert integer(1, name="k", minimum=1) == 1
    assert type(integer(np.int64(5), name="k")) is int
    with pytest.raises(InvalidArgument, match=r"^k must be a whole number, 1 or above, got 0 "):
        integer(0, name="k", minimum=1)


@given(fractions_of_any_size)
@example(Fraction(0))
@example(Fraction(MAX))
@example(Fraction(MAX) + Fraction(1, 10**30))
@example(-Fraction(MAX) - 1)
@example(Fraction(2) ** 1024)
@example(-(Fraction(2) ** 1024))
@example(Fraction(TINY) / 3)
@example(-Fraction(TINY) / 3)
@example(Fraction(1, 10))
@example(Fraction(10) ** 1000)
@example(-1 / Fraction(10) ** 1000)
def test_rounding_is_outward_and_tight(x):
    """Catches nearest-rounding, a float too far out, a wrong overflow and a signed zero."""
    up, down = round_up(x), round_down(x)
    assert up == math.inf or Fraction(up) >= x
    before = math.nextafter(up, -math.inf)
    assert before == -math.inf or Fraction(before) < x
    assert down == -math.inf or Fraction(down) <= x
    after = math.nextafter(down, math.inf)
    assert after == math.inf or Fraction(after) > x
    assert up != 0 or math.copysign(1, up) == 1
    assert down != 0 or math.copysign(1, down) == 1


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_rounding_keeps_floats(value):
    assert round_up(Fraction(value)) == round_down(Fraction(value)) == value


@given(st.fractions(min_value=0, max_denominator=2**60), st.integers(-2000, 2000))
def test_sqrt_up_is_above_and_close(x, exponent):
    """Catches a root below the truth, or one further off than 2⁻¹⁰⁰."""
    x *= Fraction(2) ** exponent
    root = sqrt_up(x)
    assert root**2 >= x
    assert (root / (1 + Fraction(1, 2**100))) ** 2 <= x


@given(st.fractions(min_value=0))
def test_sqrt_up_of_a_square_is_exact(root):
    assert sqrt_up(root**2) == root
