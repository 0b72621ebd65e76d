"""Which space, and how much is learnt about very many categories."""

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.survey.randomizers import Projective
from discreet.survey.randomizers.projective import Space, _ideal, best_space
from discreet.testing import seeded


def primes(limit):
    return [n for n in range(2, limit) if all(n % d for d in range(2, int(n**0.5) + 1))]


@pytest.mark.parametrize("categories", [2, 3, 10, 57, 200])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5, 5.0])
def test_the_space_of_least_variance(categories, epsilon):
    """Among all primes and dimensions with enough points and at most 4096. Catches a search that
    misses the best field."""
    spaces = [
        space
        for t in range(2, 13)
        for prime in primes(4096)
        if categories <= (space := Space(prime, t)).points <= 4096
    ]

    def variance(space: Space) -> float:
        return _ideal(categories, epsilon, space.dimension, space.prime)

    assert variance(best_space(categories, epsilon)) <= min(map(variance, spaces)) * (1 + 1e-12)


@pytest.mark.parametrize("epsilon", [16, 20, 36])
def test_the_best_field_of_a_large_promise_is_found_at_once(epsilon: int) -> None:
    """Catches a walk through all primes below e^ε, which takes minutes."""
    assert best_space(10**6, epsilon) == Space(1_000_003, 2)


@pytest.mark.parametrize("epsilon", [0.1, 1, 4])
def test_ten_thousand_categories(epsilon):
    """100,000 respondents of 3 categories; estimates within six standard errors, and the squared
    errors of the other 9,997 add up to the stated variance within 10 %."""
    projective, n = Projective(categories=10_000, epsilon=epsilon), 100_000
    truths = np.repeat([0, 77, 9_999], [n // 2, n // 4, n // 4])
    with seeded(8):
        reports = projective.randomize(truths)
    gain = float(projective.inside - projective.outside)
    shares = (projective.supports(reports) / n - float(projective.outside)) / gain
    for category, share in ((0, 0.5), (77, 0.25), (9_999, 0.25)):
        assert abs(shares[category] - share) < 6 * np.sqrt(projective.variance(share) / n)
    others = np.delete(shares, [0, 77, 9_999])
    assert np.mean(others**2) * n == pytest.approx(projective.variance(0), rel=0.1)


def test_inside_and_outside_exchanged_is_found():
    """The planted error: points that meet the truth with the probability of the others."""
    planted = Projective(categories=5, epsilon=1)
    object.__setattr__(planted, "step", 2**53 - planted.step)
    assert dp.verify(planted, dp.Pure(1)).verdict == "violated"


def test_what_is_refused():
    with pytest.raises(InvalidArgument, match="categories"):
        Projective(categories=2**22 + 1, epsilon=1)
    with pytest.raises(InvalidArgument, match="at most 4096"):
        Projective(categories=10_000, epsilon=1).law(0)
