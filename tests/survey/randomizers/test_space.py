"""Points of a projective space by the rule in words."""

from itertools import product

import numpy as np
import pytest

from discreet.survey.randomizers.projective import Space

SPACES = [(2, 2), (2, 4), (3, 3), (5, 3), (7, 2)]


@pytest.mark.parametrize(("q", "t"), SPACES)
def test_points_are_numbered_by_the_rule(q, t):
    """All vectors whose last digit that is not 0 is 1, in the order of their codes, and every
    multiple of a vector is the same point. Catches an index that a browser would read otherwise."""
    space, codes = Space(q, t), []
    for digits in product(range(q), repeat=t):  # digits[0] is the one of least weight
        nonzero = [d for d in digits if d]
        if nonzero and nonzero[-1] == 1:
            codes.append(sum(d * q**i for i, d in enumerate(digits)))
    codes.sort()
    numbers = np.arange(space.points)
    assert space.codes(numbers).tolist() == codes
    for factor in range(1, q):
        assert (space.numbers(space.times(np.array(codes), factor)) == numbers).all()


@pytest.mark.parametrize(("q", "t"), SPACES)
def test_how_many_points_meet(q, t):
    """Each meets `met` others or itself, each two `met_by_two`. The estimates rest on this."""
    space = Space(q, t)
    codes = space.codes(np.arange(space.points))
    meets = (space.inner(codes[:, None], codes[None, :]) == 0).astype(int)
    both = meets @ meets
    assert (np.diag(both) == space.met).all()
    assert (both[~np.eye(space.points, dtype=bool)] == space.met_by_two).all()


def test_inverses():
    """d·(1/d) = 1 in a large field."""
    inverses = Space(1009, 2).inverses
    assert (np.arange(1, 1009) * inverses[1:] % 1009 == 1).all()
