"""What discovered keys tell, against the coins themselves, size by size."""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise, product

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, Approx, Pure, SampledPair, compose
from discreet.guarantees.key_discovery import KeyPair
from discreet.mechanisms.key_threshold import worst_coins

PROMISES = [(1, "1e-6"), ("1/10", "1e-5"), (3, "1e-9"), ("1/2", "1/100"), (8, "1e-3"), (1, "0.7")]
POINTS = [0.0, 0.01, 0.3, 0.7, 0.999, 1.0, 1.2, 3.0]  # as shares of ε


def coins(mechanism, most=400):
    """(π(n), π(n + 1)) until all are kept, or for `most` sizes around the threshold."""
    first = max(0, mechanism.error(0.5) - most // 2)
    sizes = sorted({0, 1, 2, *range(first, first + most)})
    chances = {n: mechanism.law(n).pmf(True) for s in sizes for n in (s, s + 1)}
    missing = {n: mechanism.law(n).pmf(False) for s in sizes for n in (s, s + 1)}
    return [(chances[n], chances[n + 1], missing[n], missing[n + 1]) for n in sizes]


def profile(found, x):
    """The worst coin, with the unit first and without it first."""
    k = np.exp(x)
    return max(q - k * p for p, q, _, _ in found), max(a - k * b for _, _, a, b in found)


@pytest.mark.no_cover
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
@pytest.mark.parametrize("rule", ["optimal", "laplace", "gaussian"])
def test_one_key_is_the_worst_coin(rule, epsilon, delta):
    """Both directions at many ε: never below the coins, and equal to the worst of them. Catches
    a tail of sizes that was forgotten, and a key of nobody that was."""
    mechanism = dp.KeyThreshold(epsilon=epsilon, delta=delta, rule=rule)
    found, pair = coins(mechanism), mechanism.guarantee
    exact = rule == "optimal" or mechanism.threshold > 1
    for x in (share * float(Fraction(epsilon)) for share in POINTS):
        lowest, highest = pair._band(np.array([x])), pair._band(np.array([x]), swapped=True)
        for true, claimed in zip(profile(found, x), (lowest, highest), strict=True):
            assert true <= claimed.upper[0] * (1 + 1e-9) + 1e-15
            if exact and true > 0:
                assert claimed.lower[0] <= true * (1 + 1e-9) + 1e-15
                assert claimed.upper[0] <= true * (1 + 1e-6) + 1e-15
        assert pair.delta(x) <= Approx(epsilon, delta).delta(x)


@pytest.mark.no_cover
@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
@pytest.mark.parametrize("rule", ["optimal", "laplace", "gaussian"])
@pytest.mark.parametrize("groups", [1, 2, 5, 5000])
def test_the_promise_is_kept_for_certain(rule, groups, epsilon, delta):
    """Whatever is reported is within (ε, δ), decided in exact arithmetic. Catches a composition
    on a grid that is wider than the promise it was calibrated for."""
    mechanism = dp.KeyThreshold(epsilon=epsilon, delta=delta, max_groups=groups, rule=rule)
    assert mechanism.guarantee.within(Approx(epsilon, delta))


@pytest.mark.parametrize("rule", ["optimal", "laplace", "gaussian"])
def test_two_keys_compose(rule):
    """All pairs of sizes, coin by coin, in both directions: never above. Catches keys that are
    accounted for one by one, and a guarantee for keys of others only."""
    mechanism = dp.KeyThreshold(epsilon=1, delta="1/50", max_groups=2, rule=rule)
    found, best = coins(mechanism, most=40), 0.0
    for x in (0.0, 0.2, 0.5, 0.8, 1.0, 2.0):
        claimed, k = mechanism.guarantee.delta(x), np.exp(x)
        for one, two in combinations_with_replacement(found, 2):
            with_unit = np.outer([one[1], one[3]], [two[1], two[3]])
            without = np.outer([one[0], one[2]], [two[0], two[2]])
            for p, q in ((with_unit, without), (without, with_unit)):
                true = np.maximum(p - k * q, 0).sum()
                assert true <= claimed + 1e-12
                best = max(best, true / claimed)
    assert best > 0.9
    assert mechanism.guarantee.tv < 0.6 * Approx(1, "1/50").tv  # two keys of ε/2, not one of ε


def test_which_coins_are_the_worst():
    """The envelope against all coins, on random increasing chances. Catches one that is dropped
    although it is the worst somewhere."""
    rng = np.random.default_rng(8)
    for _ in range(50):
        chances = [0, *sorted({int(c) for c in rng.integers(1, 1000, rng.integers(1, 30))}), 1000]
        kept = set(worst_coins(chances))
        for k in [1.0, 1.01, 1.3, 2.0, 5.0, 50.0, 1e6]:
            shown = [b - k * a for a, b in pairwise(chances)]
            hidden = [(1000 - a) - k * (1000 - b) for a, b in pairwise(chances)]
            for values in (shown, hidden):
                assert max(values[n] for n in kept) == pytest.approx(max(values))


def test_few_coins_are_left_of_a_long_table():
    """A table of thousands of sizes makes a pair of a few. Catches a guarantee that takes as
    long to compose as the table is long."""
    assert len(dp.KeyThreshold(epsilon="1/1000", delta="1e-6").guarantee.coins) < 40


@pytest.mark.no_cover
def test_a_pair_composes_and_is_sampled_like_any_other():
    """Twice in one list, beside Gaussian noise, on a sample; both bounds agree. Catches a band
    that contradicts the balls, or the two directions mixed up."""
    pair = dp.KeyThreshold(epsilon=1, delta="1e-3").guarantee
    x = np.array([0.0, 0.3, 0.9, 1.0, 5.0, 800.0])
    for swapped in (False, True):
        band = pair._band(x, swapped=swapped)
        for at, low, high in zip(x, band.lower, band.upper, strict=True):
            exact = float(pair._over(Fraction(at), swapped=swapped))
            assert low <= exact * (1 + 1e-13) + 1e-300
            assert exact <= high * (1 + 1e-13)
            assert high <= low * (1 + 1e-9) + 1e-14
    twice = compose([pair, pair, GDP("1/2")])
    assert pair.epsilon("1e-2") < twice.epsilon("1e-2") < 4
    assert twice.delta(50) >= 1 - (1 - 1e-3) ** 2  # either of them may fail outright
    assert SampledPair(pair, rate="1/10").tv == pytest.approx(pair.tv / 10)


def test_what_an_account_and_a_group_are_told():
    """A part that always holds, a chance that it does not, and both for ten people. Catches a
    group for which a key that nobody else holds is as rare as for one."""
    laplace = dp.KeyThreshold(epsilon=1, delta="1e-6", rule="laplace").guarantee
    part, failing = laplace._split
    assert part == Pure(1)
    assert Fraction(1, 10**7) < failing <= Fraction(1, 10**6)
    gaussian = dp.KeyThreshold(epsilon=1, delta="1e-6", max_groups=4, rule="gaussian").guarantee
    assert isinstance(gaussian._split[0], GDP)
    optimal = dp.KeyThreshold(epsilon=1, delta="1e-6").guarantee
    part, failing = optimal._split
    assert Fraction(999, 1000) < part.epsilon0 <= 1 + Fraction(1, 2**50)
    assert failing <= Fraction(1, 10**6)
    for rule, groups in (("optimal", 1), ("optimal", 2), ("gaussian", 1), ("gaussian", 2)):
        mechanism = dp.KeyThreshold(epsilon=1, delta="1e-6", rule=rule, max_groups=groups)
        kept = float(mechanism.keep_probability(10))  # ten people alone with a key
        assert mechanism.guarantee.group(10).delta(100) >= kept
    assert optimal.group(1) is optimal


@pytest.mark.parametrize("rule", ["optimal", "laplace", "gaussian"])
@pytest.mark.parametrize("moves", [(3, 3), (2, 2, 2), (3, 2, 1), (3, 1, 1, 1)])
def test_three_people_with_two_keys_each(rule, moves):
    """However their six units are spread over keys of several sizes, in both directions: never
    above what is promised to a group of three. Catches parts that are grouped one by one where
    people do not share their keys."""
    mechanism = dp.KeyThreshold(epsilon=2, delta="1/1000", max_groups=2, rule=rule)
    middle = mechanism.error(0.5)
    sizes = sorted({0, 1, middle - 2, middle - 1, middle})
    keep = {n: float(mechanism.law(n).pmf(True)) for n in range(middle + 4)}
    group = mechanism.guarantee.group(3)
    for x in (0.0, 1.0, 3.0, 6.0):
        claimed, k = group.delta(x), np.exp(x)
        for starts in product(sizes, repeat=len(moves)):
            p, q = np.ones(1), np.ones(1)
            for n, move in zip(starts, moves, strict=True):
                p = np.outer(p, [keep[n + move], 1 - keep[n + move]]).ravel()
                q = np.outer(q, [keep[n], 1 - keep[n]]).ravel()
            true = max(np.maximum(p - k * q, 0).sum(), np.maximum(q - k * p, 0).sum())
            assert true <= claimed * (1 + 1e-12)


@pytest.mark.parametrize("coins", [[(0.5, 0.4)], [(-1, 0.5)], [(0, 2)]])
def test_coins_that_are_none(coins):
    """Probabilities, the one with the unit last."""
    with pytest.raises(InvalidArgument, match="coins"):
        KeyPair(coins=coins)


def test_a_base_that_does_not_go_with_the_coins():
    """Coins that only lower the odds have no part that always holds beside Gaussian noise."""
    with pytest.raises(InvalidArgument, match="base"):
        KeyPair(coins=[("0.1", "0.2")], base=GDP(1))
