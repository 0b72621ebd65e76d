"""Values split into steps and put together again: all paths the same, nothing off the grid."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.noise.additive import (
    FLOAT_MAX,
    INT_MAX,
    INT_MIN,
    FloatGrid,
    IntegerGrid,
    fine_exponent,
)
from discreet.noise.workspace import Workspace

floats = st.floats(allow_nan=False, allow_infinity=False)
exponents = st.integers(-910, 890)
wholes = st.integers(-(2**52), 2**52)
int64s = st.integers(INT_MIN, INT_MAX)
EDGES = [INT_MIN, INT_MIN + 1, -1, 0, 1, INT_MAX - 1, INT_MAX]


def join(grid: FloatGrid | IntegerGrid, values: list, wholes: list) -> np.ndarray:
    """Split and join arrays as the fast path does."""
    values, room = np.array(values, grid.dtype), Workspace()
    before, out = values.copy(), np.empty(len(values), grid.dtype)
    offset = grid.offset(values, room)
    grid.join(values, offset, np.array(wholes, np.float64), out, room)
    assert np.array_equal(values, before)  # the caller's array is left alone
    return out


def bits(x: float) -> bytes:
    return np.float64(x).tobytes()


@given(exponents, st.lists(st.tuples(floats, wholes), min_size=1, max_size=5))
@example(1, [(5e-324, 0)])  # so small that in steps it underflows
@example(890, [(1e-300, 0), (-1e-20, 0), (2.2250738585072014e-308, 0)])
@example(0, [(-0.0, 0), (0.25, 0), (-0.25, 0), (1.0, -1)])  # no -0.0
@example(0, [(0.5, 0), (1.5, 0), (-0.5, 0), (2.0**52 + 1, 1), (2.0**53 + 2, 1)])
@example(-910, [(FLOAT_MAX, 2**52), (-FLOAT_MAX, -(2**52))])
@example(890, [(FLOAT_MAX, 2**52), (-FLOAT_MAX, -(2**52))])
def test_floats_join_to_the_exact_result(exponent, pairs):
    grid = FloatGrid(exponent)
    values, wholes = [v for v, _ in pairs], [w for _, w in pairs]
    joined = join(grid, values, wholes)
    for value, whole, got in zip(values, wholes, joined.tolist(), strict=True):
        exact = grid.join_one(value, whole)
        assert bits(got) == bits(exact)
        assert bits(grid.join_float(value, grid.offset_float(value), whole)) == bits(exact)
        assert math.isfinite(got)
        assert (Fraction(got) / Fraction(2) ** exponent).denominator == 1  # on the grid
        assert got != 0 or math.copysign(1, got) == 1  # and its zero has no sign


@given(exponents, floats)
@example(0, 0.75)  # nearer to the step above
@example(0, 2.5)  # half a step, to even
@example(1, 5e-324)
@example(890, FLOAT_MAX)
@example(-910, FLOAT_MAX)
def test_floats_split_exactly(exponent, value):
    """value = step·(whole + offset), |offset| ≤ ½, up to an underflow below 2^-1074 steps."""
    grid = FloatGrid(exponent)
    exact = grid.offset_one(value)
    assert abs(exact) <= Fraction(1, 2)
    assert ((Fraction(value) / Fraction(2) ** exponent) - exact).denominator == 1
    (offset,) = grid.offset(np.array([value]), Workspace()).tolist()
    for split in (offset, grid.offset_float(value)):
        assert abs(Fraction(split) - exact) <= Fraction(2) ** -1074


@given(exponents, floats, wholes)
def test_joining_is_the_rounding_of_the_exact_sum(exponent, value, whole):
    """Against Fractions: step·(⌊value/step⌉ + whole), to the nearest double, saturated."""
    steps = Fraction(value) / Fraction(2) ** exponent
    exact = (round(steps) + whole) * Fraction(2) ** exponent
    nearest = float(max(-Fraction(FLOAT_MAX), min(Fraction(FLOAT_MAX), exact)))
    assert FloatGrid(exponent).join_one(value, whole) == nearest


@given(st.lists(st.tuples(int64s, wholes), min_size=1, max_size=5))
@example([(edge, whole) for edge in EDGES for whole in (-(2**52), -1, 0, 1, 2**52)])
def test_integers_saturate(pairs):
    grid = IntegerGrid()
    joined = join(grid, [v for v, _ in pairs], [w for _, w in pairs])
    exact = [max(INT_MIN, min(INT_MAX, v + w)) for v, w in pairs]
    assert joined.tolist() == exact == [grid.join_one(v, w) for v, w in pairs]


@given(int64s, st.integers(-(2**200), 2**200))
def test_any_integer_joins(value, whole):
    assert IntegerGrid().join_one(value, whole) == max(INT_MIN, min(INT_MAX, value + whole))


@given(floats, st.integers(-(2**2000), 2**2000))
def test_any_integer_joins_a_float(value, whole):
    joined = FloatGrid(-10).join_one(value, whole)
    assert -FLOAT_MAX <= joined <= FLOAT_MAX


@given(st.fractions(min_value=Fraction(1, 2**900), max_value=2**900))
@example(Fraction(1))
@example(Fraction(2**900))
@example(Fraction(1023, 1024))
def test_the_fine_grid_is_near_a_thousandth_of_the_scale(scale):
    step = Fraction(2) ** fine_exponent(scale)
    assert step <= scale / 1024 < 2 * step


@pytest.mark.parametrize("exponent", [-910, 0, 890])
def test_no_value_makes_a_warning(exponent):
    """Warnings are errors here; and what raises for some values tells which they are."""
    extreme = [0.0, -0.0, 5e-324, -5e-324, 1.0, FLOAT_MAX, -FLOAT_MAX, 2.0**52, 2.0**60]
    join(FloatGrid(exponent), extreme, [2**52] * len(extreme))
    join(FloatGrid(exponent), extreme, [-(2**52)] * len(extreme))
