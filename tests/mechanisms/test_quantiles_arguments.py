"""Quantiles: order, shapes, limits and refusals."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chisquare

from discreet.errors import InvalidArgument
from discreet.guarantees import BoundedRange, Pure, to_pure, to_zcdp
from discreet.mechanisms.quantiles import Quantiles
from discreet.testing import seeded

FALSE_ALARM = 1e-9
QUARTILES = tuple(Fraction(k, 4) for k in (1, 2, 3))


def test_order_and_shape():
    """Never falling with the probabilities, in the caller's order; one group a row."""
    asked = [0.9, 0.1, 0.5, 0.75, 0.2, 0.95]
    mechanism = Quantiles(probabilities=asked, epsilon=0.5)
    counts = np.arange(60).reshape(3, 20) % 4
    with seeded(7):
        released = mechanism.release(np.repeat(counts, 50, axis=0))
    assert released.shape == (150, 6)
    assert released.dtype == np.int64
    assert (np.diff(released[:, np.argsort(asked)], axis=1) >= 0).all()
    assert mechanism.release(counts[0]).shape == (6,)
    assert mechanism.release(np.zeros((0, 20), int)).shape == (0, 6)
    rising = Quantiles(probabilities=sorted(asked), epsilon=0.5).error(0.9, candidates=20)
    assert (mechanism.error(0.9, candidates=20)[np.argsort(asked)] == rising).all()


def test_no_rows_and_one_candidate():
    """Empty counts give every candidate alike (n = 1000, false alarm 1e-9); one gives itself."""
    mechanism = Quantiles(probabilities=[0.3], epsilon=5)
    with seeded(8):
        draws = np.bincount(mechanism.release([[0] * 4] * 1000)[:, 0], minlength=4)
    assert chisquare(draws).pvalue > FALSE_ALARM
    assert Quantiles(probabilities=QUARTILES, epsilon=1).release([7]).tolist() == [0, 0, 0]
    assert mechanism.release([-5, 0, 10**30]).tolist() == [2]


def test_huge_counts_do_not_wrap():
    """Counts are cut at 2^62/(denominator·candidates): catches an overflow of int64."""
    mechanism = Quantiles(probabilities=[0.001, 0.5, 0.999], epsilon=1)
    most = np.iinfo(np.int64).max
    assert mechanism.release([most, 0, most]).tolist()[::2] == [0, 2]
    assert mechanism.release([0, most, 0]).tolist() == [1, 1, 1]


def test_guarantee_and_value():
    """Levels, shares of ε, the pure promise exact, ρ never above what was asked, pickling."""
    for m, levels in [(1, 1), (2, 2), (3, 2), (4, 3), (7, 3), (8, 4), (99, 7)]:
        mechanism = Quantiles(probabilities=[Fraction(k + 1, m + 1) for k in range(m)], epsilon=1)
        assert mechanism.levels == levels
        assert to_pure(mechanism.guarantee) == Pure(1)
        assert mechanism.guarantee == BoundedRange(Fraction(1, levels)).repeat(levels)
    for rho in ("1e-9", "0.01", 0.5, 7, 400):
        mechanism = Quantiles(probabilities=QUARTILES, rho=rho)
        spent = to_zcdp(mechanism.guarantee).rho
        assert 0.97 * Fraction(rho) < spent <= Fraction(rho)
        assert mechanism.epsilon >= 2 * mechanism.step
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    with pytest.raises(AttributeError):
        mechanism.rows = 2


BAD = [
    ({"probabilities": 0.5, "epsilon": 1}, "probabilities"),
    ({"probabilities": [], "epsilon": 1}, "probabilities"),
    ({"probabilities": [0], "epsilon": 1}, "probabilities"),
    ({"probabilities": [0.5, 1], "epsilon": 1}, "probabilities"),
    ({"probabilities": [0.5, "1/2"], "epsilon": 1}, "probabilities"),
    ({"probabilities": [0.5] * 2000, "epsilon": 1}, "probabilities"),
    ({"probabilities": [0.5]}, "epsilon or rho"),
    ({"probabilities": [0.5], "epsilon": 1, "rho": 1}, "epsilon or rho"),
    ({"probabilities": [0.5], "epsilon": 0}, "epsilon"),
    ({"probabilities": [0.5], "rho": -1}, "rho"),
    ({"probabilities": [0.5], "epsilon": "1e-300"}, "epsilon"),
    ({"probabilities": [0.5], "epsilon": 1, "rows": 0}, "rows"),
    ({"probabilities": [0.5], "epsilon": 1, "rows": 1.5}, "rows"),
]


@pytest.mark.parametrize(("parameters", "name"), BAD)
def test_bad_parameters(parameters, name):
    """One sentence each, that names the parameter."""
    with pytest.raises(InvalidArgument) as refusal:
        Quantiles(**parameters)
    assert refusal.value.name == name


@pytest.mark.parametrize(
    "counts", [7, [1.5, 2.0], [], [[1], [2, 3]], [True], "abc", None, np.zeros((2, 2, 2), int)]
)
def test_bad_counts(counts):
    """By type and shape only."""
    with pytest.raises(InvalidArgument, match="counts"):
        Quantiles(probabilities=[0.5], epsilon=1).release(counts)


def test_what_does_not_fit_is_refused_by_public_numbers():
    """Too many candidates, or probabilities too fine for as many; never by the data."""
    with pytest.raises(InvalidArgument, match="coarser grid"):
        Quantiles(probabilities=[0.5], epsilon=1).release(np.zeros(2**20 + 1, int))
    with pytest.raises(InvalidArgument, match="three digits"):
        Quantiles(probabilities=["0.123456789"], epsilon=1).release([1] * 5)
    with pytest.raises(InvalidArgument, match="one group"):
        Quantiles(probabilities=[0.5], epsilon=1).law([[1, 2]])
    with pytest.raises(InvalidArgument, match="confidence"):
        Quantiles(probabilities=[0.5], epsilon=1).error(1, candidates=3)
