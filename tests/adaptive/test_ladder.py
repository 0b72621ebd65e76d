"""The Ladder: how many submissions there can be, its rungs, its intervals, its doors."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

import discreet as dp
from discreet.adaptive import validity
from discreet.adaptive.ladder import Ladder, Rungs, best_rungs
from discreet.errors import InvalidArgument, Refused

LABELS = np.arange(100) % 2
FAILURE = Fraction(1, 20)


def rungs(n: int = 1000, submissions: int = 100, count: int = 10) -> Rungs:
    return Rungs(n, submissions, FAILURE, Fraction(1, count))


def transcripts(some: Rungs) -> int:
    """How many different submissions there are in all."""
    return math.comb(some.submissions + some.count, some.count + 1)


@pytest.mark.parametrize(("submissions", "count"), [(1, 3), (4, 1), (4, 3), (5, 2)])
def test_submissions_are_counted_as_by_listing_every_history(submissions, count) -> None:
    """Catches a wrong binomial: histories are all answers that never fall."""
    found: dict[int, int] = {}
    for made in range(submissions):
        for history in product(range(count + 1), repeat=made):
            if list(history) == sorted(history):
                rises = len({0, *history}) - 1
                found[rises] = found.get(rises, 0) + 1
    some = rungs(submissions=submissions, count=count)
    assert {j: some.questions(j) for j in found} == found
    assert transcripts(some) == sum(found.values())


@pytest.mark.parametrize("n", [500, 10**5])
@pytest.mark.parametrize("submissions", [10, 10**5])
def test_it_is_sharper_than_the_paper_by_the_same_argument(n, submissions) -> None:
    """Catches a count that is larger than the paper's, and a width that is not the least."""
    best = best_rungs(n=n, submissions=submissions, failure=FAILURE, baseline=Fraction(0))
    step = float(best.step)
    paper = 1 + (1 / step + 2) * math.log(4 * submissions / step)
    assert math.log(transcripts(best)) < paper
    assert best.width < min(1, step + math.sqrt((paper - math.log(FAILURE)) / (2 * n)))
    for count in (best.count - 1, best.count + 1):
        if count:
            assert rungs(n, submissions, count).width >= best.width


def test_intervals_say_what_was_proved() -> None:
    """Catches a wrong class of submissions: the leader's is one rise before the others'."""
    some = rungs()
    classes = min(10, 99) + 1
    exponents = [
        math.log(2 * classes * max(some.questions(i) for i in range(j + 1)) / 0.05)
        for j in range(classes)
    ]
    low, high = some.interval(rung=7, rises=3)
    assert low == pytest.approx(validity.lower_end(0.7, 1000, exponents[2]), abs=1e-9)
    assert high == pytest.approx(validity.upper_end(0.8, 1000, exponents[3]), abs=1e-9)
    assert some.interval(rung=0, rises=0)[0] == 0
    lengths = [some.interval(rung=5, rises=j) for j in range(1, 6)]
    assert [high - low for low, high in lengths] == sorted(high - low for low, high in lengths)
    for rung, rises in [(1, 1), (5, 2), (10, 10)]:
        low, high = some.interval(rung=rung, rises=rises)
        assert high - low <= 2 * some.width + 1e-9


def test_scores_are_shown_on_rungs_and_only_when_they_rise() -> None:
    """Catches rounding up, floats at a rung, and an answer that tells more than the leader's."""
    board = Ladder(LABELS, submissions=6, step="0.1")
    wrong = 1 - LABELS
    seen = []
    for right in (29, 30, 35, 100, 69):
        guess = wrong.copy()
        guess[:right] = LABELS[:right]
        standing = board.submit(guess)
        seen.append((standing.value, standing.improved))
    assert seen == [(0.2, True), (0.3, True), (0.3, False), (1.0, True), (1.0, False)]
    assert board.best.value == 1
    assert board.best.interval[1] == 1
    assert board.remaining == 1
    board.submit(wrong)
    with pytest.raises(Refused, match=r"all 6 submissions have been made; .* fresh labels"):
        board.submit(wrong)


def test_one_sided_statements_make_up_the_interval() -> None:
    standing = Ladder(LABELS, submissions=10, step="0.1").submit(LABELS * 0)
    low, high = standing.interval
    assert (standing.value - standing.below, standing.value + standing.above) == (low, high)
    assert 0 < low < 0.5 < 0.6 < high < 1


def test_a_baseline_saves_rungs() -> None:
    plain = Ladder(LABELS, submissions=1000)
    from_half = Ladder(LABELS, submissions=1000, baseline=0.5)
    assert from_half.error < plain.error
    assert from_half.submit(1 - LABELS).value == 0.5  # nothing below it is shown
    assert from_half.best.interval[0] == 0  # and nothing is claimed


def test_there_is_no_privacy_and_it_says_so() -> None:
    board = Ladder(LABELS, submissions=10)
    assert board.guarantee == dp.TotalVariation(1)
    assert board.guarantee.tv == 1
    assert "nobody's label is protected" in board.explain()


