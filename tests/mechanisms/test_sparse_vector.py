"""Sparse vector and above threshold: their laws, promise, free gap, state, error and doors."""

from __future__ import annotations

import copy
import math
import os
import pickle
import sys
import threading
import time
from collections import Counter
from contextlib import suppress
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from discreet.errors import DiscreetError, InvalidArgument, Refused
from discreet.guarantees import Pure
from discreet.laws.sparse_vector import SparseAnswers
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.sparse_vector import SparseVector
from discreet.numeric.balls import lower
from discreet.testing import seeded

FALSE_ALARM = 1e-9
DRAWS = 12_000
SCORES = [0, 2, -1, 1]


def sparse(**changes) -> SparseVector:
    good = {"sensitivity": 1, "epsilon": 3, "threshold": "1/2", "hits": 2}
    return SparseVector(**(good | changes))


def fits(draws, law: SparseAnswers) -> bool:
    """Chi-square at a false-alarm rate of 1e-9 over all outcomes."""
    counts = Counter(tuple(draw) for draw in draws)
    outcomes = list(law.outcomes)
    assert set(counts) <= set(outcomes)
    expected = [law.pmf(o) * len(draws) for o in outcomes]
    return chisquare([counts[o] for o in outcomes], expected).pvalue > FALSE_ALARM


def with_threshold_noise(mechanism: SparseVector, scale: Fraction) -> SparseAnswers:
    return SparseAnswers(
        SCORES,
        threshold=mechanism.threshold,
        threshold_scale=scale,
        query_scale=mechanism.query_scale,
        hits=mechanism.hits,
    )


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "asked",
    [
        pytest.param(lambda m: m.release(SCORES), id="list", marks=pytest.mark.long),  # as arrays
        pytest.param(lambda m: m.release(np.array(SCORES, np.float32)), id="array"),
        pytest.param(lambda m: m.release(iter(SCORES)), id="iterator"),
    ],
)
def test_release_follows_its_law_and_no_other(asked):
    """Catches threshold noise drawn afresh for each score, left out, or of the wrong scale."""
    mechanism = sparse()
    with seeded(6):
        draws = [asked(mechanism) for _ in range(DRAWS)]
    assert fits(draws, mechanism.law(SCORES))
    for factor in (Fraction(1, 1000), Fraction(1, 2), 2):
        lie = with_threshold_noise(mechanism, factor * mechanism.threshold_scale)
        assert not fits(draws, lie)


@pytest.mark.no_cover
def test_above_threshold_follows_its_law_and_no_other():
    mechanism = AboveThreshold(sensitivity=1, epsilon=2, threshold=1)
    law, lie = mechanism.law(SCORES), mechanism.law([s + 0.5 for s in SCORES])
    with seeded(7):
        counts = Counter(mechanism.release(SCORES) for _ in range(DRAWS))
    outcomes = [None, 0, 1, 2, 3]
    observed = [counts[o] for o in outcomes]
    assert sum(law.pmf(o) for o in outcomes) == pytest.approx(1, abs=1e-15)
    assert chisquare(observed, [law.pmf(o) * DRAWS for o in outcomes]).pvalue > FALSE_ALARM
    assert chisquare(observed, [lie.pmf(o) * DRAWS for o in outcomes]).pvalue < FALSE_ALARM
    assert law.pmf(4) == law.pmf(-1) == 0


@pytest.mark.no_cover
def test_the_gap_follows_its_law_and_no_other():
    """Leads of the first hit, in cells; the same cells for scores half a unit off are rejected."""
    mechanism = sparse(hits=1, gap=True)
    edges = [0, 1, 2, 4, 7, math.inf]
    with seeded(8):
        draws = [mechanism.release([1.0]) for _ in range(DRAWS)]
    leads = [draw[0] for draw in draws]
    observed = [leads.count(None)]
    observed += [sum(d is not None and a <= d < b for d in leads) for a, b in pairwise(edges)]

    def expected(score: float) -> list[float]:
        def at_least(a: float) -> float:  # a score lower by a is a hit as often as a lead of a
            if a == math.inf:
                return 0.0
            shift = max(Fraction(0), Fraction(a) - mechanism.law([0]).step / 2)
            return sparse(hits=1).law([float(score - shift)]).pmf((True,))

        tails = [at_least(a) for a in edges]
        cells = [1 - tails[0], *(a - b for a, b in pairwise(tails))]
        return [p * DRAWS for p in cells]

    assert chisquare(observed, expected(1.0)).pvalue > FALSE_ALARM
    assert chisquare(observed, expected(1.5)).pvalue < FALSE_ALARM


