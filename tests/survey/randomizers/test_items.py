"""Which items are drawn, and how many."""

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.errors import InvalidArgument
from discreet.survey.randomizers import Items
from discreet.testing import seeded


def test_items_are_drawn_fairly_and_without_repetition():
    """s in every row, and each of the 10 pairs of 5 equally often in 50,000, false-alarm rate
    1e-7. Catches a draw that favours the last items; one that is 5 % off is rejected."""
    items, n = Items(categories=5, epsilon=4), 50_000
    assert items.drawn == 2
    with seeded(2):
        asked = items.randomize(np.zeros((n, 5), bool)) >= 0
    assert (asked.sum(axis=1) == 2).all()
    counts = np.bincount(asked @ (1 << np.arange(5)))
    pairs = counts[counts > 0]
    assert pairs.size == 10

    def misfit(shares):
        expected = n * shares / shares.sum()
        return chi2.sf(((pairs - expected) ** 2 / expected).sum(), 9)

    assert misfit(np.ones(10)) > 1e-7
    assert misfit(1 + 0.05 * (-1.0) ** np.arange(10)) < 1e-7


@pytest.mark.parametrize("epsilon", ["0.5", 3, 7, 20])
def test_how_many_are_drawn(epsilon):
    """The variance at ½ of every other number is larger: recomputed from the formula."""
    items = Items(categories=12, epsilon=epsilon)
    by_number = [12 / s / (4 * np.tanh(float(epsilon) / 2 / s) ** 2) for s in range(1, 13)]
    assert items.variance() == pytest.approx(min(by_number), rel=1e-9)


def test_items_of_a_wrong_width_are_refused():
    with pytest.raises(InvalidArgument, match="3 in a row"):
        Items(categories=3, epsilon=1).randomize(np.zeros((2, 4), bool))
    with pytest.raises(InvalidArgument, match="at most 4096"):
        Items(categories=40, epsilon=8).law([False] * 40)
