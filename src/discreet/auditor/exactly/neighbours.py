"""Which neighbours to compare, and what makes them the worst of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Pair = tuple[Any, Any]
Climb = Callable[[Pair], list[Pair]]


@dataclass(frozen=True)
class Several:
    """Inputs that are answered independently of each other."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Proof:
    """Why the pairs compared cover all neighbours, and a bound on their ε where there is one."""

    words: str
    ceiling: Fraction | None = None


@dataclass(frozen=True)
class Plan:
    """The pairs to compare, where to climb from the worst of them, and a proof if there is one."""

    pairs: list[Pair]
    why: str = "the worst of the neighbours tried"
    climb: Climb | None = None
    proof: Proof | None = None
    every: bool = False  #: all pairs are compared, however long that takes
    short: str = ""  #: what was not tried, where that is so much that "holds" would mislead


def close(
    first: Sequence[Fraction | float], second: Sequence[Fraction | float], sensitivity: Fraction
) -> Pair:
    """Two lists as floats, each number moved by at most the sensitivity.

    Rounding may put floats further apart than the numbers were: those would be no neighbours.

    >>> a, b = close([Fraction(1, 3)], [Fraction(2, 3)], Fraction(1, 3))
    >>> Fraction(b[0]) - Fraction(a[0]) <= Fraction(1, 3)
    True
    """
    base, moved = [float(x) for x in first], [float(x) for x in second]
    for i, x in enumerate(base):
        if abs(Fraction(moved[i]) - Fraction(x)) > sensitivity:
            farthest = Fraction(x) + (sensitivity if moved[i] > x else -sensitivity)
            moved[i] = float(farthest)
            if abs(Fraction(moved[i]) - Fraction(x)) > sensitivity:
                moved[i] = math.nextafter(moved[i], x)
    return base, moved
