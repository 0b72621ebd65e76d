"""Claim 23: the mean by the exponential mechanism, with the square of the distance.

Restricted to [0, 1], its law is ε-DP for every n and ε. The density is e^(−(nε/2)(a − l)²)/Z(a)
around a mean a, and replacing a record moves a by h ≤ 1/n. The log ratio

    (nε/2)·((a − l)² − (a + h − l)²) + ln Z(a) − ln Z(a + h)

is linear in l, so it is largest at an end, l = 1 (by symmetry, l = 0 for the other order). There
its derivative in a is nε·(E_a l − E_{a+h} l) < 0 and the one in h is nε·(1 − E_{a+h} l) > 0. So
the worst neighbours have the means 0 and 1/n, and the largest loss is

    ε·(1 − 1/(2n)) − ln(Z(1/n)/Z(0))  ≤  ε·(1 − 1/(2n))  <  ε,

because Z, a log-concave function of a that is symmetric about ½, has Z(1/n) ≥ Z(0).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

from discreet.guarantees import GDP, Pure
from discreet.laws import Gibbs
from discreet.laws.gaussian import CutGaussian, RealGaussian
from discreet.mechanisms.exponential import Exponential
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.means import moved, searched
from lectures.trial import FromLaw, divergence, greatest_loss, holds, verified, witnessed

N: Final = 100
TRIED: Final = ((100, 1), (10, 2), (10**5, 1))  # n and ε
UNIT: Final = (0, 1)

Output = Callable[[Fraction, int, int], Any]  # the law for a mean, n and ε


def utility(mean: Any, point: Any) -> Any:
    """u(x, l) = −(X̄ − l)²."""
    return -((mean - point) ** 2)


def _normal(mean: Fraction, n: int, epsilon: int) -> RealGaussian:
    return RealGaussian(mean, Fraction(1, n * epsilon))


def _cut(mean: Fraction, n: int, epsilon: int) -> CutGaussian:
    return CutGaussian(mean, Fraction(1, n * epsilon), interval=UNIT)


def by_square(*, output: Output = _normal, restricted: Output = _cut) -> ClaimReport:
    """Claim 23: u = −(X̄ − l)², wrong twice."""
    changes = {n: moved(utility, n, UNIT) for n in (1, 2, 7, 50)}
    reaches = [moved(utility, 10, (-end, end)) for end in (10, 100, 1000)]
    found = searched(utility, 10)
    refuted = [
        verified(_at(output, n, 1), Pure(bound), _first(n))
        for n in (1, N)
        for bound in (1, 10, 1000)
    ]
    losses = {(n, e): greatest_loss(_at(restricted, n, e), _first(n)) for n, e in TRIED}
    most = TRIED[2]
    return ClaimReport(
        number=23,
        source="lecture 004, reporting the mean",
        statement="With u = −(X̄ − l)² also Δu ≤ 1/n, so that the output is N(X̄, 1/(nε)) and ε-DP.",
        checks=(
            Check(
                "dp.check_sensitivity: Δu ≤ 1/n for n = 10 values and outputs in [0, 1]",
                not found.violated,
            ),
            Check(
                "Δu stays the same when l may lie in [−10, 10], [−100, 100], [−1000, 1000]",
                len(set(reaches)) == 1,
            ),
            Check(
                "the verifier: N(X̄, 1/(nε)) is ε-DP, or at least 10ε- or 1000ε-DP, at ε = 1 and "
                "n = 1, 100",
                any(each.holds for each in refuted),
            ),
            Check(
                "Δu = (2 − 1/n)/n on [0, 1], exactly, for n = 1, 2, 7, 50",
                all(change == (2 - Fraction(1, n)) / n for n, change in changes.items()),
                corrects=True,
            ),
            Check(
                "the verifier: with this Δu the mechanism on a grid in [0, 1] is ε-DP, n = 100",
                holds(_on_grid(), Pure(1), *_steps()),
                corrects=True,
            ),
            Check(
                "the verifier: the lecture's density cut to [0, 1] is ε-DP too, for the worst "
                "neighbours (means 0 and 1/n) at (n, ε) = (100, 1), (10, 2), (100000, 1)",
                all(holds(_at(restricted, n, e), Pure(e), _first(n)) for n, e in TRIED),
                corrects=True,
            ),
            Check(
                "no other means k/20 at n = 20 are worse than 0 and 1/n",
                _worst_first(restricted),
                corrects=True,
            ),
        ),
        numbers=(
            Measured("Δu on [0, 1], n = 50", str(changes[50]), "exact search; 1/50 was claimed"),
            Measured("Δu on [0, 1], n = 10", shown(float(found.found)), "search in data"),
            Measured("Δu for l in [−1000, 1000], n = 10", shown(float(reaches[2])), "grows with l"),
            *witnessed(refuted[0], "n = 1"),
            Measured(
                "largest loss of N(X̄, 1/(nε)), n = 100",
                shown(greatest_loss(_at(output, N, 1), _first(N))),
                "the laws; no finite ε is enough",
            ),
            Measured(
                "δ(ε) of N(X̄, 1/(nε)), ε = 1, at n = 1 and n = 100",
                " and ".join(
                    shown(divergence(_at(output, n, 1), Fraction(1), _first(n))) for n in (1, N)
                ),
                "above 0, so not ε-DP; small for large n",
            ),
            *(
                Measured(
                    f"loss on [0, 1], n = {n}, ε = {e}",
                    f"{shown(loss / e)}·ε",
                    "ε(1 − 1/(2n)) − ln(Z(1/n)/Z(0))",
                )
                for (n, e), loss in losses.items()
            ),
            Measured(
                "margin·√(nε), n = 100000",
                shown((1 - losses[most]) * math.sqrt(most[0])),
                f"tends to √(2/π) = {shown(math.sqrt(2 / math.pi))}",
            ),
        ),
        note="Wrong twice: Δu, and no normal output is ε-DP for any finite ε. What N(X̄, 1/(nε)) "
        f"does satisfy is √(ε/n)-Gaussian-DP, at n = 100: TV {shown(GDP('1/10').tv)}. Cut to "
        "[0, 1], the density is ε-DP for every n and ε: at most ε(1 − 1/(2n)) is lost, which "
        "squares.py proves.",
    )


def _at(output: Output, n: int, epsilon: int) -> FromLaw:
    return FromLaw(lambda mean: output(mean, n, epsilon))


def _first(n: int) -> tuple[Fraction, Fraction]:
    """The worst neighbours: all records are 0, and one becomes 1."""
    return Fraction(0), Fraction(1, n)


def _worst_first(restricted: Output, n: int = 20) -> bool:
    law = _at(restricted, n, 1)
    losses = [greatest_loss(law, (Fraction(k, n), Fraction(k + 1, n))) for k in range(n)]
    return max(losses) <= losses[0] * (1 + 1e-12)


def _on_grid() -> FromLaw:
    """The corrected mechanism on 0, 1/20, …, 1 for the mean of N values."""
    mechanism = Exponential(sensitivity=(2 - Fraction(1, N)) / N, epsilon=1)
    points = [Fraction(k, 20) for k in range(21)]
    rate = 1 / mechanism.scale
    return FromLaw(lambda mean: Gibbs([utility(mean, x) for x in points], rate=rate))


def _steps() -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(k, N), Fraction(k + 1, N)) for k in range(0, N, 9)]
