"""How large the largest of k independent errors is: its mean, its quantiles, its worst cases.

X is the largest of k absolute values of standard noise, N(0, 1) or Laplace of scale 1. With the
tail q(x) = P(|Z| > x) of one,

    P(X > x) = 1 − (1 − q(x))^k,     E(X − s)₊ = ∫ from s to ∞ of P(X > x) dx.

Integrals are Arb's, in balls that hold the true value, so every number here is rounded up and
off by less than 10⁻⁹ of itself.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from discreet import balls
from discreet.exact import round_up

if TYPE_CHECKING:
    from flint import arb

Shape: TypeAlias = Literal["gaussian", "laplace"]

_BITS = 128
_FAR: dict[Shape, int] = {"gaussian": 14, "laplace": 80}  # from s on: nothing is left beyond
_NUDGE = 2.0**-40


@lru_cache(maxsize=4096)
def superquantile_of_largest(shape: Shape, queries: int, failure: Fraction) -> float:
    """The mean of X in its worst ``failure`` of cases, rounded up: s + E(X − s)₊/β at the
    quantile s, where that is least. With a failure of 1 it is E[X].

    >>> superquantile_of_largest("laplace", 3, Fraction(1))                  # 1 + 1/2 + 1/3
    1.8333333333333335
    >>> round(superquantile_of_largest("gaussian", 1000, Fraction(1, 20)), 6)
    4.275776
    """
    point = 0.0 if failure == 1 else quantile_of_largest(shape, queries, failure)
    with balls.precision(_BITS):
        above = balls.upper_fraction(excess_of_largest(shape, queries, Fraction(point)))
    return round_up(Fraction(point) + above / failure)


def excess_of_largest(shape: Shape, queries: int, s: Fraction) -> arb:
    """E(X − s)₊ as a ball."""
    from flint import acb

    def tail(z: Any, _: bool) -> Any:
        return 1 - (1 - _one(shape, z)) ** queries

    far = s + _FAR[shape]
    near = acb.integral(tail, acb(balls.ball(s)), acb(balls.ball(far))).real
    # P(X > x) ≤ k·q(x), and ∫ q ≤ √(2/π)·e^(−x²/2) or e^(−x): a ball from 0 to that.
    exponent = balls.ball(far * far / 2 if shape == "gaussian" else far)
    beyond = queries * (-exponent).exp()
    return near + balls.ball(0).union(beyond)


@lru_cache(maxsize=4096)
def quantile_of_largest(shape: Shape, queries: int, failure: Fraction) -> float:
    """Some x with P(X > x) ≤ failure, above the least by one part in 10¹¹ at most.

    >>> round(quantile_of_largest("gaussian", 1, Fraction(1, 20)), 6)
    1.959964
    """
    from scipy.special import ndtri

    one = -math.expm1(math.log1p(-float(failure)) / queries)  # q(x), when P(X > x) = failure
    x = -float(ndtri(one / 2)) if shape == "gaussian" else -math.log(one)
    x = max(x, 0.0)
    while not _is_rare(shape, queries, x, failure):
        x = x * (1 + _NUDGE) + math.ulp(1.0)
    return x


def _is_rare(shape: Shape, queries: int, x: float, failure: Fraction) -> bool:
    """Whether P(X > x) ≤ failure for certain."""
    with balls.precision(_BITS):
        calm = (1 - _one(shape, balls.ball(Fraction(x)))) ** queries
        return bool(1 - calm <= balls.ball(failure))


def _one(shape: Shape, z: Any) -> Any:
    """q(z) = P(|Z| > z): erfc(z/√2) or e^(−z)."""
    return (z / balls.ball(2).sqrt()).erfc() if shape == "gaussian" else (-z).exp()
