"""Not on the published list, and private as claimed: many as tightly as can be."""

from __future__ import annotations

from functools import partial
from itertools import permutations
from math import e, exp, log, tanh
from typing import Any

import numpy as np
from scipy import stats

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.additive import (
    KEY_DELTA,
    gaussian_laws,
    gaussian_vector,
    grid_gaussian,
    laplace_laws,
    threshold,
    threshold_laws,
    whole_masses,
)
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.drawing import STEPS, real, steps
from tests.auditor.zoo.laws import Laws, laws
from tests.auditor.zoo.responding import response
from tests.auditor.zoo.sparse import answers, row_laws
from tests.auditor.zoo.unlisted_forms import (
    coin_laws,
    lead,
    lead_laws,
    sets,
    words,
    words_laws,
)

ONE = dp.Pure(1)
KEYS = dp.KeyThreshold(epsilon=1, delta="1/100")
TOP = dp.TopK(k=2, epsilon=1, monotone=False)
SPARSE = dp.SparseVector(sensitivity=1, epsilon=1, threshold=0, hits=2)


def constant(value: int, size: int) -> Any:
    return np.full(size, 7)


def discovered(value: Any, size: int) -> Any:
    """dp.KeyThreshold on the counts of three keys."""
    return np.asarray(KEYS.release(np.tile(value, size))).reshape(size, len(value))


def discovered_laws() -> Laws:
    # The optimal rule keeps a key of one with δ, of two with δ(1 + e), and so on.
    return laws([0.99, 0.01], [1.0, 0.0])


def top_two(value: Any, size: int) -> Any:
    """dp.TopK's law: one choice after another, by e^(count/scale) among those that are left."""
    exponents = [x / TOP.scale for x in value]
    first = drawing.gibbs(exponents, size)
    out = np.stack([first, first], axis=1)
    for i in range(len(value)):
        mine = np.flatnonzero(first == i)
        left = [j for j in range(len(value)) if j != i]
        chosen = drawing.gibbs([exponents[j] for j in left], mine.size)
        out[mine, 1] = np.array(left)[chosen]
    return out


def top_two_laws(first: Any, second: Any) -> Laws:
    def law(value: Any) -> Any:
        weight = [exp(x / float(TOP.scale)) for x in value]
        total = sum(weight)
        return [
            weight[i] / total * weight[j] / (total - weight[i])
            for i, j in permutations(range(len(value)), 2)
        ]

    return laws(law(first), law(second))


def public_keys(value: dict[str, int], size: int) -> list[dict[str, int]]:
    noisy = [(word, (n + drawing.discrete_laplace(1, size)).tolist()) for word, n in value.items()]
    return [{word: n[i] for word, n in noisy} for i in range(size)]


