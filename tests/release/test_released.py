"""Columns to calculate with."""

import copy
import math
import pickle

import numpy as np
import pyarrow as pa
import pytest

from discreet.errors import InvalidArgument
from discreet.release import Released


def test_the_same_noise_cancels_or_doubles(make):
    """Catches columns treated as independent of themselves, also after copying the result."""
    result = make.counts([100, 40], [6.0, 9.0])
    a = result["n"]
    for again in (result["n"], copy.deepcopy(result)["n"], pickle.loads(pickle.dumps(result))["n"]):
        assert (a - again).errors.tolist() == [0, 0]
        assert (a + again).errors.tolist() == [12, 18]
    assert (2 * a - a - a + 7).errors.tolist() == [0, 0]
    assert (2 * a - a - a + 7).values.tolist() == [7, 7]


def test_independent_columns_add_in_quadrature(make):
    """Catches sums of half-widths where noise is independent, and the missing step."""
    a, b = make.counts([100], [6.0])["n"], make.counts([50], [7.0])["n"]
    for both in (a + b, a - b, b - a):
        assert both.errors[0] == pytest.approx(math.hypot(7, 8))
    assert (a - b).values.tolist() == [50]


def test_numbers_move_and_scale(make):
    """Catches an error that moves with the value, or does not scale with it."""
    a = make.counts([100, 40], [6.0, 6.0])["n"]
    assert (a + 1).errors.tolist() == (5 - a).errors.tolist() == (-a).errors.tolist() == [6, 6]
    assert (5 - a).values.tolist() == [-95, -35] and (5 + a).values.tolist() == [105, 45]
    assert make.counts([100], [6.0])["n"].sum().errors[0] == 6
    assert (a / [10, 20]).errors.tolist() == pytest.approx([0.6, 0.3])
    assert (a / [49, 7]).values.tolist() == [100 / 49, 40 / 7]
    assert (np.array([2, 3]) * a).values.tolist() == [200, 120]
    assert (np.float64(3) * a).errors.tolist() == [18, 18]
    assert (a * 0).errors.tolist() == [0, 0]
    assert a.values.dtype == np.int64 and a.low.tolist() == [94, 34] and a.high[0] == 106


def test_an_infinite_error_spoils_only_its_row(make):
    """Catches inf·0 = nan and inf − inf = nan."""
    a = make.counts([100, 40], [6.0, math.inf])["n"]
    assert (a * 0).errors.tolist() == [0, 0] and (a - a).errors.tolist() == [0, 0]
    assert (a + make.counts([1, 1], [3.0, 3.0])["n"]).errors[1] == math.inf
    assert (a / a).errors.tolist() == [0, math.inf]
    assert a.sum().errors.tolist() == [math.inf]


def test_columns_of_one_source_add_up(wards):
    """Catches quadrature between a count and the mean that was computed from it."""
    both = wards["n"] + wards["stay"]
    assert both.errors[0] == pytest.approx(7 + 0.1372 * 1.001)


def test_dependent_columns_add_up(make):
    """Catches quadrature where the noise may depend on the other's, or between rows."""
    frame = {"n": [5, 6], "n_error": [3.0, 4.0]}
    result = make.build(frame, make.value("n", independent=False), make.error("n"))
    assert result["n"].sum().errors[0] == pytest.approx(7 * 1.001)
    other = Released.independent("other", [1.0, 1.0], [2.0, 2.0])
    assert (result["n"] + other).errors[0] == pytest.approx(5 * 1.001)


def test_sum_over_rows(make, wards):
    """Catches a sum of half-widths for counts, and quadrature for means, whose errors may hide
    a common bias."""
    result = make.counts([1, 2, 3, 4], [5.0] * 4)
    assert result["n"].sum().errors[0] == 12 and result["n"].sum().values[0] == 10
    frame = {"m": [1.0, 2.0], "m_error": [0.5, 0.5]}
    means = make.build(frame, make.value("m", "mean"), make.error("m"))
    assert means["m"].sum().errors[0] == pytest.approx(1, rel=2e-3)
    assert math.isnan(wards["stay"].sum().values[0]) and wards["stay"].sum().errors[0] == math.inf


