"""Attacks A1 to A9: what a curious reader does with the noise itself.

Each test is named after its entry in the catalogue of attacks, states its false-alarm rate,
and rejects a planted sampler that has the flaw.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from math import exp, tanh

import numpy as np
import pytest
from scipy.stats import beta, chi2_contingency, ncx2, norm, rankdata

from discreet import laws
from discreet.balls import ball, lower_fraction, precision, upper_fraction
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise import gaussian as noise_gaussian
from discreet.noise import laplace as noise
from discreet.noise.laplace import DiscreteLaplace
from discreet.noise.tape import Draw, Tape
from discreet.testing import SeededEntropy, seeded

DRAWS = 100_000
FALSE_ALARM = 1e-9


# What the low bits of a float tell ------------------------------------------------------------


def features(released: np.ndarray) -> dict[str, np.ndarray]:
    """Bit patterns: is the number a multiple of 2^-k, and how many zeros end its mantissa?"""
    found = {f"multiple of 2^{-k}": np.ldexp(released, k) % 1 == 0 for k in range(-30, 61)}
    mantissas = released.view(np.uint64) & np.uint64(2**52 - 1)
    for k in range(1, 53):
        found[f"{k} zeros at the end"] = mantissas & np.uint64(2**k - 1) == 0
    return found


def broken(here: np.ndarray, there: np.ndarray, epsilon: float) -> list[str]:
    """Name the patterns with P[f | x] > e^ε·P[f | x'] or the other way round, for certain.

    Clopper-Pearson bounds at FALSE_ALARM for each of some 150 patterns, both ways.
    """
    names = []
    for (name, a), b in zip(features(here).items(), features(there).values(), strict=True):
        for one, other in ((a, b), (b, a), (~a, ~b), (~b, ~a)):
            if least(one) > exp(epsilon) * most(other):
                names.append(name)
    return names


def least(hits: np.ndarray) -> float:
    k, n = int(hits.sum()), hits.size
    return float(beta.ppf(FALSE_ALARM, k, n - k + 1)) if k else 0.0


def most(hits: np.ndarray) -> float:
    k, n = int(hits.sum()), hits.size
    return float(beta.isf(FALSE_ALARM, k + 1, n - k)) if k < n else 1.0


def same_residues(here: np.ndarray, there: np.ndarray, step: float, period: int) -> float:
    """Return the p-value that both have the same law of (released/step) mod ``period``."""
    table = []
    for released in (here, there):
        steps = np.ldexp(released, -round(np.log2(step)))
        assert (steps == np.rint(steps)).all(), "off the grid"
        table.append(np.bincount((steps % period).astype(np.int64), minlength=period))
    return float(chi2_contingency(np.array(table), correction=False).pvalue)


def release(mechanism: Laplace | Gaussian, x: float, seed: int) -> np.ndarray:
    with seeded(seed):
        return mechanism.release(np.full(DRAWS, x))


def step_of(released: np.ndarray) -> float:
    """The largest power of two that divides everything released."""
    k = next(k for k in range(-60, 200) if (np.ldexp(released, k) % 1 == 0).all())
    return 2.0**-k


def numpy_laplace(x: float, seed: int, scale: float = 1.0) -> np.ndarray:
    """The textbook sampler in floats, by inverting the distribution function."""
    u = np.random.default_rng(seed).random(DRAWS) - 0.5
    return x - scale * np.sign(u) * np.log1p(-2 * np.abs(u))


def four_uniforms(x: float, seed: int) -> np.ndarray:
    """Laplace noise as a combination of four uniforms (Holohan and Braghin 2021)."""
    u = 1 - np.random.default_rng(seed).random((4, DRAWS))
    return x + np.log(u[0]) * np.cos(np.pi * u[1]) + np.log(u[2]) * np.cos(np.pi * u[3])


def test_a1_porous_support():
    """Mironov 2012: which doubles can come out must not depend on the true answer."""
    mechanism = Laplace(sensitivity=1, epsilon=1)
    here, there = release(mechanism, 0.0, 1), release(mechanism, 1.0, 2)
    assert broken(here, there, epsilon=1) == []
    step = step_of(here)
    assert step == step_of(there) == 2.0**-10
    # No holes: near the centre every multiple of the step is met, on both sides alike.
    for released, x in ((here, 0.0), (there, 1.0)):
        near = released[np.abs(released - x) <= 0.5]
        assert np.unique(near).size == 1025
    assert same_residues(here, there, step, 64) > FALSE_ALARM
    assert broken(numpy_laplace(0.0, 1), numpy_laplace(1.0, 2), epsilon=1)


@pytest.mark.parametrize("sigma", [0.5, 1, 37.3])
def test_a2_gaussian_floating_point(sigma):
    """Jin et al. 2022: the same for Gaussian noise, and for pairs of draws made together."""
    mechanism = Gaussian(sensitivity=1, sigma=sigma)
    here, there = release(mechanism, 0.0, 3), release(mechanism, 1.0, 4)
    # ε such that an (ε, 1e-9) guarantee holds; patterns have probabilities far above that
    assert broken(here, there, epsilon=mechanism.guarantee.epsilon(1e-9)) == []
    step = step_of(here)
    assert step == step_of(there)
    assert same_residues(here, there, step, 64) > FALSE_ALARM
    pairs = np.ldexp(here, -round(np.log2(step))).astype(np.int64).reshape(-1, 2) % 16
    table = np.bincount(pairs[:, 0] * 16 + pairs[:, 1], minlength=256).reshape(16, 16)
    assert chi2_contingency(table).pvalue > FALSE_ALARM
    # The planted error: below 2^-54 there are digits for x = 0 only, whatever ε is.
    plain = np.random.default_rng(5).standard_normal((2, DRAWS)) * sigma
    finer = [np.ldexp(y, 54) % 1 != 0 for y in (plain[0], 1 + plain[1], here, there)]
    assert finer[0].sum() > 100
    assert not finer[1].any() and not finer[2].any() and not finer[3].any()


@pytest.mark.parametrize("other", [1, 2, 2**10, 2**30])
def test_a3_precision_of_the_sum(other):
    """Haney et al. 2022: a sum takes the coarser unit of its terms. Ours is on one grid."""
    mechanism = Laplace(sensitivity=1, scale=1)
    here, there = release(mechanism, 0.0, 6), release(mechanism, float(other), 7)
    step = step_of(here)
    assert step == step_of(there) == 2.0**-10
    assert same_residues(here, there, step, 1024 // 16) > FALSE_ALARM
    # The planted error is exposed with certainty: all against none.
    k = 53 - other.bit_length()
    finer = [np.ldexp(numpy_laplace(float(x), 8), k) % 1 != 0 for x in (0, other)]
    assert finer[0].mean() > 0.2
    assert finer[1].mean() < finer[0].mean() / 2
    fine = [np.ldexp(release(mechanism, float(x), 8), k) % 1 != 0 for x in (0, other)]
    assert not fine[0].any() and not fine[1].any()


def test_a4_more_samples_are_no_fix():
    """The sum of several uniforms leaks as well; the tests above say so."""
    assert broken(four_uniforms(0.0, 1), four_uniforms(1.0, 2), epsilon=1)
    with pytest.raises(AssertionError, match="off the grid"):
        same_residues(four_uniforms(0.0, 1), four_uniforms(1.0, 2), 2.0**-10, 64)


@pytest.mark.parametrize("x", [0.3, -0.1, 1e-300, 5e-324, 1 / 3])
@pytest.mark.parametrize("scale", [1, 4096])
def test_a5_grid_mismatch(x, scale):
    """Data off the grid: the output is on it all the same, and the fraction of x is hidden."""
    mechanism = Laplace(sensitivity=1, scale=scale)
    here, there = release(mechanism, x, 9), release(mechanism, x + 1, 10)
    step = step_of(here)
    assert step == step_of(there) == scale / 1024
    assert broken(here, there, epsilon=1 / scale) == []
    # The law inside the lazy rounding is that of the text book: no rounding is to be charged.
    law = mechanism.law(x)
    assert float(law.interval_mass(x - scale, x + scale)) == pytest.approx(1 - exp(-1), abs=1e-3)


def test_a5_the_planted_mismatch_is_seen():
    """Noise on the grid added to a value off it."""
    mechanism = Laplace(sensitivity=1, scale=1)
    with pytest.raises(AssertionError, match="off the grid"):
        same_residues(0.3 + release(mechanism, 0.0, 1), release(mechanism, 1.3, 2), 2.0**-10, 64)


# The arithmetic underneath --------------------------------------------------------------------


def naive(a: int, b: int, c: int, d: int) -> dict[str, tuple[int, int]]:
    """a/b and c/d by the school's rules, reduced by Euclid's algorithm."""

    def reduced(n: int, m: int) -> tuple[int, int]:
        x, y = abs(n), abs(m)
        while y:
            x, y = y, x % y
        sign = -1 if m < 0 else 1
        return sign * n // x, sign * m // x

    return {
        "+": reduced(a * d + c * b, b * d),
        "-": reduced(a * d - c * b, b * d),
        "*": reduced(a * c, b * d),
        "/": reduced(a * d, b * c),
    }


def random_integer(rng: random.Random) -> int:
    """Small or large, a power of two, a product of small primes; never 0."""
    kind = rng.randrange(4)
    if kind == 0:
        size = rng.randint(1, 12)
    elif kind == 1:
        size = rng.getrandbits(rng.choice([8, 64, 200])) + 1
    elif kind == 2:
        size = 1 << rng.randrange(130)
    else:
        size = 2 ** rng.randrange(9) * 3 ** rng.randrange(9) * 5 ** rng.randrange(5)
    return rng.choice([-1, 1]) * size


def test_a6_rational_arithmetic():
    """Three implementations agree on 10^5 pairs of fractions, four operations each."""
    from flint import fmpq

    rng = random.Random(1)
    operations: dict[str, Callable] = {
        "+": lambda x, y: x + y,
        "-": lambda x, y: x - y,
        "*": lambda x, y: x * y,
        "/": lambda x, y: x / y,
    }
    assert Fraction(-2, 3) / 4 == Fraction(-1, 6)  # what another library got wrong
    assert fmpq(-2, 3) / 4 == fmpq(-1, 6)
    for _ in range(100_000):
        a, b, c, d = (random_integer(rng) for _ in range(4))
        expected = naive(a, b, c, d)
        for name, operation in operations.items():
            ours = operation(Fraction(a, b), Fraction(c, d))
            theirs = operation(fmpq(a, b), fmpq(c, d))
            assert (ours.numerator, ours.denominator) == expected[name]
            assert (int(theirs.p), int(theirs.q)) == expected[name]


def test_a6_balls_hold_what_they_should():
    """Arb's balls of 10^3 fractions, sums, products and quotients hold the exact result."""
    rng = random.Random(2)
    for _ in range(1_000):
        x, y = (Fraction(random_integer(rng), random_integer(rng)) for _ in range(2))
        with precision(rng.choice([64, 100, 200])):
            for value, exact in (
                (ball(x), x),
                (ball(x) + ball(y), x + y),
                (ball(x) * ball(y), x * y),
                (ball(x) / ball(y), x / y),
            ):
                assert lower_fraction(value) <= exact <= upper_fraction(value)


KNOWN = [
    # P(X = k) of the discrete Laplace law: tanh(1/(2t))·e^(−|k|/t)
    (Laplace(sensitivity=1, scale=1), 0, "0.46211715726001"),
    (Laplace(sensitivity=1, scale=1), 1, "0.17000340156854793"),
    (Laplace(sensitivity=1, scale=2), 0, "0.24491866240370913"),
    (Laplace(sensitivity=1, scale=2), -3, "0.054648740365478838"),
    # P(X = k) of the rounded Gaussian: Φ((k + ½)/σ) − Φ((k − ½)/σ)
    (Gaussian(sensitivity=1, sigma=1), 0, "0.38292492254802624"),
    (Gaussian(sensitivity=1, sigma=1), 2, "0.06059753594308194"),
    (Gaussian(sensitivity=1, sigma=2), 1, "0.17466632194020804"),
]


@pytest.mark.parametrize(("mechanism", "k", "known"), KNOWN)
def test_a6_known_probabilities(mechanism, k, known):
    """Known answers to 1e-11, and a million draws with a false-alarm rate of 1e-9."""
    p = float(known)
    assert mechanism.law(0).pmf(k) == pytest.approx(p, rel=1e-11)
    with seeded(11):
        hits = int((mechanism.release(np.zeros(1_000_000, np.int64)) == k).sum())
    assert abs(hits - 1e6 * p) < norm.isf(FALSE_ALARM / 2) * np.sqrt(1e6 * p * (1 - p))


def test_a7_zero_is_counted_once():
    """P[0] = tanh(1/2); with a zero of either sign it would be 1 − 1/e = 0.632."""
    mechanism = Laplace(sensitivity=1, scale=1)
    assert mechanism.law(0).pmf(0) == pytest.approx(0.46211715726001, rel=1e-12)
    assert tanh(0.5) == pytest.approx(0.46211715726001, rel=1e-12)
    n = 1_000_000
    for values in (np.zeros(n, np.int64), *np.zeros((1, n), np.int64)):
        with seeded(12):
            drawn = mechanism.release(values)
        assert zeros_are(drawn, tanh(0.5)) and not zeros_are(drawn, 1 - exp(-1))
        # and both signs are alike
        positive, negative = int((drawn > 0).sum()), int((drawn < 0).sum())
        assert abs(positive - negative) < norm.isf(FALSE_ALARM / 2) * np.sqrt(positive + negative)
    with seeded(13):  # one by one, and in few
        few = np.concatenate([mechanism.release([0] * 10) for _ in range(5_000)])
        one = np.array([mechanism.release(0) for _ in range(50_000)])
    assert zeros_are(few, tanh(0.5)) and zeros_are(one, tanh(0.5))
    planted = np.random.default_rng(1).geometric(1 - exp(-1), n) - 1  # with a sign to come
    assert not zeros_are(planted, tanh(0.5))


def zeros_are(drawn: np.ndarray, p: float) -> bool:
    hits, n = int((drawn == 0).sum()), drawn.size
    return bool(abs(hits - n * p) < norm.isf(FALSE_ALARM / 2) * np.sqrt(n * p * (1 - p)))


def test_a7_a_float_zero_has_no_sign():
    """-0.0 would tell on which side of zero the exact result lay."""
    for mechanism in (
        Laplace(sensitivity=1, scale=1, step=0.25),
        Gaussian(sensitivity=1, sigma=1, step=0.25),
    ):
        for x in (0.0, -0.0, 2.0**-11, -(2.0**-11), 5e-324):
            released = release(mechanism, x, 14)
            with seeded(15):
                single = np.array([mechanism.release(x) for _ in range(5000)])
            for some in (released, single):
                assert (some == 0).any()
                assert not np.signbit(some[some == 0]).any()


# Time -----------------------------------------------------------------------------------------


def timed(draw: Callable[[], float], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return nanoseconds and absolute values of ``count`` draws."""
    taken, drawn = np.empty(count), np.empty(count)
    clock = time.perf_counter_ns
    for _ in range(200):
        draw()
    for i in range(count):
        start = clock()
        value = draw()
        taken[i] = clock() - start
        drawn[i] = abs(value)
    return taken, drawn


def leaks(taken: np.ndarray, drawn: np.ndarray) -> dict[str, float]:
    """Return p-values that time has little to do with the size of the draw.

    Draws are independent of each other. So if they are independent of the clock, any order of
    theirs is as likely as any other given the times, however those drift, and these are
    permutation tests by the normal or chi-square law of their statistics.

    Not a nanosecond is too strict: CPython takes up to 100 ns more or less for integers of two
    digits or of three, and libm for a logarithm near 1. So the clock is blurred by a
    microsecond, as any clock outside of the process is, and an effect of 2 % is let pass.
    """
    n = taken.size
    taken = taken + 1000 * np.random.default_rng(1).standard_normal(n)
    size_rank = rankdata(drawn)
    r = np.corrcoef(rankdata(taken), size_rank)[0, 1]
    found = {"rank correlation": tail(r, 0.02, np.sqrt(1 / n))}
    for share in (0.01, 0.1):  # are the slowest draws larger or smaller than others?
        slowest = size_rank[np.argsort(taken)[-int(share * n) :]]
        shift = (slowest.mean() - size_rank.mean()) / n
        found[f"slowest {share:.0%}"] = tail(
            shift, 0.02, size_rank.std() / n * np.sqrt((1 - share) / slowest.size)
        )
    bins = [np.unique(np.quantile(x, np.linspace(0, 1, 9))[1:-1]) for x in (taken, drawn)]
    cells = np.digitize(taken, bins[0]) * 8 + np.digitize(drawn, bins[1])
    table = np.bincount(cells, minlength=64).reshape(8, 8)
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    information = chi2_contingency(table, lambda_="log-likelihood")  # 2n times, in nats
    found["mutual information"] = ncx2.sf(
        information.statistic, information.dof, 2 * n * 0.02 * np.log(2)
    )
    return {name: float(p) for name, p in found.items()}


def tail(effect: float, allowed: float, deviation: float) -> float:
    """The probability of so large an effect, if the true one is at most ``allowed``."""
    return float(min(1.0, 2 * norm.sf((abs(effect) - allowed) / deviation)))


TIMED = {
    "laplace on integers": (Laplace(sensitivity=1, scale=20), 1000),
    "laplace on floats": (Laplace(sensitivity=1, scale=20), 0.0),
    "gaussian on integers": (Gaussian(sensitivity=1, sigma=20), 1000),
    "gaussian on floats": (Gaussian(sensitivity=1, sigma=20), 0.0),
}


@pytest.mark.parametrize("name", TIMED)
def test_a8_time_tells_nothing(name):
    """Jin et al. 2022: 20,000 timed draws; false-alarm rate 4e-8 (four tests at 1e-8)."""
    mechanism, value = TIMED[name]
    taken, drawn = timed(lambda: mechanism.release(value) - value, 20_000)
    found = leaks(taken, drawn)
    print(f"{name}: median {np.median(taken) / 1000:.1f} µs, {found}")
    assert min(found.values()) > 1e-8


@pytest.mark.parametrize("law", [DiscreteLaplace, noise.Laplace, noise_gaussian.Gaussian])
def test_a8_the_same_work_whatever_is_drawn(law):
    """A clock is blunt, so count: each draw reveals as many words and is computed as often."""
    source, revealed, logs = SeededEntropy(1), set(), set()
    for _ in range(5000):
        draw = Draw(source)
        law(Fraction(20)).one(draw, 0.0)
        revealed.add(len(draw._revealed))
    assert len(revealed) == 1
    for _ in range(200):  # vectors of up to 1,024 likewise
        tape = Tape(source, source.words(50))
        law(Fraction(20)).closer(tape, None)
        logs.add(tuple(tape._revealed))
    assert len(logs) == 1


def test_a8_a_slow_sampler_is_seen():
    """The planted errors: work that grows with the draw, and a rare slow path that picks large
    draws."""
    mechanism = Laplace(sensitivity=1, scale=20)

    def geometric() -> int:
        drawn = mechanism.release(0)
        for _ in range(100 * abs(drawn)):  # as a geometric law trial by trial
            pass
        return drawn

    def rare() -> int:
        drawn = mechanism.release(0)
        if abs(drawn) > 90:  # one draw in a hundred
            time.sleep(0.003)
        return drawn

    for planted in (geometric, rare):
        assert min(leaks(*timed(planted, 20_000)).values()) < 1e-8


# Seeds and state ------------------------------------------------------------------------------

WORKERS = """
import multiprocessing, sys
import numpy as np
from discreet.mechanisms.laplace import Laplace
from discreet.noise import entropy

def first(_):
    words = entropy.source().words(1000)
    return words, Laplace(sensitivity=1, scale=2**40).release(np.zeros(1000, np.int64))

if __name__ == "__main__":
    before = first(None)                    # the parent has drawn, and has words in store
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(8) as pool:           # a task each, so that every worker starts afresh
        answers = pool.map(first, range(8), chunksize=1)
    words = np.concatenate([w for w, _ in [before, *answers, first(None)]])
    draws = [d.tobytes() for _, d in [before, *answers, first(None)]]
    assert words.size == 10_000
    assert np.unique(words).size == words.size, "words were shared"
    assert len(set(draws)) == len(draws), "draws were shared"
    together = np.concatenate([d for _, d in answers])
    assert np.unique(together).size > together.size - 10, "draws were shared"
    print("distinct")
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a9_workers_never_share_noise(method, tmp_path):
    """Eight workers and their parent: all words and draws differ. False-alarm rate 1e-11."""
    script = tmp_path / "workers.py"
    script.write_text(WORKERS)
    command = [sys.executable, str(script), method]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.stdout.strip() == "distinct", run.stderr


def test_a9_the_planted_error_is_seen(tmp_path):
    """A generator that is copied by fork, as NumPy's are."""
    script = tmp_path / "workers.py"
    planted = "from discreet.testing import SeededEntropy\nentropy._put_source(SeededEntropy(1))\n"
    script.write_text(WORKERS.replace("def first", planted + "\ndef first", 1))
    run = subprocess.run(
        [sys.executable, str(script), "fork"], capture_output=True, text=True, timeout=120
    )
    assert "were shared" in run.stderr


def test_a9_laws_are_not_seeded():
    """The same mechanism twice, and its law: two different draws from one law."""
    mechanism = Laplace(sensitivity=1, scale=2**40)
    assert mechanism.release(0) != mechanism.release(0)
    assert mechanism.law(0) == laws.DiscreteLaplace(center=0, scale=2**40)
