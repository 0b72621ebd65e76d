"""Reading a privacy profile: δ at any ε, and ε at any δ, never below the truth.

Each notion writes its profile down for x ≥ 0 only, as a ball that contains it (a `HalfProfile`),
for both orders of the pair where they differ. The rest is done here, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.balls import ball, upper
from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, non_negative, number
from discreet.guarantees.search import least_float
from discreet.laws.sharp import certainly_at_most, sharp

if TYPE_CHECKING:
    from flint import arb

HalfProfile: TypeAlias = Callable[[Fraction], "arb"]
Orders: TypeAlias = Sequence[tuple[HalfProfile, HalfProfile]]


def delta_at(orders: Orders, epsilon: Number) -> float:
    """δ(epsilon) for any real epsilon, the larger of the orders, rounded up and at most 1."""
    x = number(epsilon, name="epsilon")
    if x >= 0:
        return min(1.0, max(upper(sharp(lambda p=p: p(x))) for p, _ in orders))  # type: ignore[misc]
    # δ(−x) = 1 − e^(−x) + e^(−x)·δ′(x), where δ′ is the profile of the swapped pair.
    return min(
        1.0,
        max(
            upper(sharp(lambda s=s: -ball(x).expm1() + ball(x).exp() * s(-x)))  # type: ignore[misc]
            for _, s in orders
        ),
    )


def epsilon_at(orders: Orders, delta: Number, *, bounded: bool) -> float:
    """The least float ε ≥ 0 with δ(ε) ≤ delta for certain; infinite if there is none.

    `bounded` says whether the profile is 0 from some ε on; if not, no ε has δ = 0.
    """
    target = unit_interval(delta, name="delta")
    if target == 0 and not bounded:
        return math.inf
    return least_float(
        lambda x: all(certainly_at_most(lambda p=p: p(x), target) for p, _ in orders)  # type: ignore[misc]
    )


def just_below(epsilon: float) -> float:
    """The float below the least one that is certain, which an exact profile does not reach."""
    return epsilon if epsilon == 0 or math.isinf(epsilon) else math.nextafter(epsilon, 0)


def unit_interval(value: Number, *, name: str) -> Fraction:
    """A probability at the door, 0 and 1 included."""
    exact = non_negative(value, name=name)
    if exact > 1:
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected="from 0 to 1", given=given)
    return exact


def group_size(k: int) -> int:
    """A number of people at the door."""
    return integer(k, name="k", minimum=1)
