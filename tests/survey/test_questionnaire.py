"""Questionnaires: the composed promise against the exact joint law, the digest, the refusals."""

import itertools
import math
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.guarantees import compose
from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo

SMOKER = YesNo("smoker", "Do you smoke?", truth=0.5)
COLOUR = ChooseOne("colour", "Which?", options=["red", "green", "blue"], epsilon=1)
AGE = Number("age", "How old?", bounds=(0, 2), step=1, epsilon="3/4")
TICKS = ChooseAny("ticks", "Which?", options=["a", "b"], epsilon="1/2")


def joint_laws(questions):
    """The law of all reports together, for every combination of true answers."""
    truths = itertools.product(*(range(q.randomizer.inputs.count) for q in questions))
    for answers in truths:
        laws = [q.randomizer.law(a) for q, a in zip(questions, answers, strict=True)]
        outcomes = itertools.product(*(law.outcomes for law in laws))
        yield [
            math.prod(law.probability(o) for law, o in zip(laws, outcome, strict=True))
            for outcome in outcomes
        ]


def worst(laws, epsilon):
    """The largest hockey-stick divergence over all pairs of true answers."""
    times = math.exp(epsilon)
    rows = [list(map(float, law)) for law in laws]
    return max(
        sum(max(0.0, p - times * q) for p, q in zip(one, other, strict=True))
        for one, other in itertools.permutations(rows, 2)
    )


def test_the_composed_promise_covers_the_joint_law():
    """Every pair of answer sheets, every ε: the enumerated δ is below the promised one, and not far
    below. Without one of the questions the promise would be broken, and the test sees that."""
    form = Questionnaire("All", [SMOKER, COLOUR, AGE])
    laws = list(joint_laws(form.questions))
    short = compose([SMOKER.randomizer, COLOUR.randomizer])
    for epsilon in (0, 0.5, 1, 2):
        exact = worst(laws, epsilon)
        assert exact <= form.guarantee.delta(epsilon) * (1 + 1e-12)
        assert form.guarantee.delta(epsilon) <= exact * 1.01 + 1e-9
        assert exact > short.delta(epsilon)
    largest = max(
        max(p / q for p, q in zip(one, other, strict=True))
        for one, other in itertools.permutations(laws, 2)
    )
    assert math.log(largest) <= form.epsilon
    assert float(form.epsilon) == pytest.approx(math.log(largest), rel=1e-12)
    assert form.guarantee.epsilon(0) == pytest.approx(float(form.epsilon), rel=1e-9)


def test_ticks_are_covered_as_a_whole():
    """Any set of ticks against any other, beside a yes/no question."""
    form = Questionnaire("Both", [SMOKER, TICKS])
    laws = list(joint_laws(form.questions))
    for epsilon in (0, 1):
        assert worst(laws, epsilon) <= form.guarantee.delta(epsilon) * (1 + 1e-12)


def test_waves_multiply_unless_an_answer_is_permanent():
    """Claim 14 twelve times: 12·ln 3, or once. Catches waves that nobody counted."""
    once = Questionnaire("H", [SMOKER])
    often = Questionnaire("H", [SMOKER], waves=12)
    kept = YesNo("smoker", "Do you smoke?", truth=0.5, permanent=True)
    assert often.epsilon == 12 * once.epsilon
    assert often.guarantee.epsilon(0) == pytest.approx(12 * math.log(3))
    assert Questionnaire("H", [kept], waves=12).epsilon == once.epsilon
    assert Questionnaire("H", [kept], waves=12).guarantee == once.guarantee
    mixed = Questionnaire("H", [kept, COLOUR], waves=3)
    assert mixed.epsilon == once.epsilon + 3 * COLOUR.randomizer.epsilon


def test_the_total_is_shown_before_anyone_answers():
    """Each cost, the total, the waves and the error. Catches a question left out of the sum."""
    kept = Number("age", "How old?", bounds=(0, 120), epsilon=1, unit="years", permanent=True)
    form = Questionnaire("Health", [SMOKER, kept, COLOUR], waves=2, respondents=10_000)
    text = form.explain()
    assert text.startswith("Health: ε = 5.2 for everything one respondent sends in 2 waves, by 3")
    assert "smoker: ε = 1.1 in each of 2 waves, 2.2 in all" in text
    assert (
        "age: ε = 1, once" in text
        and "may be recognised" in text
        and "years at 95 % with 10,000 respondents" in text
    )
    assert "chosen" in text and "points at 95 % with 10,000 respondents" in text