def test_intervals_hold_against_many_submissions_and_fail_without_the_union() -> None:
    """500 submissions of coins for 200 labels: the best seems to be above ½, all of them are ½.

    20 boards at 90 % confidence: more than 11 misses would have a chance below 1e-6. With the
    interval that holds for a single submission, at the same confidence, most boards miss.
    """
    coins = np.random.default_rng(7)
    missed, missed_alone = 0, 0
    one = validity.exponent(2, failure=Fraction(1, 10))
    for _ in range(20):
        labels = coins.integers(0, 2, 200)
        board = Ladder(labels, submissions=500, confidence=0.9, baseline=0.5, step=0.01)
        for guesses in coins.integers(0, 2, (500, 200)):
            standing = board.submit(guesses)
        missed += not standing.interval[0] <= 0.5 <= standing.interval[1]
        missed_alone += validity.lower_end(standing.value, 200, one) > 0.5
    assert binom.sf(11, 20, 0.1) < 1e-6
    assert missed <= 11 < missed_alone


def test_other_scores_are_clamped_and_never_fail() -> None:
    truths = np.array([0.0, 0.5, 1.0, np.nan])
    board = Ladder(truths, submissions=10, step="0.05", score=lambda p, y: 1 - np.abs(p - y))
    assert board.submit([0.0, 0.5, 0.5, 0.0]).value == pytest.approx(0.6)  # 2.5 of 4, NaN is 0
    assert not board.submit([5.0, 5.0, 5.0, 5.0]).improved


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"submissions": 0}, "submissions"),
        ({"step": 0}, "step"),
        ({"step": "1/2000"}, "step must be between"),
        ({"baseline": 1}, "baseline must be below 1"),
        ({"score": "accuracy"}, "score must be a function"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": "0.9999999999999"}, "confidence must be from 0.01 to"),
        ({"submissions": 10**10}, "submissions must be from 1 to 1,000,000,000"),
    ],
)
def test_bad_parameters_are_refused(changes, words) -> None:
    with pytest.raises(InvalidArgument, match=words):
        Ladder(LABELS, **({"submissions": 10} | changes))


def test_bad_data_is_refused_without_a_word_of_it() -> None:
    with pytest.raises(InvalidArgument, match="labels must be an array"):
        Ladder([], submissions=10)
    board = Ladder(LABELS, submissions=10)
    for predictions in ([1, 0], 7, np.zeros(101)):
        with pytest.raises(InvalidArgument, match="one prediction for each of 100 labels"):
            board.submit(predictions)
    assert board.remaining == 10


def test_it_cannot_be_copied() -> None:
    board = Ladder(LABELS, submissions=10)
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Refused, match="cannot be copied or pickled"):
            way(board)
    assert "remaining=10" in repr(board)


def test_predictions_that_could_never_be_right_are_refused_and_cost_nothing() -> None:
    """Catches a perfect submission that is judged 0 because of its shape or kind."""
    board = Ladder(LABELS, submissions=10)
    scores = [LABELS[:, None], LABELS.astype(str), LABELS * 0.5, np.full(100, np.nan)]
    for predictions in [*scores, [[1], [2, 3]] * 50]:
        with pytest.raises(InvalidArgument, match="predictions must be"):
            board.submit(predictions)
    assert board.remaining == 10
    for right in (LABELS.astype(float), LABELS == 1, LABELS.tolist()):
        assert Ladder(LABELS, submissions=9, step="0.1").submit(right).value == 1
    words = np.array(["a", "b"])[LABELS]
    assert Ladder(words, submissions=9, step="0.1").submit(words.tolist()).value == 1
    one_hot = np.eye(2)[LABELS]
    for labels in (one_hot, [[1], [2, 3]]):
        with pytest.raises(InvalidArgument, match="labels must be an array"):
            Ladder(labels, submissions=10)
    scored = Ladder(one_hot, submissions=9, step="0.1", score=lambda p, y: (p * y).sum(axis=1))
    assert scored.submit(one_hot).value == 1
    with pytest.raises(InvalidArgument):
        Ladder(LABELS, submissions=9, score=lambda p, y: (p == y).mean()).submit(LABELS)


def test_a_forked_copy_is_refused() -> None:
    board = Ladder(LABELS, submissions=10)
    board._process += 1  # as a forked copy finds it
    with pytest.raises(Refused, match="another process"):
        board.submit(LABELS)
    assert board.remaining == 10


def test_the_widest_class_is_found_without_listing_all() -> None:
    """Catches a turning point that is off, and a search that takes minutes for small samples."""
    for submissions, count in [(1, 5), (2, 5), (5, 5), (9, 30), (40, 7), (1000, 20)]:
        some = rungs(submissions=submissions, count=count)
        assert some.radius == pytest.approx(validity.radius(1000, some._exponents[-1]) + 2.0**-32)
    assert best_rungs(n=10, submissions=10**9, failure=FAILURE, baseline=Fraction(0)).width == 1


def test_words_of_a_standing() -> None:
    board = Ladder(LABELS, submissions=1, step="0.5")
    assert "1 submission judged by 100 labels on 2 rungs" in board.explain()
    assert "With 95 % confidence" in board.explain()
    assert str(board.submit(LABELS)).startswith("1, the best so far; its true score is from 0.")
