"""The published list: a number plus noise (X01, X14 to X20, X26 to X29, V01 to V03, V15 to V24)."""

from __future__ import annotations

from functools import partial
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from scipy import stats

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.case import EXACT, Case
from tests.auditor.zoo.drawing import STEPS, real, steps
from tests.auditor.zoo.laws import (
    Laws,
    cells,
    laplace_masses,
    laws,
    normal_masses,
    product,
)

SIGMA = "3.73063163481594"  # (1, 1e-5) for a shift of 1


def grid_laplace(value: Any, size: int, *, scale: Any) -> Any:
    return real(steps(value) + drawing.laplace(scale, size))


def laplace_laws(first: float, second: float, scale: float, other: float | None = None) -> Laws:
    """Laplace noise around two numbers, of two scales if the second differs."""
    low, high = min(first, second), max(first, second)
    edges = cells(low - 8, high + 8)
    p = laplace_masses(first, scale, edges)
    return laws(p, laplace_masses(second, other or scale, edges), limit=inf if other else None)


def whole_laplace(value: int, size: int) -> Any:
    return value + drawing.discrete_laplace(1, size)


def whole_masses(value: int, *, at: range = range(-40, 42)) -> Any:
    """Discrete Laplace of scale 1 around ``value``: tails first and last."""
    p = exp(-1)
    inner = [(1 - p) / (1 + p) * p ** abs(k - value) for k in at]
    above = p ** (at[-1] + 1 - value) / (1 + p)
    below = p ** (value - at[0] + 1) / (1 + p) if value >= at[0] else 1 - sum(inner) - above
    return np.array([below, *inner, above])


def zero_twice(value: int, size: int) -> Any:
    magnitude = drawing.geometric(1, size)
    return value + np.where(drawing.fair(size), magnitude, -magnitude)


def zero_twice_laws() -> Laws:
    def around(value: int) -> Any:
        k = np.arange(-60, 62) - value
        return np.where(k == 0, 1.0, 0.5) * (1 - exp(-1)) * np.exp(-abs(k))

    first, second = around(0), around(1)
    return laws(first / first.sum(), second / second.sum())


def rejected(value: Any, size: int, *, most: int = 4) -> Any:
    noise = drawing.laplace(1, size)
    while (far := np.flatnonzero(abs(noise) > most * STEPS)).size:
        noise[far] = drawing.laplace(1, far.size)
    return real(steps(value) + noise)


def rejected_laws() -> Laws:
    edges = cells(-4, 5)

    def around(value: int) -> Any:
        inside = (edges >= value - 4) & (edges <= value + 4)
        mass = laplace_masses(value, 1.0, edges)[1:-1] * (inside[1:] & inside[:-1])
        return mass / mass.sum()

    return laws(around(0), around(1))


def grid_gaussian(value: Any, size: int, *, sigma: Any) -> Any:
    return real(steps(value) + drawing.gaussian(sigma, size))


def gaussian_laws(mu: float) -> Laws:
    """Two normal laws μ standard deviations apart. No ε at δ = 0."""
    edges = np.linspace(-9, 9 + mu, 20001)
    return laws(normal_masses(0, 1, edges), normal_masses(mu, 1, edges), limit=inf)


def gaussian_vector(value: Any, size: int, *, sigma: Any) -> Any:
    d = len(value)
    noise = drawing.gaussian(sigma, size * d).reshape(size, d)
    return real(np.array([steps(x) for x in value]) + noise)


