"""Numbers in a range: unbiased, with the variance that is stated."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.survey.randomizers import Levels
from discreet.survey.randomizers.levels import _worst
from discreet.testing import ScriptedEntropy, seeded, using

CASES = [Levels(steps=1, epsilon=1), Levels(steps=7, epsilon=1), Levels(steps=7, epsilon=5)]
CASES += [Levels(steps=100, epsilon=4), Levels(steps=6, truth=0.5)]


@pytest.mark.parametrize("levels", CASES, ids=str)
def test_unbiased_and_of_the_stated_variance(levels):
    """Exact moments over the law of every value: the mean is i/m, and the largest variance is
    `own_variance` up to the grid of values. Catches a die whose mean is not ½."""
    each = [Fraction(x) for x in levels.contributions()]
    largest = 0.0
    for value in range(levels.steps + 1):
        weights = levels.law(value).weights
        assert sum(weights) == 1
        mean = sum(w * x for w, x in zip(weights, each, strict=True))
        assert float(mean) == pytest.approx(value / levels.steps, abs=1e-12)
        square = sum(w * x * x for w, x in zip(weights, each, strict=True))
        largest = max(largest, float(square - mean * mean))
    assert largest <= levels.own_variance() * (1 + 1e-9)
    if levels.steps > 10:
        assert largest == pytest.approx(levels.own_variance(), rel=1e-3)


def test_variance_of_a_worst_population():
    """Half of the respondents at each end: the moments over the law. Catches sampling left out."""
    for levels in CASES:
        mean = square = 0.0
        for value in (0, levels.steps):
            weights = np.array([float(w) for w in levels.law(value).weights])
            mean += 0.5 * weights @ levels.contributions()
            square += 0.5 * weights @ levels.contributions() ** 2
        assert levels.variance() == pytest.approx(square - mean**2)


@pytest.mark.parametrize("epsilon", ["0.1", 1, 3, 5, 8])
def test_how_many_levels(epsilon):
    """No other number of levels has a smaller worst case."""
    times = np.exp(float(epsilon))
    worst = [_worst((times - 1) / (times + count - 1), count) for count in range(2, 65)]
    levels = Levels(steps=1000, epsilon=epsilon)
    assert levels.own_variance() == pytest.approx(min(worst), rel=1e-9)


def test_mean_of_a_survey():
    """200,000 respondents; within six standard errors, and the error is the stated one."""
    levels, n = Levels(steps=1 << 20, epsilon=2), 200_000
    values = np.arange(n) * (1 << 20) // n
    with seeded(6):
        counts = levels.counts(levels.randomize(values))
    each = levels.contributions()
    mean = counts @ each / n
    error = np.sqrt(counts @ (each - mean) ** 2 / (n - 1) / n)
    assert abs(mean - values.mean() / (1 << 20)) < 6 * error
    assert error <= np.sqrt(levels.variance() / n) * 1.02


@pytest.mark.parametrize("steps", [2**32, 2**32 - 1, 2**31 + 11])
def test_rounding_is_exact_at_the_finest_steps(steps):
    """The quotient just below a level is not rounded up to it, against Python's integers."""
    levels = Levels(steps=steps, epsilon=8)
    values = np.array([0, 1, steps // 3, steps // 2, steps - 1, steps], np.int64)
    for word in (0, 2**64 - 1, 2**63 + 12345):
        with using(ScriptedEntropy([word] * 3)):
            rounded = levels._round(values).astype(np.uint8)
        with using(ScriptedEntropy([word] * 3)):
            from discreet.noise.uniform import integers

            drawn = integers(steps, values.size)
        exact = [
            (int(i) * (levels.outcomes - 1) + int(r)) // steps
            for i, r in zip(values, drawn, strict=True)
        ]
        assert rounded.tolist() == exact


def test_too_many_steps_are_refused():
    with pytest.raises(InvalidArgument, match="steps"):
        Levels(steps=2**32 + 1, epsilon=1)
