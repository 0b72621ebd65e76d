"""Randomized response: the law, the promise, the estimate, the edges."""

import pickle
from fractions import Fraction
from itertools import product
from math import sqrt

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf
from scipy.stats import binom, chi2

from discreet.errors import InvalidArgument
from discreet.laws import Finite, Gibbs
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.noise import entropy
from discreet.testing import ScriptedEntropy, seeded, using

FALSE_ALARM = 1e-9  # of every statistical test below; with a fixed seed it never fires by chance


def misfit(counts, law):
    """The chi-square p-value of outcome counts against a law on 0 … k − 1."""
    expected = counts.sum() * np.array([law.pmf(outcome) for outcome in range(counts.size)])
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), counts.size - 1)


@pytest.mark.parametrize(
    ("given", "lie"),
    [
        ({"epsilon": 1}, {"epsilon": "1.03"}),
        ({"epsilon": "1/10"}, {"epsilon": "0.12"}),
        ({"truth": "1/2"}, {"truth": "0.51"}),
        ({"epsilon": 1, "categories": 16}, {"epsilon": "1.05", "categories": 16}),
        ({"truth": 0.3, "categories": 5}, {"truth": 0.31, "categories": 5}),
        ({"epsilon": 2, "categories": 10}, {"epsilon": "2.05", "categories": 10}),
    ],
)
def test_released_answers_follow_the_law(given, lie):
    """10⁶ answers, false-alarm rate 1e-9. Catches a coin or a die that is off: the same test
    rejects laws whose probabilities are wrong by 1 to 5 %."""
    mechanism, liar = RandomizedResponse(**given), RandomizedResponse(**lie)
    for true in (0, mechanism.categories - 1):
        with seeded(14 + true):
            reports = mechanism.release(np.full(10**6, true))
        counts = np.bincount(reports, minlength=mechanism.categories)
        assert misfit(counts, mechanism.law(true)) > FALSE_ALARM
        assert misfit(counts, liar.law(true)) < FALSE_ALARM


@pytest.mark.parametrize("categories", [2, 3, 16])
@pytest.mark.parametrize("epsilon", ["1/1000", 1, 20])
def test_the_law_reaches_the_promise_and_no_more(categories, epsilon):
    """The largest ratio over outputs and pairs of truths is e^ε. Catches a factor k or k − 1."""
    mechanism = RandomizedResponse(epsilon=epsilon, categories=categories)
    with mp.workdps(40):
        truth = exp(mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator)
    laws = [mechanism.law(true) for true in range(categories)]
    worst = max(p.pmf(o) / q.pmf(o) for p, q, o in product(laws, laws, range(categories)))
    assert worst == pytest.approx(float(truth), rel=1e-12)
    assert sum(laws[0].pmf(o) for o in range(categories)) == pytest.approx(1, rel=1e-12)
    assert mechanism.guarantee.epsilon(0) == pytest.approx(float(Fraction(epsilon)))


@pytest.mark.parametrize("categories", [2, 3, 16])
@pytest.mark.parametrize("q", ["1/1000", "1/2", "0.9"])
def test_claim_14_epsilon_of_the_lectures_q(categories, q):
    """ε = ln(1 + k·q/(1 − q)), for two categories ln((1 + q)/(1 − q)), rounded up by at most an
    ulp. Catches "else a coin" read as "else the other answer"."""
    q = Fraction(q)
    mechanism = RandomizedResponse(truth=q, categories=categories)
    law = mechanism.law(0)
    ratio = law.probability(0) / law.probability(1)
    if categories == 2:
        assert ratio == (1 + q) / (1 - q)
    assert ratio == 1 + categories * q / (1 - q)
    with mp.workdps(50):
        truth = log(mpf(ratio.numerator) / ratio.denominator)
        promised = mpf(mechanism.epsilon.numerator) / mechanism.epsilon.denominator
        assert truth <= promised <= truth * (1 + mpf(2) ** -51)


def test_claim_14_one_half_gives_ln_3():
    """The lecture's own number: truth ¾ of the time, ln 3. Catches q taken for P(truth)."""
    mechanism = RandomizedResponse(truth=0.5)
    assert float(mechanism.epsilon) == pytest.approx(1.0986122886681098, abs=1e-15)
    assert mechanism.law(1).probability(1) == Fraction(3, 4)


def test_by_epsilon_and_by_truth_are_the_same_mechanism():
    """q = (e^ε − 1)/(e^ε + k − 1). Catches two formulas that drifted apart."""
    by_truth = RandomizedResponse(truth="0.3", categories=7)
    by_epsilon = RandomizedResponse(epsilon=by_truth.epsilon, categories=7)
    for outcome in range(7):
        assert by_truth.law(2).pmf(outcome) == pytest.approx(by_epsilon.law(2).pmf(outcome))
    assert isinstance(by_truth.law(2), Finite)
    assert isinstance(by_epsilon.law(2), Gibbs)
    assert by_truth.variance == pytest.approx(by_epsilon.variance)


