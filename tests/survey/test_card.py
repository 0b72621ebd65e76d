"""The card: its numbers are those of the law, outward, in words without a formula."""

import itertools
import re
from decimal import ROUND_CEILING, ROUND_FLOOR
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.guarantees import compose
from discreet.survey import ChooseAny, ChooseOne, Number, Questionnaire, YesNo
from discreet.survey.card import _told_apart
from discreet.survey.chances import digits, least_often, most_often, posterior, stated, sure

LECTURE = YesNo("smoker", "Do you smoke?", truth=0.5)
QUESTIONS = [
    LECTURE,
    YesNo("yes", "?", epsilon=1),
    ChooseOne("few", "?", options=["a", "b", "c"], epsilon=1),
    ChooseOne("q", "?", options=["a", "b", "c", "d"], truth="1/3"),
    ChooseOne("bits", "?", options=5, epsilon=2, mechanism="unary"),
    ChooseOne("codes", "?", options=6, epsilon=1, mechanism="projective"),
    ChooseAny("items", "?", options=["a", "b", "c"], epsilon=1),
    ChooseAny("several", "?", options=["a", "b", "c", "d", "e"], epsilon=5),
    ChooseAny("some", "?", options=["a", "b", "c", "d"], epsilon=3, most=2, mechanism="unary"),
    Number("two", "?", bounds=(0, 10), step=1, epsilon=1),
    Number("levels", "?", bounds=(0, 10), step=1, epsilon=4, unit="hours"),
]
named = pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)


def laws(question):
    """The law of every true answer, as dicts."""
    made = (question.randomizer.law(truth) for truth in range(question.randomizer.inputs.count))
    return [
        dict(zip(law.outcomes, map(law.probability, law.outcomes), strict=True)) for law in made
    ]


def test_claims_14_to_16_stand_on_the_card():
    """q = 1/2: the truth three times in four, odds at most tripled, r → 3r/(1 + 2r). Catches
    "else a coin" told as "else the opposite", and an ulp that makes 75 into 75.1."""
    part = Questionnaire("Health", [LECTURE]).card().parts[0]
    assert "3 times in 4, your answer is sent as it is; once in 4, the opposite" in part.changed
    assert "at most 3 times as likely" in part.learned
    assert "1 % sure" in part.learned and "2.95 %" in part.learned
    assert "10 % becomes at most 25 %, and 50 % at most 75 %" in part.learned
    assert "the opposite send the same once in 4" in part.denied
    for r in (Fraction(1, 5), Fraction(2, 7), Fraction(99, 100)):
        assert posterior(r, LECTURE.randomizer.odds) == 3 * r / (1 + 2 * r)
    stated_prior = Questionnaire("Health", [LECTURE]).card(prior=0.2).parts[0].learned
    assert "20 % sure of your answer beforehand is at most 42.9 % sure" in stated_prior
    alone = Questionnaire("Health", [LECTURE]).card()
    assert "is right 3 times in 4" in alone.together


def test_two_answers_of_the_lecture_together():
    """Odds at most nine times; and the guess: right in (1 + TV)/2, with TV of two coins."""
    other = YesNo("drinker", "Do you drink?", truth=0.5)
    card = Questionnaire("Health", [LECTURE, other]).card(prior="1/2")
    assert "at most 9 times as likely with your answers as with any others" in card.together
    assert "is at most 90 % sure afterwards" in card.together
    # Between (1, 1) and (0, 0): TV = (9 − 1)/16, so 3 times in 4, but for the convolution's bound.
    assert "is right at most 75.1 times in 100" in card.together


@named
def test_the_odds_are_those_of_the_law(question):
    """The largest ratio over all pairs of true answers and all reports: never above what the card
    says, and equal to it but for rounding."""
    worst = max(
        one[report] / other[report]
        for one, other in itertools.permutations(laws(question), 2)
        for report in one
    )
    said = question.randomizer.odds
    assert worst <= said <= worst * (1 + Fraction(1, 10**9))


