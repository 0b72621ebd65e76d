"""Counts that are added up batch by batch are those of all reports at once."""

import numpy as np
import pytest

from discreet.survey.estimates.tally import Tally
from discreet.survey.randomizers import Items, Levels, Projective, Response, Unary
from discreet.testing import seeded

RANDOMIZERS = [
    Response(categories=3, epsilon=1),
    Unary(categories=4, epsilon=2),
    Projective(categories=50, epsilon=1),
    Items(categories=6, epsilon=3),
    Levels(steps=7, epsilon=4),
]


@pytest.mark.parametrize("randomizer", RANDOMIZERS, ids=lambda r: r.kind)
def test_batches_add_up(randomizer):
    """One by one, merged, and all at once. Catches a transform of each batch that does not add."""
    truths = np.arange(90) % 3
    if randomizer.kind == "items":
        truths = truths[:, None] == np.arange(6)
    with seeded(1):
        reports = randomizer.randomize(truths)
    whole, parts, other = Tally(randomizer), Tally(randomizer), Tally(randomizer)
    whole.add(reports)
    for start in range(0, 40, 8):
        parts.add(reports[start : start + 8])
    other.add(reports[40:])
    parts.merge(other)
    assert parts.respondents == whole.respondents == 90
    assert np.array_equal(parts.supports, whole.supports)
    assert np.array_equal(parts.asked, whole.asked)
    assert np.array_equal(whole.supports, randomizer.supports(reports))
