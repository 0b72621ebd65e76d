"""95 % intervals cover 94.2 to 95.8 % of 20,000 simulated surveys, for each kind of question.

Surveys are simulated from the exact laws of the reports: the number of supporting reports is
binomial. Of 20,000 intervals that hold 95 % each, fewer than 94.2 % or more than 95.8 % hold with
probability 3e-7 (false-alarm rate; with the fixed seed it never fires by chance). Every test also
takes standard errors that are 10 % too small or too large, and they must leave the band.
"""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.survey import ChooseAny, ChooseOne, Collector, Number, Questionnaire, YesNo
from discreet.survey.estimates.confidence import Evidence, normal_quantile
from discreet.survey.estimates.shares import from_evidence
from discreet.survey.randomizers import Items, Projective, Response, Unary
from discreet.testing import seeded

SURVEYS = 20_000
LOW, HIGH = 0.942, 0.958
CONFIDENCE = Fraction(95, 100)
RANDOMIZERS = {
    "yes or no, the lecture's coins": (Response(categories=2, truth=0.5), 0.3),
    "choose one, randomized response": (Response(categories=5, epsilon=1), 0.2),
    "choose one, unary encoding": (Unary(categories=20, epsilon=2), 0.05),
    "choose one, projective": (Projective(categories=100, epsilon=2), 0.03),
    "choose one, Hadamard": (Projective(categories=40, epsilon="1/2"), 0.6),
    "choose any, unary encoding": (Unary(categories=10, epsilon=3, most=2), 0.4),
    "choose any, sampled items": (Items(categories=10, epsilon=2), 0.7),
}


def covered(intervals, truth):
    return float(((intervals[..., 0] <= truth) & (truth <= intervals[..., 1])).mean())


def within(coverage):
    return LOW <= coverage <= HIGH


def scaled(factor):
    """The confidence whose intervals have this many times the standard error of 95 %."""
    from scipy.special import ndtr

    return Fraction(2 * float(ndtr(factor * normal_quantile(CONFIDENCE))) - 1)


def simulated(randomizer, share, respondents, about, draw):
    """How many reports support one category, and how many say something about it."""
    i, o = float(randomizer.inside), float(randomizer.outside)
    part = randomizer.drawn / randomizer.categories if isinstance(randomizer, Items) else 1.0
    holders = round(share * respondents)
    if about == "population":
        holders = draw.binomial(respondents, share, SURVEYS)
    asked = [draw.binomial(n, part, SURVEYS) for n in (holders, respondents - holders)]
    supports = draw.binomial(asked[0], i) + draw.binomial(asked[1], o)
    return supports, asked[0] + asked[1]


@pytest.mark.parametrize("about", ["population", "respondents"])
@pytest.mark.parametrize("kind", RANDOMIZERS)
def test_intervals_of_shares_cover(kind, about):
    """For a sample of many, and for these very people. Catches a wrong variance of any part."""
    randomizer, share = RANDOMIZERS[kind]
    n = 10_000
    draw = np.random.default_rng(len(kind))
    supports, asked = simulated(randomizer, share, n, about, draw)

    def coverage(confidence):
        found = from_evidence(
            Evidence.of(randomizer, supports, asked), n, confidence=confidence, about=about
        )
        return covered(found[2], share)

    assert within(coverage(CONFIDENCE))
    assert not within(coverage(scaled(0.9))) and not within(coverage(scaled(1.1)))
    values, errors, _ = from_evidence(
        Evidence.of(randomizer, supports, asked), n, confidence=CONFIDENCE, about=about
    )
    # unbiased (six standard errors of the mean), and the errors stated are those made (5 %)
    assert abs(values.mean() - share) < 6 * values.std() / SURVEYS**0.5
    assert values.std() == pytest.approx(errors.mean(), rel=0.05)


