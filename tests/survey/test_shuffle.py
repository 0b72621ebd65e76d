"""Shuffled reports: the bound against exact laws of small surveys, and against other formulas.

The exact laws show that the bound holds, and that a sharper-looking one does not. It is not
reached by randomized response, because there the others' own answers hide a person too, of which
a theorem for any randomizer can make no use.
"""

import itertools
import math
from collections import Counter
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest

import discreet as dp
from discreet.survey.shuffle import Shuffled, ShufflePair, _tails, binomial, divergence, pair

Law = dict[tuple[int, ...], Fraction]
RATIOS = [Fraction(1), Fraction(9, 8), Fraction(4, 3), Fraction(3, 2), Fraction(2), Fraction(5, 2)]


def shuffled_law(answers: tuple[int, ...], k: int, ratio: Fraction) -> Law:
    """The exact law of the histogram of reports of k-ary randomized response with e^ε₀ = ratio."""
    law: Law = {(0,) * k: Fraction(1)}
    for answer in answers:
        grown: Counter[tuple[int, ...]] = Counter()
        for seen, chance in law.items():
            for report in range(k):
                more = tuple(count + (i == report) for i, count in enumerate(seen))
                grown[more] += chance * (ratio if report == answer else 1) / (ratio + k - 1)
        law = dict(grown)
    return law


def true_delta(n: int, k: int, ratio: Fraction, g: Fraction) -> Fraction:
    """The largest hockey-stick divergence at e^ε = g over all neighbouring surveys of n people."""
    worst = Fraction(0)
    for others in itertools.combinations_with_replacement(range(k), n - 1):
        laws = [shuffled_law((own, *others), k, ratio) for own in range(k)]
        for p, q in itertools.permutations(laws, 2):
            worst = max(worst, sum((max(p[h] - g * q[h], Fraction(0)) for h in p), Fraction(0)))
    return worst


def log_up(g: Fraction) -> float:
    return math.nextafter(math.log(g), math.inf)


@cache
def truths(n: int, k: int) -> list[Fraction]:
    return [true_delta(n, k, Fraction(3), g) for g in RATIOS]


@pytest.mark.parametrize(("n", "k"), [(2, 2), (4, 2), (7, 2), (2, 3), (3, 3), (5, 3)])
def test_no_small_survey_is_easier_to_tell_apart_than_the_bound_says(n: int, k: int) -> None:
    """Catches a theorem that is used wrongly: the true δ of every pair, by exact enumeration."""
    local = dp.RandomizedResponse(epsilon=math.log(3), categories=k).guarantee
    bound = Shuffled(local, respondents=n)
    for g, truth in zip(RATIOS, truths(n, k), strict=True):
        assert bound.delta(log_up(g)) >= float(truth) * (1 - 1e-12)
        assert bound.delta(log_up(g)) <= local.delta(log_up(g))


def test_the_pair_that_hides_whether_the_person_has_a_digit_is_too_small() -> None:
    """A form that uses total variation, evaluated for two people with three categories and
    e^ε₀ = 3, at e^ε = 5/2: what two people report is easier to tell apart than it allows."""
    p, e0, g = Fraction(1, 5), Fraction(3), Fraction(5, 2)
    digit = {0: p, 1: p, None: 1 - 2 * p}
    person = {0: p * e0, 1: p, None: 1 - p * (1 + e0)}
    other = {0: p, 1: p * e0, None: 1 - p * (1 + e0)}

    def law(of: dict[int | None, Fraction]) -> Counter[tuple[int, int]]:
        seen: Counter[tuple[int, int]] = Counter()
        for (x, first), (y, second) in itertools.product(of.items(), digit.items()):
            seen[[x, y].count(0), [x, y].count(1)] += first * second
        return seen

    in_print = sum(max(law(person)[h] - g * law(other)[h], Fraction(0)) for h in law(person))
    assert (in_print, true_delta(2, 3, e0, g)) == (Fraction(1, 50), Fraction(3, 50))
    assert divergence(ShufflePair(2, e0 - 1), Fraction(log_up(g))) >= 0.06


@pytest.mark.parametrize(
    "wrong",
    [
        pytest.param(ShufflePair(4, Fraction(2)), id="others add twice as many digits"),
        pytest.param(ShufflePair(2, Fraction(9, 5)), id="a ratio a tenth too small"),
    ],
)
def test_a_wrong_pair_is_caught_by_the_exact_laws(wrong: ShufflePair) -> None:
    """The enumeration must be able to fail: errors that one could make in the theorem."""
    below = [
        divergence(wrong, Fraction(log_up(g))) < float(truth) * (1 - 1e-3)
        for g, truth in zip(RATIOS, truths(2, 2), strict=True)
    ]
    assert any(below)


