"""Which neighbours to draw from, where none were given and the law is known."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from discreet.auditor.exact.comparison import sides
from discreet.auditor.exact.neighbours import Several, plan
from discreet.auditor.exact.sides import BITS
from discreet.auditor.verify import law_of
from discreet.guarantees import Guarantee
from discreet.numeric.balls import lower, precision

Pair = tuple[Any, Any]

_SIMPLE, _FURTHEST = 3, 3
_DIGITS = 9  # of a distance: pairs that agree to this many are one pair, moved elsewhere


def distinguishing_pairs(mechanism: Any, claim: Guarantee) -> list[Pair]:
    """The simplest neighbours of the exact route, and those furthest apart in total variation.

    The pair with the largest ε is not sought: what tells it apart may come once in a million
    outputs, and code without any noise may answer both alike.

    >>> import discreet as dp
    >>> noisy = dp.Exponential(sensitivity=1, epsilon=1)
    >>> ([1.0, 0.0], [0.0, 1.0]) in distinguishing_pairs(noisy, noisy.guarantee)
    True
    """
    pairs = plan(mechanism, claim).pairs
    found: dict[float, Pair] = {}
    for pair in pairs:
        found.setdefault(round(_distance(mechanism, pair), _DIGITS), pair)
    furthest = [found[distance] for distance in sorted(found, reverse=True)]
    chosen = [*pairs[:_SIMPLE], *furthest[:_FURTHEST]]
    return [(_plain(first), _plain(second)) for first, second in chosen]


def _distance(mechanism: Any, pair: Pair) -> float:
    first, second = (law_of(mechanism.law, value) for value in pair)
    with precision(BITS):
        return lower(sides(first, second)[0].hockey(Fraction(0)))


def _plain(value: Any) -> Any:
    return value.values if isinstance(value, Several) else value
