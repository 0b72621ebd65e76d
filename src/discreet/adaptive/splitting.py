"""Sample splitting: every question gets records that no earlier answer has seen.

k disjoint parts of m = ⌊n/k⌋ records. The j-th query may depend on everything said before, but
none of that depends on the j-th part, so its exact mean there is a mean of m independent values
in [0, 1]. Whatever was said before, it is off by t or more with probability at most

    2·exp(−m·κ(t)),   κ(t) = 2t² + 4t⁴/9 + 32t⁶/135 + 7072t⁸/42525,

by Chernoff's bound (Hoeffding 1963, Theorem 1), since the relative entropy of two coins whose
chances differ by t is at least κ(t), whatever they are (Fedotov, Harremoës and Topsøe 2003). As
that holds given the past, k questions are all right with probability at least (1 − b)^k, where
b is this bound: chances multiply as if the questions were independent.
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet import balls

_NUDGE = 2.0**-40
_KAPPA = (Fraction(2), Fraction(4, 9), Fraction(32, 135), Fraction(7072, 42525))


def splitting_width(n: int, *, queries: int, failure: Fraction) -> float:
    """How far k answers on parts of their own can be off, all at once; 1 if there are no parts.

    >>> round(splitting_width(10**5, queries=1000, failure=Fraction(1, 20)), 4)
    0.2285
    """
    size = n // queries
    if not size:
        return 1.0
    width = _estimated(size, one_of(queries, failure))
    while width < 1 and not _is_kept(size, width, queries, failure):
        width *= 1 + _NUDGE
    return min(width, 1.0)


def _estimated(size: int, one: float) -> float:
    """The t of one part of this size at this failure probability: rounded either way."""
    needed = math.log(2 / one) / size  # κ(t) at least
    low, high = 0.0, math.sqrt(needed / 2)  # where 2t² alone is enough: Hoeffding's own t
    while (middle := (low + high) / 2) not in (low, high):
        low, high = (low, middle) if _kappa(middle) >= needed else (middle, high)
    return high


def one_of(queries: int, failure: Fraction) -> float:
    """What may go wrong with each, so that all k are right but for ``failure``: 1 − (1 − β)^(1/k),
    or β/k where only a sum over all questions is known to hold. This is never less than β/k."""
    return -math.expm1(math.log1p(-float(failure)) / queries)


def _kappa(t: float) -> float:
    return math.fsum(float(c) * t ** (2 * i) for i, c in enumerate(_KAPPA, 1))


def _is_kept(size: int, width: float, queries: int, failure: Fraction) -> bool:
    """Whether (1 − 2·exp(−m·κ(t)))^k ≥ 1 − β for certain."""
    t = Fraction(width)
    exponent = size * sum((c * t ** (2 * i) for i, c in enumerate(_KAPPA, 1)), Fraction(0))
    with balls.precision(128):
        one = 2 * (-balls.ball(exponent)).exp()
        return bool(one < 1) and bool((1 - one) ** queries >= balls.ball(1 - failure))