def test_the_gap_law_sums_to_the_law_without_gaps():
    """The cells of all leads make up one True: catches a cell counted twice or lost."""
    scales = {"threshold": 1, "threshold_scale": 1, "query_scale": 2, "hits": 2}
    plain = SparseAnswers((0, 2, 1), **scales)
    gaps = SparseAnswers((0, 2, 1), step=1, **scales)
    total = sum(gaps.pmf((None, k, None)) for k in range(80))
    assert total == pytest.approx(plain.pmf((False, True, False)), rel=1e-12)
    assert gaps.pmf((None, 0.5, None)) == gaps.pmf((None, True)) == gaps.pmf((None, -1, None)) == 0
    assert plain.pmf((True, True, False)) == plain.pmf((False, 1)) == plain.pmf((True,)) == 0


def test_the_law_agrees_with_quadrature():
    """An independent route: numerical integration over the threshold."""
    from scipy.integrate import quad

    law = SparseAnswers((0, 3), threshold=2, threshold_scale=1, query_scale=2, hits=1)

    def tail(x: float) -> float:
        return math.exp(-x / 2) / 2 if x >= 0 else 1 - math.exp(x / 2) / 2

    def integrand(y: float) -> float:
        return math.exp(-abs(y - 2)) / 2 * (1 - tail(y)) * tail(y - 3)

    pieces = [-40, 0, 2, 3, 45]
    total = sum(quad(integrand, a, b)[0] for a, b in pairwise(pieces))
    assert law.pmf((False, True)) == pytest.approx(total, abs=1e-9)


def loss(p: SparseAnswers, q: SparseAnswers) -> float:
    return max(abs(math.log(p.pmf(o) / q.pmf(o))) for o in p.outcomes)


@pytest.mark.no_cover
@pytest.mark.parametrize("monotone", [False, True])
@given(
    scores=st.lists(st.integers(-3, 3), min_size=1, max_size=5),
    moves=st.lists(st.integers(0, 2), min_size=5, max_size=5),
    hits=st.integers(1, 2),
)
def test_neighbours_are_never_further_apart_than_epsilon(monotone, scores, moves, hits):
    """Every outcome of every run, exactly. Catches 2·hits or hits left out of a scale."""
    down = 0 if monotone else 1  # moves are 0..2 or −1..1
    moved = [s + move - down for s, move in zip(scores, moves, strict=False)]
    mechanism = SparseVector(
        sensitivity=2 if monotone else 1, epsilon=1, threshold=0, hits=hits, monotone=monotone
    )
    assert mechanism.guarantee == Pure(1)
    assert loss(mechanism.law(scores), mechanism.law(moved)) <= 1 + 1e-12


@pytest.mark.no_cover
@pytest.mark.parametrize("monotone", [False, True])
@given(
    scores=st.lists(st.integers(-3, 3), min_size=2, max_size=4),
    moves=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    leads=st.lists(st.integers(0, 9), min_size=2, max_size=2),
)
def test_the_gap_is_free(monotone, scores, moves, leads):
    """None, ..., then two leads: exact loss at most ε. Catches a gap to the true threshold."""
    down = 0 if monotone else 1
    moved = [s + move - down for s, move in zip(scores, moves, strict=False)]
    mechanism = SparseVector(
        sensitivity=2 if monotone else 1,
        epsilon=1,
        threshold=0,
        hits=2,
        monotone=monotone,
        gap=True,
    )
    here, there = mechanism.law(scores), mechanism.law(moved)
    answers = [None] * (len(scores) - 2) + [lead * 512 * here.step for lead in leads]
    assert abs(math.log(here.pmf(answers) / there.pmf(answers))) <= 1 + 1e-9


