"""The published list: which score is best (X03, X04, X11, X12, V07, V09, V10)."""

from __future__ import annotations

from functools import partial
from math import exp, inf
from typing import Any

import numpy as np
from scipy import stats

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.drawing import real, steps
from tests.auditor.zoo.laws import Laws, cells, laws, masses, nodes

NOISES = {"laplace": drawing.laplace, "exponential": drawing.exponential}


def best(value: Any, size: int, *, scale: Any, noise: str, shown: str = "index") -> Any:
    """The place, or the value, of the largest score plus noise; the first of equals."""
    place = np.zeros(size, np.int64)
    top = steps(value[0]) + NOISES[noise](scale, size)
    for i, score in enumerate(value[1:], start=1):
        own = steps(score) + NOISES[noise](scale, size)
        better = own > top
        place[better], top[better] = i, own[better]
    return place if shown == "index" else real(top)


def index_masses(value: Any, scale: float, noise: str) -> Any:
    """P(i is best) = ∫ f(z − q_i) ∏ F(z − q_j) dz."""
    law = stats.laplace(0, scale) if noise == "laplace" else stats.expon(0, scale)
    z, w = nodes(value, scale)
    density = np.array([law.pdf(z - q) for q in value])
    below = np.array([law.cdf(z - q) for q in value])
    return [
        float(w @ (density[i] * np.delete(below, i, axis=0).prod(axis=0)))
        for i in range(len(value))
    ]


def index_laws(first: Any, second: Any, scale: float, noise: str = "laplace") -> Laws:
    p, q = (np.array(index_masses(v, scale, noise)) for v in (first, second))
    return laws(p, q)


def largest_laplace() -> Laws:
    """The largest of five: F(y)⁵, with scale 2."""
    edges = cells(-60, 41, 128)

    def around(value: float) -> Any:
        low = stats.laplace.cdf(edges, value, 2.0)
        high = stats.laplace.sf(edges, value, 2.0)
        return masses(lambda _: low**5, lambda _: -np.expm1(5 * np.log1p(-high)), edges)

    return laws(around(0), around(1))


def largest_exponential() -> Laws:
    edges = cells(0, 61, 64)

    def around(value: float) -> Any:
        low, high = (f(edges, value, 2.0) for f in (stats.expon.cdf, stats.expon.sf))
        with np.errstate(divide="ignore"):
            return masses(lambda _: low**5, lambda _: -np.expm1(5 * np.log1p(-high)), edges)

    return laws(around(0), around(1), limit=inf)


def gibbs(value: Any, size: int, *, half: int) -> Any:
    """The exponential mechanism e^(q/half)."""
    return drawing.gibbs([f"{q}/{half}" for q in value], size)


def gibbs_laws(first: Any, second: Any, half: int) -> Laws:
    def law(value: Any) -> Any:
        weight = np.array([exp(q / half) for q in value])
        return weight / weight.sum()

    return laws(law(first), law(second))


def _max(id: str, words: str, first: Any, second: Any, scale: Any, **more: Any) -> Case:
    noise = more.pop("noise", "laplace")
    return Case(
        id,
        words,
        partial(best, scale=scale, noise=noise),
        (first, second),
        more.pop("claim", ONE),
        partial(index_laws, first, second, float(scale), noise),
        **more,
    )


ONE = dp.Pure(1)
UP, DOWN = (6, 0, 0, 0, 0), (7, -1, 1, 1, 1)

CASES = [
    Case(
        "X03",
        "noisy max of five returns the value, Lap(2/ε)",
        partial(best, scale=2, noise="laplace", shown="value"),
        ((0,) * 5, (1,) * 5),
        ONE,
        largest_laplace,
        True,
        printed={"epsilon": "2.5", "hs": ".0806"},
    ),
    Case(
        "X04",
        "the same with exponential noise",
        partial(best, scale=2, noise="exponential", shown="value"),
        ((0,) * 5, (1,) * 5),
        ONE,
        largest_exponential,
        True,
        printed={"epsilon": "inf", "hs": ".0816"},
    ),
    _max(
        "X11",
        "noisy max Lap(1/ε), non-monotone",
        UP,
        DOWN,
        1,
        broken=True,
        printed={"epsilon": "1.9974"},  # the table's HS is that of the other pair
    ),
    _max(
        "X11b",
        "the same on a pair that shows less",
        (2, 1, 1, 1, 1),
        (3, 0, 0, 0, 0),
        1,
        broken=True,
        printed={"epsilon": "1.209", "hs": ".1065"},
    ),
    Case(
        "X12",
        "exponential mechanism e^(εq), the ½ missing",
        partial(gibbs, half=1),
        ((3, 1), (4, 0)),
        ONE,
        partial(gibbs_laws, (3, 1), (4, 0), 1),
        True,
        printed={"epsilon": "1.8912", "hs": ".0703"},
    ),
    Case(
        "V07",
        "exponential mechanism e^(εq/2), scores far apart",
        partial(gibbs, half=2),
        ((9, 1), (10, 0)),
        ONE,
        partial(gibbs_laws, (9, 1), (10, 0), 2),
        False,
        printed={"epsilon": ".9886"},
    ),
    Case(
        "V07b",
        "exponential mechanism e^(εq/2), equal scores",
        partial(gibbs, half=2),
        ((0, 0), (1, -1)),
        ONE,
        partial(gibbs_laws, (0, 0), (1, -1), 2),
        False,
        printed={"epsilon": ".6201"},
    ),
    _max("V09", "noisy max Lap(2/ε)", UP, DOWN, 2, broken=False, printed={"epsilon": ".9953"}),
    _max(
        "V09b",
        "noisy max Lap(2/ε) at ε = 0.1, equal scores",
        (0,) * 5,
        (1, -1, 1, 1, 1),
        20,
        broken=False,
        claim=dp.Pure("1/10"),
        printed={"epsilon": ".094615"},
    ),
    _max(
        "V10",
        "permute-and-flip",
        (0, 0),
        (1, -1),
        2,
        noise="exponential",
        broken=False,
        printed={"epsilon": "1.0000"},
    ),
]
