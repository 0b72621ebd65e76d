"""Claims 4 and 5: how far apart two output laws are, by events, by points and by losses."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import chain, combinations
from typing import Any, Final

from discreet.guarantees import (
    Approx,
    LossDistribution,
    Pure,
)
from discreet.laws import DiscreteLaplace, Finite, Gibbs
from discreet.laws.gaussian import RealGaussian
from discreet.laws.laplace import RealLaplace
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import FromLaw, greatest_loss, pinned, violated

# Three outcomes, with different ratios in the two directions.
UNEVEN: Final = (
    Finite(("a", "b", "c"), (6, 3, 1)),
    Finite(("a", "b", "c"), (3, 3, 4)),
)
COIN: Final = (Gibbs((1, 0), rate=1), Gibbs((0, 1), rate=1))
DIE: Final = (Gibbs((1, 0, 0, 0), rate=1), Gibbs((0, 0, 1, 0), rate=1))

Laws = tuple[Any, Any]


def multiplicative_distance(*, laws: tuple[Finite, Finite] = UNEVEN) -> ClaimReport:
    """Claim 4: the largest log ratio over all events."""
    table = [[law.probability(o) for o in law.outcomes] for law in laws]
    by_events = _by_events(*laws, laws[0].outcomes)
    finite = LossDistribution.from_laws(*table).epsilon(0)
    laplace, normal = FromLaw(lambda x: RealLaplace(x, 1)), FromLaw(lambda x: RealGaussian(x, 1))
    bounded, infinite = greatest_loss(laplace, (0, 1)), greatest_loss(normal, (0, 1))
    return ClaimReport(
        number=4,
        source="lectures 000 and 002, definition 0.3",
        statement="The multiplicative distance of D₁ and D₂ is the supremum over all events X of "
        "|ln(D₁(X)/D₂(X))|; if it is at most ε, then D₁(X) ≤ e^ε·D₂(X) for every X.",
        checks=(
            Check(
                "on three outcomes: trying every event gives the same as the losses do",
                math.isclose(by_events, finite, rel_tol=1e-12),
            ),
            Check(
                "the largest ratio is 4, reached where the second law is the larger one",
                math.isclose(finite, math.log(4), rel_tol=1e-12),
            ),
            Check(
                "the verifier agrees: ε = ln 4 holds, one millionth less does not",
                pinned(FromLaw(lambda x: laws[x]), Pure, Fraction(finite), (0, 1)),
            ),
            Check(
                "the verifier, on densities: two Laplace laws of scale 1 that are 1 apart have "
                "distance 1, not one millionth less",
                pinned(laplace, Pure, Fraction(1), (0, 1)),
            ),
            Check("and two normal laws have no finite distance", math.isinf(infinite)),
        ),
        numbers=(
            Measured("laws (0.6, 0.3, 0.1), (0.3, 0.3, 0.4)", shown(finite), "ln 4, all 6 events"),
            Measured("Laplace densities, shift = scale", shown(bounded), "the laws"),
            Measured("normal densities, any shift", shown(infinite), "the ratio grows with x"),
        ),
        note="LossDistribution.from_laws(p, q).epsilon(0) computes it for two lists of "
        "probabilities.",
    )


def three_forms(*, coin: tuple[Gibbs, Gibbs] = COIN) -> ClaimReport:
    """Claim 5: events, points and privacy losses give the same ε, here 1."""
    cases: list[tuple[str, Laws, Sequence[Hashable]]] = [
        ("randomized response", coin, range(2)),
        ("the same with four answers", DIE, range(4)),
        ("discrete Laplace noise", (DiscreteLaplace(0, 1), DiscreteLaplace(1, 1)), range(-3, 5)),
    ]
    forms = [(_by_events(*p, o), _by_points(*p, o), _by_losses(*p, o)) for _, p, o in cases]
    # Ten points each, none in common: every single point is within δ = 1/10, the event is not.
    apart = [Finite(range(20), [int(k // 10 == side) for k in range(20)]) for side in (0, 1)]
    most = max(apart[0].probability(k) - apart[1].probability(k) for k in range(20))
    return ClaimReport(
        number=5,
        source="lectures 000 and 002, definition 0.4; 001, claim 1.1; 003",
        statement="ε-DP can be checked on events, P(E) ≤ e^ε·P′(E), on single outputs, or as a "
        "privacy loss of at most ε everywhere: the three are equivalent. With δ > 0 they are not.",
        checks=(
            Check(
                "all events, all points and the largest loss agree to 12 digits for randomized "
                "response over 2 and over 4 answers and for discrete Laplace noise",
                all(max(form) - min(form) < 1e-12 for form in forms),
            ),
            Check("all of them are 1", all(abs(form[0] - 1) < 1e-12 for form in forms)),
            Check(
                "the verifier agrees: ε = 1 holds for each, one millionth less does not",
                all(
                    pinned(FromLaw(laws.__getitem__), Pure, Fraction(1), (0, 1))
                    for _, laws, _ in cases
                ),
            ),
            Check(
                "with δ: two laws on ten points each, none shared, differ by 1/10 at every point, "
                "but (0, 1/10) is violated",
                most == Fraction(1, 10)
                and violated(FromLaw(lambda x: apart[x]), Approx(0, "1/10"), (0, 1)),
            ),
        ),
        numbers=tuple(
            Measured(f"ε of {name}", ", ".join(map(shown, form)), "events, points, losses")
            for (name, *_), form in zip(cases, forms, strict=True)
        ),
    )


def _by_events(p: Any, q: Any, outcomes: Sequence[Hashable]) -> float:
    """The largest |log ratio| over all events that are neither empty nor everything."""
    masses = [(p.pmf(o), q.pmf(o)) for o in outcomes]
    sizes = range(1, len(masses))
    events = chain.from_iterable(combinations(masses, size) for size in sizes)
    return max(
        abs(math.log(math.fsum(a for a, _ in event) / math.fsum(b for _, b in event)))
        for event in events
    )


def _by_points(p: Any, q: Any, outcomes: Sequence[Hashable]) -> float:
    """The largest |log ratio| over single outputs."""
    return max(abs(math.log(p.pmf(o) / q.pmf(o))) for o in outcomes)


def _by_losses(p: Any, q: Any, outcomes: Sequence[Hashable]) -> float:
    """The largest privacy loss with a probability above 0, in either direction."""
    losses = [(float((p.mass(o) / q.mass(o)).log()), p.pmf(o), q.pmf(o)) for o in outcomes]
    return max(max(x if a > 0 else 0.0, -x if b > 0 else 0.0) for x, a, b in losses)
