"""Draws that one would wait a million years for, by choosing the first bits of their words.

Given that U < 2^-k, the excess of E = −ln U over k·ln 2 is exponential again. So the law of a
draw beyond 30 scales is known exactly, and is tested like any other: chi-square against Arb,
false-alarm rate 1e-9, and a rate 6 % off is rejected.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, log

import numpy as np
import pytest

from discreet.mechanisms.gaussian import Gaussian as GaussianMechanism
from discreet.mechanisms.laplace import Laplace as LaplaceMechanism
from discreet.noise.additive import FloatGrid, IntegerGrid, add
from discreet.noise.gaussian import POSITION_TAG, GaussianSampler
from discreet.noise.laplace import TAG, DiscreteLaplaceSampler, LaplaceSampler
from discreet.numeric.balls import ball, precision
from discreet.testing import ScriptedEntropy, SeededEntropy, using


class SmallU(SeededEntropy):
    """Words whose uniform is below 2^-zeros; what lies behind a word is drawn afresh."""

    def __init__(self, seed: int, zeros: int) -> None:
        super().__init__(seed)
        self._zeros = np.uint64(zeros)

    def words(self, count: int) -> np.ndarray:
        return super().words(count) >> self._zeros

    def extend(self, words: np.ndarray, tag: int) -> np.ndarray:
        return super().words(words.size)


# zeros: E > 30.5 (looked at closely), 38.1 and 43.7 (slow: all 63 bits are zero, or nearly so)
BEYOND = [(44, 1_000_000), (55, 30_000), (63, 30_000)]


@pytest.mark.no_cover
@pytest.mark.parametrize(("zeros", "draws"), BEYOND)
@pytest.mark.parametrize("kind", ["discrete", "real"])
def test_laplace_beyond_thirty_scales(kind, zeros, draws, chi_square):
    scale = Fraction(7, 2)
    law = DiscreteLaplaceSampler(scale) if kind == "discrete" else LaplaceSampler(scale)
    grid = IntegerGrid() if kind == "discrete" else FloatGrid(0)
    with using(SmallU(zeros, zeros)):
        drawn = add(np.zeros(draws, grid.dtype), law, grid).astype(np.int64)
    sizes = np.abs(drawn)
    assert sizes.min() >= 30 * scale - 1
    first = ceil(zeros * log(2) * scale) + 1
    ends = np.arange(first, first + 60)
    counts = np.bincount(np.searchsorted(ends, sizes, side="right"), minlength=61)

    def probabilities(rate: Fraction) -> list[float]:
        """Of sizes in [ends[i−1], ends[i]), given U < 2^-zeros."""
        with precision(128):
            shift = Fraction(1, 2)  # |X| ≥ m when t·E + ½ ≥ m
            t = ball(rate)
            s = t * (2 / (1 + (-1 / t).exp())).log() if kind == "discrete" else ball(shift)
            tail = [ball(1)] + [2**zeros * ((s - ball(int(m))) / t).exp() for m in ends]
            return [float(a - b) for a, b in zip(tail, [*tail[1:], ball(0)], strict=True)]

    assert chi_square(counts, probabilities(scale)) > 1e-9
    assert chi_square(counts, wrong_rate(probabilities, scale)) < 1e-9
    negative = (drawn < 0).mean()
    assert abs(negative - 0.5) < 3.1 / np.sqrt(draws)  # 6.2 standard deviations: 6e-10


def wrong_rate(probabilities, scale):
    """The law of a rate 6 % off, made to begin at the same place."""
    cells = np.array(probabilities(scale))
    tail = np.append(np.cumsum(cells[::-1])[::-1], 0.0)
    tail = tail ** (1 / 1.06)
    return (tail[:-1] - tail[1:]).tolist()


class Nothing(SeededEntropy):
    """Words of zeros with 64 zeros behind them: U below 2^-127, then whatever comes."""

    def words(self, count: int) -> np.ndarray:
        return np.zeros(count, np.uint64)

    def extend(self, words: np.ndarray, tag: int) -> np.ndarray:
        further = SeededEntropy.words(self, words.size)
        return further * np.uint64(tag != TAG)


@pytest.mark.no_cover
@pytest.mark.parametrize("count", [1, 100, 3000])
def test_a_small_scale_has_a_long_tail(count):
    """E > 88: what 63 digits say is not near it, whatever the scale."""
    with using(Nothing(1)):
        drawn = add(
            np.zeros(count, np.int64), DiscreteLaplaceSampler(Fraction(1, 10)), IntegerGrid()
        )
        real = add(np.zeros(count), LaplaceSampler(Fraction(1, 10)), FloatGrid(0))
    assert drawn.min() >= 8 and real.min() >= 8


class NearOne(SeededEntropy):
    """Positions above 1 − 2^-56: Gaussian draws beyond 8.3 standard deviations."""

    def words(self, count: int) -> np.ndarray:
        return super().words(count) | np.uint64(0xFFFF << 48)

    def extend(self, words: np.ndarray, tag: int) -> np.ndarray:
        further = super().words(words.size)
        return further | np.uint64((1 << 64) - (1 << 24)) if tag == POSITION_TAG else further


@pytest.mark.no_cover
def test_gaussian_beyond_eight_deviations(chi_square):
    """1,000 draws whose strip lies beyond the table; their law is the normal tail."""
    sigma, draws = 40, 1000
    with using(NearOne(3)):
        drawn = add(np.zeros(draws, np.int64), GaussianSampler(Fraction(sigma)), IntegerGrid())
    sizes = np.abs(drawn)
    assert sizes.min() > 8 * sigma

    def probabilities(sigma: Fraction) -> list[float]:
        with precision(256):
            tail = [ball(1)]
            for m in range(340, 380):
                z = ball((m - Fraction(1, 2)) / sigma)
                tail.append(2**56 * (z / ball(2).sqrt()).erfc())
            return [float(a - b) for a, b in zip(tail, [*tail[1:], ball(0)], strict=True)]

    counts = np.bincount(np.clip(sizes - 339, 0, 40), minlength=41)
    exact = probabilities(Fraction(sigma))
    assert chi_square(counts, exact) > 1e-9
    flatter = np.append(np.cumsum(exact[::-1])[::-1], 0.0) ** (1 / 1.5)
    assert chi_square(counts, (flatter[:-1] - flatter[1:]).tolist()) < 1e-9
    assert abs((drawn < 0).mean() - 0.5) < 3.1 / np.sqrt(draws)


@pytest.mark.parametrize("value", [0, 0.0])
def test_extreme_words_through_the_mechanisms(value):
    """All bits zero: beyond 43 scales. All bits one: next to nothing."""
    laplace, gaussian = LaplaceMechanism(sensitivity=1, scale=100), GaussianMechanism
    with using(ScriptedEntropy([0])):
        assert 4366 < laplace.release(value) < 12000
    with using(ScriptedEntropy([1])):
        assert -12000 < laplace.release(value) < -4366
    with using(ScriptedEntropy([2**64 - 1])):
        assert abs(laplace.release(value)) < 1
    ones = 2**64 - 1
    # a single number takes its further words from the stream, the last of the store first
    with using(ScriptedEntropy([ones] * 200)):
        assert -2000 < gaussian(sensitivity=1, sigma=100).release(value) < -800


def test_a_vector_meets_extreme_words():
    """The same on the fast path: 2,000 words, a few of them extreme, each handled alone."""
    words = SeededEntropy(9).words(2000).tolist()
    words[5], words[6], words[7] = 0, 1, 2**64 - 1
    with using(ScriptedEntropy(words)):
        drawn = add(np.zeros(2000, np.int64), DiscreteLaplaceSampler(Fraction(100)), IntegerGrid())
    assert drawn[5] > 4366 and drawn[6] < -4366 and drawn[7] == 0
    assert np.abs(np.delete(drawn, [5, 6])).max() < 2000
