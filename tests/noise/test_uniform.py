"""Dice without bias."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.noise.uniform import LARGEST_BOUND, _draw, _throw, dice, integers
from discreet.testing import ScriptedEntropy, seeded, using


@pytest.mark.parametrize("bound", [2, 3, 6, 16, 100, 1000])
def test_dice_are_fair(bound, chi_square):
    """3 million throws, false-alarm rate 1e-9; half of the faces 5 % off are rejected."""
    with seeded(bound):
        thrown = integers(bound, 3_000_000)
    assert thrown.dtype == np.int64 and thrown.min() == 0 and thrown.max() == bound - 1
    counts = np.bincount(thrown, minlength=bound)
    assert chi_square(counts, [1 / bound] * bound) > 1e-9
    loaded = np.ones(bound)
    loaded[: max(1, bound // 2)] += 0.05
    assert chi_square(counts, (loaded / loaded.sum()).tolist()) < 1e-9


@pytest.mark.parametrize("bound", [2**31 + 1, 3 * 2**30, 2**32 - 1, 2**32])
def test_large_dice_are_fair(bound, chi_square):
    """Nearly half of the words are drawn again at 2^31 + 1; without, the bias is a third."""
    with seeded(1):
        thrown = integers(bound, 1_000_000)
    edges = [bound * i // 64 for i in range(65)]
    counts = np.histogram(thrown, edges)[0]
    exact = [Fraction(b - a, bound) for a, b in pairwise(edges)]
    assert chi_square(counts, [float(p) for p in exact]) > 1e-9
    parity = int((thrown % 2).sum())
    odd = bound // 2 / bound
    assert abs(parity - odd * 1e6) < 6.5 * 500
    thirds = np.bincount(thrown % 3, minlength=3)
    left = [len(range(r, bound, 3)) / bound for r in range(3)]
    assert chi_square(thirds, left) > 1e-9


def through(bound: int, word: int) -> tuple[int, bool]:
    """Return the result of 32 random bits, and whether it is drawn again."""
    out = np.empty(1, np.int64)
    again = _draw(out, bound, ScriptedEntropy([word]))
    return int(out[0]), bool(again.size)


@given(st.integers(1, LARGEST_BOUND), st.data())
def test_every_result_has_equally_many_words(bound, data):
    """The words kept for result k are an interval; it has ⌊2^32/bound⌋ of them, whatever k."""
    k = data.draw(st.integers(0, bound - 1))
    first = -((-k << 32) // bound)  # least w with ⌊w·bound/2^32⌋ = k
    last = -(((-k - 1) << 32) // bound) - 1
    kept = [w for w in (first, first + 1, last - 1, last) if first <= w <= last]
    answers = [through(bound, w) for w in kept]
    assert all(result == k for result, _ in answers)
    rejected = (first * bound) % 2**32 < 2**32 % bound  # at most the first is drawn again
    assert answers[0][1] == rejected
    assert not any(again for w, (_, again) in zip(kept, answers, strict=True) if w > first)
    assert last - first + 1 - rejected == 2**32 // bound


@pytest.mark.parametrize("word", [0, 2**64 - 1])
@pytest.mark.parametrize("bound", [1, 2, 3, 2**31 + 1, 2**32])
def test_extreme_words(bound, word):
    with using(ScriptedEntropy([word] * 3)):
        thrown = integers(bound, 5)
    assert thrown.size == 5 and (thrown >= 0).all() and (thrown < bound).all()


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7])
def test_any_size(size):
    assert integers(6, size).shape == (size,)
    assert (integers(1, size) == 0).all()


@pytest.mark.parametrize("bound", [0, -1, 2**32 + 1])
def test_other_bounds_are_refused(bound):
    with pytest.raises(InvalidArgument, match="bound"):
        integers(bound, 1)


def test_redrawn_places_are_filled_from_new_words():
    """All first words are rejected: every result comes from the next ones."""
    bound = 3 * 2**30
    assert through(bound, 0) == (0, True)
    word = (2**31 + 5) << 32 | (2**31 + 5)
    assert not through(bound, word)[1]
    with using(ScriptedEntropy([0, 0, word, word])):
        assert integers(bound, 4).tolist() == [through(bound, word)[0]] * 4


class AllWords:
    """Every 16 bits there are, once; then nothing but 16 bits that are kept."""

    parallel = False

    def __init__(self):
        self.first = np.arange(1 << 16, dtype=np.uint16).view(np.uint64)

    def fill(self, out):
        out[:] = self.first[: out.size]


@pytest.mark.parametrize("sides", [*range(1, 18), 100, 127, 128, 200, 255, 256])
def test_every_side_has_equally_many_words(sides):
    """All 65,536 words: each side is kept ⌊2^16/sides⌋ times. Catches any bias at all."""
    out = np.empty(1 << 16, np.uint16)
    again = _throw(out, sides, AllWords())
    kept = np.delete(out, again)
    assert np.bincount(kept, minlength=sides).tolist() == [(1 << 16) // sides] * sides
    assert again.size == (1 << 16) % sides


def test_small_dice_are_fair(chi_square):
    """A million throws, false-alarm rate 1e-9. Catches places that are not drawn again."""
    with seeded(5):
        thrown = dice(200, 1_000_001)
    assert thrown.dtype == np.uint16
    assert chi_square(np.bincount(thrown, minlength=200), [1 / 200] * 200) > 1e-9
    for sides in (0, 257):
        with pytest.raises(InvalidArgument, match="sides"):
            dice(sides, 1)