@pytest.mark.parametrize("ones", [0, 137, 1000])
def test_claim_15_estimate_at_one_half(ones):
    """2p̂ − ½, to the last bit, and the general formula for another q."""
    reports = np.arange(1000) < ones
    share = Fraction(ones, 1000)
    estimate = RandomizedResponse(truth="1/2").estimate(reports)
    assert estimate.value == float(2 * share - Fraction(1, 2))
    q = Fraction(3, 10)
    assert RandomizedResponse(truth=q).estimate(reports).value == float((share - (1 - q) / 2) / q)
    assert estimate.standard_error == pytest.approx(2 * sqrt(share * (1 - share) / 1000))


@pytest.mark.parametrize("categories", [2, 4])
def test_claim_15_estimate_is_unbiased(categories):
    """Exact expectation over the law of every report, no sampling. Catches a wrong offset."""
    mechanism = RandomizedResponse(truth="2/5", categories=categories)
    truths = [0, categories - 1, categories - 1]
    expected = [Fraction(0)] * categories
    for reports in product(range(categories), repeat=len(truths)):
        chance = Fraction(1)
        for true, report in zip(truths, reports, strict=True):
            chance *= mechanism.law(true).probability(report)
        value = mechanism.estimate(list(reports)).value
        values = (1 - value, value) if categories == 2 else value
        expected = [e + chance * Fraction(v) for e, v in zip(expected, values, strict=True)]
    truth = np.bincount(truths, minlength=categories) / len(truths)
    assert [float(e) for e in expected] == pytest.approx(truth.tolist(), abs=1e-12)


@pytest.mark.no_cover
@pytest.mark.parametrize(("share", "respondents"), [(0.0, 40), (0.02, 300), (0.5, 300), (1.0, 40)])
@pytest.mark.parametrize("given", [{"truth": "1/2"}, {"epsilon": 1, "categories": 4}])
def test_claim_15_interval_covers(given, share, respondents):
    """Coverage of the 90 % interval over 2,000 surveys of the same respondents, false-alarm
    rate 1e-9: the count of surveys that cover is at least the binomial's 1e-9 quantile. Catches
    an interval without the factor 1/q, which covers less than 75 %."""
    surveys = 2000
    mechanism = RandomizedResponse(**given)
    held = (np.arange(respondents) < round(share * respondents)).astype(np.int64)
    true = held.mean()
    with seeded(15):
        rounds = mechanism.release(np.tile(held, (surveys, 1)))
    covered = narrow = 0
    for reports in rounds:
        estimate = mechanism.estimate(reports, confidence=0.9)
        second = mechanism.categories > 2  # the interval of category 1 in both cases
        low, high = estimate.interval[1] if second else estimate.interval
        middle = estimate.value[1] if second else estimate.value
        covered += low <= true <= high
        narrow += abs(middle - true) <= (high - low) * float(mechanism._channel.kept) / 2
    assert covered >= binom.ppf(FALSE_ALARM, surveys, 0.9)
    if share == 0.5:
        assert narrow < binom.ppf(FALSE_ALARM, surveys, 0.9)


def test_interval_is_clopper_and_pearsons():
    """Its ends are where a tail of the binomial is exactly (1 − confidence)/2: recomputed from
    the binomial law, not from the beta function that the code uses."""
    mechanism = RandomizedResponse(truth="1/2")
    low, high = mechanism.estimate(np.arange(200) < 90, confidence=0.95).interval
    p_low, p_high = (0.25 + 0.5 * end for end in (low, high))
    assert binom.sf(89, 200, p_low) == pytest.approx(0.025, rel=1e-6)
    assert binom.cdf(90, 200, p_high) == pytest.approx(0.025, rel=1e-6)


def test_interval_stays_within_shares():
    """Catches an interval beyond 0 … 1, and an estimate that is biased by cutting."""
    mechanism = RandomizedResponse(truth="1/2")
    assert mechanism.estimate(np.zeros(100, bool)).interval == (0.0, 0.0)
    assert mechanism.estimate(np.zeros(100, bool)).value == -0.5  # unbiased, so not cut
    assert mechanism.estimate(np.ones(3, bool)).interval[1] == 1.0


def test_estimate_of_many_categories():
    """One share a category; they add up to 1. Catches counts that are cut at the last one."""
    mechanism = RandomizedResponse(epsilon=1, categories=5)
    estimate = mechanism.estimate(np.arange(300_000) % 5)
    assert estimate.value == pytest.approx([0.2] * 5)
    assert len(estimate.interval) == len(estimate.standard_error) == 5
    assert estimate.respondents == 300_000
    assert estimate.confidence == 0.95


