"""Projection to the simplex: optimal by an independent method, labelled, without intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from discreet.survey.estimates.shares import LABEL, Projected, to_box, to_simplex

shares = st.lists(st.floats(-2, 2), min_size=1, max_size=30).map(np.array)


@given(shares)
def test_no_proper_shares_are_nearer(values):
    """The conditions of Karush, Kuhn and Tucker: a proper point, from which the way to the
    estimates makes an obtuse angle with every corner. They prove it nearest."""
    nearest = to_simplex(values)
    assert nearest.min() >= 0 and nearest.sum() == pytest.approx(1)
    for corner in np.eye(values.size):
        assert (values - nearest) @ (corner - nearest) <= 1e-9


def test_another_method_finds_the_same():
    """SciPy's general solver on three cases. Catches a proof about another problem."""
    for values in (np.array([0.6, 0.5, 0.2, -0.1]), np.array([1.4, 0.1]), np.full(5, -0.3)):
        start = np.full(values.size, 1 / values.size)
        found = minimize(
            lambda y, x=values: ((y - x) ** 2).sum(),
            start,
            bounds=[(0, 1)] * values.size,
            constraints={"type": "eq", "fun": lambda y: y.sum() - 1},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert to_simplex(values) == pytest.approx(found.x, abs=1e-6)


def test_tables_keep_their_shape_and_large_domains_are_fast():
    """Catches a table that comes back flat, and a quadratic method."""
    table = np.array([[0.5, 0.3], [0.3, -0.1]])
    assert to_simplex(table).shape == (2, 2)
    assert to_simplex(np.linspace(-1, 1, 10**6)).sum() == pytest.approx(1)
    assert to_box(np.array([-0.1, 0.4, 1.2])).tolist() == [0.0, 0.4, 1.0]


def test_the_label_is_always_there():
    """Catches projected shares that pass for unbiased ones."""
    projected = Projected(tuple("abcdefghij"), np.full(10, 0.1))
    assert LABEL in repr(projected) and "2 more" in repr(projected)
    assert not hasattr(projected, "intervals")
