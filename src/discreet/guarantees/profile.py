"""Reading a privacy profile: δ at any ε, and ε at any δ, never below the truth.

The dominating pairs of this package are symmetric: swapping the neighbours gives the same
profile. So each notion only writes its profile down for x ≥ 0, as a ball that contains it
(a `HalfProfile`), and the rest is done here, once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball, upper
from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, non_negative, number
from discreet.guarantees.search import least_float
from discreet.laws.sharp import certainly_at_most, sharp

if TYPE_CHECKING:
    from flint import arb

HalfProfile = Callable[[Fraction], "arb"]


def delta_at(profile: HalfProfile, epsilon: Number) -> float:
    """δ(epsilon) for any real epsilon, rounded up and at most 1."""
    x = number(epsilon, name="epsilon")
    # δ(−x) = 1 − e^(−x) + e^(−x)·δ(x): the events where the swapped pair gains nothing.
    value = sharp(lambda: profile(x) if x >= 0 else -ball(x).expm1() + ball(x).exp() * profile(-x))
    return min(1.0, upper(value))


def epsilon_at(profile: HalfProfile, delta: Number, *, reaches_zero: bool) -> float:
    """The least float ε ≥ 0 with profile(ε) ≤ delta for certain; infinite if there is none.

    `reaches_zero` says whether the profile is 0 from some ε on; if not, no ε has δ = 0.
    """
    target = unit_interval(delta, name="delta")
    if target == 0 and not reaches_zero:
        return math.inf
    return least_float(lambda x: certainly_at_most(lambda: profile(x), target))


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
