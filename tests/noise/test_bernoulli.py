"""Coins: heads exactly as often as they should, ties settled digit by digit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.noise import bernoulli
from discreet.noise.bernoulli import Computed, Rational, coins, coins_each
from discreet.numeric.balls import ball, precision
from discreet.testing import ScriptedEntropy, SeededEntropy, seeded, using


def logistic(epsilon: Fraction) -> Computed:
    """1/(1 + e^(−ε)), irrational for every rational ε but 0 (Lindemann)."""

    def formula():
        small = (-ball(abs(epsilon))).exp()  # at most 1, however large ε is
        return (1 if epsilon > 0 else small) / (1 + small)

    return Computed(formula)


PROBABILITIES = {
    "1/2": (Rational(Fraction(1, 2)), 0.5),
    "1/3": (Rational(Fraction(1, 3)), 1 / 3),
    "1/65536": (Rational(Fraction(1, 65536)), 2.0**-16),
    "1 - 1/65536": (Rational(1 - Fraction(1, 65536)), 1 - 2.0**-16),
    "1e-5": (Rational(Fraction(1, 100_000)), 1e-5),  # below one unit of 16 bits
    "1/(1 + 1/e)": (logistic(Fraction(1)), 0.7310585786300049),
    "1/(1 + e)": (logistic(Fraction(-1)), 0.2689414213699951),
    "sqrt(2)/2": (Computed(lambda: ball(2).sqrt() / 2), 0.7071067811865476),
}


@pytest.mark.parametrize("name", PROBABILITIES)
def test_coins_are_as_biased_as_they_should_be(name):
    """10 million coins, false-alarm rate 1e-9; a bias off by 1 % is rejected."""
    p, value = PROBABILITIES[name]
    draws = 10_000_000
    with seeded(1):
        heads = int(coins(p, draws).sum())
    low, high = binom.interval(1 - 1e-9, draws, value)
    assert low <= heads <= high
    wrong = value * 1.01 if value <= 0.5 else 1 - (1 - value) * 1.01
    if value * draws > 1e5 and (1 - value) * draws > 1e5:
        low, high = binom.interval(1 - 1e-9, draws, wrong)
        assert not low <= heads <= high


@pytest.mark.parametrize("p", [Fraction(0), Fraction(1)])
def test_certain_coins(p):
    assert (coins(Rational(p), 100_000) == bool(p)).all()


def tie(p, words: list[int], count: int = 1) -> np.ndarray:
    """Toss a coin whose first 16 bits equal those of p, with further words as given."""
    with using(ScriptedEntropy([p.floor(16)] + [0] * (count // 4) + words)):
        return coins(p, count)


@pytest.mark.parametrize("name", PROBABILITIES)
def test_ties_are_settled_by_the_next_digits(name):
    p = PROBABILITIES[name][0]
    digits = p.floor(80) - (p.floor(16) << 64)
    if digits:
        assert tie(p, [0])[0] and tie(p, [digits - 1])[0]
    if digits < 2**64 - 1:
        assert not tie(p, [digits + 1])[0] and not tie(p, [2**64 - 1])[0]


def test_a_tie_of_eighty_digits_goes_on(monkeypatch):
    """Then the further word behind the tied one decides, and so on."""
    p = Rational(Fraction(1, 3))
    digits = p.floor(80) - (p.floor(16) << 64)
    asked = []

    class Behind(ScriptedEntropy):
        def extend(self, words, tag):
            asked.append(tag)
            return np.array([answers[len(asked) - 1]], np.uint64)

    third = 2**64 // 3  # all digits of 1/3 are alike
    for answers, heads in [([third - 1], True), ([third + 1], False), ([third] * 3 + [0], True)]:
        asked.clear()
        with using(Behind([p.floor(16), digits])):
            assert coins(p, 1)[0] == heads
        assert asked == [80 + 64 * i for i in range(len(asked))] or len(asked) == len(answers)
        assert len(asked) == len(answers)


@given(st.fractions(0, 1), st.integers(0, 200))
@example(Fraction(1), 16)
def test_digits_of_rationals(p, bits):
    assert Rational(p).floor(bits) <= p * 2**bits < Rational(p).floor(bits) + 1


@given(st.fractions(-50, 50).filter(bool), st.integers(1, 200))
@example(Fraction(1, 10**30), 64)  # next to 1/2
@example(Fraction(-1, 10**30), 64)
def test_digits_of_the_logistic(epsilon, bits):
    with precision(1000):
        exact = 1 / (1 + (-ball(epsilon)).exp())
        digits = logistic(epsilon).floor(bits)
        assert ball(digits) <= exact * 2**bits < ball(digits + 1)


@pytest.mark.parametrize("epsilon", [1000, 10**6, 10**9, 2**900])
def test_a_probability_next_to_one_or_zero_takes_no_more_digits(epsilon, monkeypatch):
    """Catches a probability that is told from 1 by writing it out in full."""
    real, used = bernoulli.precision, []
    monkeypatch.setattr(bernoulli, "precision", lambda bits: used.append(bits) or real(bits))
    assert logistic(Fraction(epsilon)).floor(80) == 2**80 - 1
    assert logistic(Fraction(-epsilon)).floor(80) == 0
    assert coins(logistic(Fraction(epsilon)), 1000).all()
    assert max(used) < 200


def test_coins_of_their_own():
    """A million places, four biases, and ties at a place settled by that place's digits."""
    ps = [Fraction(1, 2), Fraction(1, 3), Fraction(9, 10), Fraction(1, 1000)]
    digits = np.resize(np.array([Rational(p).floor(64) for p in ps], np.uint64), 1_000_000)
    heads = coins_each(digits, lambda place: Rational(ps[place % 4]), SeededEntropy(2))
    for i, p in enumerate(ps):
        low, high = binom.interval(1 - 1e-9, 250_000, float(p))
        assert low <= heads[i::4].sum() <= high


def test_ties_of_coins_of_their_own():
    third = Rational(Fraction(1, 3))
    digits = np.full(3, third.floor(64), np.uint64)
    words = [third.floor(64)] * 3
    source = ScriptedEntropy([*words, 0, 2**64 - 1, 2**64 // 3 - 1])
    assert coins_each(digits, lambda place: third, source).tolist() == [True, False, True]


@pytest.mark.parametrize("size", [0, 1, 3, 4, 5])
def test_any_size(size):
    assert coins(Rational(Fraction(1, 2)), size).shape == (size,)
