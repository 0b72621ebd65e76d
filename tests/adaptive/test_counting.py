"""Validity by counting: the ends of the intervals that a union bound is made of."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from mpmath import log, mp, mpf
from scipy.stats import binom

from discreet.adaptive import validity

MEANS = (0.0, 0.001, 0.25, 0.5, 0.9, 1.0)


def entropy(mean: float, other: float) -> mpf:
    """KL(mean‖other) to 40 digits."""
    p, q = mpf(mean), mpf(other)
    first = p * log(p / q) if p else mpf(0)
    return first + ((1 - p) * log((1 - p) / (1 - q)) if p < 1 else mpf(0))


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize(("n", "exponent"), [(50, 3.0), (10**4, 80.0), (2**30, 1.0)])
def test_ends_are_where_the_relative_entropy_says_and_no_nearer(mean, n, exponent) -> None:
    """Catches an end that is rounded inwards, and one that is further out than need be."""
    with mp.workdps(40):
        high, low = validity.upper_end(mean, n, exponent), validity.lower_end(mean, n, exponent)
        assert low <= mean <= high
        if high < 1:
            assert entropy(mean, high) >= mpf(exponent) / n
            assert entropy(mean, mean + (high - mean) * 0.99) < mpf(exponent) / n
        if low > 0:
            assert entropy(mean, low) >= mpf(exponent) / n
            assert entropy(mean, mean - (mean - low) * 0.99) < mpf(exponent) / n
        assert high - mean <= validity.radius(n, exponent) * 1.001
        assert mean - low <= validity.radius(n, exponent) * 1.001


def missed(n: int, p: float, exponent: float) -> float:
    """P(the upper end is below the true mean) for coins, exactly."""
    counts = np.arange(n + 1)
    below = np.array([validity.upper_end(c / n, n, exponent) < p for c in counts])
    return float(binom.pmf(counts, n, p)[below].sum())


def test_ends_miss_the_truth_no_more_often_than_allowed() -> None:
    """Catches a wrong exponent: with half of it, some mean is missed more often than allowed."""
    exponent, means = 4.0, np.linspace(0.02, 0.98, 25)
    assert all(missed(60, p, exponent) <= math.exp(-exponent) for p in means)
    assert any(missed(60, p, exponent / 2) > math.exp(-exponent) for p in means)


def test_exponent_is_the_logarithm_rounded_up() -> None:
    count = 10**40
    with mp.workdps(60):
        exact = log(mpf(count) / mpf("0.05"))
        found = mpf(validity.exponent(count, failure=Fraction(1, 20)))
        assert exact <= found <= exact * (1 + mpf(2) ** -50)
