"""Not on the published list: the gaps between its numbers, as they may have been."""

from __future__ import annotations

from functools import partial
from math import e, exp, inf, sqrt
from typing import Any

import numpy as np
from scipy import stats

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.additive import (
    SIGMA,
    gaussian_laws,
    laplace_laws,
    laplace_vector,
    whole_masses,
)
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.drawing import STEPS, real, steps
from tests.auditor.zoo.laws import Laws, cells, laplace_masses, laws, product
from tests.auditor.zoo.responding import apart
from tests.auditor.zoo.selecting import best, gibbs, gibbs_laws, index_laws

ONE = dp.Pure(1)


def told_value(value: Any, size: int) -> Any:
    """SVT after Roth: the place of the hit and its noisy value, (−1, 0) without one."""
    limit = drawing.laplace(2, size)
    place, told = np.full(size, -1.0), np.zeros(size)
    for i, query in enumerate(value):
        noisy = steps(query) + drawing.laplace(2, size)
        hit = (noisy >= limit) & (place < 0)
        place[hit], told[hit] = i, real(noisy[hit])
    return np.stack([place, told], axis=1)


def told_value_masses(value: Any) -> Any:
    """P(hit at i, y) = f_ν(y − q_i)·∫_{z ≤ y} f_ρ(z) ∏_{j<i} F_ν(z − q_j) dz."""
    edges = cells(-24, 26, 40)
    y, width = (edges[1:] + edges[:-1]) / 2, edges[1] - edges[0]
    passed, parts = stats.laplace.pdf(y, 0, 2.0) * width, []
    for q in value:
        so_far = np.cumsum(passed) - passed / 2
        parts.append(stats.laplace.pdf(y, q, 2.0) * so_far * width)
        passed = passed * stats.laplace.cdf(y, q, 2.0)
    return np.append(np.concatenate(parts), max(0.0, 1 - sum(p.sum() for p in parts)))


def told_value_laws(first: Any, second: Any) -> Laws:
    # The loss at "no hit but at the last, y small" only tends to its supremum.
    pair = [told_value_masses(v) for v in (first, second)]
    found = laws(*pair)
    return laws(*pair, limit=found.largest_loss)


def clamped_noise(value: int, size: int) -> Any:
    noise = np.clip(drawing.laplace(1, size), -4 * STEPS, 4 * STEPS)
    return real(steps(value) + noise)


def clamped_noise_laws() -> Laws:
    """Atoms of e^(−4)/2 at both ends; what lies between is Laplace."""
    edges, atom = cells(-4, 5), exp(-4) / 2

    def around(value: int) -> Any:
        inside = (edges >= value - 4) & (edges <= value + 4)
        inner = laplace_masses(value, 1.0, edges)[1:-1] * (inside[1:] & inside[:-1])
        ends = [atom, atom, 0.0, 0.0] if value == 0 else [0.0, 0.0, atom, atom]
        return np.concatenate([ends, inner])

    return laws(around(0), around(1))


def fixed_noise(value: int, size: int) -> Any:
    """A seed that never changes: always the same noise."""
    return np.full(size, float(value)) + 0.7310585786300049


def off_grid(value: float, size: int) -> Any:
    """Whole noise on a number that is not whole: the fraction stays."""
    return value + drawing.discrete_laplace(1, size)


def one_coin_for_all(value: Any, size: int) -> Any:
    """Randomized response on three bits, all flipped together or not at all."""
    return np.array(value, np.int8) ^ drawing.flips(1, size)[:, None]


def zero_stays_zero(value: int, size: int) -> Any:
    noisy = value + drawing.discrete_laplace(1, size)
    return noisy if value else np.zeros(size, np.int64)


def zero_stays_laws() -> Laws:
    present = whole_masses(1)
    absent = np.where(np.arange(present.size) == 41, 1.0, 0.0)  # the cell of 0
    return laws(absent, present)


def whole_gaussian(value: int, size: int, *, sigma: str) -> Any:
    """Normal noise rounded to whole numbers."""
    mechanism = dp.Gaussian(sensitivity=1, sigma=sigma, step=1)
    return np.asarray(mechanism.release(np.full(size, value)))


def whole_gaussian_laws(sigma: float) -> Laws:
    edges = np.arange(-60, 61) + 0.5

    def around(value: int) -> Any:
        below, above = (f(edges, value, sigma) for f in (stats.norm.cdf, stats.norm.sf))
        inner = np.where(below[1:] < 0.5, np.diff(below), -np.diff(above))
        return np.concatenate([below[:1], inner, above[-1:]])

    return laws(around(0), around(1), limit=inf)


