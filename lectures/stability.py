"""Claims 1, 7 and 8: total variation, and what bounds on the privacy loss say about it."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from discreet import bounds
from discreet.guarantees import (
    GDP,
    ZCDP,
    Approx,
    BoundedRange,
    Guarantee,
    LaplacePair,
    Pure,
    TotalVariation,
)
from discreet.laws.gaussian import RealGaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.distances import UNEVEN
from lectures.trial import FromLaw, divergence, holds, pinned

NOTIONS: Final[tuple[Guarantee, ...]] = (
    Pure(1),
    Approx(1, "1e-5"),
    ZCDP("1/2"),
    GDP(1),
    TotalVariation("1/4"),
    BoundedRange(1),
    LaplacePair(1),
)

Reading = Callable[[Guarantee], float]


def _tv(promise: Guarantee) -> float:
    return promise.tv


def tv_stability(*, reading: Reading = _tv) -> ClaimReport:
    """Claim 1: every promise can be read as TV stability."""
    response, laplace = RandomizedResponse(epsilon=1), Laplace(sensitivity=1, epsilon=1, step=1)
    normal = FromLaw(lambda x: RealGaussian(x, 1))
    uneven = FromLaw(lambda x: UNEVEN[x])
    laws: list[tuple[str, Any, Guarantee]] = [
        ("randomized response, ε = 1", response, Pure(1)),
        ("discrete Laplace noise, ε = 1", laplace, Pure(1)),
        ("Gaussian noise, σ = Δ", normal, GDP(1)),
        ("(0.6, 0.3, 0.1) against (0.3, 0.3, 0.4)", uneven, TotalVariation("3/10")),
    ]
    return ClaimReport(
        number=1,
        source="lectures 000 and 002, definition 0.1",
        statement="M is ε-TV stable if the total variation distance of M(S) and M(S′) is at most ε "
        "for all neighbours.",
        checks=(
            Check(
                f"the TV read from each of {len(NOTIONS)} notions is its δ at ε = 0",
                all(reading(g) == g.delta(0) for g in NOTIONS),
            ),
            Check(
                "the verifier, from the laws alone: the TV read from the promise holds and one "
                "millionth less does not, for randomized response, Laplace and Gaussian noise and "
                "two laws on three outcomes",
                all(
                    pinned(mechanism, TotalVariation, Fraction(reading(g)), (0, 1))
                    for _, mechanism, g in laws
                ),
            ),
        ),
        numbers=(
            *(
                Measured(f"TV of {name}", shown(divergence(law, Fraction(0), (0, 1))), "the laws")
                for name, law, _ in laws
            ),
            *(Measured(f"TV of {g}", shown(reading(g)), "δ(0) of the promise") for g in NOTIONS),
        ),
        note="TV stability is a promise in its own right here: dp.TotalVariation. It bounds how "
        "much better than guessing anyone can tell two neighbours apart.",
    )


def tv_of_pure(*, bound: Callable[[Fraction], float] = bounds.tv_from_epsilon) -> ClaimReport:
    """Claim 7: from a multiplicative bound to total variation."""
    ln3, apart = Fraction(math.log(3)), Fraction(1, 10**9)
    sizes = [Fraction(k, 100) for k in (1, 10, 50, 100)]
    return ClaimReport(
        number=7,
        source="lectures 000 and 002, claim 0.6",
        statement="ε-DP implies a total variation of at most ½(e^ε − 1).",
        checks=(
            Check(
                "the tight value tanh(ε/2) is below it for ε = 0.01, 0.1, 0.5, 1",
                all(Pure(e).tv <= bound(e) for e in sizes),
            ),
            Check(
                "the verifier: randomized response, the worst ε-DP pair, has TV tanh(ε/2), not "
                "one millionth less",
                all(
                    pinned(
                        RandomizedResponse(epsilon=e), TotalVariation, Fraction(Pure(e).tv), (0, 1)
                    )
                    for e in sizes
                ),
            ),
            Check(
                "the bound says nothing (is 1 or more) from ε = ln 3 on, and something before",
                bound(ln3 - apart) < 1 <= bound(ln3 + apart),
            ),
        ),
        numbers=tuple(
            Measured(
                f"TV at ε = {name}",
                f"{shown(Pure(e).tv)} ≤ {shown(bound(e))}",
                "tanh(ε/2) and the lecture's ½(e^ε − 1)",
            )
            for name, e in (("0.1", sizes[1]), ("1", sizes[3]), ("ln 3", ln3))
        ),
        note="True, but not tight: dp.Pure(ε).tv is tanh(ε/2), and the lecture's bound is "
        "dp.bounds.tv_from_epsilon.",
    )


def loss_tail(
    *, bound: Callable[[Fraction, Fraction], float] = bounds.gaussian_loss_tail
) -> ClaimReport:
    """Claim 8: a privacy loss that is rarely large."""
    losses = [Fraction(k, 4) for k in range(13)]
    shifts = [Fraction(1, 2), Fraction(1), Fraction(2)]
    uneven = FromLaw(lambda x: UNEVEN[x])

    def tail(x: float) -> Fraction:
        """The larger of both directions of P(loss > x), for the laws on three outcomes."""
        ratios = [
            [(a.probability(o), b.probability(o)) for o in "abc"] for a, b in (UNEVEN, UNEVEN[::-1])
        ]
        return max(
            sum((p for p, q in pairs if math.log(p / q) > x), Fraction(0)) for pairs in ratios
        )

    one = Fraction(1)
    normal = FromLaw(lambda x: RealGaussian(x, 1))
    return ClaimReport(
        number=8,
        source="lecture 001, claim 1.2",
        statement="If the privacy loss exceeds ε with probability at most δ, for all neighbours, "
        "then the mechanism is (ε, δ)-DP.",
        checks=(
            Check(
                "for Gaussian noise, the δ(ε) of dp.GDP is below P(loss > ε) at "
                f"{len(shifts) * len(losses)} places",
                all(GDP(m).delta(e) <= bound(m, e) for m in shifts for e in losses),
            ),
            Check(
                "the verifier: (1, P(loss > 1)) holds for Gaussian noise with σ = 1",
                holds(normal, Approx(1, bound(one, one)), (0, 1)),
            ),
            Check(
                f"the verifier: so does (x, P(loss > x)) for two laws on three outcomes, at "
                f"{len(losses)} values of x",
                all(holds(uneven, Approx(x, tail(float(x))), (0, 1)) for x in losses),
            ),
            Check(
                "it is not necessary: δ(1) is less than half of P(loss > 1) for σ = 1",
                GDP(1).delta(1) < bound(one, one) / 2,
            ),
        ),
        numbers=(
            Measured("P(loss > 1), σ = Δ", shown(bound(one, one)), "Φ(μ/2 − ε/μ) at μ = 1"),
            Measured("δ(1), σ = Δ", shown(divergence(normal, one, (0, 1))), "the laws, exact"),
        ),
        note="Sufficient, not necessary; this package reports δ(ε) itself. The tail bound is "
        "dp.bounds.gaussian_loss_tail.",
    )