@pytest.mark.parametrize("hits", [1, 4, 1000])
@pytest.mark.parametrize("monotone", [False, True])
def test_the_split_adds_up_and_is_near_the_best(hits, monotone):
    """ε₁ + ε₂ = ε exactly. Var ∝ 1/ε₁² + (moves/ε₂)² is within 1e-6 of its least."""
    mechanism = sparse(hits=hits, monotone=monotone, epsilon="1/3")
    first, second = mechanism.split
    moves = hits if monotone else 2 * hits
    assert first + second == Fraction(1, 3)
    assert mechanism.threshold_scale == 1 / first
    assert mechanism.query_scale == moves / second
    best = (1 + moves ** (2 / 3)) ** 3  # the least of 1/x² + (moves/(1 − x))², in units of 1/ε²
    ours = (1 / first**2 + (moves / second) ** 2) / 9
    assert float(ours) == pytest.approx(best, rel=1e-6)


def test_answers_end_with_the_last_hit():
    mechanism = sparse(threshold=1000)
    low, high = 0, 10**6
    assert mechanism.release([low, high, low, high, high, low]) == [False, True, False, True]
    assert mechanism.release([low, high, low]) == [False, True, False]
    gaps = sparse(threshold=1000, gap=True).release([low, high, low, high, high])
    assert gaps[0] is gaps[2] is None
    assert gaps[1] == pytest.approx(999_000, abs=500)
    assert len(gaps) == 4


def test_long_arrays_are_answered_across_chunks():
    """Hits far apart, beyond one chunk: the count of hits is carried over."""
    scores = np.zeros(200_000)
    scores[[5, 100_000, 150_000]] = 1e9
    answers = sparse(threshold=10**6).release(scores)
    assert np.flatnonzero(answers).tolist() == [5, 100_000]
    assert len(answers) == 100_001
    assert AboveThreshold(sensitivity=1, epsilon=1, threshold=10**6).release(scores) == 5
    assert AboveThreshold(sensitivity=1, epsilon=1, threshold=10**12).release(scores) is None


def test_an_iterator_is_read_no_further_than_the_last_hit():
    """An endless stream ends with the hits, and what follows is left to the caller."""
    stream = iter([0, 10**9, 0, 10**9, 7, 8])
    assert sparse(threshold=10**6).release(stream) == [False, True, False, True]
    assert next(stream) == 7
    assert AboveThreshold(sensitivity=1, epsilon=1, threshold=10**6).release(iter([])) is None


def test_a_run_is_asked_adaptively_until_it_is_exhausted():
    run = sparse(threshold=1000, hits=2).start()
    assert (run.remaining, run.exhausted) == (2, False)
    assert run.ask(10**6) is True
    assert run.ask(-(10**6)) is False
    assert run.remaining == 1
    assert run.ask_all([0, 10**6, 10**6]) == [False, True]
    assert run.exhausted
    for ask in (lambda: run.ask(0), lambda: run.ask_all([0])):
        with pytest.raises(Refused, match="all hits of this run are used up"):
            ask()


def test_a_run_keeps_one_threshold():
    """With query noise made negligible, all answers of a run agree; runs differ.

    Catches a threshold drawn anew for each question (Algorithm 2 without its own charge).
    """
    mechanism = SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=10**6)
    scores = [0.0] * 200
    law = mechanism.law(scores[:1])
    assert law.threshold_scale < law.query_scale  # nothing in the API makes it negligible ...
    with seeded(9):
        shares = []
        for _ in range(300):
            run = mechanism.start()
            run._scale = Fraction(1, 10**9)  # ... so it is done here by hand
            shares.append(np.mean(run.ask_all(scores)))
    assert set(shares) == {0.0, 1.0}
    assert 90 < sum(shares) < 210  # fair coin, 300 times: beyond 6.9 standard deviations


def test_a_run_cannot_be_copied_pickled_or_forked(monkeypatch):
    """Each would answer the same hits again, on the same noisy threshold."""
    run = sparse().start()
    for duplicate in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(Refused, match="cannot be copied or pickled"):
            duplicate(run)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(Refused, match="forked process"):
        run.ask(1)


def test_threads_share_the_hits():
    """Eight threads ask for sure hits at once: exactly as many are answered as were paid for.

    Each comparison is made to dawdle, so that without a lock all threads would pass the check.
    """
    run = sparse(threshold=0, hits=3).start()
    compare, answers = run._threshold.compare, []

    def dawdle(*arguments):
        time.sleep(0.02)
        return compare(*arguments)

    run._threshold.compare = dawdle

    def ask() -> None:
        with suppress(Refused):
            answers.append(run.ask(10**9))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [True] * 3


