"""Claim 10: the Laplace mechanism on numbers and vectors."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.guarantees import Pure
from discreet.mechanisms.laplace import Laplace
from discreet.numeric.balls import ball, precision
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import FromLaw, pinned, proven

if TYPE_CHECKING:
    from flint import arb

SCALE: Final = Fraction(5, 2)
# How two numbers share an L1 sensitivity of 4.
SPLITS: Final = ((4, 0), (3, 1), (2, 2))


def laplace_mechanism(
    *,
    noise: Callable[[int, Fraction], Laplace] = lambda sensitivity, epsilon: Laplace(
        sensitivity=sensitivity, epsilon=epsilon, step=1
    ),
) -> ClaimReport:
    """Claim 10: noise of scale Δ₁/ε on each coordinate."""
    epsilon = Fraction(1)
    mechanism = noise(4, epsilon)
    vector = FromLaw(lambda value: tuple(mechanism.law(x) for x in value))
    size, square = _moment(1), _moment(2)
    return ClaimReport(
        number=10,
        source="lecture 001, claim 3.1; lectures 003 and 004",
        statement="f(x) plus independent Laplace noise of scale b = Δ₁/ε on each of d coordinates "
        "is ε-DP; E|Z| = b and Var Z = 2b².",
        checks=(
            Check(
                "the verifier, on two numbers at once with Δ₁ = 4: moves by (4, 0), (3, 1) and "
                "(2, 2) cost ε = 1 each, and not one millionth less",
                all(pinned(vector, Pure, epsilon, ((0, 0), move)) for move in SPLITS),
            ),
            Check(
                "the verifier, for all neighbours: the mechanism is ε-DP",
                proven(mechanism, Pure(epsilon)),
            ),
            Check(
                "on the reals too: rounded to a fine grid, a move of Δ₁ costs exactly ε",
                pinned(
                    Laplace(sensitivity=4, epsilon=epsilon, step="fine"), Pure, epsilon, (0.0, 4.0)
                ),
            ),
            Check(
                "E|Z| = b and Var Z = 2b² by certified integration, b = 2.5",
                size.overlaps(ball(SCALE)) and square.overlaps(ball(2 * SCALE**2)),
            ),
            Check(
                "the mechanism's own noise has that variance, to 6 digits",
                math.isclose(
                    Laplace(sensitivity=1, scale=SCALE, step="fine").variance,
                    2 * SCALE**2,
                    rel_tol=1e-6,
                ),
            ),
        ),
        numbers=(
            Measured("E|Z|, b = 2.5", shown(float(size)), "∫ |z|·e^(−|z|/b)/(2b) dz in balls"),
            Measured("Var Z, b = 2.5", shown(float(square)), "∫ z²·e^(−|z|/b)/(2b) dz in balls"),
        ),
    )


def _moment(power: int) -> arb:
    """2·∫₀^∞ z^power·e^(−z/b)/(2b) dz; beyond 200b less than 10⁻⁷⁰ is left, which is added."""
    from flint import acb

    with precision(128):
        b = acb(ball(SCALE))

        def density(z: acb, _: bool) -> acb:
            return z**power * (-z / b).exp() / b

        far = ball(200 * SCALE)
        near: arb = acb.integral(density, acb(0), acb(far)).real
        return near.union(near + ball(Fraction(1, 10**70)))
