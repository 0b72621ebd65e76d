"""The published list: the sparse vector technique (X06, X07, V11), after Lyu, Su and Li 2017."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
from scipy import stats

import discreet as dp
from tests.auditor.zoo import drawing
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.drawing import steps
from tests.auditor.zoo.laws import Laws, laws, nodes

NOT_ASKED = -1


def answers(
    value: Any, size: int, *, threshold: Any, rho: Any, nu: Any | None, hits: int | None
) -> Any:
    """One row of 0 and 1 a run, and −1 from where the run had ended."""
    limit = steps(Fraction(threshold)) + drawing.laplace(rho, size)
    out = np.full((size, len(value)), NOT_ASKED, np.int8)
    left = np.full(size, len(value) if hits is None else hits)
    running = np.arange(size)  # runs that have ended draw no more
    for i, query in enumerate(value):
        noise = 0 if nu is None else drawing.laplace(nu, running.size)
        above = steps(query) + noise >= limit
        out[running, i] = above
        left -= above
        going = left > 0
        running, limit, left = running[going], limit[going], left[going]
        if not running.size:
            break
    return out


def first_hit(value: Any, size: int, **scales: Any) -> Any:
    """The place of the only hit, or −1."""
    rows = answers(value, size, hits=1, **scales) == 1
    return np.where(rows.any(axis=1), rows.argmax(axis=1), NOT_ASKED)


def patterns(queries: int, hits: int | None) -> Iterator[list[int]]:
    """Every row of answers there can be."""
    for many in range((queries if hits is None else hits) + 1):
        for places in combinations(range(queries), many):
            row = [int(i in places) for i in range(queries)]
            if hits is not None and many == hits:
                row[places[-1] + 1 :] = [NOT_ASKED] * (queries - 1 - places[-1])
            yield row


def row_masses(value: Any, threshold: float, rho: float, nu: float, hits: int | None) -> Any:
    """P(row) = ∫ f_ρ(z) ∏ P(q_i + ν ≥ T + z or not) dz."""
    q = np.array(value, float)
    z, w = nodes([0.0, *(q - threshold)], max(rho, nu))
    weight = w * stats.laplace.pdf(z, 0, rho)
    above = stats.laplace.sf(threshold + z[None, :] - q[:, None], 0, nu)
    below = stats.laplace.cdf(threshold + z[None, :] - q[:, None], 0, nu)
    factor = {1: above, 0: below, NOT_ASKED: np.ones_like(above)}
    return [
        float(weight @ np.prod([factor[a][i] for i, a in enumerate(row)], axis=0))
        for row in patterns(len(value), hits)
    ]


def row_laws(
    first: Any, second: Any, threshold: float, rho: float, nu: float, hits: int | None = 1
) -> Laws:
    p, q = (row_masses(v, threshold, rho, nu, hits) for v in (first, second))
    return laws(p, q)


def no_query_noise() -> Laws:
    """Only where T + ρ falls counts: at most 0, up to 1, beyond."""
    law = stats.laplace(0, 2.0)
    low, middle, high = law.cdf(0), law.cdf(1) - law.cdf(0), law.sf(1)
    return laws([low, middle, 0.0, high], [low, 0.0, middle, high])


ONE = dp.Pure(1)
FLAT, SPLIT = (1,) * 10, (2,) * 5 + (0,) * 5
LEE = {"threshold": 1, "rho": 4, "nu": "4/3"}
CROSS = ((0,) * 9 + (1,), (1,) * 9 + (0,))

CASES = [
    Case(
        "X06",
        "SVT after Lee and Clifton, Lap(4/ε) and Lap(4/(3ε)), c = 1",
        partial(first_hit, **LEE),
        (FLAT, SPLIT),
        ONE,
        partial(row_laws, FLAT, SPLIT, 1.0, 4.0, 4 / 3),
        True,
        printed={"epsilon": "1.7418", "hs": ".0234"},
    ),
    Case(
        "X06c2",
        "the same with c = 2",
        partial(answers, **LEE, hits=2),
        (FLAT, SPLIT),
        ONE,
        partial(row_laws, FLAT, SPLIT, 1.0, 4.0, 4 / 3, 2),
        True,
        printed={"epsilon": "3.2049"},
    ),
    Case(
        "X07",
        "SVT without query noise and without a cutoff",
        partial(answers, threshold=0, rho=2, nu=None, hits=None),
        ((0,) * 5 + (1,) * 5, (1,) * 5 + (0,) * 5),
        ONE,
        no_query_noise,
        True,
        printed={"epsilon": "inf", "delta": ".1967", "hs": ".1967"},
    ),
    Case(
        "V11",
        "SVT, algorithm 1, c = 1, T = 0",
        partial(first_hit, threshold=0, rho=2, nu=4),
        CROSS,
        ONE,
        partial(row_laws, *CROSS, 0.0, 2.0, 4.0),
        False,
        printed={"epsilon": ".9893"},
    ),
    Case(
        "V11b",
        "SVT, algorithm 1, c = 1, T = ½",
        partial(first_hit, threshold="1/2", rho=2, nu=4),
        CROSS,
        ONE,
        partial(row_laws, *CROSS, 0.5, 2.0, 4.0),
        False,
        printed={"epsilon": ".9807"},
    ),
]
