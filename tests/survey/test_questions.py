"""Questions: what they accept, what they refuse, and that no refusal quotes an answer."""

import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.auditor.verify import verify
from discreet.errors import InvalidArgument
from discreet.survey import ChooseAny, ChooseOne, Number, YesNo

COLOURS = ("red", "green", "blue")
SMOKER = YesNo("smoker", "Do you smoke?", truth=0.5)
COLOUR = ChooseOne("colour", "Which colour?", options=COLOURS, epsilon=1)
CODED = ChooseOne("code", "Which code?", options=500, epsilon=1)
TICKS = ChooseAny("ticks", "Which?", options=COLOURS, most=2, epsilon=1)
AGE = Number("age", "How old are you?", bounds=(0, 120), step=1, epsilon=1, unit="years")
ALL = (SMOKER, COLOUR, CODED, TICKS, AGE)


@pytest.mark.parametrize(
    ("question", "answer", "truth"),
    [
        (SMOKER, True, 1),
        (SMOKER, np.bool_(False), 0),
        (SMOKER, " Yes ", 1),
        (COLOUR, "blue", 2),
        (CODED, 7, 7),
        (CODED, "499", 499),
        (TICKS, [], [False] * 3),
        (TICKS, {"red", "blue"}, [True, False, True]),
        (AGE, 30, 30),
        (AGE, "29.5", 30),
        (AGE, Decimal("120"), 120),
        (AGE, np.float32(0.4), 0),
    ],
)
def test_answers_become_codes(question, answer, truth):
    """Catches yes and no exchanged, options counted from one, a number rounded to even."""
    assert np.array_equal(question.read(answer), truth)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (SMOKER, "perhaps"),
        (SMOKER, 1.0),
        (SMOKER, None),
        (COLOUR, "Red"),
        (COLOUR, 0),  # the first option, or a mistake?
        (COLOUR, ["red"]),
        (CODED, 500),
        (CODED, -1),
        (CODED, True),
        (CODED, "007"),
        (TICKS, "red"),
        (TICKS, ["red", "red"]),
        (TICKS, ["red", "green", "blue"]),  # more than most
        (TICKS, [["red"]]),
        (TICKS, np.array("red")),
        (TICKS, np.array([["red"]])),
        (AGE, 121),
        (AGE, float("nan")),
        (AGE, float("-inf")),
        (AGE, True),
        (AGE, "old"),
        (AGE, "9" * 5000),
        (AGE, 10**400),
    ],
)
def test_wrong_answers_are_refused(question, answer):
    """Whatever is not an answer. Catches a bool read as a number, a place read as an option."""
    with pytest.raises(InvalidArgument):
        question.read(answer)


@pytest.mark.parametrize("question", ALL, ids=lambda question: question.name)
def test_no_refusal_quotes_an_answer(question):
    """Attack E4: a canary as answer and inside a column is in no message and in no exception
    behind it. Catches an error of the number reader that is passed on."""
    canary = "98765.4321 canary"
    refusals = []
    for attempt in (canary, 98765.4321, [canary], {canary: 1}):
        with pytest.raises(InvalidArgument) as caught:
            question.read(attempt)
        refusals.append(caught.value)
    for column in ([canary, canary], [98765.4321, 1.0], [[canary], [canary]]):
        with pytest.raises(InvalidArgument) as caught:
            question.truths(column)
        refusals.append(caught.value)
    for refusal in refusals:
        while refusal is not None:
            assert "98765" not in str(refusal) and "canary" not in str(refusal)
            refusal = refusal.__context__