@named
def test_no_report_moves_a_belief_further_than_the_card_says(question):
    """Bayes by hand: a prior on one answer, the rest spread in any of a few ways. Every posterior
    of every report is at most the printed one."""
    prior = Fraction(1, 10)
    limit = posterior(prior, question.randomizer.odds)
    assert f"at most {sure(limit)}" in Questionnaire("T", [question]).card(prior).parts[0].learned
    every = laws(question)
    for place, mine in enumerate(every[:4]):
        others = [law for other, law in enumerate(every) if other != place]
        for spread in ([1] * len(others), range(1, len(others) + 1), [1] + [0] * (len(others) - 1)):
            total = sum(spread)
            for report, p in mine.items():
                rest = sum(w * law[report] for w, law in zip(spread, others, strict=True)) / total
                assert prior * p / (prior * p + (1 - prior) * rest) <= limit


def test_the_card_is_in_plain_words():
    """No Greek, no formula, no jargon, no empty sentence; and all of it for a page as well."""
    card = Questionnaire("T", QUESTIONS, waves=2).card()
    for text in (str(card), card.markdown()):
        assert not re.search(r"[Ͱ-Ͽ=^²]|epsilon|delta|log|probab|None|nan", text)
        assert "Do you smoke?" in text and "All answers together" in text
    for part in card.parts:
        words = (part.changed, part.learned, part.denied, part.again)
        assert all(len(each) > 40 and each.endswith(".") for each in words)
    document = card.document()
    heads = ["What is changed", "What anyone can learn", "What you can deny"]
    for part in document["questions"]:
        assert [head for head, _ in part["sentences"]] == [*heads, "If you are asked again"]
    assert document["together"] == card.together


def test_lines_fit_a_screen():
    """No line is longer than asked for, whatever the width; the words are the same, in order. On
    its own a card has lines of 100. Catches a card that runs off a respondent's screen."""
    card = Questionnaire("T " * 60 + "T", QUESTIONS, waves=2).card()
    assert str(card) == card.text(100)
    for width in (20, 40, 80, 100, 300):
        lines = card.text(width).splitlines()
        assert max(map(len, lines)) <= width
        assert card.text(width).split() == str(card).split()
        assert not [line for line in lines if line.strip().startswith("%")]
    assert max(map(len, card.text(1).splitlines())) <= 20  # a word a line would be no card
    assert "1. Do you smoke?\n   What is changed: Your device throws" in str(card)
    with pytest.raises(InvalidArgument, match="width"):
        card.text(0)


def test_the_card_in_the_docs_is_a_card():
    """Catches a page that shows a part of it, or a card of long ago."""
    smoker = YesNo("smoker", "Do you smoke?", truth=0.5, prior=0.2)
    docs = Path(__file__).parents[2] / "docs" / "surveys.md"
    assert f"```text\n{Questionnaire('Health', [smoker]).card()}\n```" in docs.read_text("utf-8")


def test_the_total_is_composed_once(monkeypatch):
    """For any number of cards, priors and pages: the convolution is the slow part of a card, which
    is made in milliseconds from then on. Catches a composition a card."""
    composed = []
    monkeypatch.setattr(
        "discreet.survey.questionnaire.compose",
        lambda *parts, **more: composed.append(parts) or compose(*parts, **more),
    )
    form = Questionnaire("T", QUESTIONS[:4])
    cards = [form.card(), form.card(0.2), form.card()]
    assert cards[0] == cards[2] != cards[1] and form.page() == form.page()
    assert len(composed) == 1 and form.guarantee.tv == form.guarantee.tv


def test_a_large_promise_is_not_composed(monkeypatch):
    """Two questions at ε = 6 to 20: the card says it in milliseconds, from the distance of each
    draw, which by enumeration is no less than the distance of both. Catches seconds of convolution
    for "practically always", and a guess that is right more often than the card says."""
    monkeypatch.setattr("discreet.survey.questionnaire.compose", None)
    for epsilon in (6, 10, 20):
        questions = [YesNo("a", "?", epsilon=epsilon), YesNo("b", "?", epsilon=epsilon + 1)]
        form = Questionnaire("T", questions)
        (one, other), (this, that) = (laws(question) for question in questions)
        apart = sum(
            max(Fraction(0), one[i] * this[j] - other[i] * that[j]) for i in (0, 1) for j in (0, 1)
        )
        assert apart <= _told_apart(form) <= 1
        assert "is right at most" in form.card().together
    again = Questionnaire("T", [YesNo("a", "?", epsilon=6)], waves=3)
    assert _told_apart(again) == 1 - (1 - Fraction(again.questions[0].randomizer.guarantee.tv)) ** 3
    assert _told_apart(Questionnaire("T", again.questions, waves=10_000)) == 1


