"""Post-processing: labelled, and with errors that still hold."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.release.adjustment import nearest_with_total, whole_with_total


def test_clip(wards, make):
    """Catches a bound of another column, a changed error, a changed promise, an unlabelled step."""
    clipped = wards.clip()
    assert clipped["n"].values.tolist() == [1234, 870, 0]
    assert clipped["n"].errors.tolist() == [6, 6, 6]
    assert clipped.guarantee is wards.guarantee and clipped.cost == wards.cost
    assert len(clipped.steps) == 1 and "below 0 set to 0" in clipped.steps[0]
    assert wards.steps == () and wards["n"].values[2] == -3
    assert clipped.to_arrow().schema.equals(wards.to_arrow().schema)
    frame = {"m": [-2.0, 3.0, 9.0, None], "m_error": [1.0] * 4, "k": [-4, 3, 8, 0]}
    columns = make.value("m", "mean", bounds=(0, 5)), make.error("m")
    result = make.build(frame, *columns, make.value("k", "sum", bounds=(-0.5, 7.5))).clip()
    assert result.to_arrow()["m"].to_pylist() == [0, 3, 5, None]
    assert result.to_arrow()["k"].to_pylist() == [0, 3, 7, 0]


def test_round(make):
    """Catches an error that no longer covers the truth after rounding."""
    frame = {"m": [1.26, -1.26, None], "m_error": [0.1, 0.1, None]}
    result = make.build(frame, make.value("m", "mean"), make.error("m")).round(1)
    assert result["m"].values[:2].tolist() == [1.3, -1.3]
    assert result["m"].errors.tolist() == pytest.approx([0.14, 0.14, math.inf])
    assert result.steps == ("rounded to multiples of 0.1",)
    counts = make.counts([1234, -7], [6.0, 6.0]).round(-2)
    assert counts["n"].values.tolist() == [1200, 0] and counts["n"].errors.tolist() == [40, 13]
    for digits in (0.5, 99, "many"):
        with pytest.raises(InvalidArgument, match="digits must be"):
            result.round(digits)


def test_round_leaves_ranks_alone(wards):
    """Catches a distance of values added to an error of ranks."""
    rounded = wards.round()
    assert rounded["p90"].values.tolist() == [12.5, 30, 4]
    assert rounded["p90"].errors.tolist() == [40, 41, 1000]


COUNTS = st.lists(
    st.tuples(st.integers(-50, 1000), st.integers(0, 40), st.integers(0, 60)),
    min_size=1,
    max_size=8,
)


@given(COUNTS, st.integers(0, 5000))
def test_consistent_counts_are_counts(rows, total):
    """Catches negative, broken or lost counts; and an error that does not reach the truth although
    the one before did."""
    x, width, away = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    y = whole_with_total(nearest_with_total(x, width + 1, total), total)
    assert y.sum() == total and y.min() >= 0
    truth = np.maximum(x - np.minimum(away, width), 0)
    held = np.abs(x - truth) <= width
    after = width + np.abs(y - np.maximum(x, 0))
    assert np.all((np.abs(y - truth) <= after) | ~held)


@given(COUNTS, st.integers(1, 5000))
def test_the_nearest_is_nearest(rows, total):
    """Catches a projection that is not one: at the optimum (y − x)/s² is the same wherever y > 0
    and at least that where y = 0 (the conditions of Karush, Kuhn and Tucker)."""
    x, width, _ = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    spread = width + 1
    y = nearest_with_total(x, spread, float(total))
    slope = (y - x) / spread**2
    inside = y > 0
    assert y.sum() == pytest.approx(total)
    assert np.ptp(slope[inside]) <= 1e-9 * (1 + abs(slope[inside]).max())
    assert np.all(slope[~inside] >= slope[inside].min() - 1e-9)


def test_whole_numbers_by_largest_remainder():
    """Catches ties broken by chance, and a total missed when floats are off by more than one."""
    assert whole_with_total(np.array([0.5, 0.5, 1.0]), 2).tolist() == [1, 0, 1]
    assert whole_with_total(np.array([1.0, 2.0]), 8).tolist() == [4, 4]
    assert whole_with_total(np.array([4.0, 0.0, 4.0]), 6).tolist() == [3, 0, 3]


def test_consistent_with_a_public_total(make):
    """Catches a total that is not met, errors that shrink, and a step without its number."""
    result = make.counts([100, 50, -7], [6.0, 6.0, 6.0]).consistent(total=153)
    assert result["n"].values.tolist() == [102, 51, 0]  # from 101.5, 51.5 and 0
    assert result["n"].errors.tolist() == [8, 7, 6]
    assert result.steps == ("n made whole, not below 0, and to add up to the public total 153",)
    assert result.to_arrow()["n"].type == "int64"


def test_consistent_weighs_by_error(make):
    """Catches a correction that spares the noisy counts."""
    result = make.counts([100, 100], [1.0, 19.0]).consistent(total=301)
    assert result["n"].values.tolist() == [101, 200]


def test_consistent_with_a_released_total(make):
    """Catches a total of another kind than a number, a result of one row, or a sum."""
    wards = make.counts([100, 50], [6.0, 6.0])
    total = make.build({"n": [160], "n_error": [2.0]}, make.value("n"), make.error("n"))
    for given_total in (total, total["n"], wards["n"].sum() + 10):
        result = wards.consistent(total=given_total)
        assert result["n"].values.tolist() == [105, 55]
        assert result.steps[0].endswith("add up to the released total 160")
    negative = make.build({"n": [-4]}, make.value("n"))
    assert wards.consistent(total=negative)["n"].values.tolist() == [0, 0]


def test_consistent_refuses(wards, make):
    """Catches a total or a column that makes no sense."""
    result = make.counts([1, 2], [1.0, 1.0])
    for total in (-1, 2.5, "many", 2**60, result, result["n"], wards):
        with pytest.raises(InvalidArgument, match="total must be"):
            result.consistent(total=total)
    with pytest.raises(InvalidArgument, match="value must be one of n"):
        wards.consistent(total=5, value="stay")
    with pytest.raises(InvalidArgument, match="of known counts and errors"):
        make.counts([1, 2], [1.0, math.inf]).consistent(total=3)
    means = make.build({"m": [1.0]}, make.value("m", "mean"))
    with pytest.raises(InvalidArgument, match="value must be a count column"):
        means.consistent(total=3)
    two = make.build({"n": [1], "k": [1]}, make.value("n"), make.value("k"))
    with pytest.raises(InvalidArgument, match="value must be one of n, k"):
        two.consistent(total=3)
