"""Answering: everything is checked before a coin is thrown, and only reports come out."""

import json
import logging
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy.stats import binom, chi2

from discreet.errors import InvalidArgument, Refused
from discreet.survey import ChooseAny, ChooseOne, Memory, Number, Questionnaire, YesNo
from discreet.testing import seeded, using

FALSE_ALARM = 1e-9  # of every statistical test below; the draws are seeded
SMOKER = YesNo("smoker", "Do you smoke?", truth=0.5)
COLOUR = ChooseOne("colour", "Which?", options=["red", "green", "blue"], epsilon=1)
TICKS = ChooseAny("ticks", "Which?", options=["a", "b", "c"], epsilon=1)
AGE = Number("age", "How old?", bounds=(0, 120), step=1, epsilon=1)
FORM = Questionnaire("All", [SMOKER, COLOUR, TICKS, AGE])
ANSWERS = {"smoker": True, "colour": "blue", "ticks": ["b"], "age": 30}


class NoEntropy:
    """A source that nobody may draw from."""

    parallel = False

    def words(self, count):
        raise AssertionError("a coin was thrown")

    fill = extend = words


def test_a_report_is_flat_and_has_no_true_answer():
    """An integer or a text of signs for each question, in order, and 128 bits of its own."""
    report = FORM.respond(ANSWERS)
    sent = json.loads(report.to_json())
    assert list(sent) == ["survey", "id", "wave", "smoker", "colour", "ticks", "age"]
    assert sent["survey"] == FORM.digest and sent["wave"] == 1
    assert len(sent["id"]) == 32 and int(sent["id"], 16) >= 0
    assert sent["smoker"] in (0, 1) and sent["colour"] in (0, 1, 2) and sent["age"] in (0, 1)
    assert len(sent["ticks"]) == 3 and set(sent["ticks"]) <= set("01-")
    assert sent == report.document() and FORM.respond(ANSWERS).id != report.id


def test_numbers_of_reports_come_from_the_entropy_source():
    """Repeatable under a seed, and different from each other. Catches a counter or a clock."""
    with seeded(5):
        first = FORM.respond_many({name: [answer] * 1000 for name, answer in ANSWERS.items()})
    with seeded(5):
        again = FORM.respond_many({name: [answer] * 1000 for name, answer in ANSWERS.items()})
    assert first.ids == again.ids and len(set(first.ids)) == 1000


WRONG = [
    {"age": 121},
    {"age": None},
    {"colour": "mauve"},
    {"ticks": ["z"]},
    {"smoker": "perhaps"},
    {"more": 1},
]


@pytest.mark.parametrize("change", WRONG, ids=lambda change: next(iter(change)))
def test_nothing_is_drawn_before_all_answers_are_right(change):
    """A source that fails when it is touched is not touched. Catches a coin whose outcome is
    thrown away and drawn again: chance must not be asked twice."""
    with using(NoEntropy()), pytest.raises(InvalidArgument):
        FORM.respond(ANSWERS | change)
    columns = {name: [answer, answer] for name, answer in ANSWERS.items()}
    with using(NoEntropy()), pytest.raises(InvalidArgument):
        FORM.respond_many(columns | {k: [v, v] if v is not None else v for k, v in change.items()})


def test_a_question_left_out_is_an_answer():
    """The message says which, and what to do. Catches None that is sent as it is."""
    with pytest.raises(InvalidArgument, match="prefer not to say") as caught:
        FORM.respond({"smoker": True, "age": None})
    assert "none for colour, ticks, age" in str(caught.value)
    with pytest.raises(InvalidArgument, match="1 more"):
        FORM.respond(ANSWERS | {"shoe": 43})
    with pytest.raises(InvalidArgument, match="a dict"):
        FORM.respond([True])
    with pytest.raises(InvalidArgument, match="age must be a number from 0 to 120"):
        FORM.respond(ANSWERS | {"age": -1})


def test_a_misspelt_name_is_told():
    """As an answer that is missing, and as one too many; a name that is like none of them is not
    repeated. Catches "1 more" about a typo."""
    typo = {("smokr" if name == "smoker" else name): answer for name, answer in ANSWERS.items()}
    for answers in (typo, ANSWERS | {"smokr": True}):
        with pytest.raises(InvalidArgument, match=r"did you mean smoker by 'smokr'\?"):
            FORM.respond(answers)
    with pytest.raises(InvalidArgument) as caught:
        FORM.respond(ANSWERS | {"canary": True, 7: 1})
    assert "2 more" in str(caught.value) and "canary" not in str(caught.value)


