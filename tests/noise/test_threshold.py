"""Noisy comparisons with one noisy threshold: the right law, exact on every path."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import exp

import numpy as np
import pytest

from discreet.noise import threshold as module
from discreet.noise.additive import INT_MAX, INT_MIN
from discreet.noise.entropy import Tape
from discreet.noise.laplace import LaplaceReal
from discreet.noise.threshold import TAG, NoisyThreshold
from discreet.numeric.balls import ball, precision
from discreet.testing import ScriptedEntropy, SeededEntropy, seeded, using


def above_by(x: float, b: float, c: float) -> float:
    """P(b·N − c·N₀ ≥ x) for x ≥ 0 and independent Laplace N and N₀, b ≠ c."""
    return (b * b * exp(-x / b) - c * c * exp(-x / c)) / (2 * (b * b - c * c))


@pytest.mark.no_cover
@pytest.mark.parametrize("apart", [0, 1, 4, -3])
def test_one_comparison_follows_the_law(apart, chi_square):
    """10,000 thresholds, one score each, ``apart`` below; false-alarm rate 1e-9."""
    b, c = Fraction(3), Fraction(2)
    with seeded(apart + 10):
        above = sum(
            NoisyThreshold(Fraction(100 + apart), c).compare(np.array([100]), b).above[0]
            for _ in range(10_000)
        )
    counts = [10_000 - above, above]
    assert chi_square(counts, both(apart, 3, 2)) > 1e-9
    if abs(apart) > 2:  # noise a third too large
        assert chi_square(counts, both(apart, 4, 2)) < 1e-9


def both(apart: int, b: float, c: float) -> list[float]:
    beyond = above_by(abs(apart), b, c)
    return [1 - beyond, beyond] if apart >= 0 else [beyond, 1 - beyond]


@pytest.mark.parametrize("word", [2**63, 2**63 + 1, 1 << 40, 12345678901234567891])
def test_many_comparisons_share_one_threshold(word, chi_square):
    """The threshold's word is chosen, so its noise is known; a million scores follow it."""
    b, c, scores = Fraction(2), Fraction(3), np.full(1_000_000, 7)
    with using(ScriptedEntropy([word], seed=4)):
        above = int(NoisyThreshold(Fraction(5), c).compare(scores, b).above.sum())
    e = -np.log((word >> 1) / 2.0**63)
    x = (5 + 3 * (-e if word & 1 else e) - 7) / 2  # N has to reach it
    p = exp(-x) / 2 if x >= 0 else 1 - exp(x) / 2
    if p * 1e6 > 200:
        assert chi_square([1_000_000 - above, above], [1 - p, p]) > 1e-9
    else:
        assert above < 1000


SCORES = {
    "ints": np.arange(-50, 50),
    "floats": np.linspace(-5, 5, 100),
    "edges": np.array([INT_MIN, INT_MIN + 1, -1, 0, 1, INT_MAX - 1, INT_MAX]),
    "huge": np.array([1e308, -1e308, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324]),
    "coarse": 2.0**60 + np.arange(50) * 256,
}
THRESHOLDS = [Fraction(0), Fraction(1, 3), Fraction(INT_MAX), Fraction(-(10**308)), Fraction(2**60)]


@pytest.mark.parametrize("name", SCORES)
def test_fast_and_slow_agree(name, monkeypatch):
    for i, threshold in enumerate(THRESHOLDS):
        answers = []
        for trusted in (True, False):
            monkeypatch.setattr(module, "trusted", lambda trusted=trusted: trusted)
            with seeded(i):
                noisy = NoisyThreshold(threshold, Fraction(2))
                answers.append(
                    [noisy.compare(SCORES[name], Fraction(s, 3)).above.tolist() for s in (1, 99)]
                )
        assert answers[0] == answers[1]


# Equal words would have equal bits behind them here, and a tie for ever.
@pytest.mark.parametrize(
    ("word", "own"), list(itertools.permutations([0, 1, 2, 3, 2**64 - 1, 2**64 - 2], 2))
)
def test_extreme_words(word, own, monkeypatch):
    """No word of the threshold or of a score leaves the exact comparison."""
    answers = []
    for trusted in (True, False):
        monkeypatch.setattr(module, "trusted", lambda trusted=trusted: trusted)
        with using(ScriptedEntropy([word, own])):
            noisy = NoisyThreshold(Fraction(0), Fraction(1))
            answers.append(bool(noisy.compare(np.array([0]), Fraction(1)).above[0]))
    assert answers[0] == answers[1]


def test_the_threshold_is_one_real_number():
    """A thousand scores at small distances: as the score rises the answer turns once.

    Without noise on the scores worth mentioning, every comparison looks at the same threshold.
    """
    with seeded(8):
        noisy = NoisyThreshold(Fraction(0), Fraction(1))
        scores = np.linspace(-40, 40, 100_001)
        above = noisy.compare(scores, Fraction(1, 10**12)).above
    assert (np.diff(above.astype(int)) >= 0).all() and above[-1] and not above[0]


def test_the_gap_is_exact():
    """Distances above the threshold in steps of 2^-10, against 600 bits of the same words."""
    scores, scale = np.arange(20, 60), Fraction(5)
    with seeded(9):
        noisy = NoisyThreshold(Fraction(30), Fraction(2))
        comparison = noisy.compare(scores, scale)
        gaps = [comparison.gap(int(i), -10) for i in range(40)]
    source = SeededEntropy(9)
    first = LaplaceReal(Tape(source, source.words(1)), 0, TAG)
    rest = Tape(source, source.words(40))
    reals = [LaplaceReal(rest, i, TAG) for i in range(40)]
    for real in [first, *reals]:
        real.uniform.refine()
    with precision(300):
        exact = [
            float(ball(int(s)) + 5 * real.ball() - 30 - 2 * first.ball())
            for s, real in zip(scores, reals, strict=True)
        ]
    assert gaps == [round(x * 1024) for x in exact]
    assert comparison.above.tolist() == [x >= 0 for x in exact]
