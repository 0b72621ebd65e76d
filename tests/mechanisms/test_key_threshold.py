"""Discovering keys: three rules, one promise, checked size by size."""

import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from mpmath import exp, log, mp, mpf
from scipy.stats import chi2

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import Approx
from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.numeric.balls import ball, lower, precision, upper
from discreet.testing import ScriptedEntropy, seeded, using

FALSE_ALARM = 1e-9
RULES = ["optimal", "laplace", "gaussian"]
PROMISES = [(1, "1e-6", 1), ("1/10", "1e-5", 1), (3, "1e-9", 4), ("1/2", "1/100", 2), (40, 0.1, 1)]


@pytest.mark.parametrize(("epsilon", "delta", "groups"), PROMISES)
def test_optimal_rule_keeps_its_promise_exactly(epsilon, delta, groups):
    """Every size against the next, both outcomes, both directions, from the very probabilities
    that are used: no margin below 0. Catches a table that is rounded to nearest."""
    mechanism = KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups)
    e, d = Fraction(epsilon) / groups, mechanism.delta / groups
    keep = [mechanism.law(n).probability(True) for n in range(mechanism.error("0.999999999") + 60)]
    assert keep[0] == 0
    assert keep[-1] == 1
    assert keep[1] <= d
    with precision(1024):
        factor, inverse = ball(e).exp(), ball(-e).exp()
    for a, b in pairwise(keep):
        assert a <= b
        with precision(1024):
            assert ball(a) * factor + ball(d) >= ball(b)  # kept: n + 1 against n
            assert (1 - ball(b)) * factor + ball(d) >= 1 - ball(a)  # dropped: n against n + 1
            # and no more than a part in 2^50 is given away: it is optimal
            best = min(upper(ball(a) * factor + ball(d)), upper(1 - inverse * ball(1 - a - d)), 1.0)
        assert float(b) >= best * (1 - 2**-50)


@pytest.mark.parametrize(("epsilon", "delta", "groups"), PROMISES)
def test_optimal_rule_is_the_published_closed_form(epsilon, delta, groups):
    """π(n) = δ·(e^(nε) − 1)/(e^ε − 1) up to the crossing, then 1 − e^(−kε)·(1 − π) + δ·(…), as
    in Desfontaines et al. 2022, Theorem 1. Catches a recursion with a wrong branch."""
    mechanism = KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups)
    with mp.workdps(60):
        e = mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator / groups
        d = mpf(mechanism.delta.numerator) / mechanism.delta.denominator / groups
        crossing = 1 + int(mp.floor(log((exp(e) + 2 * d - 1) / ((exp(e) + 1) * d)) / e))
        for n in range(crossing + 40):
            if n <= crossing:
                truth = d * (exp(n * e) - 1) / (exp(e) - 1)
            else:
                start = d * (exp(crossing * e) - 1) / (exp(e) - 1)
                k = n - crossing
                miss = exp(-k * e) * (1 - start)
                truth = min(1, 1 - miss + d * exp(-e) * (1 - exp(-k * e)) / (1 - exp(-e)))
            assert mechanism.keep_probability(n) == pytest.approx(float(truth), rel=1e-13)


def test_no_key_of_one_unit_is_kept_more_often_than_promised():
    """P(kept | one unit) ≤ δ/max_groups for all rules (half of it goes to noise for one)."""
    for rule in RULES:
        for epsilon, delta, groups in PROMISES:
            mechanism = KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups, rule=rule)
            share = mechanism.delta / groups / (2 if rule == "gaussian" else 1)
            assert Fraction(upper(mechanism.law(1).mass(True))) <= share * (1 + Fraction(1, 2**50))


@pytest.mark.parametrize(("epsilon", "delta", "groups"), PROMISES)
@pytest.mark.parametrize("rule", ["laplace", "gaussian"])
def test_threshold_is_the_least_that_keeps_the_promise(rule, epsilon, delta, groups):
    """One lower would break it. Catches an off-by-one in either direction."""
    mechanism = KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups, rule=rule)
    chance = mechanism.delta / groups
    if rule == "laplace":
        noise = DiscreteLaplace(center=0, scale=Fraction(groups) / Fraction(epsilon))
    else:
        chance /= 2
        sigma = mechanism.law(1).count.sigma
        noise = RoundedGaussian(center=0, sigma=sigma, step=1)
    threshold = mechanism.threshold
    assert Fraction(upper(1 - noise.cdf(threshold - 2))) <= chance * (1 + Fraction(1, 10**9))
    if threshold > 1:
        assert Fraction(lower(1 - noise.cdf(threshold - 3))) > chance


