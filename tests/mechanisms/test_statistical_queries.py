"""Statistical queries: exact sensitivity, total functions, the lecture's two algorithms."""

import threading
import warnings
from decimal import Decimal
from fractions import Fraction
from math import isnan, sqrt

import numpy as np
import pytest
from mpmath import erf, exp, mp, mpf, pi, tanh
from scipy.stats import chi2

from discreet import bounds
from discreet.errors import InvalidArgument
from discreet.guarantees import GDP, Pure
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.statistical_queries import (
    UNIT,
    StatisticalQueries,
    sum_of_column,
    sum_of_records,
)
from discreet.testing import seeded

FALSE_ALARM = 1e-9


def fit(answers, queries, mean, cells=20):
    """The chi-square p-value of answers against ``queries.law(mean)``, in cells of equal mass."""
    law = queries.law(mean)
    steps = np.rint(np.array(answers) * queries.n * UNIT)
    spread = sqrt(law.variance)
    edges = [int(law.center + spread * x) for x in np.linspace(-2, 2, cells - 1)]
    below = np.array([0.0, *(float(law.cdf(edge)) for edge in edges), 1.0])
    counts = np.bincount(np.searchsorted(edges, steps, side="left"), minlength=cells)
    expected = len(answers) * np.diff(below)
    return chi2.sf(((counts - expected) ** 2 / expected).sum(), cells - 1)


@pytest.mark.no_cover
def test_claim_02_gaussian_answers_follow_their_law():
    """Mean plus N(0, σ²), query by query: 20,000 answers, false-alarm rate 1e-9, and a σ that is
    5 % off is rejected. Catches noise on the sum instead of the mean, or σ² for σ."""
    sample = np.arange(100)
    queries = StatisticalQueries(sample, sigma=0.05)
    with seeded(2):
        answers = [queries.ask(lambda x: x < 25, vectorized=True) for _ in range(20_000)]
    assert fit(answers, queries, 0.25) > FALSE_ALARM
    assert fit(answers, StatisticalQueries(sample, sigma="0.0525"), 0.25) < FALSE_ALARM
    assert fit(answers, queries, 0.256) < FALSE_ALARM
    assert queries.variance == pytest.approx(0.05**2, rel=1e-9)
    assert queries.guarantee == GDP(Fraction(1, 5))


@pytest.mark.no_cover
def test_claim_06_laplace_answers_follow_their_law():
    """Laplace of scale 1/(n·ε), likewise. Catches a scale of 1/ε, or n for the sensitivity."""
    sample = np.arange(50)
    queries = StatisticalQueries(sample, epsilon=0.5)
    with seeded(6):
        answers = [queries.ask(lambda x: x < 25, vectorized=True) for _ in range(20_000)]
    assert fit(answers, queries, 0.5) > FALSE_ALARM
    assert fit(answers, StatisticalQueries(sample, epsilon="0.525"), 0.5) < FALSE_ALARM
    assert queries.variance == pytest.approx(2 * (1 / 25) ** 2, rel=1e-9)
    assert queries.guarantee == Pure("1/2")


def test_claim_06_one_replaced_record_costs_epsilon_and_no_more():
    """The ratio of the two laws at n·2^32·answer, on either side of both centres: e^ε."""
    queries = StatisticalQueries([0] * 7, epsilon=1)
    here, there = queries.law(Fraction(3, 7)), queries.law(Fraction(4, 7))
    assert there.center - here.center == UNIT
    for outcome in (here.center - 5, there.center + 10**9):
        loss = abs(float((here.mass(outcome) / there.mass(outcome)).log()))
        assert loss == pytest.approx(1, rel=1e-12)


def test_claim_03_tv_of_the_gaussian_oracle():
    """n = 100, σ = 0.05: exact 2Φ(0.1) − 1 = 0.0796557, the lecture's bound 0.0797885."""
    queries = StatisticalQueries(range(100), sigma="0.05")
    with mp.workdps(40):
        truth, bound = erf(mpf("0.1") / mp.sqrt(2)), 1 / (mp.sqrt(2 * pi) * 5)
        assert truth <= mpf(queries.tv) <= truth * (1 + mpf("1e-15"))
        assert bound <= mpf(queries.tv_bound) <= bound * (1 + mpf("1e-15"))
    assert round(queries.tv, 7) == 0.0796557
    assert queries.tv_bound == bounds.gaussian_tv(100, "0.05")


