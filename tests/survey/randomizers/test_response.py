"""The lecture's q, and laws that are too long to write down."""

from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.survey.randomizers import GRID, Response


@pytest.mark.parametrize("categories", [2, 3, 7])
@pytest.mark.parametrize("q", ["1/2", "1/3", "0.9"])
def test_the_lectures_q_is_rounded_toward_more_noise(categories, q):
    """The truth counts at most with probability q and less than a step below it."""
    q = Fraction(q)
    response = Response(categories=categories, truth=q)
    assert 0 <= q - response.kept < Fraction(2, GRID)
    assert response.kept == q or q.denominator & (q.denominator - 1)
    assert response.inside + (categories - 1) * response.outside == 1


def test_what_is_refused():
    """Both or neither, too little truth, too many categories, too long a law."""
    for given in ({}, {"epsilon": 1, "truth": 0.5}, {"truth": Fraction(1, 2**60)}):
        with pytest.raises(InvalidArgument):
            Response(categories=3, **given)
    with pytest.raises(InvalidArgument, match="categories"):
        Response(categories=2**24 + 1, epsilon=1)
    with pytest.raises(InvalidArgument, match="at most 4096"):
        Response(categories=5000, epsilon=1).law(0)
