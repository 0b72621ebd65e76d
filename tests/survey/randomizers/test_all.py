"""The exam that every randomizer passes: its law, its promise, its estimates."""

from __future__ import annotations

import copy
import json
import pickle
from fractions import Fraction

import numpy as np
import pytest
from mpmath import log, mp, mpf
from scipy.stats import chi2

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.survey.randomizers import GRID, Items, Levels, Projective, Response, Unary
from discreet.survey.randomizers.randomizer import sets
from discreet.testing import seeded

FALSE_ALARM = 1e-7  # of every statistical test below; with a fixed seed it never fires by chance

MAKERS = {
    "two": lambda e: Response(categories=2, epsilon=e),
    "five": lambda e: Response(categories=5, epsilon=e),
    "unary": lambda e: Unary(categories=4, epsilon=e),
    "unary of two": lambda e: Unary(categories=4, epsilon=e, most=2),
    "unary of all": lambda e: Unary(categories=3, epsilon=e, most=3),
    "hadamard": lambda e: Projective(categories=6, epsilon=Fraction(e) / 8),
    "line": lambda e: Projective(categories=5, epsilon=Fraction(e) * 2),
    "plane": lambda e: Projective(categories=10, epsilon=e),
    "items": lambda e: Items(categories=3, epsilon=e),
    "more items": lambda e: Items(categories=3, epsilon=Fraction(e) * 5),
    "levels": lambda e: Levels(steps=5, epsilon=e),
    "more levels": lambda e: Levels(steps=9, epsilon=Fraction(e) * 4),
}
ASKED = {"hadamard": Fraction(1, 8), "line": Fraction(2), "more items": Fraction(5)}
ASKED["more levels"] = Fraction(4)
every = pytest.mark.parametrize("which", list(MAKERS))


def made(which):
    return MAKERS[which](1), ASKED.get(which, Fraction(1))


def with_step(randomizer, change):
    """The same randomizer with another T: an error planted in it."""
    planted = copy.copy(randomizer)
    if isinstance(randomizer, Levels):
        object.__setattr__(planted, "response", with_step(randomizer.response, change))
    else:
        object.__setattr__(planted, "step", change(randomizer.step))
    return planted


def truth_rows(randomizer, number, n):
    """n times the input with this number, as ``randomize`` takes it."""
    if randomizer.kind == "items" or getattr(randomizer, "most", 1) > 1:
        row = np.zeros(randomizer.categories, bool)
        row[list(sets(randomizer.categories, getattr(randomizer, "most", 3))[number])] = True
        return np.tile(row, (n, 1))
    return np.full(n, number)


def scalars(randomizer, reports):
    """Reports as the outcomes of the law: integers, or texts of 0, 1 and −."""
    if randomizer.report == "integer":
        return reports.tolist()
    return ["".join("01-"[bit] for bit in row) for row in reports.tolist()]


def row_of(text):
    return np.array([["01-".index(c) if c != "-" else -1 for c in text]], np.int8)


def worst_log_ratio(randomizer):
    """The largest log ratio over all pairs of inputs and all outcomes, to 50 digits."""
    laws = [randomizer.law(i) for i in range(randomizer.inputs.count)]
    columns = zip(*(law.weights for law in laws), strict=True)
    worst = max(max(column) / min(column) for column in columns)
    with mp.workdps(50):
        return log(mpf(worst.numerator) / worst.denominator)


@every
def test_verified_and_proven(which):
    """`dp.verify` recomputes the claim from the laws alone, for all pairs of inputs. Catches a
    guarantee that is not this law's."""
    finding = dp.verify(made(which)[0])
    assert (finding.verdict, finding.proven) == ("holds", True)


@every
def test_the_least_noise_that_keeps_the_promise(which):
    """By brute force over all pairs, to 50 digits: the loss is at most what was asked, ``epsilon``
    is that loss rounded up, and one step less noise breaks the promise. Catches rounding to
    nearest, and a T that is larger than it needs to be."""
    randomizer, asked = made(which)
    with mp.workdps(50):
        limit = mpf(asked.numerator) / asked.denominator
        stated = mpf(randomizer.epsilon.numerator) / randomizer.epsilon.denominator
        loss = worst_log_ratio(randomizer)
        assert loss <= stated <= limit
        assert stated - loss <= stated * mpf(2) ** -51
        assert worst_log_ratio(with_step(randomizer, lambda step: step - 1)) > limit


@every
def test_one_step_less_noise_is_found(which):
    """The planted error is one part in 2^53; the exact route sees it."""
    randomizer, asked = made(which)
    planted = with_step(randomizer, lambda step: step - 1)
    assert dp.verify(planted, dp.Pure(asked)).verdict == "violated"
    assert dp.verify(randomizer, dp.Pure(asked)).verdict == "holds"


def misfit(seen, law):
    """The chi-square p-value of outcomes against a law."""
    places = {outcome: i for i, outcome in enumerate(law.outcomes)}
    counts = np.bincount([places[outcome] for outcome in seen], minlength=len(places))
    expected = len(seen) * np.array([float(w) for w in law.weights])
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), len(places) - 1)


