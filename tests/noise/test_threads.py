"""Large vectors over several threads: the same law, every place filled, errors passed on."""

from __future__ import annotations

import itertools
import threading
from fractions import Fraction

import numpy as np
import pytest

from discreet import laws
from discreet.errors import EntropyFailed
from discreet.noise import workspace
from discreet.noise.additive import MANY, IntegerGrid, add
from discreet.noise.argmax import argmax
from discreet.noise.bernoulli import Rational, coins
from discreet.noise.gaussian import GaussianSampler
from discreet.noise.laplace import DiscreteLaplaceSampler
from discreet.noise.uniform import integers
from discreet.noise.workspace import BLOCK, in_blocks
from discreet.testing import SeededEntropy, using


class Parallel:
    """A seeded source for each thread."""

    parallel = True

    def __init__(self) -> None:
        self._local, self._lock, self.threads = threading.local(), threading.Lock(), 0

    def _own(self) -> SeededEntropy:
        if not hasattr(self._local, "source"):
            with self._lock:
                self.threads += 1
                self._local.source = SeededEntropy(100 + self.threads)
        return self._local.source

    def words(self, count):
        return self._own().words(count)

    def fill(self, out):
        self._own().fill(out)

    def extend(self, words, tag):
        return self._own().words(words.size)


@pytest.fixture
def four_threads(monkeypatch):
    monkeypatch.setenv("DISCREET_THREADS", "4")
    monkeypatch.setattr(workspace, "_workers", None)
    yield
    workspace._workers.shutdown()


def test_the_law_is_the_same(four_threads, chi_square):
    """2 and 5 million draws of each law over four threads, false-alarm rate 1e-9.

    The larger vectors are drawn from a table (``narrow``).
    """
    cells = range(-12, 13)
    exact = {
        DiscreteLaplaceSampler: laws.DiscreteLaplace(center=0, scale=2),
        GaussianSampler: laws.RoundedGaussian(center=0, sigma=2, step=1),
    }
    for (law, expected), size in itertools.product(exact.items(), (MANY - 1, 5_000_000)):
        source = Parallel()
        with using(source):
            drawn = add(np.zeros(size, np.int64), law(Fraction(2)), IntegerGrid())
        assert source.threads > 1
        counts = np.bincount(np.clip(drawn, -13, 13) + 13, minlength=27)
        end = float(expected.cdf(-13))
        assert chi_square(counts, [end, *map(expected.pmf, cells), end]) > 1e-9
        # Blocks are independent: neighbours across a border agree no more often than others.
        blocks = drawn[: size // BLOCK * BLOCK].reshape(-1, BLOCK)
        same = (blocks[1:] == blocks[:-1]).mean()
        expectation = sum(expected.pmf(k) ** 2 for k in range(-40, 41))
        assert abs(same - expectation) < 6.5 / np.sqrt(blocks[1:].size)


@pytest.mark.no_cover
def test_no_draw_is_handed_out_twice(four_threads):
    """With the system's entropy: a million draws on 2^40 steps, fewer than 40 pairs alike.

    About 0.2 are expected; a repeated chunk would give 32,768. False-alarm rate below 1e-30.
    """
    drawn = add(
        np.zeros(1_000_000, np.int64), DiscreteLaplaceSampler(Fraction(2**40)), IntegerGrid()
    )
    assert drawn.size - np.unique(drawn).size < 40


@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("size", [1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 5 * BLOCK + 7])
def test_blocks_cover_everything_once(size, parallel, monkeypatch):
    monkeypatch.setenv("DISCREET_THREADS", "4")
    source = Parallel()
    source.parallel = parallel
    visits = np.zeros(size, np.int8)

    def work(start: int, end: int) -> None:
        assert end - start <= BLOCK
        visits[start:end] += 1

    in_blocks(work, size, source)
    assert visits.min() == visits.max() == 1


class Failing(Parallel):
    """A source that fails after some words, in whichever thread."""

    def __init__(self, good: int) -> None:
        super().__init__()
        self._good = good

    def words(self, count):
        with self._lock:
            self._good -= count
        if self._good < 0:
            raise EntropyFailed("no more")
        return super().words(count)

    def fill(self, out):
        out[:] = self.words(out.size)


@pytest.mark.parametrize(
    "draw",
    [
        lambda: add(
            np.zeros(7 * BLOCK, np.int64), DiscreteLaplaceSampler(Fraction(2)), IntegerGrid()
        ),
        lambda: add(
            np.zeros(20 * BLOCK, np.int64), DiscreteLaplaceSampler(Fraction(2)), IntegerGrid()
        ),
        lambda: coins(Rational(Fraction(1, 3)), 30 * BLOCK),
        lambda: integers(6, 20 * BLOCK),
        lambda: argmax(np.zeros(10 * BLOCK), Fraction(1), "gumbel"),
    ],
    ids=["add", "table", "coins", "integers", "argmax"],
)
def test_errors_in_threads_are_passed_on(draw, four_threads):
    with using(Failing(good=3 * BLOCK)), pytest.raises(EntropyFailed):
        draw()


@pytest.mark.parametrize(("setting", "expected"), [("3", 3), ("1", 1)])
def test_the_number_of_threads_can_be_set(setting, expected, monkeypatch):
    monkeypatch.setenv("DISCREET_THREADS", setting)
    assert workspace.threads() == expected


@pytest.mark.parametrize("setting", ["", "0", "-2", "many", "²"])
def test_nonsense_means_all_cores(setting, monkeypatch):
    monkeypatch.setenv("DISCREET_THREADS", setting)
    assert workspace.threads() >= 1


def test_an_interrupted_draw_keeps_its_words():
    """A signal handler that draws in the middle of a draw gets other words, and ours stay."""

    class Interrupted(SeededEntropy):
        inner = None

        def fill(self, out):
            super().fill(out)
            if self.inner is None:
                self.inner = False
                self.inner = add(np.zeros(5000, np.int64), law, IntegerGrid())

    law, source = DiscreteLaplaceSampler(Fraction(2**35)), Interrupted(1)
    with using(source):
        outer = add(np.zeros(5000, np.int64), law, IntegerGrid())
    with using(SeededEntropy(1)):
        alone = add(np.zeros(5000, np.int64), law, IntegerGrid())
        after = add(np.zeros(5000, np.int64), law, IntegerGrid())
    assert np.array_equal(outer, alone)
    assert np.array_equal(source.inner, after)
