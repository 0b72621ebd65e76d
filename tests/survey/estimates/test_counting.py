"""Exact tails: against SciPy's binomial, and false finds that stay within what is promised."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from discreet.survey import ChooseOne, Collector, Questionnaire
from discreet.survey.estimates.confidence import (
    Evidence,
    at_least,
    clopper_pearson,
    largest_by_chance,
)
from discreet.survey.randomizers import best
from discreet.testing import seeded

DOUBT = Fraction(5, 100)


@pytest.mark.parametrize(("count", "n"), [(0, 10), (3, 10), (10, 10), (412, 1000)])
def test_ends_are_those_of_clopper_and_pearson(count, n):
    """SciPy's own. Catches a wrong pair of arguments of the beta quantile."""
    low, high = clopper_pearson(np.array([count]), np.array([n]), 0.025)
    theirs = binomtest(count, n).proportion_ci(0.95, method="exact")
    assert (low[0], high[0]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_tails_are_those_of_the_binomial():
    """Below 0, inside and above n; and the largest count by chance. Catches one too few."""
    counts = np.arange(-2, 23)
    assert at_least(counts, 20, 0.3) == pytest.approx(binom.sf(counts - 1, 20, 0.3), abs=1e-12)
    for p in (0.001, 0.3):
        for tail in (1e-8, 0.2):
            sizes = np.array([0, 1, 20, 10_000])
            most = largest_by_chance(sizes, p, tail)
            assert (binom.sf(most, sizes, p) <= tail).all()
            assert (binom.sf(most[1:] - 1, sizes[1:], p) > tail).all()


CASES = [(1000, 5, 1000), (10_000, 8, 10_000), (10_000, 5, 1000), (1_000_000, 8, 100_000)]


@pytest.mark.parametrize(("answers", "epsilon", "n"), CASES)
def test_noise_alone_is_found_as_seldom_as_promised(answers, epsilon, n):
    """The expected number of false finds among k answers that nobody gave, summed exactly; also
    of simultaneous intervals above 0. With normal tails it is 0.2 to 12 instead of 0.05."""
    randomizer = best(answers, epsilon).randomizer
    o = float(randomizer.outside)
    counts = np.arange(int(binom.isf(1e-14, n, o)) + 2)
    evidence = Evidence(
        counts, np.full(counts.size, n), randomizer.inside, randomizer.outside, answers
    )
    found = evidence.estimated(counts) > evidence.noise(DOUBT)
    law = answers * binom.pmf(counts, n, o)
    assert law[found].sum() <= float(DOUBT)
    assert law[np.argmax(found) - 1 :].sum() > float(DOUBT)  # no stricter than need be
    low, high = evidence.exact_interval(DOUBT / answers)
    assert law[low > 0].sum() <= float(DOUBT) / 2
    assert law[high < 0].sum() <= float(DOUBT) / 2


def test_what_was_chosen_has_intervals_for_all_at_once():
    """Nobody prefers anything: none of 500 is found, and top(5), the text and the picture hold
    0.2 %. Catches the largest of many with intervals for an answer named beforehand."""
    form = Questionnaire("Many", [ChooseOne("icd", "Which?", options=500, epsilon=2)])
    collector = Collector(form)
    with seeded(3):
        collector.add(form.respond_many({"icd": np.arange(5000) % 500}))
    result = collector.result()
    shares = result["icd"]
    assert len(shares.found()) == 0 and not shares.together
    top = shares.top(5)
    assert top.together and top.answers == 500
    assert (top.intervals[:, 0] <= 0.002).all() and (top.intervals[:, 1] >= 0.002).all()
    alone = shares.intervals[np.argsort(-shares.values)[:5]]
    assert (alone[:, 0] > 0.002).all()  # what they replace
    every, inside = shares.simultaneous().intervals, shares.intervals[:, 1] > 0
    assert (every[inside, 0] <= shares.intervals[inside, 0]).all()
    assert (every[inside, 1] >= shares.intervals[inside, 1]).all()
    assert "for all 500 answers at once" in str(top)
    assert "those of icd for all answers at once" in str(result)
    for picture in (shares.plot(), top.plot()):
        assert "intervals for all 500 answers at once" in picture.to_svg()
        assert "unbiased" not in picture.to_svg()


def test_one_report_says_next_to_nothing():
    """Its intervals are 0 … 100 %, not 8 … 100 %; one respondent is no "1 respondents"."""
    form = Questionnaire("One", [ChooseOne("town", "Where?", options=list("ABC"), epsilon=1)])
    collector = Collector(form)
    collector.add(form.respond({"town": "A"}))
    assert collector.result()["town"].intervals.tolist() == [[0.0, 1.0]] * 3
    assert "1 respondent;" in str(collector.result())
