"""Score intervals against Wilson's, against brute force, and at the edges."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from discreet.errors import InvalidArgument
from discreet.survey.estimates.confidence import (
    VarianceFunction,
    cut,
    normal_quantile,
    read_about,
    read_confidence,
    score_interval,
)

Z = normal_quantile(Fraction(95, 100))
GATES = [
    (Fraction(3, 4), Fraction(1, 4)),
    (Fraction(1, 2), Fraction(1, 8)),
    (Fraction(1), Fraction(0)),
]


@pytest.mark.parametrize(("count", "n"), [(0, 10), (3, 10), (10, 10), (412, 1000)])
def test_without_randomization_it_is_wilsons_interval(count, n):
    """SciPy's own, for answers that nothing hides. Catches a wrong quadratic."""
    spread = VarianceFunction.of_share(inside=Fraction(1), outside=Fraction(0))
    low, high = score_interval(np.array([count / n]), n, spread, Z)
    theirs = binomtest(count, n).proportion_ci(0.95, method="wilson")
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


@pytest.mark.parametrize(("inside", "outside"), GATES)
@pytest.mark.parametrize("share", [0.0, 0.25, 0.75, 1.0])
def test_the_spread_is_the_variance_of_one_report(inside, outside, share):
    """Both meanings, by summing over all reports. Catches a part counted twice or forgotten."""
    d = inside - outside
    reports = [(Fraction(1) - outside) / d, -outside / d]
    s = Fraction(share)

    def moments(p):
        mean = p * reports[0] + (1 - p) * reports[1]
        return mean, p * reports[0] ** 2 + (1 - p) * reports[1] ** 2 - mean**2

    drawn = moments(outside + d * s)[1]
    own = s * moments(inside)[1] + (1 - s) * moments(outside)[1]
    assert VarianceFunction.of_share(inside=inside, outside=outside).at(share) == pytest.approx(
        float(drawn)
    )
    spread = VarianceFunction.of_share(inside=inside, outside=outside, drawn=0.0)
    assert spread.at(share) == pytest.approx(float(own))


@pytest.mark.parametrize("about", ["population", "respondents"])
@pytest.mark.parametrize(("inside", "outside"), GATES[:2])
def test_exact_coverage_over_all_counts(inside, outside, about):
    """Without simulation: the probabilities of all counts of 2,000 reports, for many shares.

    The mean over shares is 95 % within 0.4 points, each within 0.8. Catches intervals that are
    off for rare or common answers only; the same sums reject a standard error 5 % too small.
    """
    n, counts = 2000, np.arange(2001)
    i, o = float(inside), float(outside)
    values = (counts / n - o) / (i - o)
    g = 1.0 if about == "population" else 0.0
    spread = VarianceFunction.of_share(inside=inside, outside=outside, drawn=g)
    for factor, right in ((1.0, True), (0.95, False)):
        ends = cut(*score_interval(values, n, spread, factor * Z))
        coverage = []
        for holders in range(0, n + 1, 40):
            if about == "population":
                law = binom.pmf(counts, n, o + (i - o) * holders / n)
            else:
                inner = binom.pmf(np.arange(holders + 1), holders, i)
                outer = binom.pmf(np.arange(n - holders + 1), n - holders, o)
                law = np.convolve(inner, outer)
            share = holders / n
            coverage.append(law[(ends[:, 0] <= share) & (share <= ends[:, 1])].sum())
        assert (abs(np.mean(coverage) - 0.95) < 0.004) == right
        assert not right or (min(coverage) > 0.942 and max(coverage) < 0.958)


@given(
    st.integers(1, 10**6),
    st.floats(0, 1),
    st.sampled_from(GATES),
    st.floats(0, 1),
    st.floats(0.1, 6),
)
def test_the_estimate_is_inside_its_interval(n, part, gate, drawn, z):
    """For every count there can be. Catches a root of a negative number, ends exchanged."""
    inside, outside = gate
    value = np.array([(round(part * n) / n - float(outside)) / float(inside - outside)])
    spread = VarianceFunction.of_share(inside=inside, outside=outside, drawn=drawn)
    low, high = score_interval(value, n, spread, z)
    assert np.isfinite(low).all() and np.isfinite(high).all()
    assert low[0] <= value[0] + 1e-9 and value[0] <= high[0] + 1e-9


def test_nothing_known_and_nothing_possible():
    """No reports: all is possible. Wholly outside: left as it is. Catches nan and false points."""
    spread = VarianceFunction.of_share(inside=Fraction(3, 4), outside=Fraction(1, 4))
    assert cut(*score_interval(np.array([np.nan]), 0, spread, Z)).tolist() == [[0.0, 1.0]]
    ends = cut(np.array([-0.2, -0.2, 0.9]), np.array([-0.1, 0.1, 1.2]))
    assert ends.tolist() == [[-0.2, -0.1], [0.0, 0.1], [0.9, 1.0]]


def test_wrong_words_are_refused():
    """Catches a typo that silently means something else."""
    with pytest.raises(InvalidArgument, match="about must be"):
        read_about("people")
    with pytest.raises(InvalidArgument, match="confidence"):
        read_confidence(95)