def mean_of(value: tuple[int, ...], size: int) -> Any:
    n = len(value)  # 1 or 2: the mean and the scale 1/n stay on the grid
    return real(sum(value) * STEPS // n + drawing.laplace("1/1" if n == 1 else "1/2", size))


def laplace_vector(value: Any, size: int) -> Any:
    d = len(value)
    noise = drawing.laplace(1, size * d).reshape(size, d)
    return real(np.array([steps(x) for x in value]) + noise)


def three_groups() -> Laws:
    edges = np.linspace(0, 1, 121)
    one = laws(laplace_masses(0, 1.0, edges), laplace_masses(1, 1.0, edges))
    return product(one, one, one)


def numpy_laplace(value: float, size: int) -> Any:
    return value + drawing.numpy_generator().laplace(0.0, 1.0, size)


def numpy_gaussian(value: float, size: int) -> Any:
    return value + drawing.numpy_generator().normal(0.0, 1.0, size)


def bit_event(law: Any, *, finest: int = 53, shown: int = 53) -> Laws:
    """ "Not a multiple of 2^−53": never seen at 1.0, where the sum has no finer bits.

    At 0.0 an output in [2^−j−1, 2^−j) has 53 bits, so it is a multiple with probability 2^−j.
    The real-number part of the two laws is left out: this is the floats' own leak.
    """
    octaves = [
        (law.cdf(2.0**-j) - law.cdf(2.0 ** -(j + 1))) * 2 * (1 - 2.0**-j) for j in range(1, finest)
    ]
    seen = float(sum(octaves))
    return laws([seen, 1 - seen], [0.0, 1.0])


def histogram(value: Any, size: int) -> Any:
    d = len(value)
    return np.array(value) + drawing.discrete_laplace(1, size * d).reshape(size, d)


NOT_RELEASED = -1


def threshold(value: int, size: int, *, least: int = 5) -> Any:
    """A count of discovered keys: what is below 5 is not released; no units, no key."""
    if value == 0:
        return np.full(size, NOT_RELEASED)
    noisy = value + drawing.discrete_laplace(1, size)
    return np.where(noisy >= least, noisy, NOT_RELEASED)


def threshold_laws() -> Laws:
    p = whole_masses(1, at=range(5, 60))
    return laws(p, [1.0, *[0.0] * (p.size - 1)])


def clamped(value: int, size: int, *, n: int = 10) -> Any:
    return np.clip(value + drawing.discrete_laplace(1, size), 0, n)


def clamped_laws() -> Laws:
    # The ends hold what was clamped to 0 and to n.
    return laws(whole_masses(0, at=range(1, 10)), whole_masses(1, at=range(1, 10)))


def sampled(value: tuple[int, ...], size: int, *, rate: Any = "3/10") -> Any:
    total = sum(drawing.chance(rate, size) * x for x in value) if value else 0
    return real(total * np.int64(STEPS) + drawing.laplace(1, size))


def sampled_laws() -> Laws:
    base = laplace_laws(0, 1, 1.0)
    return laws(base.p, 0.7 * base.p + 0.3 * base.q)


ONE, APPROX = dp.Pure(1), dp.Approx(1, 1e-5)
KEY_DELTA = exp(-4) / (1 + exp(-1)) * (1 + 1e-12)  # P(Z ≥ 4), rounded up
HIGH_SIGMA = sqrt(2 * log(1.25 / 1e-5)) / 10

CASES = [
    Case(
        "X01",
        "x + Lap(1/(2ε))",
        partial(grid_laplace, scale="1/2"),
        (0, 1),
        ONE,
        partial(laplace_laws, 0, 1, 0.5),
        True,
        printed={"epsilon": "2", "hs": ".3935"},
    ),
    Case(
        "X14",
        "discrete Laplace, zero counted twice",
        zero_twice,
        (0, 1),
        ONE,
        zero_twice_laws,
        True,
        printed={"epsilon": "1.693147", "hs": ".3161"},
    ),
    Case(
        "X16",
        "Laplace noise rejected to [−4, 4]",
        rejected,
        (0, 1),
        ONE,
        rejected_laws,
        True,
        printed={"epsilon": "inf", "delta": ".01603", "hs": ".0160"},
    ),
    Case(
        "X18",
        "Gaussian with standard deviation √σ",
        partial(grid_gaussian, sigma=sqrt(float(SIGMA))),
        (0, 1),
        APPROX,
        partial(gaussian_laws, float(SIGMA) ** -0.5),
        True,
        printed={"delta": ".008468", "hs": ".0085"},
    ),
    Case(
        "X18b",
        "σ = √(2 ln(1.25/δ))/ε used at ε = 10",
        partial(grid_gaussian, sigma=HIGH_SIGMA),
        (0, 1),
        dp.Approx(10, 1e-5),
        partial(gaussian_laws, 1 / HIGH_SIGMA),
        True,
        routes=(EXACT,),
        printed={"delta": "2.2654e-5", "hs": "2.3e-5"},
    ),
    Case(
        "X19",
        "Gaussian over 10 coordinates, calibrated for L2 = 1, true √10",
        partial(gaussian_vector, sigma=SIGMA),
        ((0,) * 10, (1,) * 10),
        APPROX,
        partial(gaussian_laws, sqrt(10) / float(SIGMA)),
        True,
        printed={"delta": ".076963", "hs": ".0770"},
    ),
    Case(
        "X20",
        "mean with noise 1/(εn), n private",
        mean_of,
        ((0,), (0, 1)),
        ONE,
        partial(laplace_laws, 0, 0.5, 1.0, 0.5),
        True,
        printed={"epsilon": "inf", "delta": ".1419", "hs": ".1419"},
    ),
    Case(
        "X26",
        "x + NumPy's Laplace, in floats",
        numpy_laplace,
        (0.0, 1.0),
        ONE,
        partial(bit_event, stats.laplace),
        True,
        printed={"epsilon": "inf", "delta": ".27", "hs": ".27"},
    ),
    Case(
        # With the δ of σ = 1 in real numbers: what is left to catch are the floats.
        "X26g",
        "x + NumPy's Gaussian, in floats",
        numpy_gaussian,
        (0.0, 1.0),
        dp.Approx(1, 0.127),
        partial(bit_event, stats.norm),
        True,
        printed={"delta": ".26", "hs": ".26"},
    ),
    Case(
        "X28",
        "sum without clamp, a value of 5, noise for 1",
        partial(grid_laplace, scale=1),
        (0, 5),
        ONE,
        partial(laplace_laws, 0, 5, 1.0),
        True,
        printed={"epsilon": "5", "hs": ".8647"},
    ),
    Case(
        "X29",
        "a user in 3 groups, noise for 1",
        laplace_vector,
        ((0, 0, 0), (1, 1, 1)),
        ONE,
        three_groups,
        True,
        printed={"epsilon": "3", "hs": ".3102"},
    ),
    Case(
        "V01",
        "Laplace on the grid 2⁻²⁰",
        partial(grid_laplace, scale=1),
        (0, 1),
        ONE,
        partial(laplace_laws, 0, 1, 1.0),
        False,
        printed={"epsilon": "1"},
    ),
    Case(
        "V02",
        "discrete Laplace of scale 1",
        whole_laplace,
        (0, 1),
        ONE,
        lambda: laws(whole_masses(0), whole_masses(1)),
        False,
        printed={"epsilon": "1"},
    ),
    Case(
        "V03",
        f"Gaussian, σ = {SIGMA}",
        partial(grid_gaussian, sigma=SIGMA),
        (0, 1),
        APPROX,
        partial(gaussian_laws, 1 / float(SIGMA)),
        False,
        printed={"delta": "1.000e-5"},
    ),
    Case(
        "V15",
        "Laplace histogram, one cell differs",
        histogram,
        ((3, 1, 4, 1), (3, 2, 4, 1)),
        ONE,
        lambda: laws(whole_masses(1), whole_masses(2)),
        False,
        printed={"epsilon": "1"},
    ),
    Case(
        "V20",
        "Laplace threshold, δ = P(Z ≥ T − 1)",
        threshold,
        (1, 0),
        dp.Approx(1, KEY_DELTA),
        threshold_laws,
        False,
        printed={"delta": ".0133898"},
    ),
    Case(
        "V21",
        "discrete Laplace, then clamped to [0, n]",
        clamped,
        (0, 1),
        ONE,
        clamped_laws,
        False,
        printed={"epsilon": "1"},
    ),
    Case(
        "V24",
        "Laplace on a Poisson sample, q = 0.3",
        sampled,
        ((), (1,)),
        dp.Pure(log(1 + 0.3 * (exp(1) - 1))),
        sampled_laws,
        False,
        printed={"epsilon": ".41574"},
    ),
]
