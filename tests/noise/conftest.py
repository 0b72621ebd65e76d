"""What the tests of noise share: a chi-square test that says how sure it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import ArrayLike
from scipy.stats import chi2

LEAST_EXPECTED = 100  # below, the chi-square law is no good that far out in its tail


def chi_square(counts: ArrayLike, probabilities: Sequence[float]) -> float:
    """Return the p-value of ``counts`` under exact cell ``probabilities`` that sum to 1.

    Cells are neighbours on a line; thin ones are merged with the next. Under the stated law
    the result is below p with probability close to p, so p is the false-alarm rate.
    """
    counts = np.asarray(counts, np.float64)
    expected = np.asarray(probabilities, np.float64) * counts.sum()
    assert abs(expected.sum() / counts.sum() - 1) < 1e-9
    observed_cells, expected_cells, seen, due = [], [], 0.0, 0.0
    for o, e in zip(counts, expected, strict=True):
        seen, due = seen + o, due + e
        if due >= LEAST_EXPECTED:
            observed_cells.append(seen)
            expected_cells.append(due)
            seen = due = 0.0
    if len(expected_cells) < 2:
        raise ValueError("too few draws for a test")
    observed_cells[-1] += seen
    expected_cells[-1] += due
    o, e = np.array(observed_cells), np.array(expected_cells)
    return float(chi2.sf(((o - e) ** 2 / e).sum(), len(o) - 1))


@pytest.fixture(scope="session", name="chi_square")
def chi_square_fixture() -> Callable[[ArrayLike, Sequence[float]], float]:
    return chi_square
