"""Claim 22: the mean by the exponential mechanism, with the distance as what is lost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

import numpy as np

from discreet.auditor.check_sensitivity import SensitivityFinding, check_sensitivity
from discreet.guarantees import Pure
from discreet.laws import DiscreteLaplace, Gibbs
from discreet.laws.laplace import RealLaplace
from discreet.mechanisms.exponential import Exponential
from lectures.claim import Check, ClaimReport, Measured, shown
from lectures.trial import FromLaw, greatest_loss, holds, pinned

N: Final = 100
HALF: Final = Fraction(1, 2)

Utility = Callable[[Any, Any], Any]  # of a mean and a point


def moved(utility: Utility, n: int, ends: tuple[int, int]) -> Fraction:
    """The largest change of the utility of a point between the ends, exactly.

    The means go from k/n to (k + 1)/n, as when a 0 becomes a 1.
    """
    low, high = ends
    points = [low + Fraction(high - low, 20) * k for k in range(21)]
    means = [Fraction(k, n) for k in range(n + 1)]
    changes: Iterator[Fraction] = (
        abs(utility(before, point) - utility(after, point))
        for before, after in pairwise(means)
        for point in points
    )
    return max(changes)


def searched(utility: Utility, n: int) -> SensitivityFinding:
    """What a search for datasets of n numbers in [0, 1] finds against a declared 1/n."""
    points = np.linspace(0, 1, 11)
    return check_sensitivity(
        lambda x: utility(x.mean(), points),
        (0.0, 1.0),
        Fraction(1, n),
        "replace",
        norm="linf",
        size=n,
        tries=300,
    )


def by_distance(*, factor: int = 2) -> ClaimReport:
    """Claim 22: u = −|X̄ − l|."""
    epsilon = Fraction(1)
    scale = factor / (N * epsilon)
    mechanism = Exponential(sensitivity=Fraction(1, N), epsilon=epsilon)
    law = FromLaw(lambda mean: RealLaplace(mean, scale))
    pair = (HALF, HALF + Fraction(1, N))

    def utility(mean: Any, point: Any) -> Any:
        return -abs(mean - point)

    return ClaimReport(
        number=22,
        source="lecture 004, reporting the mean",
        statement="For the mean of n values in [0, 1] and u = −|X̄ − l|: Δu = 1/n, and the "
        "exponential mechanism on ℝ adds Laplace noise of scale 2/(nε).",
        checks=(
            Check(
                "Δu = 1/n is the exact maximum over means and points in [−2, 3], n = 20, and "
                "dp.check_sensitivity finds no more at n = 10",
                moved(utility, 20, (-2, 3)) == Fraction(1, 20)
                and not searched(utility, 10).violated,
            ),
            Check(
                "the mechanism's law on a fine, wide grid is that of the Laplace noise on the "
                "grid, point by point to 12 digits",
                _same_law(mechanism, scale),
            ),
            Check("the verifier: it is ε-DP at n = 100, ε = 1", holds(law, Pure(1), pair)),
            Check("and in fact ε/2-DP, not one millionth less", pinned(law, Pure, HALF, pair)),
        ),
        numbers=(
            Measured("scale, n = 100, ε = 1", shown(float(mechanism.scale)), "2Δu/ε"),
            Measured("loss of two means 1/n apart", shown(greatest_loss(law, pair)), "ε/2"),
        ),
        note="On ℝ the normalising constant is the same for all data, so the factor 2 is not "
        "needed and only ε/2 is spent: the Laplace mechanism with 1/(nε) spends it all.",
    )


def _same_law(mechanism: Exponential, scale: Fraction) -> bool:
    step, ends = Fraction(1, 50), 500
    grid = range(-ends, ends + 1)
    ours = Gibbs([-abs(HALF - k * step) for k in grid], rate=1 / mechanism.scale)
    lecture = DiscreteLaplace(center=int(HALF / step), scale=scale / step)
    return all(
        math.isclose(ours.pmf(k + ends), lecture.pmf(k), rel_tol=1e-12) for k in range(0, 51, 5)
    )
