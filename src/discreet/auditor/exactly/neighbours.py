"""Which neighbours to compare, and what makes them the worst of all."""

from __future__ import annotations

from collections.abc import Callable
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