def test_gaussian_noise_has_half_of_delta_and_grows_with_the_root_of_groups():
    """Catches an L1 sensitivity, or a δ that is spent twice."""
    one, four = (
        KeyThreshold(epsilon=1, delta="1e-6", max_groups=m, rule="gaussian") for m in (1, 4)
    )
    sigma = one.law(1).count.sigma
    assert four.law(1).count.sigma == 2 * sigma
    with mp.workdps(40):
        s = mpf(sigma.numerator) / sigma.denominator
        delta = mp.ncdf(1 / (2 * s) - s) - mp.e * mp.ncdf(-1 / (2 * s) - s)
        assert mpf("0.499999e-6") < delta <= mpf("0.5e-6")


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("groups", [1, 3])
def test_kept_keys_follow_the_law(rule, groups):
    """2·10⁵ keys of each of several sizes, chi-square, false-alarm rate 1e-9, and a law that is
    off by 5 % in ε is rejected. Catches a coin, noise or comparison that is not the stated one."""
    mechanism = KeyThreshold(epsilon=1, delta="1e-3", max_groups=groups, rule=rule)
    liar = KeyThreshold(epsilon="1.05", delta="1e-3", max_groups=groups, rule=rule)
    keys, middle = 200_000, mechanism.error(0.5)
    sizes = sorted({1, max(1, middle - 3 * groups), max(1, middle - 1), middle, middle + groups})
    with seeded(3):
        mask = mechanism.release(np.repeat(sizes, keys))
    kept = mask.reshape(len(sizes), keys).sum(axis=1)
    assert misfit(kept, keys, mechanism.keep_probability(sizes)) > FALSE_ALARM
    assert misfit(kept, keys, liar.keep_probability(sizes)) < FALSE_ALARM


def misfit(kept, keys, share):
    """The chi-square p-value of how many keys of each size were kept; certainties must hold."""
    inside = (share > 0) & (share < 1)
    if np.any(kept[~inside] != keys * share[~inside]):
        return 0.0
    z2 = (kept - keys * share)[inside] ** 2 / (keys * share * (1 - share))[inside]
    return chi2.sf(z2.sum(), inside.sum())


@pytest.mark.parametrize("rule", RULES)
def test_a_key_that_nobody_holds_is_never_kept(rule):
    """Also with a δ so large that noise alone would reach the threshold every other time."""
    mechanism = KeyThreshold(epsilon=1, delta=0.9, rule=rule)
    assert not mechanism.release(np.zeros(1000, int)).any()
    assert not mechanism.release(np.full(1000, -5)).any()  # clamped, and nothing raises
    assert mechanism.release(np.ones(1000, int)).any()
    assert mechanism.keep_probability(0) == 0
    assert mechanism.law(0).pmf(False) == 1


@pytest.mark.parametrize("rule", RULES)
def test_large_keys_are_kept(rule):
    """Catches counts that wrap around at the edge of an integer."""
    mechanism = KeyThreshold(epsilon=1, delta="1e-6", rule=rule)
    counts = np.array([[10**6, 0], [2**63 - 1, 1]])
    assert mechanism.release(counts)[:, 0].all()
    assert mechanism.release(counts).shape == (2, 2)
    assert mechanism.release(np.array([2**64 - 1], np.uint64)).all()
    assert mechanism.keep_probability(10**6) == 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("confidence", ["0.001", "0.3", "0.5", "0.95", "0.999999"])
def test_error_is_the_least_size_that_is_found(rule, confidence):
    """Catches a size that is one too small, or too large, to be found."""
    mechanism = KeyThreshold(epsilon="1/2", delta="1e-4", rule=rule)
    size = mechanism.error(confidence)
    assert mechanism.keep_probability(size) >= float(confidence)
    assert mechanism.keep_probability(size - 1) < float(confidence)


def test_optimal_rule_finds_the_most():
    """At every size at least as much as Laplace noise, which makes the same promise."""
    best, noisy = (KeyThreshold(epsilon=1, delta="1e-6", rule=r) for r in ("optimal", "laplace"))
    sizes = range(40)
    assert all(best.keep_probability(n) >= noisy.keep_probability(n) for n in sizes)


