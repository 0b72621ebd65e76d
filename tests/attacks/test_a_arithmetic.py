"""Attacks A6 and A7: wrong arithmetic under the proof, and zero counted twice.

Each test is named after its entry in docs/attacks.md, states its false-alarm rate, and rejects
a planted sampler that has the flaw.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from fractions import Fraction
from math import exp, tanh

import numpy as np
import pytest
from scipy.stats import norm

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.noise.additive import MANY
from discreet.numeric.balls import ball, lower_fraction, precision, upper_fraction
from discreet.testing import seeded

DRAWS = 100_000
FALSE_ALARM = 1e-9


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
        x, y, u, v = Fraction(a, b), Fraction(c, d), fmpq(a, b), fmpq(c, d)
        for name, operation in operations.items():
            ours, theirs = operation(x, y), operation(u, v)
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
    for size in (n, MANY):  # by arithmetic, and by table
        with seeded(12):
            drawn = mechanism.release(np.zeros(size, np.int64))
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
            with seeded(14):
                released = mechanism.release(np.full(DRAWS, x))
            with seeded(15):
                single = np.array([mechanism.release(x) for _ in range(5000)])
            for some in (released, single):
                assert (some == 0).any()
                assert not np.signbit(some[some == 0]).any()