def double_sum(of: ShufflePair, epsilon: Fraction) -> mpmath.mpf:
    """δ of the pair as its definition says, over all numbers of zeros and ones."""
    n, e0 = of.respondents, 1 + mpmath.mpf(of.growth.numerator) / of.growth.denominator
    p, r = 1 / (e0 + 1), 1 / e0
    g = mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator)

    def others(zeros: int, ones: int) -> mpmath.mpf:
        if zeros < 0 or ones < 0 or zeros + ones > n - 1:
            return mpmath.mpf(0)
        ways = math.comb(n - 1, zeros + ones) * math.comb(zeros + ones, zeros)
        return ways * (r / 2) ** (zeros + ones) * (1 - r) ** (n - 1 - zeros - ones)

    total = mpmath.mpf(0)
    for zeros in range(n + 1):
        for ones in range(n + 1 - zeros):
            zero, one = others(zeros - 1, ones), others(zeros, ones - 1)
            here, there = p * (e0 * zero + one), p * (zero + e0 * one)
            total += max(here - g * there, mpmath.mpf(0))
    return total


@pytest.mark.parametrize(("epsilon0", "n"), [(1, 30), (4, 30), (0.01, 20)])
def test_the_sum_is_that_of_the_definition(epsilon0: float, n: int) -> None:
    """Catches a slip in the algebra, in the first positive term and in the margins: in mpmath with
    40 digits, from the definition of the pair, for sizes that enumeration of reports cannot reach.
    """
    of = pair(Fraction(str(epsilon0)), respondents=n)
    with mpmath.workdps(40):
        for share in ("0", "0.05", "0.3", "0.8", "0.99"):
            epsilon = Fraction(str(epsilon0)) * Fraction(share)
            truth = double_sum(of, epsilon)
            assert truth <= divergence(of, epsilon) <= truth * (1 + 1e-7) + 1e-32


def test_binomials_are_as_sharp_as_the_margin_says() -> None:
    """Measured up to 10⁸ trials: probabilities to 10⁻¹⁰, SciPy's tails to 10⁻¹¹, charged 10⁻⁹."""
    from scipy.special import betainc

    with mpmath.workdps(30):
        half = mpmath.mpf(1) / 2
        for trials in (1, 5, 40, 1000, 10**5, 10**7, 10**8):
            for z in (-1, 0, 3, 9):
                k = int(trials / 2 + z * math.sqrt(trials) / 2) + 1
                if not 1 <= k <= trials:
                    continue
                exact = mpmath.binomial(trials, k) * half**trials
                ours = binomial(np.array([float(k)]), trials, 0.5, 0.5)[0]
                assert abs(ours / exact - 1) < 1e-10
                # The tail, relative to its first term: each is so much smaller than the one before.
                at = np.arange(k, min(trials, k + 80_000) + 0.0)
                tail = exact * (1 + np.sum(np.cumprod((trials - at) / (at + 1))))
                if z > 0:
                    assert abs(betainc(k, trials - k + 1, 0.5) / tail - 1) < 1e-11
        for trials, chance in ((10**8, 1e-7), (10**6, 0.3), (50, 0.9)):
            k = int(trials * chance) + 2
            exact = mpmath.binomial(trials, k) * mpmath.mpf(chance) ** k
            exact *= (1 - mpmath.mpf(chance)) ** (trials - k)
            ours = binomial(np.array([float(k)]), trials, chance, 1 - chance)[0]
            assert abs(ours / exact - 1) < 1e-10


def test_tails_in_a_row_are_those_of_scipy() -> None:
    """Catches a step of the recurrence that is off: near the middle and 9 deviations out."""
    from scipy.special import betainc

    for slope in (0.5001, 0.507):
        others = np.arange(400_000.0, 401_000.0)
        at = np.floor((others + 1) * slope) + 1
        found = _tails(others, at, binomial(at - 1, others, 0.5, 0.5))
        assert np.max(np.abs(found / betainc(at, others - at + 1, 0.5) - 1)) < 1e-10


def closed_form(epsilon0: float, n: int, delta: float) -> float:
    """Feldman, McMillan and Talwar 2021, Theorem 3.1."""
    grown = math.exp(epsilon0)
    root = 8 * math.sqrt(grown * math.log(4 / delta) / n)
    return math.log1p((grown - 1) / (grown + 1) * (root + 8 * grown / n))


