"""Claim 17: datasets as multisets, and what is promised to several people together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from fractions import Fraction
from itertools import combinations_with_replacement

from discreet import neighbors
from discreet.guarantees import Approx, Guarantee, Pure
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import holds, pinned, violated

Distance = Callable[[Iterable[Hashable], Iterable[Hashable], str], float]


def group_privacy(
    *,
    distance: Distance = neighbors.distance,
    group: Callable[[Guarantee, int], Guarantee] = lambda g, k: g.group(k),
) -> ClaimReport:
    """Claim 17: distance is L1 between multisets, and k people lose at most k times as much."""
    small = [x for n in range(4) for x in combinations_with_replacement("abc", n)]
    count = Laplace(sensitivity=1, epsilon=1, step=1)
    promise = Approx(1, "1/100")
    bell = Gaussian(sensitivity=1, epsilon=1, delta="1/100", step=1)
    two = group(promise, 2)
    return ClaimReport(
        number=17,
        source="lecture 004, definition of differential privacy",
        statement="A dataset is a multiset x ∈ ℕ^X, the distance of two is ‖x − y‖₁, and "
        "(ε, δ)-DP is asked at distance ≤ 1. Group privacy follows.",
        checks=(
            Check(
                "the distance under add-remove is ‖x − y‖₁ for all pairs of multisets of up to "
                f"three records ({len(small)} of them)",
                all(distance(x, y, "add-remove") == _l1(x, y) for x in small for y in small),
            ),
            Check(
                "a replaced record is at distance 1 under replace and 2 under add-remove",
                distance("aab", "aac", "replace") == 1
                and distance("aab", "aac", "add-remove") == 2,
            ),
            Check(
                "the verifier: a count with ε = 1, for inputs k = 1, 2, 3 apart, is exactly kε",
                all(pinned(count, Pure, _epsilon(group(Pure(1), k)), (0, k)) for k in (1, 2, 3)),
            ),
            Check(
                "with δ: Gaussian noise that is (1, 0.01)-DP is (2, 0.01·(1 + e))-DP at distance 2",
                holds(bell, two, (0, 2)),
            ),
            Check(
                "δ does grow: (2, 0.01) at distance 2 is violated",
                violated(bell, Approx(2, "1/100"), (0, 2)),
            ),
        ),
        numbers=(
            *(
                Measured(f"ε for {k} people", shown(group(Pure(1), k).epsilon(0)), "Pure(1).group")
                for k in (2, 3)
            ),
            Measured("δ at ε = 2 for 2 people", shown(two.delta(2)), "Approx(1, 0.01).group(2)"),
        ),
        note="A promise under add-remove holds under replace as its promise to a group of two.",
    )


def _l1(x: Iterable[Hashable], y: Iterable[Hashable]) -> int:
    left, right = Counter(x), Counter(y)
    return sum(abs(left[record] - right[record]) for record in left | right)


def _epsilon(promise: Guarantee) -> Fraction:
    return Fraction(promise.epsilon(0))