def test_a_wrong_entry_of_a_column_is_placed():
    """The first place and how many, and not a word of what is there; for few options, what is
    right. Catches a column of a million with "something else" in it."""
    wrong = {
        "smoker": ["yes", "no", "canary", "canary"],
        "colour": ["red", "canary", "red", "canary"],
        "age": [30, 30, 30, 98765],
    }
    says = {
        "smoker": "place 2, counted from 0, and 1 more",
        "colour": r"one of the options \('red', 'green', 'blue'\).* place 1, .* and 1 more",
        "age": "from 0 to 120, all of them, got something else at place 3, counted from 0$",
    }
    columns = {name: [answer] * 4 for name, answer in ANSWERS.items()}
    for name, column in wrong.items():
        with pytest.raises(InvalidArgument, match=f"{name} must be .*{says[name]}") as caught:
            FORM.respond_many(columns | {name: column})
        assert "canary" not in str(caught.value) and "98765" not in str(caught.value)
    with pytest.raises(InvalidArgument, match="place 2"):
        FORM.respond_many(columns | {"colour": np.array([0, 1, 3, -1])})


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_columns_of_a_frame_are_columns(frame):
    """What the collector takes, `respond_many` takes. Catches a frame refused."""
    columns = {name: [answer] * 3 for name, answer in ANSWERS.items()}
    with seeded(2):
        expected = FORM.respond_many(columns)
    with seeded(2):
        found = FORM.respond_many(frame(columns))
    assert list(found) == list(expected)
    with pytest.raises(InvalidArgument, match="1 more"):
        FORM.respond_many(frame(columns | {"more": [1] * 3}))


def test_true_answers_are_in_no_message_log_or_repr(caplog):
    """Attack E4: canaries as answers. Catches a debug line, and a report that holds its source."""
    caplog.set_level(logging.DEBUG)
    options = ["canary98765", *(f"sparrow{i}" for i in range(12))]  # too many to be named
    form = Questionnaire(
        "Birds",
        [
            ChooseOne("bird", "Which?", options=options, epsilon=1),
            Number("ring", "Ring?", bounds=(0, 10**6), epsilon=1),
        ],
    )
    answers = {"bird": "canary98765", "ring": 98765}
    report = form.respond(answers)
    many = form.respond_many({"bird": ["canary98765"] * 3, "ring": [98765] * 3})
    told = [repr(report), str(report), report.to_json(), repr(many), *(repr(r) for r in many)]
    for wrong in ({"bird": "canary98765 "}, {"ring": 98765.5e9}, {"ring": "98765x"}):
        for attempt in (
            lambda wrong=wrong: form.respond(answers | wrong),
            lambda wrong=wrong: form.respond_many({k: [v] for k, v in (answers | wrong).items()}),
        ):
            with pytest.raises(InvalidArgument) as caught:
                attempt()
            error = caught.value
            while error is not None:
                told.append(str(error))
                error = error.__context__
    assert not [text for text in [*told, caplog.text] if "98765" in text]


@pytest.mark.parametrize(("people", "lie"), [(100_000, Fraction(5, 100))])
def test_reports_follow_the_laws(people, lie):
    """10⁵ people with the same answers, false-alarm rate 1e-9 a question: chi-square against
    each question's law. A law that is wrong by 5 % in one probability is rejected."""
    with seeded(7):
        reports = FORM.respond_many({name: [answer] * people for name, answer in ANSWERS.items()})
    columns = reports.columns()
    for question in FORM.questions:
        truth = question.read(ANSWERS[question.name])
        law = question.randomizer.law(truth)
        found, counts = np.unique(columns[question.name], return_counts=True)
        seen = dict(zip(found.tolist(), counts.tolist(), strict=True))
        p = [law.probability(outcome) for outcome in law.outcomes]
        n = [seen.pop(outcome, 0) for outcome in law.outcomes]
        assert not seen and misfit(n, p) > FALSE_ALARM
        place = p.index(max(p))
        q = [each * (1 + lie) if i == place else each for i, each in enumerate(p)]
        assert misfit(n, [each / sum(q) for each in q]) < FALSE_ALARM


def misfit(counts, law):
    """The chi-square p-value of counts against probabilities."""
    expected = sum(counts) * np.array(law, float)
    return chi2.sf(((np.array(counts) - expected) ** 2 / expected).sum(), len(law) - 1)