@every
def test_reports_fit_the_law(which):
    """60,000 reports of two inputs (250,000 where noise is rare), false-alarm rate 1e-7. The same
    test rejects a law whose noise is 5 % off and one that exchanges inside and outside."""
    randomizer, _ = made(which)
    lie = with_step(randomizer, lambda step: step * 21 // 20)
    n = 250_000 if which.startswith("more") else 60_000
    rejected = []
    for number in (0, randomizer.inputs.count - 1):
        with seeded(7 + number):
            seen = scalars(randomizer, randomizer.randomize(truth_rows(randomizer, number, n)))
        assert misfit(seen, randomizer.law(number)) > FALSE_ALARM
        rejected.append(misfit(seen, lie.law(number)) < FALSE_ALARM)
        if randomizer.kind == "projective":
            swapped = with_step(randomizer, lambda step: GRID - step)
            assert misfit(seen, swapped.law(number)) < FALSE_ALARM
    assert any(rejected)


@every
def test_supports_are_unbiased(which):
    """The exact expectation over the law, no sampling: P(support) is `inside` for the truth and
    `outside` for others, among those asked. Catches a wrong formula of either."""
    randomizer, _ = made(which)
    if randomizer.kind == "levels":
        return  # see test_levels.py
    for number in range(randomizer.inputs.count):
        law = randomizer.law(number)
        held = truth_rows(randomizer, number, 1)[0]
        supported = [Fraction(0)] * randomizer.categories
        asked = [Fraction(0)] * randomizer.categories
        for outcome, weight in zip(law.outcomes, law.weights, strict=True):
            report = [outcome] if randomizer.report == "integer" else row_of(outcome)
            counts = randomizer.counts(report)
            for v in range(randomizer.categories):
                supported[v] += weight * int(randomizer.supports_of(counts)[v])
                asked[v] += weight * int(randomizer.asked_of(counts)[v])
        for v in range(randomizer.categories):
            true = bool(held[v]) if np.ndim(held) else v == held
            expected = randomizer.inside if true else randomizer.outside
            assert supported[v] == expected * asked[v]


@every
def test_variance_is_that_of_surveys(which):
    """1,500 surveys of 60 respondents drawn at random; the variance of a sum of many is known to
    3.7 %, and 22 % is six standard errors. Catches a forgotten k/s, or a square."""
    randomizer, _ = made(which)
    if randomizer.kind == "levels":
        return
    surveys, n, k = 1500, 60, randomizer.categories
    people = np.random.default_rng(3).integers(0, k, surveys * n)
    truths = people
    if randomizer.kind == "items" or getattr(randomizer, "most", 1) > 1:
        truths = people[:, None] == np.arange(k)
    with seeded(4):
        reports = randomizer.randomize(truths)
    shares = []
    for start in range(0, surveys * n, n):
        counts = randomizer.counts(reports[start : start + n])
        raised = randomizer.asked_of(counts) * float(randomizer.outside)
        gain = float(randomizer.inside - randomizer.outside)
        shares.append((randomizer.supports_of(counts) - raised)[0] / gain / n)
    expected = randomizer.variance(1 / k)
    if randomizer.kind == "items":  # divided by n, not by those asked: undo s/k on both sides
        expected *= (randomizer.drawn / k) ** 2
    assert np.var(shares) * n == pytest.approx(expected, rel=0.22)


@every
def test_counts_add_up(which):
    """Batches that are counted one by one give what all at once give. Catches a transform that
    is not linear, and totals that are lost."""
    randomizer, _ = made(which)
    with seeded(1):
        reports = randomizer.randomize(truth_rows(randomizer, 1, 500))
    parts = sum(randomizer.counts(part) for part in np.array_split(reports, 7))
    assert (randomizer.supports_of(parts) == randomizer.supports(reports)).all()
    assert (randomizer.asked_of(parts) == randomizer.asked_of(randomizer.counts(reports))).all()
    assert randomizer.supports(reports).dtype == np.int64
    empty = randomizer.counts(reports[:0])
    assert not randomizer.supports_of(empty).any()
    assert not randomizer.asked_of(empty).any()


@every
def test_shapes_and_documents(which):
    """Reports have the stated type; the document is JSON of numbers that a browser holds."""
    randomizer, _ = made(which)
    for n in (0, 1, 3):
        reports = randomizer.randomize(truth_rows(randomizer, 0, n))
        if randomizer.report == "integer":
            assert (reports.dtype, reports.shape) == (np.int64, (n,))
        else:
            assert (reports.dtype, reports.shape) == (np.int8, (n, randomizer.outcomes))
    document = json.loads(json.dumps(randomizer.document()))
    assert document == randomizer.document()
    assert all(isinstance(value, str) or 1 <= value < 2**53 for value in document.values())
    again = pickle.loads(pickle.dumps(randomizer))
    assert again == randomizer == MAKERS[which](1)
    assert randomizer.name


@every
def test_what_is_no_truth_or_report_is_refused_without_its_value(which):
    """Catches a message that quotes an answer, and an answer that passes unrandomized."""
    randomizer, _ = made(which)
    for door in (randomizer.randomize, randomizer.counts):
        for wrong in ([987654321], [0.5], [[[1]]], ["987654321"], [-2]):
            with pytest.raises(InvalidArgument) as refusal:
                door(wrong)
            assert "987654321" not in str(refusal.value)
            assert refusal.value.name in ("truths", "reports")


@every
@pytest.mark.parametrize("epsilon", ["1e-12", "0.001", 40, 10**6])
def test_extreme_promises(which, epsilon):
    """T stays at least 1, and the loss at most what was asked. Catches a certain answer."""
    randomizer = MAKERS[which](Fraction(epsilon))
    step = (randomizer.response if randomizer.kind == "levels" else randomizer).step
    assert 1 <= step < GRID
    assert 0 < randomizer.epsilon <= Fraction(epsilon) * 5
    if epsilon == 10**6:
        assert step == 1
        assert randomizer.epsilon < 300


@every
def test_too_small_a_promise_is_refused(which):
    """Catches reports that say nothing, and estimates that divide by 0."""
    with pytest.raises(InvalidArgument, match="1e-9"):
        MAKERS[which](Fraction(1, 10**18))