@pytest.mark.parametrize("prior", ["0.001", "1/10", "1/2", "9/10"])
@pytest.mark.parametrize("q", ["1/10", "1/2", "9/10"])
def test_claim_16_posterior_after_a_yes(q, prior):
    """((1+q)r)/((1+q)r + (1−q)(1−r)): Bayes with the law itself, and what the guarantee says,
    rounded up. Catches an ε that is rounded down."""
    q, r = Fraction(q), Fraction(prior)
    mechanism = RandomizedResponse(truth=q)
    yes, no = mechanism.law(1).probability(1), mechanism.law(0).probability(1)
    bayes = yes * r / (yes * r + no * (1 - r))
    assert bayes == (1 + q) * r / ((1 + q) * r + (1 - q) * (1 - r))
    posterior = Fraction(mechanism.guarantee.posterior(r))
    assert bayes <= posterior <= bayes * (1 + Fraction(1, 10**13))
    if q == Fraction(1, 2):
        assert bayes == 3 * r / (1 + 2 * r) <= 3 * r


def test_error_is_that_of_the_estimate():
    """Of 3,000 surveys at the worst share at least 95 % are within it, up to 1e-9 of chance, and
    not all at half of it."""
    surveys, respondents = 3000, 400
    mechanism = RandomizedResponse(epsilon=1)
    with seeded(95):
        reports = mechanism.release(np.tile(np.arange(respondents) % 2, (surveys, 1)))
    share = (reports.mean(axis=1) - mechanism.law(0).pmf(1)) / float(mechanism._channel.kept)
    width = mechanism.error(0.95, respondents=respondents)
    near = np.abs(share - 0.5)
    assert (near <= width).sum() >= binom.ppf(FALSE_ALARM, surveys, 0.95)
    assert (near <= width / 2).sum() < binom.ppf(FALSE_ALARM, surveys, 0.95)
    assert np.var(share) * respondents == pytest.approx(mechanism.variance, rel=0.2)


def test_error_of_many_categories_uses_the_reachable_shares():
    """With 16 categories a report is never near ½ likely, so the error is smaller than there."""
    mechanism = RandomizedResponse(epsilon=1, categories=16)
    inside = mechanism.law(0).pmf(0)
    half_width = 1.959964 * sqrt(inside * (1 - inside) / 1000) / float(mechanism._channel.kept)
    assert mechanism.error(0.95, respondents=1000) == pytest.approx(half_width, rel=1e-6)


@pytest.mark.parametrize(
    "dtype", [np.bool_, np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64]
)
def test_same_shape_and_dtype(dtype):
    """Catches a release that widens, flattens or depends on memory layout."""
    mechanism = RandomizedResponse(epsilon=1)
    answers = np.zeros((4, 6), dtype)
    assert mechanism.release(answers).dtype == dtype
    assert mechanism.release(answers[::2, ::3]).shape == (2, 2)
    assert set(np.unique(mechanism.release(np.ones(500, dtype)))) == {0, 1}


def test_scalars_and_sequences():
    """One answer in, one Python answer out. Catches NumPy scalars and lost shapes."""
    binary, five = RandomizedResponse(epsilon=1), RandomizedResponse(epsilon=1, categories=5)
    assert type(binary.release(True)) is bool
    assert type(binary.release(np.True_)) is bool
    assert type(binary.release(1)) is int
    assert type(five.release(np.int8(3))) is int
    assert binary.release([True, False]).dtype == np.bool_
    assert five.release([[1, 2], [3, 4]]).shape == (2, 2)
    assert five.release(np.array(3)).shape == ()


@pytest.mark.parametrize("categories", [2, 5])
def test_categories_that_do_not_exist_are_clamped(categories):
    """At ε = 10⁶ a release is the clamped answer. Catches a data value that raises, wraps around
    or passes through unrandomized."""
    mechanism = RandomizedResponse(epsilon=10**6, categories=categories)
    last = categories - 1
    wild = [-1, 0, last, last + 1, 10**30, -(10**30)]
    assert mechanism.release(wild).tolist() == [0, 0, last, last, last, 0]
    assert [mechanism.release(answer) for answer in wild] == [0, 0, last, last, last, 0]
    edges = np.array([np.iinfo(np.int8).min, np.iinfo(np.int8).max], np.int8)
    assert mechanism.release(edges).tolist() == [0, last]
    assert mechanism.law(-7) == mechanism.law(0)
    assert mechanism.law(99) == mechanism.law(last)


def test_wild_answers_are_randomized_too():
    """Catches clamping after the coin: what is out of range must be deniable as well."""
    with seeded(1):
        reports = RandomizedResponse(epsilon=1, categories=3).release(np.full(1000, 77))
    assert set(reports.tolist()) == {0, 1, 2}