@settings(max_examples=40)
@given(st.lists(st.sampled_from(range(5)), min_size=1, max_size=8))
def test_columns_are_read_like_single_answers(places):
    """As texts, as codes, as arrays and lists. Catches a second reading of the same thing."""
    colours = [COLOURS[place % 3] for place in places]
    expected = [COLOUR.read(colour) for colour in colours]
    assert COLOUR.truths(colours).tolist() == expected
    assert COLOUR.truths(np.array(expected, np.uint8)).tolist() == expected
    assert COLOUR.truths(np.array(colours, object)).tolist() == expected
    assert SMOKER.truths([c == "red" for c in colours]).tolist() == [c == "red" for c in colours]
    assert SMOKER.truths([" Yes", *["yes"] * (len(places) - 1)]).tolist() == [1] * len(places)
    ticks = [sorted({COLOURS[place % 3], COLOURS[place // 2]}) for place in places]
    rows = np.array([TICKS.read(row) for row in ticks])
    assert np.array_equal(TICKS.truths(ticks), rows)
    assert np.array_equal(TICKS.truths(rows), rows)
    assert np.array_equal(TICKS.truths(rows.astype(int)), rows)
    ages = [24.25 * place for place in places]
    assert AGE.truths(ages).tolist() == [AGE.read(age) for age in ages]
    assert AGE.truths([str(age) for age in ages]).tolist() == [AGE.read(age) for age in ages]


@settings(max_examples=30)
@given(st.integers(0, 2**20), st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_the_ends_of_a_range_are_steps(place, lower, width):
    """Ends and steps are met exactly, in columns too. Catches 0 … steps − 1, and rounding out."""
    question = Number("x", "x?", bounds=(lower, lower + width), epsilon=1)
    value = Fraction(lower) + Fraction(width * place, 2**20)
    assert question.read(value) == place
    ends = question.truths(np.array([lower, lower + width], float))
    assert ends.tolist() == [0, question.steps]


@pytest.mark.parametrize(
    "column",
    [
        [],
        [[1, 2]],
        np.zeros((2, 2, 2)),
        ["red", 1],
        [None, "red"],
        [0, 3],
        [0.0],
        [b"red"],
        np.array([0, 1], "m8[ns]"),
        np.array([0, 1], "M8[s]"),
        np.ma.array([0, 1], mask=[True, False]),
    ],
    ids=str,
)
def test_columns_that_are_no_columns(column):
    """Only the empty one is read (and refused later, with the others' lengths)."""
    if len(column) == 0:
        assert COLOUR.truths(column).size == 0
    else:
        with pytest.raises(InvalidArgument):
            COLOUR.truths(column)


def test_a_dict_of_ticks_is_refused():
    """Its keys would all be ticked, whatever they are set to. Catches a wrong answer that is sent
    without a word."""
    for answer in ({"red": False, "blue": False}, {"red": True}):
        with pytest.raises(InvalidArgument, match="a list of the options that apply, which may be"):
            TICKS.read(answer)
        with pytest.raises(InvalidArgument):
            TICKS.truths([answer, answer])


def test_few_options_are_named_and_many_are_not():
    """Options are no secret, and the message does not depend on the answer. Catches a message that
    does not help, and one of a million lines."""
    says = r"one of the options \('red', 'green', 'blue'\), as it is written there"
    with pytest.raises(InvalidArgument, match=says) as caught:
        COLOUR.read("Red")
    assert "that is not; it is not repeated here" in str(caught.value)
    with pytest.raises(InvalidArgument, match=r"each once \('red', 'green', 'blue'\), got"):
        TICKS.read(["Red"])
    for options in ([f"option {i}" for i in range(13)], ["x" * 300, "y"]):
        with pytest.raises(InvalidArgument) as caught:
            ChooseOne("a", "A?", options=options, epsilon=1).read("z")
        assert len(str(caught.value)) < 150
    with pytest.raises(InvalidArgument, match="a whole number from 0 to 999"):
        ChooseOne("a", "A?", options=1000, epsilon=1).read(1000)


def test_nobody_ticks_anything():
    """Lists that are all empty make an array without entries. Catches "no column" for it."""
    for nobody in ([[]], [[], []], [(), ()], np.array([[]]), np.array([[], None], object)[:1]):
        assert TICKS.truths(nobody).tolist() == [[False] * 3] * len(nobody)
    with pytest.raises(InvalidArgument, match="rows of 3 ticks"):
        TICKS.truths(np.zeros((2, 0), bool))  # ticks for no option at all
    with pytest.raises(InvalidArgument, match="rows of 3 ticks"):
        TICKS.truths(np.zeros((2, 4), bool))
    with pytest.raises(InvalidArgument, match="at most 2"):
        TICKS.truths(np.ones((2, 3), bool))


def test_whole_numbers_for_options_written_as_numbers_are_refused():
    """1 might be the option "1" or the second one. Catches a silent shift by one."""
    numbered = ChooseOne("stars", "How many?", options=["1", "2", "3"], epsilon=1)
    assert numbered.truths(["3", "1"]).tolist() == [2, 0]
    with pytest.raises(InvalidArgument, match="second option"):
        numbered.truths([1, 2, 3])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: YesNo("a", "A?"), "epsilon or truth must be given"),
        (lambda: YesNo("a", "A?", epsilon=1, truth=0.5), "epsilon and truth"),
        (lambda: YesNo("a", "A?", epsilon=0), "above 0"),
        (lambda: YesNo("a", "A?", epsilon=float("nan")), "finite"),
        (lambda: YesNo("a", "A?", epsilon=1e-300), "large enough"),
        (lambda: YesNo("a", "A?", epsilon=True), "a number"),
        (lambda: YesNo("a", "A?", truth=1), "strictly between"),
        (lambda: YesNo("a", "A?", truth=1e-20), "at least 2"),
        (lambda: YesNo("a", "A?", epsilon=1, prior=1.5), "prior"),
        (lambda: YesNo("a", "A?", epsilon=1, permanent="yes"), "True or False"),
        (lambda: YesNo("wave", "A?", epsilon=1), "every report has already"),
        (lambda: YesNo("ID", "A?", epsilon=1), "every report has already"),
        (lambda: YesNo("a b", "A?", epsilon=1), "letters, digits or _"),
        (lambda: YesNo("_a", "A?", epsilon=1), "letters, digits or _"),
        (lambda: YesNo("ä", "A?", epsilon=1), "letters, digits or _"),
        (lambda: YesNo(7, "A?", epsilon=1), "letters, digits or _"),
        (lambda: YesNo("a", "", epsilon=1), "it has 0 characters"),
        (lambda: YesNo("a", "Why? " * 10, epsilon=1), "it begins or ends with a space"),
        (lambda: YesNo("a", "Why?\n", epsilon=1), "it begins or ends with a space or a line break"),
        (lambda: YesNo("a", "Why" * 1000, epsilon=1), "it has 3,000 characters"),
        (lambda: YesNo("a", "A?\nB?", epsilon=1), "it has a line break in it"),
        (lambda: YesNo("a", "\ud800", epsilon=1), "one line of text"),
        (lambda: ChooseOne("a", "A?", options=["x", "y", "x"], epsilon=1), "'x' .str. twice"),
        (lambda: ChooseOne("a", "A?", options=["x"], epsilon=1), "a yes/no question"),
        (lambda: ChooseOne("a", "A?", options=[], epsilon=1), "between 2 and"),
        (lambda: ChooseOne("a", "A?", options=["x", 2], epsilon=1), "one line of text"),
        (lambda: ChooseOne("a", "A?", options=["x", " y"], epsilon=1), "without spaces"),
        (lambda: ChooseOne("a", "A?", options="xy", epsilon=1), "a number"),
        (lambda: ChooseOne("a", "A?", options=10**8, epsilon=1), "4,194,304"),
        (lambda: ChooseOne("a", "A?", options=3, epsilon=1, mechanism="hash"), "one of best"),
        (
            lambda: ChooseOne("a", "A?", options=3, truth=0.5, mechanism="unary"),
            "whose chance it is",
        ),
        (lambda: ChooseAny("a", "A?", options=["x", "y"], epsilon=1, most=3), "at most 2"),
        (lambda: ChooseAny("a", "A?", options=["x", "y"], epsilon=1, most=0), "1 or above"),
        (lambda: ChooseAny("a", "A?", options=7, epsilon=1), "a list"),
        (lambda: ChooseAny("a", "A?", options=["x", "y"], epsilon=1, mechanism="unary"), "most"),
        (lambda: Number("a", "A?", bounds=(1, 0), epsilon=1), "lower below upper"),
        (lambda: Number("a", "A?", bounds=(0, float("inf")), epsilon=1), "finite"),
        (lambda: Number("a", "A?", bounds=(0, 1e300), epsilon=1), "in size"),
        (lambda: Number("a", "A?", bounds=(10**12, 10**12 + 1), epsilon=1), "millionth"),
        (lambda: Number("a", "A?", bounds=(0, 10), step=3, epsilon=1), "whole number of steps"),
        (lambda: Number("a", "A?", bounds=(0, 10), step=1e-12, epsilon=1), "at most 4,294,967,296"),
        (lambda: Number("a", "A?", bounds=(0, 10), step=0, epsilon=1), "above 0"),
        (lambda: Number("a", "A?", bounds=(0, 1), epsilon=1, unit=" "), "one line of text"),
    ],
)
def test_mistakes_are_told_when_a_question_is_made(make, says):
    """Each with a sentence about its own mistake. Catches a check that comes too late."""
    with pytest.raises(InvalidArgument, match=says):
        make()


def test_the_named_mechanism_is_taken_and_the_best_one_explained():
    """Catches a name that is ignored, and a choice without a reason."""
    for mechanism in ("response", "unary", "projective"):
        question = ChooseOne("a", "A?", options=20, epsilon=1, mechanism=mechanism)
        assert question.randomizer.kind == mechanism and "as asked for" in question.why()
    chosen = ChooseOne("a", "A?", options=20, epsilon=1)
    assert chosen.randomizer.variance() == min(
        ChooseOne("a", "A?", options=20, epsilon=1, mechanism=m).randomizer.variance()
        for m in ("response", "unary", "projective")
    )
    assert chosen.why().startswith(chosen.randomizer.name) and "variance" in chosen.why()
    assert "points" in chosen.why(10_000)
    assert "because truth was given" in ChooseOne("a", "A?", options=4, truth=0.5).why()


@pytest.mark.parametrize("question", [SMOKER, COLOUR, TICKS, AGE], ids=lambda q: q.name)
def test_every_guarantee_is_confirmed_by_the_auditor(question):
    """`verify` recomputes the promise from the laws. Catches a question that promises less noise
    than its randomizer makes."""
    assert verify(question.randomizer).holds
    assert question.epsilon is None or question.randomizer.epsilon <= question.epsilon


def test_questions_are_values():
    """Equal by what they ask, hashable, and whole after pickling. Catches state in a cache."""
    for question in ALL:
        again = pickle.loads(pickle.dumps(question))
        assert again == question and hash(again) == hash(question)
        assert type(question)(question.name, question.text, **question.fields()) == question
        with pytest.raises(AttributeError):
            question.name = "other"
    assert AGE.categories == ("0", "120") and SMOKER.categories == ("no", "yes")
    assert CODED.categories[:2] == ("0", "1") and len(CODED.categories) == 500
