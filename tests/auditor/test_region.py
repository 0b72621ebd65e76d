"""The joint region against exact enumeration: it must cover, and it must not waste."""

import math

import numpy as np
import pytest
from scipy import stats

from discreet.auditor.sampling.parameters import delta_at, epsilon_at
from discreet.auditor.sampling.region import Counts, corners, expected_counts, least


@pytest.mark.parametrize("p, q", [(0.5, 0.2), (0.9, 0.88), (0.2, 0.0)])
@pytest.mark.parametrize("risk", [0.2, 0.01])
@pytest.mark.parametrize("reading", [epsilon_at(0.0), delta_at(0.3)], ids=["epsilon", "delta"])
def test_the_bound_exceeds_the_truth_at_most_as_often_as_stated(p, q, risk, reading):
    """Catches a risk that is split, combined or inverted wrongly: exact, over all outcomes."""
    n = 16
    truth = float(reading(np.array([p]), np.array([q]))[0])
    failing = 0.0
    mass_p, mass_q = (stats.binom.pmf(np.arange(n + 1), n, rate) for rate in (p, q))
    for k in np.flatnonzero(mass_p > 1e-9):
        for other in np.flatnonzero(mass_q > 1e-9):
            if least(reading, Counts(int(k), n, int(other), n), risk) > truth:
                failing += mass_p[k] * mass_q[other]
    assert failing <= risk


def test_a_smaller_threshold_would_not_cover():
    """The planted error: t = −log risk, as if there were one tail, covers too rarely. Also what
    shows that the enumeration above can fail."""
    p, q, n, risk = 0.5, 0.2, 24, 0.2
    truth = math.log(p / q)
    planted = risk * (1 - math.log(risk))  # the risk that this t stands for: (1 + t)·e^(−t)
    mass_p, mass_q = (stats.binom.pmf(np.arange(n + 1), n, rate) for rate in (p, q))
    failing = sum(
        mass_p[k] * mass_q[other]
        for k in range(n + 1)
        for other in range(n + 1)
        if least(epsilon_at(0.0), Counts(k, n, other, n), planted) > truth
    )
    assert failing > risk


def test_it_is_tighter_than_two_separate_intervals():
    """Catches a region that gave up the joint view: at equal variances 10 % are gained."""
    counts = expected_counts(0.3, 0.11, 100_000)
    joint = least(epsilon_at(0.0), counts, 1e-9)
    low = stats.binomtest(30_000, 100_000).proportion_ci(1 - 1e-9, method="exact").low
    high = stats.binomtest(11_000, 100_000).proportion_ci(1 - 1e-9, method="exact").high
    truth = math.log(0.3 / 0.11)
    assert math.log(low / high) < joint < truth
    assert truth - joint < 0.9 * (truth - math.log(low / high))


@pytest.mark.parametrize(
    "counts", [Counts(0, 50, 0, 50), Counts(50, 50, 50, 50), Counts(0, 1, 1, 1)]
)
def test_nothing_seen_or_everything_seen_shows_nothing(counts):
    """Catches quantiles that are not defined at the ends."""
    p, q = corners(counts, 1e-9)
    assert np.all((p >= 0) & (p <= 1) & (q >= 0) & (q <= 1))
    assert least(epsilon_at(0.0), counts, 1e-9) == 0
