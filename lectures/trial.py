"""Asking the verifier whether a claim survives the output laws of a mechanism."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.auditor.verify import Verification, verify
from discreet.errors import InternalError
from discreet.guarantees import Approx, Guarantee, Pure
from lectures.claim import Measured, shown

Pair = tuple[Any, Any]


@dataclass(frozen=True)
class FromLaw:
    """A mechanism that is known by its law alone: what the lectures write down."""

    law: Callable[[Any], Any]


def verified(mechanism: Any, claim: Guarantee, *pairs: Pair) -> Verification:
    """The verifier's answer; our checks are chosen so that there always is one."""
    found = verify(mechanism, claim, pairs=pairs)
    if found.verdict == "undecided":
        raise InternalError(f"the verifier could not decide about {claim}")
    return found


def holds(mechanism: Any, claim: Guarantee, *pairs: Pair) -> bool:
    """Whether the claim holds for these neighbours."""
    return verified(mechanism, claim, *pairs).holds


def violated(mechanism: Any, claim: Guarantee, *pairs: Pair) -> bool:
    """Whether an event breaks the claim."""
    return verified(mechanism, claim, *pairs).violated


def proven(mechanism: Any, claim: Guarantee) -> bool:
    """Whether the claim holds for all neighbours of the mechanism, and not only for some."""
    found = verify(mechanism, claim)
    return found.holds and found.proven


def pinned(
    mechanism: Any, notion: Callable[[Fraction], Guarantee], value: Fraction, *pairs: Pair
) -> bool:
    """Whether the claim holds at this value of its parameter, and fails one millionth below."""
    below = value * (1 - Fraction(1, 10**6))
    return holds(mechanism, notion(value), *pairs) and violated(mechanism, notion(below), *pairs)


def greatest_loss(mechanism: Any, *pairs: Pair) -> float:
    """The largest log ratio of the output laws, in both orders; infinite if unbounded."""
    return verify(mechanism, Pure(0), pairs=pairs).found[1]


def divergence(mechanism: Any, epsilon: Fraction, *pairs: Pair) -> float:
    """δ(ε) of the output laws: the hockey-stick divergence, in both orders."""
    return verify(mechanism, Approx(epsilon, 0), pairs=pairs).found[1]


def witnessed(found: Verification, where: str) -> tuple[Measured, ...]:
    """The event that breaks a claim, with its two probabilities; nothing where there is none."""
    witness = found.witness
    if witness is None or not found.violated:
        return ()
    likely, unlikely = witness.probability[0], witness.other_probability[1]
    event = re.sub(r"-?\d+\.\d{7,}", lambda number: shown(float(number[0])), str(witness.event))
    return (
        Measured(
            f"witness at {where}, {event}",
            f"{shown(likely)} against {shown(unlikely)}",
            "its probabilities on the two inputs, bounded outward",
        ),
    )
