"""Do draws follow their law? Chi-square against exact cell probabilities from Arb.

Every path is looked at: large vectors (the fast path), very large ones (a table, if the noise
is narrow), vectors of up to 1,024 (every draw looked at closely), single numbers, and the slow
path alone. False-alarm rate: 1e-9 a test.
For scales of 1 and more the same test, on the same draws, must reject a scale 0.5 % off.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

import numpy as np
import pytest

from discreet import laws
from discreet.noise import additive
from discreet.noise.additive import MANY, WIDEST, FloatGrid, IntegerGrid, add, add_one
from discreet.noise.gaussian import GaussianSampler
from discreet.noise.laplace import DiscreteLaplaceSampler, LaplaceSampler
from discreet.testing import seeded

FALSE_ALARM = 1e-9
AT_ONCE = 2_000_000  # less than what a table is made for
VERY_MANY = 2 * MANY


@dataclass(frozen=True)
class Case:
    """Noise of ``scale`` steps around ``value`` steps, ``draws`` times."""

    name: str
    scale: Fraction
    value: float
    draws: int

    @property
    def grid(self) -> IntegerGrid | FloatGrid:
        return IntegerGrid() if self.name.endswith("int") else FloatGrid(0)

    @property
    def law(self) -> additive.Law:
        make = {"laplace int": DiscreteLaplaceSampler, "laplace float": LaplaceSampler}
        return make.get(self.name, GaussianSampler)(self.scale)

    def exact(self, scale: Fraction) -> object:
        match self.name:
            case "laplace int":
                return laws.DiscreteLaplace(center=0, scale=scale)
            case "laplace float":
                return laws.RoundedLaplace(center=self.value, scale=scale, step=1)
        return laws.RoundedGaussian(center=self.value, sigma=scale, step=1)

    @property
    def cells(self) -> tuple[int, int]:
        """Half the number of cells, and their width in steps: a power of two near scale/8."""
        width = 1 << max(0, ceil(self.scale / 8).bit_length() - 1)
        return min(300, 4 + int(18 * self.scale) // width), width

    def probabilities(self, scale: Fraction) -> list[float]:
        """Of the cells [i·width, (i+1)·width) for i from −half to half − 1, and both ends."""
        half, width = self.cells
        exact = self.exact(scale)
        middle = [
            float(exact.interval_mass(i * width, (i + 1) * width - 1)) for i in range(-half, half)
        ]
        return [
            float(exact.cdf(-half * width - 1)),
            *middle,
            float(1 - exact.cdf(half * width - 1)),
        ]

    def count(self, draw: Callable[[int], np.ndarray], at_once: int = AT_ONCE) -> np.ndarray:
        half, width = self.cells
        counts = np.zeros(2 * half + 2, np.int64)
        for start in range(0, self.draws, at_once):
            steps = draw(min(at_once, self.draws - start)).astype(np.int64, copy=False)
            steps >>= width.bit_length() - 1
            counts += np.bincount(np.clip(steps, -half - 1, half) + half + 1, minlength=counts.size)
        return counts

    @property
    def narrow(self) -> bool:
        return self.name.endswith("int") and self.scale <= WIDEST

    def values(self, count: int) -> np.ndarray:
        return np.full(count, self.value, self.grid.dtype)

    def __str__(self) -> str:
        return f"{self.name}, scale {float(self.scale):g}, value {self.value}, n {self.draws:.0e}"


LARGE = [
    Case("laplace int", Fraction(1), 0, 10**7),
    Case("laplace int", Fraction(1, 10), 0, 10**7),
    Case("laplace int", Fraction(5, 2), 0, 10**7),
    Case("laplace int", Fraction(40), 0, 10**7),
    Case("laplace int", Fraction(2**20), 0, 10**7),
    Case("laplace float", Fraction(1, 10), 0.25, 10**7),
    Case("laplace float", Fraction(4, 3), 0.3, 10**7),
    Case("laplace float", Fraction(1500), -0.5, 10**7),
    Case("gaussian int", Fraction(1), 0, 10**7),
    Case("gaussian int", Fraction(1, 3), 0, 10**7),
    Case("gaussian int", Fraction(73, 10), 0, 10**7),
    Case("gaussian int", Fraction(300), 0, 10**7),
    Case("gaussian int", Fraction(2**20), 0, 10**7),
    Case("gaussian float", Fraction(1, 10), 0.45, 10**7),
    Case("gaussian float", Fraction(4, 3), 0.3, 10**7),
    Case("gaussian float", Fraction(1500), -0.5, 10**7),
]
LARGER = [replace(case, draws=10**8) for case in LARGE if case.scale == 1]
FITS = [*LARGE, *(pytest.param(case, marks=pytest.mark.long) for case in LARGER)]


def judge(case: Case, counts: np.ndarray, chi_square: Callable[..., float], off: Fraction) -> None:
    """Accept the law, and reject a scale that is ``off`` by a little either way."""
    p = chi_square(counts, case.probabilities(case.scale))
    print(f"{case}: p = {p:.3g}, false-alarm rate {FALSE_ALARM}")
    assert p > FALSE_ALARM
    if case.scale >= 1:
        for wrong in (case.scale * (1 + off), case.scale / (1 + off)):
            assert chi_square(counts, case.probabilities(wrong)) < FALSE_ALARM


@pytest.mark.no_cover
@pytest.mark.parametrize("case", FITS, ids=str)
def test_large_vectors(case, chi_square):
    with seeded(case.draws + int(case.scale)):
        counts = case.count(lambda n: add(case.values(n), case.law, case.grid))
    judge(case, counts, chi_square, off=Fraction(5, 1000))


@pytest.mark.no_cover
@pytest.mark.parametrize("case", [case for case in LARGE if case.narrow], ids=str)
def test_very_large_vectors(case, chi_square):
    with seeded(case.draws + int(case.scale)):
        counts = case.count(lambda n: add(case.values(n), case.law, case.grid), VERY_MANY)
    judge(case, counts, chi_square, off=Fraction(5, 1000))


def smaller(draws: int) -> list[Case]:
    chosen = [("laplace int", 2, 0), ("laplace float", 2, 0.3), ("gaussian int", 2, 0)]
    return [
        Case(name, Fraction(scale), value, draws)
        for name, scale, value in [*chosen, ("gaussian float", 3, 0.3)]
    ]


@pytest.mark.no_cover
@pytest.mark.parametrize("case", smaller(1_000_000), ids=str)
def test_small_vectors(case, chi_square):
    with seeded(11):
        counts = case.count(lambda n: add(case.values(n), case.law, case.grid), additive.SMALL)
    judge(case, counts, chi_square, off=Fraction(3, 100))


@pytest.mark.no_cover
@pytest.mark.parametrize("case", smaller(100_000), ids=str)
def test_single_numbers(case, chi_square):
    law, grid, value = case.law, case.grid, case.values(1).item()
    with seeded(12):
        counts = case.count(lambda n: np.array([add_one(value, law, grid) for _ in range(n)]))
    judge(case, counts, chi_square, off=Fraction(7, 100))


@pytest.mark.no_cover
@pytest.mark.parametrize("case", smaller(20_000), ids=str)
def test_the_slow_path_alone(case, chi_square, monkeypatch):
    monkeypatch.setattr(additive, "trusted", lambda: False)
    with seeded(13):
        counts = case.count(lambda n: add(case.values(n), case.law, case.grid))
    judge(case, counts, chi_square, off=Fraction(15, 100))


@pytest.mark.long
@pytest.mark.parametrize("case", LARGE, ids=str)
def test_ten_times_as_many(case, chi_square):
    case = Case(case.name, case.scale, case.value, 10 * case.draws)
    with seeded(case.draws + int(case.scale)):
        counts = case.count(lambda n: add(case.values(n), case.law, case.grid))
    judge(case, counts, chi_square, off=Fraction(2, 1000))


@pytest.mark.parametrize("law", [DiscreteLaplaceSampler, GaussianSampler])
@pytest.mark.parametrize("scale", [Fraction(1, 30), Fraction(1, 200), Fraction(1, 2**100)])
def test_noise_far_below_a_step(law, scale):
    """Next to no noise, and no error either: F(0) is nearer to 1 than a word can tell."""
    with seeded(1):
        drawn = add(np.zeros(MANY, np.int64), law(scale), IntegerGrid())
    assert np.count_nonzero(drawn) <= 10
