"""What k of n and l of m say about two probabilities p and q: a joint confidence region.

The exact one-sided tails A(p) = P(Bin(n, p) ≥ k) and B(q) = P(Bin(m, q) ≤ l), taken at the true
p and q, are each at least as large as a uniform number (Clopper and Pearson 1934), and the two
are independent. So −log A − log B is at most the sum of two standard exponentials, which exceeds t
with probability (1 + t)·e^(−t) (Fisher 1932), and

    { (p, q) : −log A(p) − log B(q) ≤ t },   (1 + t)·e^(−t) = risk,

holds the truth, except with probability `risk`. Near its boundary it is as tight as a test that
knows both variances, where two separate intervals lose up to a factor √2 in width.

What is asked about here grows with p and falls with q, so its least value over the region lies on
the lower right boundary. That is covered by corners: if −log A is between s and s′, then p is at
least the p of s′ and q at most the q of t − s.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
Reading: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]

_CELLS = 256  # of the boundary: their width costs 1/256 of t
_GUARD = 1e-9  # relative; quantiles of scipy are good to 1e-12


@dataclass(frozen=True, slots=True)
class Counts:
    """An event was seen `hits` times in `n` runs, and `other_hits` times in `other_n`."""

    hits: int
    n: int
    other_hits: int
    other_n: int


def corners(counts: Counts, risk: float) -> tuple[FloatArray, FloatArray]:
    """Points (p, q) that bound the region from below in p and from above in q.

    >>> p, q = corners(Counts(500, 1000, 0, 1000), risk=1e-9)
    >>> bool((p / q).min() > 10)
    True
    """
    from scipy.special import betainccinv, betaincinv

    t = _threshold(risk)
    s = np.linspace(0.0, t, _CELLS + 1)
    k, n, l, m = counts.hits, counts.n, counts.other_hits, counts.other_n  # noqa: E741
    # P(Bin(n, p) ≥ k) = e^(−s) at the e^(−s)-quantile of Beta(k, n − k + 1), and so on.
    p: Any = np.zeros(_CELLS + 1) if k == 0 else betaincinv(k, n - k + 1, np.exp(-s))
    q: Any = np.ones(_CELLS + 1) if l == m else betainccinv(l + 1, m - l, np.exp(-s))
    below = np.clip(p[1:] * (1 - _GUARD), 0.0, 1.0)
    above = np.clip(q[::-1][:-1] * (1 + _GUARD), 0.0, 1.0)  # of t − s
    return below, above


def least(reading: Reading, counts: Counts, risk: float) -> float:
    """The least value of what grows with p and falls with q, except with probability `risk`."""
    p, q = corners(counts, risk)
    return float(reading(p, q).min())


def expected_counts(p: float, q: float, n: int) -> Counts:
    """What n runs each show on average of an event with these probabilities, rounded."""
    return Counts(round(p * n), n, round(q * n), n)


def _threshold(risk: float) -> float:
    """t with (1 + t)·e^(−t) = risk, rounded up."""
    low, high = 0.0, 10.0 - 2 * math.log(risk)  # log1p(t) − t falls from 0 to below log risk
    for _ in range(200):
        middle = (low + high) / 2
        if math.log1p(middle) - middle > math.log(risk):
            low = middle
        else:
            high = middle
    return high * (1 + 1e-12)
