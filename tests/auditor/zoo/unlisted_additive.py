"""Not on the published list: noise that is too small, shared, lopsided or on the wrong grid."""

from __future__ import annotations

from functools import partial
from math import exp, inf
from typing import Any

import numpy as np
from scipy import stats

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.additive import (
    bit_event,
    gaussian_laws,
    grid_gaussian,
    grid_laplace,
    laplace_laws,
    sampled_laws,
    threshold,
    threshold_laws,
    whole_masses,
)
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.drawing import STEPS, real, steps
from tests.auditor.zoo.laws import Laws, laws
from tests.auditor.zoo.responding import apart

ONE = dp.Pure(1)
SHIFT_TV = 2 * stats.norm.cdf(0.5) - 1  # of N(0, 1) and N(1, 1)


def shared_noise(value: Any, size: int) -> Any:
    noise = drawing.laplace(2, size)
    return real(np.stack([steps(x) + noise for x in value], axis=1))


def opposite_noise(value: Any, size: int) -> Any:
    """Noise for each of three coordinates, but what is added to the third undoes the others'."""
    first, second = drawing.laplace(3, size), drawing.laplace(3, size)
    noise = np.stack([first, second, -first - second], axis=1)
    return real(np.array([steps(x) for x in value]) + noise)


def one_sided(value: int, size: int) -> Any:
    return value + drawing.geometric(1, size)


def one_sided_laws() -> Laws:
    p = (1 - exp(-1)) * np.exp(-np.arange(60.0))
    first, second = np.append(p, exp(-60)), np.concatenate([[0.0], p])
    return laws(first, second / second.sum())