def test_the_digest_is_that_of_what_is_asked():
    """Another option, order, promise or number of waves is another survey; another address or
    another prior is not. Catches reports that are counted for a question nobody answered."""
    form = Questionnaire("H", [SMOKER, COLOUR])
    assert len(form.digest) == 16 and int(form.digest, 16) >= 0
    same = YesNo("smoker", "Do you smoke?", epsilon=SMOKER.randomizer.epsilon, prior=0.1)
    assert Questionnaire("H", [same, COLOUR], respondents=7).digest == form.digest
    others = [
        Questionnaire("H", [COLOUR, SMOKER]),
        Questionnaire("H", [SMOKER]),
        Questionnaire("H", [SMOKER, COLOUR], waves=2),
        Questionnaire("I", [SMOKER, COLOUR]),
        Questionnaire("H", [YesNo("smoker", "Do you smoke?", truth=0.51), COLOUR]),
        Questionnaire("H", [YesNo("smoker", "Do you?", truth=0.5), COLOUR]),
        Questionnaire("H", [YesNo("smoker", "Do you smoke?", truth=0.5, permanent=True), COLOUR]),
    ]
    assert len({form.digest, *(other.digest for other in others)}) == 8
    assert form.document()["survey"] == form.digest


def test_the_document_has_what_a_browser_needs_and_no_float():
    """Catches probabilities that two programs print differently."""
    form = Questionnaire("H", [SMOKER, COLOUR, AGE, TICKS], post="https://example.org/in")

    def plain(value):
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(each) for key, each in value.items())
        if isinstance(value, list):
            return all(map(plain, value))
        return value is None or isinstance(value, str | int)

    document = form.document()
    assert plain(document) and document["post"] == "https://example.org/in"
    kinds = [q["kind"] for q in document["questions"]]
    assert kinds == ["yes_no", "choose_one", "number", "choose_any"]
    assert document["questions"][2]["steps"] == 2 and document["questions"][0]["permanent"] is False


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Questionnaire("", [SMOKER]), "title"),
        (lambda: Questionnaire("H", []), "1 to 1000 questions"),
        (lambda: Questionnaire("H", SMOKER), "1 to 1000 questions"),
        (lambda: Questionnaire("H", ["smoker"]), "YesNo, ChooseOne"),
        (lambda: Questionnaire("H", [SMOKER, SMOKER]), "named differently"),
        (
            lambda: Questionnaire("H", [SMOKER, YesNo("Smoker", "?", epsilon=1)]),
            "'smoker' and 'Smoker'",
        ),
        (
            lambda: Questionnaire(
                "H",
                [
                    YesNo(name, "Do you?", epsilon=epsilon, permanent=True)
                    for name, epsilon in (("a", 1), ("b", 2), ("c", 1))
                ],
            ),
            "'a' and 'c', which have one answer",
        ),
        (lambda: Questionnaire("H", [SMOKER], waves=0), "1 or above"),
        (lambda: Questionnaire("H", [SMOKER], waves=10**6), "at most 10,000"),
        (lambda: Questionnaire("H", [SMOKER], respondents=0), "1 or above"),
        (lambda: Questionnaire("H", [SMOKER], respondents=1.5), "whole number"),
        (lambda: Questionnaire("H", [SMOKER], post="http://example.org"), "https://"),
        (lambda: Questionnaire("H", [SMOKER], post="https://a b"), "https://"),
        (lambda: Questionnaire("H", [SMOKER], post="javascript:alert(1)"), "https://"),
        (lambda: Questionnaire("H", [SMOKER], post="http://localhost.evil.org"), "https://"),
        (lambda: Questionnaire("H", [SMOKER], post="https://me:word@example.org"), "https://"),
        (lambda: Questionnaire("H", [SMOKER])["smokes"], "one of smoker"),
    ],
)
def test_mistakes_are_told(make, says):
    """Each with its own sentence."""
    with pytest.raises(InvalidArgument, match=says):
        make()


def test_the_same_words_may_be_asked_twice_where_each_is_drawn():
    """Not permanent, or with another law. Catches a rule that forbids more than it must."""
    texts = [YesNo(name, "Do you?", epsilon=1) for name in ("a", "b")]
    laws = [YesNo(f"c{e}", "Do you?", epsilon=e, permanent=True) for e in (1, 2, 3)]
    form = Questionnaire("H", [*texts, *laws], waves=2)
    keys = [q.get("kept_as") for q in form.document()["questions"]]
    assert keys[:2] == [None, None] and len(set(keys)) == 4


def test_a_local_collector_may_be_plain():
    """Catches a rule that makes trying things out impossible."""
    form = Questionnaire("H", [SMOKER], post="http://localhost:8000/reports")
    assert form.post == "http://localhost:8000/reports" and form["smoker"] is form.questions[0]
    assert form.questions[0].prior is None and form.epsilon == Fraction(form.epsilon)