@pytest.mark.parametrize("queries", [1, 30])
def test_error_holds_and_is_not_idle(queries):
    """Scores just outside the bound are all answered rightly with the stated probability; at a
    third of the bound they are not. Catches a lost k or a scale that is not the actual one."""
    mechanism = AboveThreshold(sensitivity=1, epsilon=1, threshold=5)
    alpha = mechanism.error(0.95, queries=queries)

    def right(distance: float) -> float:
        below = mechanism.law([5 - distance] * queries).mass(None)
        above = mechanism.law([5 + distance]).mass(0)
        return min(lower(below), lower(above))

    assert right(alpha) >= 0.95
    assert right(alpha / 3) < 0.95


@pytest.mark.parametrize("queries", [1, 1000])
def test_error_is_the_stated_formula_rounded_up(queries):
    mechanism = sparse(hits=3)
    a, b = float(mechanism.threshold_scale), float(mechanism.query_scale)
    alpha = a * math.log((a + b) / (a * 0.01)) + b * math.log(queries * (a + b) / (b * 0.01))
    assert mechanism.error(0.99, queries=queries) == pytest.approx(alpha, rel=1e-14)


def test_above_threshold_is_a_sparse_vector_with_one_hit():
    mechanism = AboveThreshold(sensitivity=2, epsilon="1/2", threshold=-3, monotone=True)
    assert (mechanism.sensitivity, mechanism.epsilon) == (2, Fraction(1, 2))
    assert (mechanism.threshold, mechanism.monotone) == (-3, True)
    assert mechanism.guarantee == Pure("1/2")
    assert mechanism.sparse.hits == 1


def test_nothing_raises_because_of_a_score():
    """The edges of int64 and of the doubles, and integers beyond: answered, saturated gaps."""
    huge = [10**30, -(10**30), 2**63 - 1, -(2**63)]
    assert sparse(hits=9).release(huge) == [True, False, True, False]
    edges = [sys.float_info.max, -sys.float_info.max, 5e-324, 0.0]
    assert sparse(hits=9).release(edges)[:2] == [True, False]
    assert sparse(hits=1, gap=True).release(edges) == [sys.float_info.max]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"epsilon": 0}, "epsilon must be above 0"),
        ({"epsilon": "1e-300"}, "epsilon must be between"),
        ({"sensitivity": 0}, "sensitivity must be above 0"),
        ({"threshold": math.nan}, "threshold must be a finite number"),
        ({"threshold": "1e400"}, "threshold must be between"),
        ({"hits": 0}, "hits must be a whole number, 1 or above"),
        ({"hits": 1.5}, "hits must be a whole number"),
        ({"hits": 10**10}, "hits must be at most"),
        ({"monotone": "no"}, "monotone must be True or False"),
        ({"gap": None}, "gap must be True or False"),
    ],
)
def test_bad_parameters(changes, says):
    with pytest.raises(InvalidArgument, match=says):
        sparse(**changes)


@pytest.mark.parametrize(
    ("stream", "says"),
    [
        ([], "at least one number"),
        ([1.0, math.nan], "finite, got NaN"),
        (iter([math.inf]), "finite, got NaN or an infinity"),
        (np.zeros((2, 2)), "stream must be a flat list"),
        (iter([[1, 2]]), "score must be a single number"),
        (np.array([None]), "integers or floats"),
        (["a"], "numbers only|of one shape|at least one"),
        ("abc", "stream must be a list, an array or an iterator"),
        (b"abc", "stream must be a list, an array or an iterator"),
        ({"a": 1}, "stream must be a list, an array or an iterator"),
        ({1, 2}, "stream must be a list, an array or an iterator"),
        (3, "stream must be a list, an array or an iterator"),
        (np.float64(3), "stream must be a flat list"),
        (iter([True]), "integers or floats"),
    ],
)
def test_bad_streams(stream, says):
    with pytest.raises(DiscreetError, match=says):
        sparse().release(stream)


@pytest.mark.parametrize("arguments", [{"confidence": 1}, {"queries": 0}, {"queries": 2.5}])
def test_bad_error_questions(arguments):
    with pytest.raises(InvalidArgument, match=next(iter(arguments))):
        sparse().error(**({"confidence": 0.95, "queries": 2} | arguments))