def own_grid(value: int, size: int) -> Any:
    """Noise rounded to whole numbers for 0 and to halves for anything else."""
    noise = drawing.laplace(1, size)
    step = STEPS if value == 0 else STEPS // 2
    return real(steps(value) + (noise + step // 2) // step * step)


def own_grid_laws() -> Laws:
    """Cells: the whole numbers −20 … 21, and all halves between them together."""
    at = np.arange(-20.0, 22.0)

    def around(value: int, half: float) -> Any:
        law = stats.laplace(value, 1.0)
        inside = law.cdf(at + half) - law.cdf(at - half)
        return np.append(inside, 1 - inside.sum())

    return laws(around(0, 0.5), around(1, 0.25), limit=inf)


def single_precision(value: float, size: int) -> Any:
    """Noise of 40 binary places as float32, then added in float32."""
    noise = drawing.discrete_laplace(1 << 40, size) * 2.0**-40
    return np.float32(value) + noise.astype(np.float32)


def own_bound(value: int, size: int) -> Any:
    """Clamped to at most two more than the truth."""
    return np.minimum(value + drawing.discrete_laplace(1, size), value + 2)


def own_bound_laws() -> Laws:
    at = range(-40, 4)

    def around(value: int) -> Any:
        mass = whole_masses(value, at=at)
        inside = np.array(at) <= value + 2
        kept = np.where(inside, mass[1:-1], 0.0)
        kept[list(at).index(value + 2)] += 1 - mass[0] - kept.sum()
        return np.append(mass[:1], kept)

    return laws(around(0), around(1))


def half_noise_cell(value: Any, size: int) -> Any:
    noise = [drawing.laplace(s, size) for s in (1, 1, "1/2", 1)]
    return real(np.stack([steps(x) + z for x, z in zip(value, noise, strict=True)], axis=1))


def sometimes_raw(value: int, size: int) -> Any:
    """One answer in a hundred goes out without noise."""
    noise = drawing.laplace(1, size)
    return real(steps(value) + np.where(drawing.chance("1/100", size), 0, noise))


def sometimes_raw_laws() -> Laws:
    base = laplace_laws(0, 1, 1.0)
    at_zero = (1 - exp(-1 / STEPS)) / (1 + exp(-1 / STEPS))  # of the noise on the grid
    raw = [0.01 + 0.99 * at_zero, 0.99 * at_zero * exp(-1)]
    p = np.concatenate([raw, raw[::-1]])[[0, 1]]
    first = np.concatenate([p, 0.99 * base.p])
    second = np.concatenate([p[::-1], 0.99 * base.q])
    return laws(first / first.sum(), second / second.sum())


def even_noise(value: int, size: int) -> Any:
    return value + 2 * drawing.discrete_laplace(1, size)


def same_sample_twice(value: tuple[int, ...], size: int) -> Any:
    """Two releases of 2-randomized response from one sample of a tenth."""
    inside = drawing.chance("1/10", size) if value else np.zeros(size, bool)
    lies = drawing.flips(2, 2 * size).reshape(size, 2)
    return (inside[:, None] ^ lies).astype(np.int8)


def same_sample_laws() -> Laws:
    truth = 1 / (1 + exp(-2))
    absent = np.outer([truth, 1 - truth], [truth, 1 - truth]).ravel()
    return laws(absent, 0.9 * absent + 0.1 * absent[::-1])


def sampled_once(value: tuple[int, ...], size: int) -> Any:
    """Claims the rate 0.1 and samples at 0.3."""
    total = drawing.chance("3/10", size) * sum(value) if value else 0
    return real(total * np.int64(STEPS) + drawing.laplace(1, size))


def with_size(value: Any, size: int) -> Any:
    """A noisy sum, and beside it the number of records."""
    total = sum(value) + drawing.discrete_laplace(1, size)
    return np.stack([total, np.full(size, len(value))], axis=1)


def smaller_noise_for_more(value: int, size: int) -> Any:
    """Noise of scale 1 for 0 and 3/2 for 1: a scale fitted to the data."""
    return real(steps(value) + drawing.laplace(1 if value == 0 else "3/2", size))


def two_columns(value: Any, size: int) -> Any:
    return real(steps(sum(value)) + drawing.laplace(1, size))


CASES = [
    Case(
        "U01",
        "the same noise in two coordinates",
        shared_noise,
        ((0, 0), (1, 0)),
        ONE,
        apart,
        True,
    ),
    Case(
        "U02",
        "noise that cancels in the sum of three coordinates",
        opposite_noise,
        ((0, 0, 0), (1, 0, 0)),
        ONE,
        apart,
        True,
    ),
    Case(
        "U03",
        "Lap(1/ε) on the sum of two columns, sensitivity 2",
        two_columns,
        ((0, 0), (1, 1)),
        ONE,
        partial(laplace_laws, 0, 2, 1.0),
        True,
    ),
    Case("U04", "one-sided geometric noise", one_sided, (0, 1), ONE, one_sided_laws, True),
    Case(
        "U05",
        "keys from ≥ T with the δ of > T",
        threshold,
        (1, 0),
        dp.Approx(1, 0.0049258),
        threshold_laws,
        True,
        printed={"delta": ".0133898"},
    ),
    Case(
        "U06",
        "Gaussian, σ halved, claimed as GDP",
        partial(grid_gaussian, sigma="0.5"),
        (0, 1),
        dp.GDP(1),
        partial(gaussian_laws, 2.0),
        True,
        printed={"mu": "2"},
    ),
    Case(
        "U07",
        "Gaussian, σ halved, claimed as zCDP",
        partial(grid_gaussian, sigma="0.5"),
        (0, 1),
        dp.ZCDP("1/2"),
        partial(gaussian_laws, 2.0),
        True,
        printed={"rho": "2"},
    ),
    Case(
        "U08",
        "Gaussian, σ halved, claimed as total variation",
        partial(grid_gaussian, sigma="0.5"),
        (0, 1),
        dp.TotalVariation(SHIFT_TV),
        partial(gaussian_laws, 2.0),
        True,
        printed={"tv": ".6827"},
    ),
    Case(
        "U09",
        "Laplace noise, scale 4/5, claimed 1",
        partial(grid_laplace, scale="4/5"),
        (0, 1),
        ONE,
        partial(laplace_laws, 0, 1, 0.8),
        True,
    ),
    Case(
        "U10",
        "two releases from the same sample, q = 0.1, ε₀ = 2",
        same_sample_twice,
        ((), (1,)),
        dp.Pure(0.988),
        same_sample_laws,
        True,
        printed={"epsilon": "1.850"},
    ),
    Case(
        "U11",
        "a sample at 0.3 claimed at 0.1",
        sampled_once,
        ((), (1,)),
        dp.Pure(0.15857),
        sampled_laws,
        True,
        printed={"epsilon": ".41574"},
    ),
    Case(
        "U12",
        "noise rounded to a grid that depends on the data",
        own_grid,
        (0, 1),
        ONE,
        own_grid_laws,
        True,
    ),
    Case(
        "U13",
        "exact noise added in float32",
        single_precision,
        (0.0, 1.0),
        ONE,
        partial(bit_event, stats.laplace),
        True,
    ),
    Case(
        "U14",
        "output clamped at a bound from the data",
        own_bound,
        (0, 1),
        ONE,
        own_bound_laws,
        True,
    ),
    Case(
        "U15",
        "a noisy sum with the number of records beside it",
        with_size,
        ((1, 1), (1, 1, 0)),
        ONE,
        apart,
        True,
    ),
    Case(
        "U16",
        "a histogram whose differing cell has half the noise",
        half_noise_cell,
        ((3, 1, 4, 1), (3, 1, 5, 1)),
        ONE,
        partial(laplace_laws, 0, 1, 0.5),
        True,
    ),
    Case(
        "U17",
        "one answer in a hundred without noise",
        sometimes_raw,
        (0, 1),
        ONE,
        sometimes_raw_laws,
        True,
    ),
    Case("U18", "noise that is always even", even_noise, (0, 1), ONE, apart, True),
    Case(
        "U19",
        "a scale fitted to the data",
        smaller_noise_for_more,
        (0, 1),
        ONE,
        partial(laplace_laws, 0, 1, 1.0, 1.5),
        True,
    ),
]
