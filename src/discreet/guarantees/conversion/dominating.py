"""The least ρ and μ that dominate a table of outcomes, found numerically and rounded up."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from discreet.errors import Refused
from discreet.guarantees.bands import FloatArray
from discreet.guarantees.outcomes import Outcomes

_RATIO = 2.0**-11  # between neighbouring orders: how far ρ may be above the least one
_SAFE = 1 + 1e-9  # far more than the rounding below


def rho_of_outcomes(outcomes: Outcomes) -> Fraction:
    """The supremum over orders α > 1 of D_α/α, in both orders of the laws; at most 0.05 % more.

    D_α never decreases with α, so on an interval of orders from a to b, D_α/α ≤ D_b/a. Beyond
    the order where D_∞/α falls below what was found, nothing larger can come.

    >>> from discreet.guarantees.outcomes import read_outcomes
    >>> coin = read_outcomes([0.75, 0.25], [0.25, 0.75])       # randomized response, ε = log 3
    >>> round(float(rho_of_outcomes(coin)), 3)                 # ε·tanh(ε/2)
    0.55
    """
    return Fraction(max(_rho(outcomes), _rho(outcomes.swapped)) * _SAFE)


def _rho(outcomes: Outcomes) -> float:
    if outcomes.failing:
        raise Refused(
            "one law gives an outcome that the other never does, so no finite rho or mu dominates"
        )
    p, losses = _columns(outcomes)
    largest = outcomes.largest_loss
    best, order = 0.0, 1.0
    while order == 1.0 or largest / order > best:
        orders = order * (1 + _RATIO) ** np.arange(257)
        # e^((α−1)·D_α) = Σ p·e^((α−1)·l), with the largest loss taken out.
        powers = np.exp(np.outer(orders[1:] - 1, losses - largest))
        divergence = np.log(powers @ p) / (orders[1:] - 1) + largest
        best = max(best, float(np.max(divergence / orders[:-1])))
        order = float(orders[-1])
    return best


def mu_of_outcomes(outcomes: Outcomes) -> Fraction:
    """The least μ whose trade-off curve lies below the corners of this one, rounded up.

    The trade-off curve is linear between its corners (false alarms Q(L > l), misses P(L ≤ l)),
    and a Gaussian curve is convex, so it is enough to be below the corners (Dong, Roth and Su
    2022): μ = max of Φ⁻¹(1 − a) − Φ⁻¹(b) over corners (a, b).

    >>> from discreet.guarantees.outcomes import read_outcomes
    >>> round(float(mu_of_outcomes(read_outcomes([0.75, 0.25], [0.25, 0.75]))), 6)
    1.34898
    """
    if outcomes.failing or outcomes.swapped.failing:
        raise Refused(
            "one law gives an outcome that the other never does, so no finite rho or mu dominates"
        )
    p, losses = _columns(outcomes)
    order = np.argsort(losses)
    if order.size == 1:
        return Fraction(0)
    hits = _quantile_above(p[order])
    false_alarms = _quantile_above((p * np.exp(-losses))[order])
    largest = float(np.max(false_alarms - hits))
    if not math.isfinite(largest):
        raise Refused("probabilities below 1e-300 are too small to find a mu for")
    return Fraction(max(largest, 0.0) * _SAFE + 1e-12)


def _quantile_above(masses: FloatArray) -> FloatArray:
    """Φ⁻¹(1 − t) for the tails t beyond each place but the last, from the smaller side."""
    from scipy.special import ndtri

    at_most = np.cumsum(masses)[:-1]
    above = np.cumsum(masses[::-1])[::-1][1:]
    result: FloatArray = np.where(above < at_most, -ndtri(above), ndtri(np.minimum(at_most, 0.5)))
    return result


def _columns(outcomes: Outcomes) -> tuple[FloatArray, FloatArray]:
    pairs = [(float(p), float(q)) for p, q in outcomes.pairs if p]
    p = np.array([first for first, _ in pairs])
    losses = np.array([math.log(first) - math.log(second) for first, second in pairs])
    return p, losses