def test_mappings_give_sets_that_do_not_remember_their_order():
    """Catches a kept set whose iteration order tells the order of the rows: −1 and −2 share a
    hash, so a set lists whichever came first."""
    mechanism = KeyThreshold(epsilon=1, delta="1e-6")
    forward, backward = {-1: 900, -2: 900, "x": 0}, {"x": 0, -2: 900, -1: 900}
    assert mechanism.release(forward) == frozenset({-1, -2})
    assert list(mechanism.release(forward)) == list(mechanism.release(backward))


@pytest.mark.parametrize("nothing", [[], (), np.array([]), np.zeros((0, 3), int)])
def test_no_keys_at_all_is_an_answer(nothing):
    """Whether there are keys is data, so their absence must not raise."""
    mechanism = KeyThreshold(epsilon=1, delta="1e-6")
    assert mechanism.release({}) == frozenset()
    assert mechanism.release(nothing).shape == np.shape(nothing)
    assert mechanism.release(nothing).dtype == np.bool_


def test_undecided_coins_are_decided_by_more_digits():
    """A word equal to the first 64 digits of π(2) settles nothing; the digits after do."""
    mechanism = KeyThreshold(epsilon=1, delta="1e-6")
    p = mechanism.law(2).probability(True)
    first = p.numerator * 2**64 // p.denominator
    rest = (p.numerator * 2**128 // p.denominator) % 2**64
    assert rest > 0
    for further, kept in ((rest - 1, True), (rest, False)):  # at most 128 digits: then all 0
        with using(ScriptedEntropy([first, further])):
            assert mechanism.release([2]).tolist() == [kept]


def test_small_promises_are_refused_before_a_table_is_made():
    """Catches a constructor that runs out of memory, and a prediction that refuses what fits."""
    with pytest.raises(Refused, match='rule="laplace"'):
        KeyThreshold(epsilon="1e-9", delta="1e-9")
    with pytest.raises(Refused, match='rule="laplace"'):
        KeyThreshold(epsilon="1e-400", delta="1e-400")
    assert KeyThreshold(epsilon="1e-9", delta="1e-4").error(0.5) == pytest.approx(5000, abs=2)
    assert KeyThreshold(epsilon="1e-9", delta="1e-9", rule="laplace").threshold > 10**9
    assert KeyThreshold(epsilon=10**6, delta="1e-400").error(0.5) == 2


def test_guarantee_and_value():
    """Frozen, equal by parameters, picklable after use; two keys have half of ε and δ each."""
    mechanism = KeyThreshold(epsilon=1, delta="1e-6", max_groups=2)
    mechanism.release([5])
    assert mechanism.guarantee == Approx("1/2", "5e-7").repeat(2)
    assert mechanism.threshold is None
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    with pytest.raises(AttributeError):
        mechanism.delta = 1


BAD = [
    ({"epsilon": 0, "delta": 0.1}, "epsilon"),
    ({"epsilon": float("inf"), "delta": 0.1}, "epsilon"),
    ({"epsilon": 1, "delta": 0}, "delta"),
    ({"epsilon": 1, "delta": 1}, "delta"),
    ({"epsilon": 1, "delta": -0.1}, "delta"),
    ({"epsilon": 1, "delta": float("nan")}, "delta"),
    ({"epsilon": 1, "delta": 0.1, "max_groups": 0}, "max_groups"),
    ({"epsilon": 1, "delta": 0.1, "max_groups": 1.5}, "max_groups"),
    ({"epsilon": 1, "delta": 0.1, "rule": "best"}, "rule"),
    ({"epsilon": 1, "delta": 0.1, "rule": []}, "rule"),
]


@pytest.mark.parametrize(("given", "name"), BAD)
def test_bad_parameters(given, name):
    """One sentence each, that names the parameter."""
    with pytest.raises(InvalidArgument) as refusal:
        KeyThreshold(**given)
    assert refusal.value.name == name


@pytest.mark.parametrize(
    "counts", [7, 7.0, [1.5, 2.0], np.array([1.0]), [[1], [2, 3]], [True], "abc", None, {"a": 1.5}]
)
def test_bad_counts(counts):
    """By type and shape only. Catches a scalar or a float taken for counts."""
    with pytest.raises(InvalidArgument):
        KeyThreshold(epsilon=1, delta=0.1).release(counts)


def test_bad_questions():
    """Catches a size or a confidence that makes no sense."""
    mechanism = KeyThreshold(epsilon=1, delta=0.1)
    with pytest.raises(InvalidArgument, match="n must be"):
        mechanism.law(-1)
    with pytest.raises(InvalidArgument, match="confidence"):
        mechanism.error(1)