def heavy(value: int, size: int) -> Any:
    """Coarse and clamped: five outcomes, two of them heavy."""
    noisy = steps(value) + drawing.laplace(1, size)
    return np.clip((noisy + STEPS // 2) // STEPS, -1, 3) * 10


def heavy_laws() -> Laws:
    edges = np.array([-0.5, 0.5, 1.5, 2.5])

    def around(value: int) -> Any:
        cdf = stats.laplace.cdf(edges, value, 1.0)
        return np.diff(np.concatenate([[0.0], cdf, [1.0]]))

    return laws(around(0), around(1))


def modulo(value: int, size: int) -> Any:
    return (value + drawing.discrete_laplace(1, size)) % 8


def modulo_laws() -> Laws:
    def around(value: int) -> Any:
        at = np.arange(-80, 80)
        mass = whole_masses(value, at=range(-80, 80))[1:-1]
        return np.bincount(at % 8, mass) / mass.sum()

    return laws(around(0), around(1))


def rounded_to_single(value: int, size: int) -> Any:
    """The exact sum, rounded once: what comes after the noise cannot hurt."""
    return real(steps(value) + drawing.laplace(1, size)).astype(np.float32)


def count_or_none(value: int, size: int) -> list[int | None]:
    return [None if n < 0 else n for n in threshold(value, size).tolist()]


def two_samples(value: tuple[int, ...], size: int) -> Any:
    """Two releases of 2-randomized response, each from a sample of its own."""
    lies = drawing.flips(2, 2 * size).reshape(size, 2)
    inside = drawing.chance("1/10", 2 * size).reshape(size, 2) if value else False
    return (inside ^ lies).astype(np.int8)


def two_samples_laws() -> Laws:
    truth = 1 / (1 + exp(-2))
    absent = np.array([truth, 1 - truth])
    present = 0.9 * absent + 0.1 * absent[::-1]
    return laws(np.outer(absent, absent), np.outer(present, present))


def sometimes_raw_response(value: int, size: int) -> Any:
    """Randomized response that fails outright one time in fifty, and says so."""
    told = response(value, size)
    raw = drawing.chance("1/50", size)
    return np.where(raw, 2 + value, told)


def raw_response_laws() -> Laws:
    truth = 0.98 * e / (1 + e)
    lie = 0.98 - truth
    return laws([truth, lie, 0.02, 0.0], [lie, truth, 0.0, 0.02])


def squared(value: int, size: int) -> Any:
    """A function of a private number is as private."""
    return (value + drawing.discrete_laplace(1, size)) ** 2


def squared_laws() -> Laws:
    at = np.arange(-60, 60)

    def around(value: int) -> Any:
        mass = whole_masses(value, at=range(-60, 60))[1:-1]
        return np.bincount(abs(at), mass) / mass.sum()

    return laws(around(0), around(1))


ROW = ((0, 0, 0, 9, 9), (1, 1, 1, 8, 8))
COUNTS = ((4, 2, 1), (5, 1, 2))

CASES = [
    Case("W01", "always the same", constant, (0, 1), ONE, lambda: laws([1.0], [1.0]), False),
    Case(
        "W02",
        "key discovery by the optimal rule",
        discovered,
        ((9, 0, 3), (9, 1, 3)),
        dp.Approx(1, "1/100"),
        discovered_laws,
        False,
    ),
    Case(
        "W03",
        "the two commonest of three",
        top_two,
        COUNTS,
        ONE,
        partial(top_two_laws, *COUNTS),
        False,
    ),
    Case(
        "W04",
        "sparse vector with two hits",
        partial(
            answers,
            threshold=0,
            rho=SPARSE.threshold_scale,
            nu=SPARSE.query_scale,
            hits=2,
        ),
        ROW,
        ONE,
        partial(row_laws, *ROW, 0.0, float(SPARSE.threshold_scale), float(SPARSE.query_scale), 2),
        False,
    ),
    Case(
        "W05",
        "Gaussian on four coordinates at the tight μ = 1",
        partial(gaussian_vector, sigma=2),
        ((0, 0, 0, 0), (1, 1, 1, 1)),
        dp.GDP(1),
        partial(gaussian_laws, 1.0),
        False,
        printed={"mu": "1.000"},
    ),
    Case(
        "W06",
        "Gaussian at the tight ρ = 1/2",
        partial(grid_gaussian, sigma=1),
        (0, 1),
        dp.ZCDP("1/2"),
        partial(gaussian_laws, 1.0),
        False,
        printed={"rho": ".500"},
    ),
    Case(
        "W07",
        "randomized response at its tight total variation",
        response,
        (0, 1),
        dp.TotalVariation(tanh(0.5)),
        partial(coin_laws, 1.0),
        False,
        printed={"tv": ".4621"},
    ),
    Case(
        "W08",
        "a set whose members flip at ε = 1",
        partial(sets, epsilon=1),
        (frozenset({"ash", "elm"}), frozenset({"ash"})),
        ONE,
        partial(coin_laws, 1.0),
        False,
    ),
    Case(
        "W09",
        "words by randomized response",
        partial(words, epsilon=1),
        ("ash", "birch"),
        ONE,
        partial(words_laws, 1.0),
        False,
    ),
    Case(
        "W10",
        "noisy counts of public keys, as dicts",
        public_keys,
        ({"flu": 40, "rare": 1}, {"flu": 40, "rare": 0}),
        ONE,
        lambda: laws(whole_masses(1), whole_masses(0)),
        False,
    ),
    Case("W11", "a few heavy outcomes", heavy, (0, 1), ONE, heavy_laws, False),
    Case("W12", "discrete Laplace modulo 8", modulo, (0, 1), ONE, modulo_laws, False),
    Case(
        "W13",
        "exact noise, rounded to float32 afterwards",
        rounded_to_single,
        (0, 1),
        ONE,
        partial(laplace_laws, 0, 1, 1.0),
        False,
    ),
    Case(
        "W14",
        "a discovered count or None",
        count_or_none,
        (1, 0),
        dp.Approx(1, KEY_DELTA),
        threshold_laws,
        False,
    ),
    Case(
        "W15",
        "noisy max with its lead",
        partial(lead, scale=2),
        ((0, 1), (1, 0)),
        ONE,
        partial(lead_laws, 2.0),
        False,
    ),
    Case(
        "W16",
        "two releases from two samples",
        two_samples,
        ((), (1,)),
        dp.Pure(2 * log(1 + 0.1 * (exp(2) - 1)) * (1 + 1e-12)),
        two_samples_laws,
        False,
        printed={"epsilon": ".988"},
    ),
    Case(
        "W17",
        "randomized response that fails outright with δ",
        sometimes_raw_response,
        (0, 1),
        dp.Approx(1, "1/50"),
        raw_response_laws,
        False,
    ),
    Case("W18", "the square of a private number", squared, (0, 1), ONE, squared_laws, False),
]
