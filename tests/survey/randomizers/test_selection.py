"""The choice is the one of least variance, and says so."""

import pytest

from discreet.errors import InvalidArgument
from discreet.survey.randomizers import Items, Projective, Response, Unary, best, best_any


@pytest.mark.parametrize("categories", [2, 3, 8, 50, 1000])
@pytest.mark.parametrize("epsilon", ["0.2", 1, 4])
def test_least_variance(categories, epsilon):
    """At the share 1/k; a row of bits has to be better than a number by 5 %."""
    choice = best(categories, epsilon)
    share = 1 / categories
    response = Response(categories=categories, epsilon=epsilon).variance(share)
    projective = Projective(categories=categories, epsilon=epsilon).variance(share)
    unary = Unary(categories=categories, epsilon=epsilon).variance(share)
    least = min(response, projective, unary / 0.95)
    won = choice.randomizer
    price = won.variance(share) / (0.95 if won.kind == "unary" else 1)
    assert price == pytest.approx(least, rel=1e-6)
    assert [c[2] for c in choice.candidates].count("") == 1
    assert choice.randomizer.name in str(choice)


def test_where_each_wins():
    """Few categories: randomized response. Many: projective; bits would be too long."""
    assert best(2, 1).randomizer.kind == "response"
    assert best(4, 1).randomizer.kind == "response"  # the projective line is no better
    large = best(100_000, 2, respondents=1_000_000)
    assert large.randomizer.kind == "projective"
    assert "100000 bits" in str(large)
    assert "points at 95 %" in str(large)


@pytest.mark.parametrize("most", [None, 1, 3, 10])
@pytest.mark.parametrize("epsilon", ["0.5", 4])
def test_any_of_ten(most, epsilon):
    """Sampled items against unary encoding, with the sampling counted."""
    choice = best_any(10, epsilon, most)
    limit = 10 if most is None else most
    share = limit / 20
    items = Items(categories=10, epsilon=epsilon).variance(share)
    unary = Unary(categories=10, epsilon=epsilon, most=limit).variance(share)
    assert choice.randomizer.variance(share) == min(items, unary)
    assert sorted(c[1] for c in choice.candidates) == sorted([items, unary])


def test_no_respondents_are_refused():
    with pytest.raises(InvalidArgument, match="respondents"):
        best(3, 1, respondents=0)
