"""A promise that holds except with a small probability, the slack, in fully adaptive sessions.

In a filter, a sum of δ₀ runs beside the sum of costs, for mechanisms that fail outright with a
small probability. If it stays within the slack, and the costs within a cap, the session has at
most the profile

    δ(x) ≤ slack + (1 − slack)·δ_cap(x).

Proof. On the run where nothing fails, each transcript weighs w = Π(1 − δᵢ) ≥ 1 − slack, the same
for both neighbours, since the δᵢ are functions of the transcript. Let p and q be the densities
of the session made of the parts that do not fail; by the theorem of the filter they satisfy the
cap. Then

    δ(x) ≤ ∫ max(0, w·(p − e^x·q)) + ∫ (1 − w)·p,

which is largest where w is least, at 1 − slack. ∎ (For zCDP see also Whitehouse, Ramdas, Rogers
and Wu 2023, who filter ρ and δ of approximate zCDP side by side.)
"""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.exact import Number, non_negative, probability, round_up
from discreet.guarantees.accounts.notions import Notion
from discreet.guarantees.approx import Approx
from discreet.guarantees.failing import Failing
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.profile import unit_interval
from discreet.guarantees.pure import Pure


def read_slack(slack: Number) -> Fraction:
    """A slack at the door: with 1, nothing would be promised."""
    exact = non_negative(slack, name="slack")
    if exact < 1:
        return exact
    given = InvalidArgument.describe_parameter(slack)
    raise InvalidArgument(name="slack", expected="0 or above and below 1", given=given)


def without_slack(delta: Number, slack: Number) -> Fraction:
    """What is left of δ for the cap: (δ − slack)/(1 − slack).

    >>> without_slack("0.1", slack="0.01")
    Fraction(1, 11)
    """
    whole, part = probability(delta, name="delta"), read_slack(slack)
    if part < whole:
        return (whole - part) / (1 - part)
    given = InvalidArgument.describe_parameter(slack)
    raise InvalidArgument(name="slack", expected="below delta", given=given)


def epsilon_with_slack(limit: Guarantee, slack: Fraction, delta: Number) -> float:
    """The least ε ≥ 0 at this δ, rounded up; infinite below the slack."""
    target = unit_interval(delta, name="delta")
    if target < slack:
        return math.inf
    return limit.epsilon((target - slack) / (1 - slack))


def delta_with_slack(limit: Guarantee, slack: Fraction, epsilon: Number) -> float:
    """δ at this ε, rounded up."""
    return min(1.0, round_up(slack + (1 - slack) * Fraction(limit.delta(epsilon))))


def guarantee_with_slack(limit: Notion, slack: Fraction) -> Guarantee:
    """The same as a guarantee."""
    if not slack:
        return limit
    return Approx(limit.epsilon0, slack) if isinstance(limit, Pure) else Failing(limit, slack)