def test_undecided_coins_are_decided_by_more_bits():
    """A first 16 bits equal to those of the probability settle nothing; the next 64 do."""
    flip = RandomizedResponse(epsilon=1)._coin
    first = flip.floor(16)
    rest = flip.floor(80) - (first << 64)
    for further, flipped in ((rest - 1, True), (rest + 1, False)):
        with using(ScriptedEntropy([first, further])):
            assert RandomizedResponse(epsilon=1).release(False) is flipped


def test_blocks_do_not_change_the_law_or_the_length():
    """Across the edges of chunks and blocks every answer is still randomized."""
    mechanism = RandomizedResponse(truth="1/2", categories=4)
    with seeded(2):
        reports = mechanism.release(np.zeros(600_001, np.uint8))
    parts = np.array_split(reports, 37)
    for part in parts:  # six standard errors each
        assert abs((part == 0).mean() - 0.625) < 6 * 0.5 / sqrt(part.size)


def test_threads_give_the_same_law(monkeypatch):
    """Seven standard errors. Catches threads that share or skip words."""
    monkeypatch.setenv("DISCREET_THREADS", "2")
    reports = RandomizedResponse(epsilon=1).release(np.zeros(600_000, bool))
    assert abs(reports.mean() - 1 / (1 + np.e)) < 7 * 0.5 / sqrt(600_000)
    assert entropy.source().parallel


def test_it_is_a_value():
    """Frozen, equal by its parameters, and it survives pickling even after use."""
    mechanism = RandomizedResponse(epsilon=1, categories=3)
    mechanism.release(1)
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism == RandomizedResponse(epsilon="1", categories=3)
    assert again.release(2) in (0, 1, 2)
    with pytest.raises(AttributeError):
        mechanism.epsilon = 2


BAD_PARAMETERS = [
    ("neither", {}, "epsilon or truth"),
    ("both", {"epsilon": 1, "truth": 0.5}, "epsilon or truth"),
    ("epsilon 0", {"epsilon": 0}, "epsilon"),
    ("epsilon negative", {"epsilon": -1}, "epsilon"),
    ("epsilon NaN", {"epsilon": float("nan")}, "epsilon"),
    ("epsilon huge", {"epsilon": 10**7}, "epsilon"),
    ("truth 0", {"truth": 0}, "truth"),
    ("truth 1", {"truth": 1}, "truth"),
    ("truth above 1", {"truth": 1.5}, "truth"),
    ("one category", {"epsilon": 1, "categories": 1}, "categories"),
    ("half a category", {"epsilon": 1, "categories": 2.5}, "categories"),
    ("too many categories", {"epsilon": 1, "categories": 2**32 + 1}, "categories"),
]


@pytest.mark.parametrize(("given", "name"), [row[1:] for row in BAD_PARAMETERS])
def test_bad_parameters(given, name):
    """One sentence each, that names the parameter. Catches a promise nobody stated."""
    with pytest.raises(InvalidArgument) as refusal:
        RandomizedResponse(**given)
    assert refusal.value.name == name


BAD_ANSWERS = [
    [],
    np.array([], np.int64),
    np.array([], bool),
    [0.5],
    np.array([0.0, 1.0]),
    np.array([1, None], dtype=object),
    [[1, 2], [3]],
    [True, 1],
    "yes",
    None,
    [None],
]


@pytest.mark.parametrize("answers", BAD_ANSWERS, ids=repr)
def test_bad_answers(answers):
    """By type and shape only, and in a sentence without the value."""
    with pytest.raises(InvalidArgument) as refusal:
        RandomizedResponse(epsilon=1).release(answers)
    assert refusal.value.name == "value"


def test_bools_have_two_categories_and_small_integers_few():
    """Catches categories that a dtype cannot hold, which would wrap around."""
    with pytest.raises(InvalidArgument, match="bools have two categories"):
        RandomizedResponse(epsilon=1, categories=3).release(True)
    with pytest.raises(InvalidArgument, match=r"astype\(np\.uint16\)"):
        RandomizedResponse(epsilon=1, categories=300).release(np.zeros(3, np.int8))
    assert RandomizedResponse(epsilon=1, categories=256).release(np.zeros(3, np.uint8)).size == 3


def test_estimate_refuses_what_was_not_released():
    """Responses are public, so a wrong one may be refused. Catches a k that does not match."""
    mechanism = RandomizedResponse(epsilon=1, categories=3)
    for responses in ([0, 1, 3], [-1, 0]):
        with pytest.raises(InvalidArgument, match="pass what release"):
            mechanism.estimate(responses)
    with pytest.raises(InvalidArgument, match="confidence"):
        mechanism.estimate([0, 1], confidence=1)
    with pytest.raises(InvalidArgument, match="respondents"):
        mechanism.error(0.95, respondents=0)