@pytest.mark.parametrize("epsilon0", [0.5, 1, 2, 4])
def test_the_closed_form_of_2021_is_above_ours(epsilon0: float) -> None:
    """Where that theorem holds, ε₀ ≤ log(n/(16·log(2/δ))), ours is below and of the same size."""
    for n, delta in ((10**4, 1e-6), (10**5, 1e-10), (10**7, 1e-6)):
        if epsilon0 <= math.log(n / (16 * math.log(2 / delta))):
            ours = Shuffled(dp.Pure(epsilon0), respondents=n).epsilon(delta)
            assert closed_form(epsilon0, n, delta) / 20 < ours < closed_form(epsilon0, n, delta)


def test_more_respondents_hide_better_and_the_local_promise_always_holds() -> None:
    """Catches a bound that grows with n, exceeds the local one, or leaves ε₀ > 0 beyond it."""
    local = dp.RandomizedResponse(epsilon=2, categories=5).guarantee
    sizes = [1, 2, 3, 10, 100, 1_000, 10**5, 10**12]
    curves = np.array(
        [[Shuffled(local, respondents=n).delta(x) for x in (0, 0.1, 1, 1.9)] for n in sizes]
    )
    assert np.all(np.diff(curves, axis=0) <= 0)
    assert np.all(np.diff(curves, axis=1) <= 0)
    assert list(curves[0]) == [local.delta(x) for x in (0, 0.1, 1, 1.9)]
    assert Shuffled(local, respondents=50).delta(2) == 0
    epsilons = [Shuffled(local, respondents=n).epsilon(1e-6) for n in sizes[:-1]]
    assert epsilons == sorted(epsilons, reverse=True)
    assert epsilons[0] <= 2


def test_epsilon_and_delta_fit_each_other() -> None:
    """Catches an ε that does not keep its δ, or one that gives a tenth of a percent away."""
    for n, delta in itertools.product((30, 10**5), (1e-3, 1e-6, 1e-12)):
        central = Shuffled(dp.Pure(1.5), respondents=n)
        epsilon = central.epsilon(delta)
        assert central.delta(epsilon) <= delta
        assert epsilon == 0 or central.delta(epsilon * 0.999) > delta
        assert central.approx(delta) == dp.Approx(epsilon, delta)
    assert Shuffled(dp.Pure(1.5), respondents=30).epsilon(0) == 1.5
    assert Shuffled(dp.Pure(1.5), respondents=30).epsilon(1) == 0
    assert Shuffled(dp.Pure(0), respondents=30).epsilon(1e-9) == 0
    assert Shuffled(dp.Pure(1000), respondents=30).epsilon(1e-9) <= 1000


def test_two_categories_give_away_a_third_at_most() -> None:
    """What the theorem makes no use of, measured: ε₀ = ln 3, 400 people, δ = 10⁻⁶.

    The true law of the number of ones is a sum of two binomials, whatever the others answered.
    """

    def truth(ones_of_others: int, g: float) -> float:
        from scipy.stats import binom

        n, high, low = 400, 0.75, 0.25
        laws = []
        for own in (high, low):
            rates = [(ones_of_others, high), (n - 1 - ones_of_others, low), (1, own)]
            law = np.ones(1)
            for size, rate in rates:
                law = np.convolve(law, binom.pmf(np.arange(size + 1), size, rate))
            laws.append(law)
        p, q = laws
        sticks = (np.maximum(p - g * q, 0).sum(), np.maximum(q - g * p, 0).sum())
        return float(max(sticks))

    epsilon = Shuffled(dp.RandomizedResponse(truth=0.5).guarantee, respondents=400).epsilon(1e-6)
    g = math.exp(epsilon)
    assert max(truth(m, g) for m in (0, 133, 266, 399)) <= 1e-6
    assert truth(0, math.exp(epsilon * 0.66)) > 1e-6


def test_what_cannot_be_amplified_is_refused_with_a_sentence() -> None:
    """A Gaussian has no finite ε; and wrong arguments are named."""
    with pytest.raises(dp.InvalidArgument, match="finite ε at δ = 0"):
        Shuffled(dp.GDP(1), respondents=100)
    with pytest.raises(dp.InvalidArgument, match="respondents"):
        Shuffled(dp.Pure(1), respondents=0)
    with pytest.raises(dp.InvalidArgument, match="local guarantee of one respondent"):
        Shuffled(1.0, respondents=10)  # type: ignore[arg-type]
    with pytest.raises(dp.InvalidArgument, match="epsilon"):
        Shuffled(dp.Pure(1), respondents=10).delta(-1)
    assert "1,000 honest respondents" in str(Shuffled(dp.Pure(1), respondents=1000))
