"""The grid: every value on it, close to what it was, and ends that are exact doubles."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.query.measures import FINE_BITS, Grid, choose_grid

ends = st.floats(-1e100, 1e100).map(Fraction)
doubles = st.floats(allow_nan=False)
EXTREME = [
    (0, Fraction(1, 10**300)),
    (0, Fraction(1, 10**318)),
    (10**15, 10**15 + 1),
    (-5, 10**99),
    (-(10**100), 10**100),
    (Fraction(1, 3), Fraction(2, 3)),
    (-1, Fraction(1, 10**80)),
]


def grid_of(bounds: tuple[Fraction, Fraction], *, whole: bool, centred: bool) -> Grid | None:
    try:
        return choose_grid(bounds, whole=whole, centred=centred)
    except InvalidArgument:
        return None


@given(ends, ends, doubles, st.booleans())
def test_values_stay_on_the_grid_and_near(
    a: Fraction, b: Fraction, x: float, centred: bool
) -> None:
    # Catches a value outside the ends (one record would count for more than was paid for), and a
    # step that is not the nearest.
    grid = grid_of((min(a, b), max(a, b)), whole=False, centred=centred)
    if grid is None:
        return
    q = grid.quantise(x)
    assert q is not None and grid.lower <= q + grid.centre <= grid.upper
    low, high = grid.lower * grid.step, grid.upper * grid.step
    inside = min(max(Fraction(x) if math.isfinite(x) else low if x < 0 else high, low), high)
    # The sum x·2^k + ½ is rounded to a double, by at most 2^(−2) of a step near the ends.
    assert abs((q + grid.centre) * grid.step - inside) <= Fraction(3, 4) * grid.step


@given(ends, ends, st.booleans())
def test_the_ends_are_doubles_and_within_the_bounds(
    a: Fraction, b: Fraction, centred: bool
) -> None:
    # Catches ends that an engine cannot hold, or that lie outside what was declared.
    lower, upper = min(a, b), max(a, b)
    grid = grid_of((lower, upper), whole=False, centred=centred)
    if grid is None:
        assert upper - lower <= max(abs(lower), abs(upper)) / 2**20 + Fraction(2) ** -1073
        return
    for steps in (grid.lower, grid.upper):
        assert Fraction(math.ldexp(steps, -grid.exponent)) == steps * grid.step
    assert lower <= grid.lower * grid.step < grid.upper * grid.step <= upper
    assert grid.largest <= 2**FINE_BITS + 1 and abs(grid.upper) <= 2**51


@given(st.integers(-(2**63), 2**63 - 1), st.integers(-1000, 1000), st.integers(1, 1000))
def test_whole_numbers_are_kept(x: int, lower: int, width: int) -> None:
    # Catches whole numbers that are rounded although they need not be.
    bounds = Fraction(lower), Fraction(lower + width)
    for centred in (False, True):
        grid = choose_grid(bounds, whole=True, centred=centred)
        q = grid.quantise(x)
        assert q is not None
        assert (q + grid.centre) * grid.step == min(max(x, lower), lower + width)


@given(doubles, doubles)
def test_quantising_is_monotone(x: float, y: float) -> None:
    # Catches two values that change places.
    for grid in (Grid(10, -5000, 5000, 7), Grid(-3, 0, 2**30), Grid(0, 0, 2**51)):
        low, high = grid.quantise(min(x, y)), grid.quantise(max(x, y))
        assert low is not None and high is not None and low <= high


@pytest.mark.parametrize("bounds", EXTREME, ids=str)
def test_extreme_bounds(bounds: tuple[Fraction, Fraction]) -> None:
    # Catches exponents that overflow, and ends that are no doubles any more.
    lower, upper = map(Fraction, bounds)
    grid = choose_grid((lower, upper), whole=False, centred=True)
    for x in (-math.inf, -1e308, float(lower), 0.0, -0.0, 5e-324, float(upper), 1e308, math.inf):
        q = grid.quantise(x)
        assert q is not None and grid.lower <= q + grid.centre <= grid.upper
    assert grid.quantise(-math.inf) == grid.lower - grid.centre
    assert grid.quantise(math.inf) == grid.upper - grid.centre


@pytest.mark.parametrize(
    "bounds", [(1, 1), (0, 0), (10**30, 10**30 + 1), (0, Fraction(1, 10**400))], ids=str
)
def test_bounds_that_hold_no_grid_are_refused(bounds: tuple[Fraction, Fraction]) -> None:
    # Catches a grid of one point, on which every answer would be the same.
    lower, upper = map(Fraction, bounds)
    with pytest.raises(InvalidArgument, match="far enough apart"):
        choose_grid((lower, upper), whole=False, centred=False)


def test_missing_values() -> None:
    # Catches a NaN that is summed.
    assert Grid(0, 0, 1).quantise(None) is None
    assert Grid(0, 0, 1).quantise(math.nan) is None
