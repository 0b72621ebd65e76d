"""Sets of items against brute force over all pairs of them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from mpmath import log, mp, mpf

from discreet.errors import InvalidArgument
from discreet.survey.randomizers import Unary
from discreet.survey.randomizers.randomizer import sets


@pytest.mark.parametrize(("items", "most"), [(2, 1), (2, 2), (3, 2), (5, 2), (5, 3), (5, 5)])
def test_loss_over_all_pairs_of_sets(items, most):
    """Every pair of sets of at most `most` items and every report, bit by bit. Catches a formula
    that forgets that two large sets must overlap, or that sets may differ in size."""
    unary = Unary(categories=items, epsilon=2, most=most)
    one = {True: unary.inside, False: unary.outside}
    worst = Fraction(1)
    for a, b in product(sets(items, most), repeat=2):
        ratio = Fraction(1)
        for item in range(items):
            p, q = one[item in a], one[item in b]
            ratio *= max(p / q, (1 - p) / (1 - q))
        worst = max(worst, ratio)
    with mp.workdps(50):
        loss = log(mpf(worst.numerator) / worst.denominator)
        assert loss <= mpf(unary.epsilon.numerator) / unary.epsilon.denominator <= 2
    assert float(loss) == pytest.approx(2, rel=1e-12)


def test_rows_and_categories_are_the_same_truths():
    """The law of a category is that of the row with this item alone."""
    unary = Unary(categories=3, epsilon=1)
    assert unary.law(1) == unary.law([False, True, False])
    assert unary.randomize(np.eye(3, dtype=bool)).shape == (3, 3)


def test_what_is_refused():
    """Too many items in a row, and more choices than items."""
    with pytest.raises(InvalidArgument, match="at most 2 items"):
        Unary(categories=4, epsilon=1, most=2).randomize(np.ones((1, 4), bool))
    with pytest.raises(InvalidArgument, match="most"):
        Unary(categories=4, epsilon=1, most=5)
    with pytest.raises(InvalidArgument, match="at most 4096"):
        Unary(categories=13, epsilon=1).law(0)