@pytest.mark.parametrize("epsilon", ["1/10", 1, 3])
def test_claim_07_tv_of_the_laplace_oracle(epsilon):
    """Exact 1 − e^(−ε/2), below tanh(ε/2), below the lecture's (e^ε − 1)/2."""
    queries = StatisticalQueries(range(100), epsilon=epsilon)
    e = mpf(Fraction(epsilon).numerator) / Fraction(epsilon).denominator
    assert queries.tv == pytest.approx(float(1 - exp(-e / 2)), rel=1e-14)
    assert queries.tv <= float(tanh(e / 2)) <= queries.tv_bound == bounds.tv_from_epsilon(epsilon)


def test_total_of_all_answers():
    """√k·μ, and ε composed k times, which is k·ε at δ = 0 and less elsewhere; nothing asked
    costs nothing."""
    gaussian, laplace = (StatisticalQueries([1, 2], **noise) for noise in NOISES)
    assert gaussian.total == GDP(0)
    assert laplace.total == Pure(0)
    for asked in (1, 2, 3):
        gaussian.ask(lambda x: x)
        laplace.ask(lambda x: x)
        assert gaussian.asked == asked
        assert gaussian.total.mu**2 >= asked * gaussian.guarantee.mu**2
        assert float(gaussian.total.mu) == pytest.approx(sqrt(asked) * float(gaussian.guarantee.mu))
        assert laplace.total == laplace.guarantee.repeat(asked)
        assert laplace.total.within(Pure(asked * laplace.guarantee.epsilon0))
    assert laplace.total.tv < Pure(1).tv  # three times a third


NOISES = [{"sigma": 0.5}, {"epsilon": "1/3"}]


def test_asking_is_counted_before_any_record_is_read():
    """A query that stops the program half-way was asked all the same. Catches a free look."""

    def stop(record):
        raise KeyboardInterrupt

    queries = StatisticalQueries([1, 2], sigma=1)
    with pytest.raises(KeyboardInterrupt):
        queries.ask(stop)
    assert queries.asked == 1