def test_single_reports_follow_the_same_law():
    """3,000 calls of `respond`, false-alarm rate 1e-9: yes is sent three times in four. Catches a
    path of its own for one person; "always the truth" and "a fair coin" are far outside."""
    form = Questionnaire("One", [SMOKER])
    with seeded(8):
        yes = sum(form.respond({"smoker": True}).answers["smoker"] for _ in range(3000))
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], 3000, 0.75)
    assert low <= yes <= high and not low <= 3000 * 0.85 <= high and not low <= 1500 <= high


def test_columns_must_fit_together():
    """Of one length, and not empty."""
    form = Questionnaire("Two", [SMOKER, COLOUR])
    with pytest.raises(InvalidArgument, match="2 and 3 entries"):
        form.respond_many({"smoker": [True, False], "colour": ["red"] * 3})
    with pytest.raises(InvalidArgument, match="0 entries"):
        form.respond_many({"smoker": [], "colour": []})


def test_a_wave_nobody_promised_is_refused():
    """The promise was for so many waves. Catches a wave that costs what was never shown."""
    for wave in (0, 2, 1.5, "x"):
        with pytest.raises(InvalidArgument, match="wave"):
            FORM.respond(ANSWERS, wave=wave)
    often = Questionnaire("Often", [SMOKER], waves=2)
    with pytest.raises(Refused, match="asked 2 times, so respond needs memory="):
        often.respond({"smoker": True})


def test_a_permanent_question_needs_a_memory_in_one_wave_too(tmp_path):
    """It may come back in a form of next month, or the same file may be sent again. Without a
    memory nothing is drawn; with one it is drawn once. Catches `permanent` that means nothing
    where waves were left out."""
    form = Questionnaire("Once", [SMOKER, KEPT])
    with using(NoEntropy()), pytest.raises(Refused, match="kept is permanent, so respond needs"):
        form.respond({"smoker": True, "kept": True})
    memory = Memory(tmp_path / "answers.json")
    answers = {"smoker": True, "kept": True}
    assert len({form.respond(answers, memory=memory) for _ in range(20)}) == 1


KEPT = YesNo("kept", "Do you smoke?", truth=0.5, permanent=True)


def test_averaging_over_waves_gains_nothing_for_a_permanent_answer():
    """2·10⁴ smokers, 21 waves, the majority of each one's reports; false-alarm rate 1e-9. With a
    permanent answer it finds the truth in 3 of 4, as one report does; drawn anew, in 99 of 100,
    and so the guarantee is multiplied."""
    people, waves = 20_000, 21
    form = Questionnaire("Both", [KEPT, SMOKER], waves=waves)
    yes = {"kept": np.ones(people, bool), "smoker": np.ones(people, bool)}
    with seeded(9):
        rounds = [form.respond_many(yes)]
        for wave in range(2, waves + 1):
            rounds.append(form.respond_many(yes, wave=wave, before=rounds[-1]))
    majority = {
        name: int((sum(each.answers[name] for each in rounds) > waves / 2).sum()) for name in yes
    }
    low, high = binom.ppf([FALSE_ALARM / 2, 1 - FALSE_ALARM / 2], people, 0.75)
    assert low <= majority["kept"] <= high
    assert majority["smoker"] > 0.98 * people > high
    assert form.epsilon == (1 + waves) * SMOKER.randomizer.epsilon


def test_later_waves_need_the_reports_of_an_earlier_one():
    """Of the same survey, the same people, an earlier wave. Catches permanent answers that are
    quietly drawn again."""
    form = Questionnaire("Kept", [KEPT], waves=3)
    yes = {"kept": [True] * 4}
    with pytest.raises(Refused, match="give its reports with before="):
        form.respond_many(yes, wave=2)
    first = form.respond_many(yes)
    with pytest.raises(InvalidArgument, match="of a wave before 1"):
        form.respond_many(yes, wave=1, before=first)
    other = Questionnaire("Other", [KEPT], waves=3).respond_many(yes)
    for before in (other, form.respond_many({"kept": [True] * 5}), "reports"):
        with pytest.raises(InvalidArgument, match="the same people"):
            form.respond_many(yes, wave=2, before=before)
    assert Questionnaire("Free", [SMOKER], waves=2).respond_many({"smoker": [True]}, wave=2)