def categories(value: int, size: int) -> Any:
    return np.asarray(dp.RandomizedResponse(epsilon=1, categories=4).release(np.full(size, value)))


def categories_laws() -> Laws:
    lie = 1 / (e + 3)
    return laws([e * lie, lie, lie, lie], [lie, e * lie, lie, lie])


def two_laplace(value: Any, size: int) -> Any:
    noise = drawing.laplace(2, 2 * size).reshape(size, 2)
    return real(np.array([steps(x) for x in value]) + noise)


def two_cells(scale: float) -> Laws:
    """Two coordinates that both move by one."""
    edges = np.linspace(0, 1, 121)
    one = laws(laplace_masses(0, scale, edges), laplace_masses(1, scale, edges))
    return product(one, one)


QUERIES = ((0, 0, 0, 0, 0, 1), (1, 1, 1, 1, 1, 0))

CASES = [
    Case(
        "U40",
        "SVT after Roth: tells the noisy value of the hit",
        told_value,
        QUERIES,
        ONE,
        partial(told_value_laws, *QUERIES),
        True,
    ),
    Case(
        "U41",
        "permute-and-flip charged as ρ = ε²/8",
        partial(best, scale=2, noise="exponential"),
        ((0, 1), (1, 0)),
        dp.ZCDP("1/8"),
        partial(index_laws, (0, 1), (1, 0), 2.0, "exponential"),
        True,
    ),
    Case(
        "U42",
        "permute-and-flip charged as bounded range",
        partial(best, scale=2, noise="exponential"),
        ((0, 1), (1, 0)),
        dp.BoundedRange(1),
        partial(index_laws, (0, 1), (1, 0), 2.0, "exponential"),
        True,
    ),
    Case(
        "U43",
        "Laplace noise clamped to [−4, 4]",
        clamped_noise,
        (0, 1),
        ONE,
        clamped_noise_laws,
        True,
    ),
    Case("U44", "the same noise every time", fixed_noise, (0, 1), ONE, apart, True),
    Case("U45", "whole noise on fractions", off_grid, (0.25, 0.75), ONE, apart, True),
    Case(
        "U46",
        "one coin for three bits",
        one_coin_for_all,
        ((0, 1, 0), (0, 1, 1)),
        ONE,
        apart,
        True,
    ),
    Case("U47", "a zero stays zero", zero_stays_zero, (0, 1), ONE, zero_stays_laws, True),
    Case(
        "U48",
        "rounded Gaussian, σ halved",
        partial(whole_gaussian, sigma="1.86531581740797"),
        (0, 1),
        dp.Approx(1, 1e-5),
        partial(whole_gaussian_laws, 1.86531581740797),
        True,
    ),
    Case(
        "U49",
        "Laplace noise of variance 1, scale 0.7071, claimed 1",
        lambda value, size: real(steps(value) + drawing.laplace("7071/10000", size)),
        (0, 1),
        ONE,
        partial(laplace_laws, 0, 1, 0.7071),
        True,
    ),
    Case(
        "U50",
        "a histogram under replacement, noise for one cell",
        laplace_vector,
        ((5, 3), (4, 4)),
        ONE,
        partial(two_cells, 1.0),
        True,
    ),
    Case(
        "W20",
        "randomized response on four categories",
        categories,
        (0, 1),
        ONE,
        categories_laws,
        False,
    ),
    Case(
        "W21",
        "rounded Gaussian",
        partial(whole_gaussian, sigma=SIGMA),
        (0, 1),
        dp.Approx(1, 1e-5),
        partial(whole_gaussian_laws, float(SIGMA)),
        False,
    ),
    Case(
        "W22",
        "two coordinates that both move, Lap(2/ε)",
        two_laplace,
        ((0, 0), (1, 1)),
        ONE,
        partial(two_cells, 2.0),
        False,
    ),
    Case(
        "W23",
        "exponential mechanism as bounded range",
        partial(gibbs, half=2),
        ((0, 1), (1, 0)),
        dp.BoundedRange(1),
        partial(gibbs_laws, (0, 1), (1, 0), 2),
        False,
    ),
    Case(
        "W24",
        "Gaussian on three coordinates as zCDP",
        lambda value, size: real(
            np.array(value) * STEPS + drawing.gaussian(2, 3 * size).reshape(size, 3)
        ),
        ((0, 0, 0), (1, 1, 0)),
        dp.ZCDP("1/4"),
        partial(gaussian_laws, sqrt(2) / 2),
        False,
    ),
]