def test_asking_from_many_threads_counts_every_query():
    """Catches an unlocked counter, which would under-state the total."""
    queries = StatisticalQueries([1], sigma=1)
    threads = [
        threading.Thread(target=lambda: [queries.ask(lambda x: x) for _ in range(50)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queries.asked == 400


class Odd:
    def __gt__(self, other):
        raise TypeError

    def __float__(self):
        return 0.5


VALUES = [
    (0.5, 0.5),
    (1, 1),
    (0, 0),
    (True, 1),
    (np.True_, 1),
    (np.float32(0.25), 0.25),
    (np.int8(1), 1),
    (Fraction(1, 4), 0.25),
    (1.5, 1),
    (-0.5, 0),
    (10**400, 1),
    (-(10**400), 0),
    (float("inf"), 1),
    (float("-inf"), 0),
    (float("nan"), 0),
    (np.float64("nan"), 0),
    (-0.0, 0),
    (5e-324, 0),
    (None, 0),
    ("0.5", 0),
    (1j, 0),
    (Decimal("0.5"), 0),
    (np.array([0.5]), 0),
    (Odd(), 0),
]


@pytest.mark.parametrize(("value", "counts_as"), VALUES, ids=lambda v: repr(v)[:20])
def test_b5_every_value_counts_as_something(value, counts_as):
    """Clamped to [0, 1]; no number, NaN and errors are 0. Catches max(0, min(1, nan)) = 1."""
    assert sum_of_records(lambda record: value, [0]) == round(counts_as * UNIT)


COLUMN = [(0.5, 0.5), (1.5, 1), (-0.5, 0), (np.inf, 1), (-np.inf, 0), (np.nan, 0), (5e-324, 0)]


@pytest.mark.parametrize(("value", "counts_as"), COLUMN)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_b5_columns_count_the_same(value, counts_as, dtype):
    """A column function and a function of one record agree on every value."""
    column = np.array([value, 1, 0], dtype)
    expected = round(counts_as * UNIT) + UNIT
    assert sum_of_column(lambda x: x, column) == expected
    assert sum_of_records(lambda x: x, column) == expected


def test_values_are_rounded_half_up():
    """⌊φ·2^32 + ½⌋, the same in both ways of asking."""
    values = [0.5 / UNIT, 1.5 / UNIT, 2.4999 / UNIT, 1 / 3]
    steps = [1, 2, 2, 1431655765]
    assert [sum_of_records(lambda x: x, [v]) for v in values] == steps
    assert [sum_of_column(lambda x: x, np.array([v])) for v in values] == steps


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan])
def test_e1_one_bad_record_moves_the_sum_by_one_at_most(bad):
    """A column function that raises because of one row still counts all the others. Catches
    "everything is 0 when it raises", which moves the mean by up to 1 instead of 1/n."""

    def strict(x):
        if not np.all(x > 0):
            raise ValueError("a bad row")
        return np.ones(len(x))

    sample = np.ones(1001)
    sample[500] = bad
    assert sum_of_column(strict, np.ones(1001)) - sum_of_column(strict, sample) == UNIT
    assert sum_of_records(lambda x: {True: 1}[bool(x > 0)], sample) == 1000 * UNIT  # KeyError


def test_e1_a_shape_that_depends_on_the_data_does_not_raise():
    """Rows that give no number count as 0. Catches a refusal that tells whether one was there."""
    queries = StatisticalQueries(np.array([1.0, -1.0, 2.0]), epsilon=100)
    assert abs(queries.ask(lambda x: x[x > 0], vectorized=True) - 2 / 3) < 0.1
    assert sum_of_column(lambda x: x.astype(object), np.ones(3)) == 0


def test_e1_warnings_of_one_record_are_silent():
    """Catches a warning on the screen that tells of one record."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        sum_of_column(lambda x: 1 / x, np.array([0.0, 1.0]))
        sum_of_records(lambda x: 1 / x, np.array([0.0, 1.0]))
    assert not caught


def test_b2_b3_order_and_rounding_do_not_matter():
    """The same sum for every order of the records, and one record moves it by its own steps."""
    values = np.concatenate([np.full(1000, 1e-9), [1.0], np.linspace(0, 1, 4095)])
    whole = sum_of_column(lambda x: x, values)
    generator = np.random.default_rng(0)
    for _ in range(100):
        assert sum_of_column(lambda x: x, generator.permutation(values)) == whole
    assert sum_of_records(lambda x: x, values) == whole
    changed = values.copy()
    changed[0] = 1.0
    assert sum_of_column(lambda x: x, changed) - whole == UNIT - round(1e-9 * UNIT)


@pytest.mark.parametrize("phi", [lambda x: x, lambda x: x * 1e300, lambda x: np.nan_to_num(1 / x)])
def test_one_record_moves_the_mean_by_at_most_1_over_n(phi):
    """Every value against every other as the only difference: at most 2^32 steps."""
    wild = [0.0, -0.0, 1.0, 0.3, 1e308, -1e308, 5e-324, np.inf, -np.inf, np.nan]
    sums = [sum_of_column(phi, np.array([0.7, 0.2, value])) for value in wild]
    assert max(sums) - min(sums) <= UNIT


def test_a_query_cannot_write_to_the_sample():
    """Catches a query that leaves a trace for the next one, or a caller who does."""

    def wipe(row):
        row[:] = 1
        return 1

    sample = np.zeros((100, 2))
    queries = StatisticalQueries(sample, epsilon=100)
    assert queries.ask(wipe) < 0.5  # the write raised, and raising counts as 0
    sample[:] = 1  # nor from outside
    assert queries.ask(lambda rows: rows[:, 0], vectorized=True) < 0.5


def test_records_of_any_kind():
    """Rows of a matrix, dictionaries and tuples."""
    rows = StatisticalQueries(np.arange(200).reshape(100, 2), epsilon=100)
    assert abs(rows.ask(lambda row: row[1] > 99) - 0.5) < 0.01
    assert abs(rows.ask(lambda rows: rows[:, 1] > 99, vectorized=True) - 0.5) < 0.01
    people = StatisticalQueries([{"age": 70}, {"age": 20}, {}] * 40, epsilon=100)
    assert abs(people.ask(lambda person: person["age"] > 60) - 1 / 3) < 0.01
    assert people.n == 120


def test_noise_as_a_mechanism():
    """The same promise, whichever way it is given."""
    sample = [0, 1, 1]
    by_sigma = StatisticalQueries(sample, sigma=2)
    by_gaussian = StatisticalQueries(sample, noise=Gaussian(sensitivity="1/3", sigma=2))
    assert by_gaussian.guarantee == by_sigma.guarantee == GDP(Fraction(1, 6))
    assert by_gaussian.law(0) == by_sigma.law(0)
    by_laplace = StatisticalQueries(sample, noise=Laplace(sensitivity="1/3", epsilon=2))
    assert by_laplace.guarantee == Pure(2)
    calibrated = Gaussian(sensitivity="1/3", epsilon=1, delta=1e-6)
    assert StatisticalQueries(sample, noise=calibrated).guarantee.delta(1) <= 1e-6


@pytest.mark.parametrize("noise", [{"sigma": 0.1}, {"epsilon": 1}])
def test_error_holds(noise):
    """|answer − mean| ≤ error(0.95) in 95 % of 2,000 queries, up to seven standard errors."""
    queries = StatisticalQueries(np.arange(10) / 10, **noise)
    with seeded(95):
        answers = np.array([queries.ask(lambda x: x, vectorized=True) for _ in range(2000)])
    inside = np.abs(answers - 0.45) <= queries.error(0.95)
    assert abs(inside.mean() - 0.95) < 7 * sqrt(0.95 * 0.05 / 2000)
    assert not isnan(queries.variance)
    assert "asked=2000" in repr(queries)


REFUSED = [
    (lambda: StatisticalQueries([], sigma=1), "sample"),
    (lambda: StatisticalQueries(np.array([]), sigma=1), "sample"),
    (lambda: StatisticalQueries(np.array(3), sigma=1), "sample"),
    (lambda: StatisticalQueries("text", sigma=1), "sample"),
    (lambda: StatisticalQueries(iter([1]), sigma=1), "sample"),
    (lambda: StatisticalQueries(range(2**30 + 1), sigma=1), "sample"),
    (lambda: StatisticalQueries([1]), "epsilon or noise or sigma"),
    (lambda: StatisticalQueries([1], sigma=1, epsilon=1), "epsilon or noise or sigma"),
    (
        lambda: StatisticalQueries([1], sigma=1, noise=Laplace(sensitivity=1, epsilon=1)),
        "epsilon or noise or sigma",
    ),
    (lambda: StatisticalQueries([1], sigma=0), "sigma"),
    (lambda: StatisticalQueries([1], epsilon=-1), "epsilon"),
    (lambda: StatisticalQueries([1], noise="laplace"), "noise"),
    (lambda: StatisticalQueries([1, 2], noise=Laplace(sensitivity=1, epsilon=1)), "noise"),
    (lambda: StatisticalQueries([1], noise=Laplace(sensitivity=1, epsilon=1, step=1)), "noise"),
    (lambda: StatisticalQueries([1], sigma=1).ask(0.5), "phi"),
    (lambda: StatisticalQueries([1], sigma=1).ask(lambda x: x, vectorized=True), "vectorized"),
    (lambda: StatisticalQueries([1], sigma=1).error(1), "confidence"),
    (lambda: ask_column(lambda x: 0.5), "phi"),
    (lambda: ask_column(lambda x: x.mean()), "phi"),
    (lambda: ask_column(lambda x: x / x.max()), "phi"),
    (lambda: ask_column(lambda x: x.reshape(-1, 1)), "phi"),
    (lambda: ask_column(lambda x: x.astype(str)), "phi"),
]


def ask_column(phi):
    return StatisticalQueries(np.ones(3), sigma=1).ask(phi, vectorized=True)


@pytest.mark.parametrize(("mistake", "name"), REFUSED)
@pytest.mark.filterwarnings("ignore:Mean of empty slice")
def test_refusals_name_the_mistake(mistake, name):
    """Before any record is read, so that a refusal tells nothing about them."""
    with pytest.raises(InvalidArgument) as refusal:
        mistake()
    assert refusal.value.name == name


def test_a_refused_query_is_not_counted():
    """It read nothing, so it costs nothing."""
    queries = StatisticalQueries(np.ones(3), sigma=1)
    with pytest.raises(InvalidArgument):
        queries.ask(lambda x: 0.5, vectorized=True)
    assert queries.asked == 0
