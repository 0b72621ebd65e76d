"""Claims 20 and 21: choosing one of many, by noisy maximum and by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any, Final

from discreet.guarantees import Pure
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.noisy_max import NoisyMax
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import greatest_loss, holds, proven, verified, violated

Scores = tuple[int, ...]
Neighbours = tuple[Scores, Scores]

# Three counts of up to 2, and a record that has some of the three properties.
ADDED: Final = tuple(
    (counts, tuple(c + m for c, m in zip(counts, move, strict=True)))
    for counts in product(range(3), repeat=3)
    for move in product(range(2), repeat=3)
    if any(move)
)
REPLACED: Final = ((9, 1), (10, 0))
FAR_AHEAD: Final = ((0, 1000), (0, 1001))
BOTH_WAYS: Final = ((6, 0, 0, 0, 0), (7, -1, 1, 1, 1))


def _added(k: int) -> list[Neighbours]:
    """K counts: one record raises the leader alone, all but the leader, or all."""
    counts = (3, *[2] * (k - 1))
    moves = [(1, *[0] * (k - 1)), (0, *[1] * (k - 1)), (1,) * k]
    return [(counts, tuple(c + m for c, m in zip(counts, move, strict=True))) for move in moves]


def noisy_max(
    *,
    noise: Callable[[Fraction], NoisyMax] = lambda epsilon: NoisyMax(
        sensitivity=1, epsilon=epsilon, monotone=True
    ),
) -> ClaimReport:
    """Claim 20: report noisy max with noise of scale 1/ε."""
    lecture = noise(Fraction(1))
    three = verified(lecture, Pure(1), *ADDED)
    larger = {k: verified(lecture, Pure(1), *_added(k)) for k in (2, 10, 20)}
    general = NoisyMax(sensitivity=1, epsilon=1)
    return ClaimReport(
        number=20,
        source="lecture 004, report noisy max",
        statement="Add Laplace noise of scale 1/ε to each of K counts and publish only which is "
        "largest: ε-DP, whatever K is.",
        checks=(
            Check(
                "the verifier, for all neighbours and every K: ε = 1 holds, when all counts move "
                "by at most 1 and the same way",
                proven(lecture, Pure(1)),
            ),
            Check(
                f"the verifier: ε = 1 holds for all {len(ADDED)} ways to add a record to three "
                "counts of up to 2",
                three.holds,
            ),
            Check(
                "and for K = 2, 10, 20 counts, the record raising one, all but one or all",
                all(found.holds for found in larger.values()),
            ),
            Check(
                "when a record is replaced, one count rises as another falls, and ε = 1 is "
                "violated: (9, 1) against (10, 0)",
                violated(NoisyMax(sensitivity=1, epsilon=1, monotone=True), Pure(1), REPLACED),
            ),
            Check(
                "twice the noise, scale 2Δ/ε, is enough for these and for scores that move both "
                "ways",
                holds(general, Pure(1), REPLACED) and holds(general, Pure(1), BOTH_WAYS),
            ),
        ),
        numbers=(
            *(
                Measured(
                    f"loss on (3, 2{', …, 2' if k > 2 else ''}), K = {k}",
                    shown(found.found[1]),
                    "scale 1/ε, ε = 1, a record that raises one or all but one",
                )
                for k, found in larger.items()
            ),
            Measured(
                "loss on (0, 1000), (0, 1001)",
                shown(greatest_loss(lecture, FAR_AHEAD)),
                "scale 1/ε, ε = 1: with K = 2 counts, and so with more, it comes as near to ε as "
                "one likes",
            ),
            Measured(
                "loss on (9, 1), (10, 0)",
                shown(greatest_loss(lecture, REPLACED)),
                "scale 1/ε, ε = 1, a record replaced",
            ),
            Measured(
                "loss on (6, 0, 0, 0, 0), (7, −1, 1, 1, 1)",
                shown(greatest_loss(lecture, BOTH_WAYS)),
                "scale 1/ε, ε = 1, any scores: nearly 2ε",
            ),
            Measured(
                "the same at scale 2/ε", shown(greatest_loss(general, BOTH_WAYS)), "general scale"
            ),
        ),
        note="True for counts when a record is added or removed: all move one way (monotone). "
        "dp.NoisyMax takes the general scale unless monotone=True is declared.",
    )


def exponential(
    *,
    mechanism: Callable[[int, Fraction], Any] = lambda sensitivity, epsilon: Exponential(
        sensitivity=sensitivity, epsilon=epsilon
    ),
) -> ClaimReport:
    """Claim 21: the exponential mechanism."""
    moves = [
        (u, tuple(a + m for a, m in zip(u, move, strict=True)))
        for u in [(0, 0, 0), (2, 1, 0), (5, -5, 0), (9, 1, 1)]
        for move in product((-1, 1), repeat=3)
    ]
    forgotten = Exponential(sensitivity=1, epsilon=1, monotone=True)
    one = Fraction(1)
    return ClaimReport(
        number=21,
        source="lecture 004, the exponential mechanism",
        statement="Choosing l with probability ∝ exp(ε·u(x, l)/(2Δu)) is ε-DP for every utility u.",
        checks=(
            Check(
                "the verifier, for all utilities and neighbours with Δu = 1: ε = 1 holds",
                proven(mechanism(1, one), Pure(1)),
            ),
            Check(
                f"the verifier: ε = 1 holds for {len(moves)} pairs of utilities that all move by "
                "Δu = 1, up or down",
                holds(mechanism(1, one), Pure(1), *moves),
            ),
            Check(
                "and for Δu = 3, ε = ½ where they move by 3",
                holds(mechanism(3, one / 2), Pure("1/2"), ((9, 3, 0), (12, 0, 3))),
            ),
            Check(
                "without the 2 it would not be: exp(ε·u/Δu) on (3, 1), (4, 0) violates ε = 1",
                violated(forgotten, Pure(1), ((3, 1), (4, 0))),
            ),
        ),
        numbers=(
            Measured(
                "loss on (9, 1), (10, 0)",
                shown(greatest_loss(mechanism(1, one), REPLACED)),
                "ε = 1: the promise is nearly used up",
            ),
            Measured(
                "loss on (3, 1), (4, 0) without the 2",
                shown(greatest_loss(forgotten, ((3, 1), (4, 0)))),
                "exp(ε·u/Δu), ε = 1",
            ),
        ),
        note="dp.Exponential adds Gumbel noise and takes the maximum: the same law, without "
        "weights that could overflow.",
    )