def test_what_is_changed_is_told_by_the_law():
    """The printed chances are the law's. Catches a number that was typed, or rounded inward."""
    few = QUESTIONS[2].randomizer
    text = QUESTIONS[2].changed()
    assert least_often(3 * few.outside) in text.lower() and most_often(few.inside) in text
    codes = QUESTIONS[5].randomizer
    assert least_often(codes.outside) in QUESTIONS[5].changed()
    assert "draws one of the 3 options" in QUESTIONS[6].changed()
    town = ChooseOne("town", "Where?", options=["Aford", "Beeham"], epsilon=1)
    part = Questionnaire("T", [town]).card().parts[0]  # whose opposite nobody knows
    assert (
        "the other one is sent" in part.changed and "whose answer is the other one" in part.denied
    )
    assert "0 and 10" in QUESTIONS[9].changed() and "hours" in QUESTIONS[10].changed()


def test_waves_are_told():
    """Permanent: sent again; else the odds of all waves. Catches the odds of one for three."""
    kept = YesNo("kept", "?", truth=0.5, permanent=True)
    card = Questionnaire("T", [LECTURE, kept], waves=3).card(prior=0.5)
    anew, again = (part.again for part in card.parts)
    assert "anew in each of the 3 rounds" in anew and "at most 27 times as likely" in anew
    assert "sent again in all 3 rounds, and whenever this very question comes back" in again
    assert "may be recognised as those of one person" in again
    assert "Asked in different words" in again and "anew, and that tells more" in again
    assert "at most 81 times as likely" in card.together
    once = Questionnaire("T", [kept, LECTURE]).card()
    assert "sent again whenever this very question comes back" in once.parts[0].again
    assert once.parts[1].again == ""


def test_a_card_without_protection_says_so():
    """ε = 50 hides nothing, and thirty questions at ε = 1 little. Catches comfort without limit."""
    card = Questionnaire("T", [YesNo("a", "?", epsilon=50)]).card()
    assert "practically no limit" in card.parts[0].learned and "Hardly" in card.parts[0].denied
    assert "may be sure of it" in card.together
    many = Questionnaire("T", [YesNo(f"a{i}", "?", epsilon=1) for i in range(30)]).card()
    assert "2.72 times" in many.parts[0].learned and "practically no limit" in many.together
    nine = Questionnaire("T", [YesNo("a", "?", epsilon="8.89")]).card().parts[0].learned
    assert "10 % becomes at most 99.88 %, and 50 % at most 99.987 %" in nine  # and not 100 %


@given(st.fractions(Fraction(1, 10**6), Fraction(999, 1000)))
def test_chances_are_rounded_outward(p):
    """What is printed, read back, is on the right side of the chance, within half a percent."""

    def value(text):
        few, many = re.search(r"(once|[\d.,]+ times) in ([\d.,]+)", text).groups()
        few = "1" if few == "once" else few.split()[0]
        return Fraction(few.replace(",", "")) / Fraction(many.replace(",", ""))

    assert p <= value(most_often(p)) <= p * Fraction(1011, 1000)
    assert p * Fraction(989, 1000) <= value(least_often(p)) <= p
    close = 1 - p / 100  # the rest to certainty, to a digit
    for said in (Fraction(sure(close).removesuffix(" %")) / 100, value(most_often(close))):
        assert close <= said <= 1 and (1 - said) * Fraction(111, 100) >= 1 - close
    said, number = stated(p)
    assert Fraction(said.removesuffix(" %")) / 100 == number >= p
    up, down = (Fraction(digits(p, way).replace(",", "")) for way in (ROUND_CEILING, ROUND_FLOOR))
    assert down <= p <= up


def test_markdown_does_not_run_what_a_question_says():
    """Signs that Markdown knows are escaped. Catches a link or an image in a title."""
    form = Questionnaire("![x](http://e.org)", [YesNo("a", "<b>*A*</b> | `b`?", epsilon=1)])
    text = form.card().markdown()
    assert "![" not in text and "<b>" not in text and "\\*A\\*" in text


def test_a_prior_must_be_a_belief():
    """Strictly between 0 and 1."""
    for prior in (0, 1, float("nan"), "x"):
        with pytest.raises(InvalidArgument, match="prior"):
            Questionnaire("T", [LECTURE]).card(prior)
