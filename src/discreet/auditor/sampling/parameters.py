"""Claims by their parameter: the least value that two probabilities of one event allow.

Under a promise with parameter θ, an event that has probability q under one neighbour has at most
some probability p under the other. Read the other way round: p and q are possible only from some
θ on. Each function here is that θ; it grows with p and falls with q, and it uses the complement
of the event too, which has 1 − q and 1 − p.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.auditor.sampling.region import Counts, FloatArray, Reading, least
from discreet.guarantees import GDP, ZCDP, Approx, Guarantee, Pure, TotalVariation

_TINY = 1e-300
_ORDERS = 1 + np.geomspace(1e-3, 1e4, 48)  # of Rényi divergences: any choice gives a lower bound


@dataclass(frozen=True)
class Parameter:
    """One number that is claimed, and how to bound it by an event."""

    name: str  #: "epsilon", "delta", "rho", "mu", "tv" or "excess"
    claimed: float
    least: Reading

    def bound(self, counts: Counts, risk: float) -> float:
        """The bound that an event shows, except with probability `risk`."""
        return least(self.least, counts, risk)

    def exceeded_by(self, bound: float) -> bool:
        """Whether a lower bound on the parameter contradicts the claim."""
        return bound > self.claimed + 1e-9 * abs(self.claimed)


@dataclass(frozen=True)
class ClaimParameters:
    """What is asked of the samples: the parameters to bound, starting with the one that decides."""

    parameters: tuple[Parameter, ...]
    reported: Parameter  #: the claim's own


def question(claim: Guarantee) -> ClaimParameters:
    """Which parameters a claim stands for.

    >>> [p.name for p in question(Approx(1, 1e-5)).parameters]
    ['delta', 'epsilon']
    """
    match claim:
        case Pure():
            own = Parameter("epsilon", float(claim.epsilon0), epsilon_at(0.0))
        case Approx():
            delta, epsilon = float(claim.delta0), float(claim.epsilon0)
            own = Parameter("epsilon", epsilon, epsilon_at(delta))
            return ClaimParameters((Parameter("delta", delta, delta_at(epsilon)), own), own)
        case ZCDP():
            own = Parameter("rho", float(claim.rho), rho)
        case GDP():
            own = Parameter("mu", float(claim.mu), mu)
        case TotalVariation():
            own = Parameter("tv", float(claim.tv0), delta_at(0.0))
        case _:
            own = Parameter("epsilon", claim.epsilon(0), epsilon_at(0.0))
            return ClaimParameters((Parameter("excess", 0.0, excess_over(claim)), own), own)
    return ClaimParameters((own,), own)


def epsilon_at(delta: float) -> Reading:
    """p ≤ e^ε·q + δ, so ε ≥ log((p − δ)/q)."""

    def least(p: FloatArray, q: FloatArray) -> FloatArray:
        with np.errstate(divide="ignore"):
            ratio = np.maximum(p - delta, 0.0) / np.maximum(q, _TINY)
            complement = np.maximum(1 - q - delta, 0.0) / np.maximum(1 - p, _TINY)
            return np.maximum(np.log(np.maximum(ratio, complement)), 0.0)

    return least


def delta_at(epsilon: float) -> Reading:
    """δ ≥ p − e^ε·q."""
    factor = math.exp(min(epsilon, 700.0)) * (1 + 1e-12)

    def least(p: FloatArray, q: FloatArray) -> FloatArray:
        found = np.maximum(p - factor * q, (1 - q) - factor * (1 - p))
        return np.maximum(found, 0.0)

    return least


def mu(p: FloatArray, q: FloatArray) -> FloatArray:
    """p ≤ Φ(Φ⁻¹(q) + μ) (Dong, Roth and Su 2022)."""
    from scipy.special import ndtri

    with np.errstate(invalid="ignore"):
        apart: FloatArray = ndtri(p) - ndtri(q)
    return np.maximum(np.nan_to_num(apart, nan=0.0, posinf=1e9), 0.0)


def rho(p: FloatArray, q: FloatArray) -> FloatArray:
    """D_α ≤ ρα for every α > 1 and both orders; an event is a coin, whose D_α is at most that.

    D_α of coins = log(p^α·q^(1−α) + (1−p)^α·(1−q)^(1−α))/(α − 1), with p above q.
    """
    p, q = np.clip(p, _TINY, 1 - 1e-16), np.clip(q, _TINY, 1 - 1e-16)
    best = np.maximum(_coins(p, q), _coins(q, p))
    return np.where(p > q, best, 0.0)


def _coins(p: FloatArray, q: FloatArray) -> FloatArray:
    order = _ORDERS.reshape(-1, *([1] * p.ndim))
    heads = order * np.log(p) + (1 - order) * np.log(q)
    tails = order * np.log1p(-p) + (1 - order) * np.log1p(-q)
    found: FloatArray = np.logaddexp(heads, tails) / (order - 1) / order
    best: FloatArray = found.max(axis=0)
    return np.maximum(best, 0.0)


def excess_over(claim: Guarantee) -> Reading:
    """How far an event rises above p ≤ e^x·q + δ(x), for many x at once; above 0 is a violation."""
    reach = claim.epsilon(1e-9) if claim.delta(700) < 1e-9 else 20.0
    points = np.linspace(0.0, min(1.05 * reach + 0.05, 40.0), 32)
    lines = [(math.exp(x), claim.delta(float(x))) for x in points]

    def least(p: FloatArray, q: FloatArray) -> FloatArray:
        found: FloatArray = np.full(np.shape(p), -np.inf)
        for factor, delta in lines:
            found = np.maximum(found, p - factor * q - delta)
            found = np.maximum(found, (1 - q) - factor * (1 - p) - delta)
        return found

    return least


Progress = Callable[[float, str], None]
