"""The planner's numbers are those that surveys need."""

from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument, Refused
from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo, plan
from discreet.survey.estimates.confidence import Evidence, VarianceFunction
from discreet.survey.estimates.means import from_levels
from discreet.survey.estimates.shares import from_evidence

HALF = 0.02
CONFIDENCE = Fraction(95, 100)
QUESTIONS = [
    YesNo("smoker", "Do you smoke?", truth=0.5),
    ChooseOne("town", "Where?", options=5, epsilon=1, mechanism="response"),
    ChooseOne("item", "Which?", options=300, epsilon=2, mechanism="projective"),
    ChooseAny("had", "Which?", options=list("abcdef"), epsilon=1),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q.name)
def test_surveys_of_that_size_are_that_sure(question):
    """2,000 simulated surveys of the planned size at the worst share: the mean half-width is the
    one asked for, within 1 %; half as many people are not enough. Catches a z for a z²."""
    n = plan(question, half_width=HALF).respondents
    r = question.randomizer
    spread = VarianceFunction.of_share(inside=r.inside, outside=r.outside)
    share = spread.worst_share()
    part = r.drawn / r.categories if r.kind == "items" else 1.0
    p = float(r.outside) + float(r.inside - r.outside) * share
    for respondents, enough in ((n, True), (n // 2, False)):
        draw = np.random.default_rng(1)
        asked = draw.binomial(respondents, part, 2000)
        supports = draw.binomial(asked, p)
        found = from_evidence(
            Evidence.of(r, supports, asked), respondents, confidence=CONFIDENCE, about="population"
        )
        errors = 1.959964 * found[1]  # intervals at the ends are cut
        assert (errors.mean() == pytest.approx(HALF, rel=0.01)) == enough


def test_means_are_that_sure():
    """The same for a number, whose worst population holds the ends of the range alone."""
    question = Number("age", "How old?", bounds=(0, 100), step=10, epsilon=1)
    n = plan(question, half_width=HALF).respondents
    levels = question.randomizer
    law = np.mean([[levels.law(i).pmf(x) for x in range(levels.outcomes)] for i in (0, 10)], axis=0)
    counts = np.random.default_rng(2).multinomial(n, law, size=2000)
    ends = from_levels(levels, counts, n, confidence=CONFIDENCE, about="population")[2]
    assert np.diff(ends).mean() / 2 == pytest.approx(HALF, rel=0.01)


def test_the_lectures_coins_by_hand():
    """ε = ln 3: variance 1 at ½, so z²·1/h² people, 9,604 at two points (38,415 at one)."""
    question = YesNo("smoker", "Do you smoke?", truth=0.5)
    assert plan(question, half_width=0.02).respondents == pytest.approx(9604, abs=5)
    assert plan(question, half_width=0.01).respondents == pytest.approx(38415, abs=5)
    # of a rare trait, p = 0.255: p(1 − p)/q² = 0.75990 instead of 1
    rare = plan(question, half_width=0.01, share=0.01).respondents
    assert rare == pytest.approx(38415 * 0.7599, rel=1e-3)


def test_fewer_people_about_themselves_and_at_larger_epsilon():
    """Catches a table that runs the wrong way, or that forgets what "about" means."""
    for question in QUESTIONS:
        own = plan(question, half_width=HALF, about="respondents").respondents
        assert own <= 1.001 * plan(question, half_width=HALF).respondents
        needed = [row["respondents"] for row in plan(question, half_width=HALF).over()]
        assert needed == sorted(needed, reverse=True)


def test_a_questionnaire_needs_what_its_hardest_question_needs():
    """At its own ε the table has the same numbers as the plan. Catches parts that do not add up."""
    form = Questionnaire("Health", QUESTIONS)
    planned = plan(form, half_width=HALF)
    assert planned.respondents == max(planned.needed.values())
    (row,) = planned.over([form.epsilon])
    assert row["respondents"] == pytest.approx(planned.respondents, rel=1e-4)
    assert f"{planned.respondents:,} respondents for ±2 points" in str(planned)
    assert planned.to_arrow().column_names[0] == "epsilon"


def test_what_cannot_be_planned_is_refused():
    """Catches an endless search."""
    question = YesNo("smoker", "Do you smoke?", truth="1/1000000000")
    with pytest.raises(Refused, match="people would be needed"):
        plan(question, half_width=0.0001)
    with pytest.raises(InvalidArgument, match="half_width"):
        plan(QUESTIONS[0], half_width=1)
    with pytest.raises(InvalidArgument, match="share"):
        plan(QUESTIONS[0], half_width=0.01, share=2)


def test_a_plan_says_what_a_point_of_a_number_is_and_where_the_questionnaire_stands():
    """Catches "points" of kilograms, a table without the questionnaire's own ε, and plurals."""
    weight = Number("weight", "How heavy?", bounds=(30, 200), unit="kg", epsilon=9)
    form = Questionnaire("Health", [YesNo("smoker", "Do you smoke?", epsilon="1/2"), weight])
    planned = plan(form, half_width="0.01", share="0.1")
    head, smoker, kilograms, _, _, *rows = str(planned).splitlines()
    assert "for ±1 point at 95 %, at a share of 0.1 or a mean at 0.1 of the range" in head
    assert smoker == f"  smoker: {planned.needed['smoker']:,}"
    assert kilograms == f"  weight: {planned.needed['weight']:,}, for its mean ±1.7 kg"
    assert rows[-1].split() == ["9.5", f"{planned.respondents:,}", "as", "it", "is", "now"]
    alone = plan(YesNo("smoker", "Do you smoke?", epsilon=1), half_width="0.02")
    assert sum("as it is now" in line for line in str(alone).splitlines()) == 1
    assert len(str(alone).splitlines()) == 3 + len(alone.over())
    one = plan(weight, half_width="0.49", confidence="0.01")
    assert str(one).startswith("1 respondent for ±49 points at 1 %, at worst, ")


def test_a_plan_names_the_mechanism_that_needs_fewer_people():
    """Randomized response is best at a share of 1/5, but needs 28 % more people at the worst.
    Catches a plan that hides it, and one that says so where nothing is gained."""
    town = ChooseOne("town", "Where?", options=5, epsilon="0.675")
    other = ChooseOne("town", "Where?", options=5, epsilon="0.675", mechanism="projective")
    needed = plan(other, half_width="0.02").respondents
    assert needed < 0.8 * plan(town, half_width="0.02").respondents
    line = f'best at a share of 1/5; here mechanism="projective" needs {needed:,}'
    assert line in str(plan(town, half_width="0.02"))
    assert "mechanism" not in str(plan(other, half_width="0.02"))
    assert "mechanism" not in str(plan(town, half_width="0.02", share="0.2"))


def test_few_people_are_planned_by_exact_intervals():
    """ε = 8 and ±20 points: the exact interval of that many is narrow enough, and that of two
    fewer is not. Catches a plan by the normal curve where results have wider intervals."""
    question = YesNo("smoker", "Do you smoke?", epsilon=8)
    n = plan(question, half_width="0.2").respondents
    assert n < 40

    def half(people):
        counts = np.array([round(people / 2)]), np.array([people])
        ends = from_evidence(
            Evidence.of(question.randomizer, *counts),
            people,
            confidence=CONFIDENCE,
            about="population",
        )[2]
        return np.diff(ends).item() / 2

    assert half(n) <= 0.205
    assert half(n - 2) > 0.2
