"""How many people it takes: computed from effects that are known beforehand, without any data.

Scores are nearly normal, and variants independent. With the noise of `dp.TopK` (Gumbel's, of scale
s) the right set is named when the least noisy score in it exceeds the largest of all others:

    P(right) = ∫ ∏ᵢ P(Xᵢ > t) dP(M ≤ t),   P(M ≤ t) = ∏ⱼ P(Xⱼ ≤ t)

over the i in the set and the j that are not, for noisy scores X and the largest M of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from examples.gwas.cohort import EFFECTS, FREQUENCIES, Effect, carrying

GRID = 800  # points on the axis of scores


def chance(
    people: int, *, variants: int, scale: float, wanted: int, effects: Sequence[Effect] = EFFECTS
) -> float:
    """The chance that the ``wanted`` strongest effects are named, no more and no less.

    ``scale`` is that of the noise on scores; 0 is the same choice without privacy.
    """
    group = people / 2  # of cases, and of controls
    gaps = [effect.shares[0] - effect.shares[1] for effect in effects]
    spread = [sum(share * (1 - share) for share in effect.shares) for effect in effects]
    top = group * max(map(abs, gaps)) + 8 * math.sqrt(group) + 30 * scale
    score = np.linspace(0, top, GRID)  # of a variant, and the thresholds t
    densities = [
        _density(score, group * gaps[i], math.sqrt(group * spread[i]))
        for i in np.argsort(-np.abs(gaps))  # the strongest first
    ]
    densities.append(_others(score, group))
    tails = np.minimum(np.array(densities) @ _exceeds(score, scale).T, 1)
    with np.errstate(divide="ignore"):
        below = np.log1p(-tails)  # log P(Xᵢ ≤ t), in the last row that of one other
    largest = np.exp((variants - len(effects)) * below[-1] + below[wanted:-1].sum(axis=0))
    right = np.prod(tails[:wanted], axis=0)
    middles = (right[1:] + right[:-1]) / 2
    return float(largest[0] * right[0] + np.diff(largest) @ middles)


def people_needed(*, variants: int, scale: float, wanted: int, sure: float = 0.9) -> int:
    """The least even hundred of people for which the right set comes out with this chance."""
    low, high = 0, 1
    while chance(100 * high, variants=variants, scale=scale, wanted=wanted) < sure:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        reached = chance(100 * middle, variants=variants, scale=scale, wanted=wanted) >= sure
        low, high = (low, middle) if reached else (middle, high)
    return 100 * high


def _exceeds(score: np.ndarray, scale: float) -> np.ndarray:
    """P(score + noise > t), a row for each t."""
    ahead = score[None, :] - score[:, None]
    if scale == 0:
        return (ahead > 0) + (ahead == 0) / 2
    return -np.expm1(-np.exp(np.clip(ahead / scale, -700, 700)))


def _density(score: np.ndarray, mean: float, sd: float) -> np.ndarray:
    """Of |N(mean, sd²)| on the grid of scores, adding up to 1."""
    density = sum(np.exp(-(((score - at) / sd) ** 2) / 2) for at in (mean, -mean))
    return density / density.sum()


def _others(score: np.ndarray, group: float) -> np.ndarray:
    """The density of the score of a variant without effect, over all frequencies."""
    low, high = FREQUENCIES
    shares = [carrying(low + (high - low) * (i + 0.5) / 30) for i in range(30)]
    spreads = [math.sqrt(2 * group * share * (1 - share)) for share in shares]
    return np.mean([_density(score, 0, sd) for sd in spreads], axis=0)