def test_small_surveys_are_honest():
    """No reports, one, or a few alike. Catches widths of 0, nan ends, divisions by 0."""
    form = Questionnaire(
        "Small",
        [
            YesNo("smoker", "Do you smoke?", epsilon=1),
            ChooseAny("had", "Which?", options=["flu", "mumps", "none"], epsilon=1),
            Number("age", "How old?", bounds=(0, 100), epsilon=1),
        ],
    )
    collector = Collector(form, cross=[("smoker", "had")])
    for more in (0, 1, 1, 6):
        if more:
            ticks = np.zeros((more, 3), bool)
            answers = {"smoker": [True] * more, "had": ticks, "age": [30] * more}
            collector.add(form.respond_many(answers))
        for about in ("population", "respondents"):
            result = collector.result(about=about)
            for name in ("smoker", "had"):
                ends = result[name].intervals
                assert np.isfinite(ends).all() and (ends[:, 1] > ends[:, 0]).all()
                assert (result[name].standard_errors > 0).all()
            low, high = result["age"].interval
            assert high > low and result["age"].standard_error > 0
            ends = result.cross("smoker", "had").intervals
            assert np.isfinite(ends).all() and (ends[..., 1] > ends[..., 0]).all()
            assert str(result) and str(result["age"]) and str(result.cross("smoker", "had"))


@given(st.integers(0, 200), st.integers(0, 200), st.sampled_from(sorted(RANDOMIZERS)))
@example(82, 82, "choose one, projective")  # one number of respondents alone would be kept
def test_any_counts_give_ordered_ends(some, others, kind):
    """Catches a warning (they are errors here) or ends out of order for odd counts."""
    randomizer, _ = RANDOMIZERS[kind]
    counts = np.array([some]), np.array([some + others])
    for about in ("population", "respondents"):
        _, errors, ends = from_evidence(
            Evidence.of(randomizer, *counts), some + others, confidence=CONFIDENCE, about=about
        )
        assert ends[0, 0] < ends[0, 1] and errors[0] > 0


def test_end_to_end_through_reports_and_collector():
    """300 surveys of 200 people through respond_many and the collector: with 95 % coverage fewer
    than 259 of 300 intervals hold the truth with probability 1e-9 (false-alarm rate). Catches a
    question whose estimate is about another answer than its label says."""
    form = Questionnaire(
        "All kinds",
        [
            YesNo("smoker", "Do you smoke?", truth=0.5),
            ChooseOne("town", "Where?", options=["A", "B", "C"], epsilon=1),
            ChooseOne("item", "Which?", options=30, epsilon=2, mechanism="projective"),
            ChooseAny("had", "Which?", options=["flu", "mumps", "none"], epsilon=2),
            Number("age", "How old?", bounds=(20, 60), step=1, epsilon=1),
        ],
    )
    draw = np.random.default_rng(9)
    n, hits = 200, np.zeros(5)
    for survey in range(300):
        answers = {
            "smoker": draw.random(n) < 0.3,
            "town": draw.choice(3, n, p=[0.2, 0.5, 0.3]),
            "item": draw.choice([4, 17], n, p=[0.9, 0.1]),
            "had": draw.random((n, 3)) < [0.1, 0.8, 0.3],
            "age": draw.integers(20, 61, n),
        }
        with seeded(survey):
            reports = form.respond_many(answers)
        collector = Collector(form)
        collector.add(reports)
        result = collector.result()
        ends = [
            (result["smoker"]["yes"].interval, 0.3),
            (result["town"]["B"].interval, 0.5),
            (result["item"]["4"].interval, 0.9),
            (result["had"]["mumps"].interval, 0.8),
            (result["age"].interval, 40.0),
        ]
        hits += [low <= truth <= high for (low, high), truth in ends]
    assert (hits >= 259).all()
    assert (hits < 300).all()  # 300 of 300 has probability 2e-7 each


def test_what_a_result_shows():
    """Labels by name, the largest first, projected by label, a mistyped label refused."""
    form = Questionnaire("Towns", [ChooseOne("town", "Where?", options=list("ABC"), epsilon=8)])
    collector = Collector(form)
    collector.add({"town": np.repeat([0, 1, 2], [10, 60, 30])})
    shares = collector.result()["town"]
    assert shares.top(2).labels == ("B", "C")
    assert shares["B"].value == shares.values[1]
    assert shares.projected().values.sum() == pytest.approx(1)
    assert "post-processing" in shares.projected().label
    with pytest.raises(InvalidArgument, match="one of A, B, C"):
        shares["Z"]
