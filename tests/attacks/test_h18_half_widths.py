"""H18: half-widths of columns that depend on each other are added. For any two laws that proves
90 % where each has 95 %; here it is shown for the laws that occur that it is 95 %.

Sums of the same noise, and whatever is done to independent noise, by exact convolution. Means and
quotients that share noise, by n = 100,000 draws of each of about 40 settings: coverage is below
95 % by six standard errors in none of them, which happens to a true 95 % once in 10⁷.
"""

from functools import reduce
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

import discreet as dp
from discreet.mechanisms.ratio_error import mean_error
from discreet.release.column import Released
from discreet.release.propagation import NoiseTerm, half_width
from discreet.testing import seeded
from tests.release.test_propagation import LAWS, laplace, noise, stretched, within

N = 100_000
SHARED = {("r", "shared")}


def holds(covered):
    """Whether a share that should be 0.95 or more is, up to six standard errors."""
    return np.mean(covered) >= 0.95 - 6 * (0.05 * 0.95 / len(covered)) ** 0.5


def combined(laws, coefficients):
    """The law of Σ aᵢ·Zᵢ for whole aᵢ."""
    live = [stretched(masses, abs(a)) for masses, a in zip(laws, coefficients, strict=True) if a]
    return reduce(np.convolve, live) if live else np.ones(1)


def exact_width(masses):
    """The least whole w with P(|Z| ≤ w) ≥ 0.95."""
    return next(w for w in range(len(masses)) if within(masses, w) >= 0.95)


@pytest.mark.parametrize("scales", [(0.27, 0.27), (1.0, 1.0), (0.5, 3.7), (2.0, 6.8)])
def test_h18_sums_of_the_same_noise_keep_their_level(scales):
    """Two combinations of the same noise, added: the 95 % point of a sum is at most the sum of the
    95 % points, each with its steps. Catches a pair of coefficients where it is not."""
    laws = [laplace(scale)[0] for scale in scales]
    vectors = [v for v in product((-2, -1, 0, 1, 3), repeat=2) if any(v)]
    for first, other in combinations_with_replacement(vectors, 2):
        both = [
            noise(str(i), 1, float(exact_width(combined(laws, v))), step=max(map(abs, v)),
                  sources=SHARED)
            for i, v in enumerate((first, other))
        ]  # fmt: skip
        total = combined(laws, [a + b for a, b in zip(first, other, strict=True)])
        assert within(total, half_width(both)[0]) >= 0.95


@pytest.mark.parametrize("make", [lambda a: 1 / a, lambda a: a.sum(), lambda a: (3 * a).sum()])
def test_h18_what_is_made_of_a_count_keeps_its_step(make):
    """Noise of scale 0.27 is 0 in 95.2 of 100 cases, so its half-width is 0; that of two counts is
    0 in 90.6. Catches a quotient or a sum that forgets the step of what it was made of: it stated
    ± 0 for 1/a + 1/b and was right 9 times in 10."""
    masses, width = laplace(0.27)
    assert width == 0 and (masses.max() ** 2) < 0.91
    middle = len(masses) // 2
    covered = 0.0
    for i, j in product(range(-3, 4), repeat=2):
        a, b = (Released.independent(str(k), [40 + k], [0.0]) for k in (i, j))
        found, truth = make(a) + make(b), 2 * make(Released.independent("t", [40], [0.0])).values[0]
        if abs(found.values[0] - truth) <= found.errors[0]:
            covered += masses[middle + i] * masses[middle + j]
    assert covered >= 0.95
    alone = make(Released.independent("a", [40], [0.0]))
    assert alone.errors[0] == 0  # by itself it is as it was


@pytest.mark.parametrize("many", [2, 3])
def test_h18_whatever_shrinks_independent_errors_keeps_their_level(many):
    """P(Σ|Zᵢ| ≤ Σ wᵢ) ≥ 0.95: so it holds for errors that clipping or rounding to a total made
    smaller, each as it likes. Catches a law whose absolute errors add up faster."""
    for laws in combinations_with_replacement(LAWS[::3] if many == 3 else LAWS, many):
        sizes = [np.append(m[len(m) // 2], 2 * m[len(m) // 2 + 1 :]) for m, _ in laws]
        terms = [noise(str(i), 1, w, additive=False) for i, (_, w) in enumerate(laws)]
        reach = int(half_width(terms)[0])
        assert reduce(np.convolve, sizes)[: reach + 1].sum() >= 0.95


@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_h18_means_that_share_a_count_keep_their_level(law):
    """Sums and differences of two and three means over one noisy count."""
    half = 10.0
    sizes = {"scale_s": 30.0, "scale_n": 3.0, "half_width": half, "noise": law}

    def drawn(scale):
        made = (
            dp.Laplace(sensitivity=1, scale=scale)
            if law == "laplace"
            else dp.Gaussian(sensitivity=1, sigma=scale)
        )
        return made.release(np.zeros(N, np.int64))

    with seeded(18):
        for rows, means in product((5, 20, 200), ((10, 10), (10, -10), (0, 9), (4, 4, -8))):
            count = rows + drawn(3)
            errors, widths = np.zeros(N), np.zeros(N)
            for mean in means:
                total = rows * mean + drawn(30)
                above = count > 0
                found = np.clip(total / np.where(above, count, 1), -half, half) * above
                errors += found - mean
                widths += mean_error(total, count, **sizes)
            assert holds(np.abs(errors) <= widths), (rows, means)


QUOTIENTS = {
    "a/b + c/b": (lambda a, b, c: a / b + c / b),
    "a/b - c/b": (lambda a, b, c: a / b - c / b),
    "a/b + b/c": (lambda a, b, c: a / b + b / c),
    "a/b - a/c": (lambda a, b, c: a / b - a / c),
    "a/b + a": (lambda a, b, c: a / b + a),
    "a/b - a/c + b/c": (lambda a, b, c: a / b - a / c + b / c),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_h18_quotients_that_share_noise_keep_their_level(name):
    with seeded(18):
        for truth in ((3, 15, 30), (30, 15, 30), (300, 60, 20)):
            made = dp.Laplace(sensitivity=1, scale=2)
            columns = [
                Released.independent(str(i), x + made.release(np.zeros(N, np.int64)), 6.0)
                for i, x in enumerate(truth)
            ]
            found = QUOTIENTS[name](*columns)
            off = np.abs(np.nan_to_num(found.values) - QUOTIENTS[name](*map(float, truth)))
            assert holds(np.isinf(found.errors) | (off <= found.errors * (1 + 1e-12))), truth


def test_h18_a_law_that_breaks_the_rule_is_found():
    """Planted: two columns, each within 1 in 95 of 100 cases, that are off at different times and
    then by far. Adding half-widths covers 90 %, as the union bound says, and `holds` sees it."""
    fate = np.arange(N) % 20
    columns = [np.where(fate == i, 10.0, 0.9) for i in (0, 1)]
    assert all(np.mean(column <= 1) == 0.95 for column in columns)
    rest = (*(np.array([x]) for x in (1.0, 1.0, 0.0)), frozenset(SHARED), False)
    terms = [NoiseTerm((str(i),), *rest) for i in (0, 1)]
    covered = sum(columns) <= half_width(terms)[0]
    assert np.mean(covered) == 0.9 and not holds(covered)


def test_h18_one_noise_stays_tight():
    """a − a has no error, a + a twice that of a, however the rest is combined."""
    a = Released.independent("a", [100.0], [6.0])
    assert (a - a).errors[0] == 0 and (a + a).errors[0] == 12