def test_a_total_in_every_row_is_one_noise(make):
    """Catches quadrature over rows for noise that is the same in all of them."""
    a, total = make.counts([1] * 4, [5.0] * 4)["n"], Released.independent("t", [9.0], [10.0])
    assert (a + total).sum().errors[0] == pytest.approx(math.hypot(12, 4 * 10.01))
    assert (total + a - total).sum().errors[0] == 12
    # Its own total shares the noise: nothing is known to cancel, so half-widths add up.
    assert (a - a.sum() / 4).sum().errors[0] == pytest.approx(12 + 12)


def test_clipped_noise_does_not_average_out(make):
    """Catches quadrature after clipping: what is left of the noise has one sign."""
    clipped = make.counts([-3] * 100, [5.0] * 100).clip()
    assert clipped["n"].sum().errors[0] == 600


def test_groups_must_match(make):
    """Catches rows added up that stand for different groups."""
    a = make.counts([1, 2], [1.0, 1.0], wards=["A", "B"])["n"]
    assert len(a + make.counts([1, 2], [1.0, 1.0], wards=["A", "B"])["n"]) == 2
    for wards in (["B", "A"], ["A", "B", "C"]):
        b = make.counts([1] * len(wards), [1.0] * len(wards), wards=wards)["n"]
        with pytest.raises(InvalidArgument, match="same groups in the same order"):
            a - b
    with pytest.raises(InvalidArgument, match="same groups"):
        a / Released.independent("c", [1, 2, 3], [1, 1, 1])


def test_refused_by_name(wards):
    """Catches a number made up where no error is meaningful."""
    n, p90, common = wards["n"], wards["p90"], wards["common"]
    with pytest.raises(InvalidArgument, match="product of two noisy columns is not tracked"):
        n * n
    for column, words in ((p90, "a quantile; its error is one of ranks"), (common, "of counts")):
        for use in (lambda c: c + 1, lambda c: n - c, lambda c: c / 2, lambda c: c.sum(), _low):
            with pytest.raises(InvalidArgument, match=words):
                use(column)
    assert p90.values.tolist() == [12.5, 30, 4] and p90.errors.tolist() == [40, 41, 1000]
    assert common.values.tolist() == ["flu", "a cold", None]


def _low(column):
    return column.low


@pytest.mark.parametrize("compare", ["__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"])
def test_comparison_is_refused(make, compare):
    """Catches a decision made on noise without a word about it."""
    a = make.counts([1, 2], [1.0, 1.0])["n"]
    with pytest.raises(InvalidArgument, match=r"use \.low and \.high"):
        getattr(a, compare)(a)


@pytest.mark.parametrize("other", ["3", None, [1, 2, 3], [[1, 2]], math.nan, math.inf, object()])
def test_what_is_no_number_is_refused(make, other):
    """Catches text, nan and rows that do not fit."""
    a = make.counts([1, 2], [1.0, 1.0])["n"]
    for use in (lambda: a + other, lambda: a * other, lambda: a / other, lambda: other - a):
        with pytest.raises((InvalidArgument, TypeError)):
            use()


def test_division_by_zero_is_refused(make):
    """Catches a warning and an infinity."""
    with pytest.raises(InvalidArgument, match="the divisor must be other than 0"):
        make.counts([1], [1.0])["n"] / 0


def test_odd_columns(make):
    """Catches nulls, decimals and missing errors that break, or pass for exact."""
    frame = {
        "n": pa.array([1, None], pa.int64()),
        "n_error": pa.array([2.0, None], pa.float64()),
        "wide": pa.array([1, 2], pa.decimal128(38, 0)),
    }
    columns = make.value("n", integer=True), make.error("n"), make.value("wide", "sum")
    result = make.build(frame, *columns)
    assert result["n"].errors.tolist() == [2, math.inf]
    assert result["wide"].values.tolist() == [1, 2] and result["wide"].errors[0] == math.inf
    assert repr(make.counts([1], [1.0])["n"]) == "n: 1 ± 1"
    assert repr(make.counts([1] * 7, [1.0] * 7)["n"]).endswith("1 ± 1, … and 2 more")
