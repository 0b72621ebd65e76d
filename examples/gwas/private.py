"""What is released, and why it is private.

Neighbours are two cohorts of which one has one person more (add-remove): whether somebody took
part, their genome and whether they are ill are all protected. How many people the study wanted
to recruit is public; how many it has is not used.

The score of variant j is |Dⱼ|, where Dⱼ is its carriers among the cases less its carriers among the
controls. **One person moves each score by at most 1.** Proof: a person is a case or a control, so
one of the two counts moves, by 1 if they carry j and by 0 if not: |Dⱼ − Dⱼ′| ≤ 1. And
||a| − |b|| ≤ |a − b|. ∎ A case moves no Dⱼ down, but |Dⱼ| falls where controls lead. So the scores
are *not* monotone, and each of the k choices needs the general noise, of scale 2Δ/(ε/k).

The counts of k chosen variants are 2k numbers, of which one person moves k at most, by 1 each: they
are not both a case and a control. So Δ₁ = k and Δ₂ = √k. If a person may be *replaced* by one of
the other group, a score moves by 2, and all 2k counts move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

import discreet as dp
from examples.gwas.cohort import count_carriers

CHOSEN, CHOICE_EPSILON = 4, 1  # so many variants, for this ε in total
COUNTS_EPSILON, DELTA = 1, 1e-6  # for the counts of those


@dataclass(frozen=True)
class Release:
    """What is published: which variants, their carriers, and how far those may be off."""

    chosen: tuple[int, ...]
    carriers: np.ndarray  #: 2 × k, cases and controls
    error: float  #: of each count, at 95 %
    guarantee: dp.Guarantee


def scores(counts: np.ndarray) -> np.ndarray:
    """|cases − controls| for each variant."""
    return np.abs(counts[0] - counts[1])


def choice() -> dp.TopK:
    """Names the variants with the largest scores."""
    return dp.TopK(k=CHOSEN, epsilon=CHOICE_EPSILON, rows=1, monotone=False)


def noise_on_counts() -> dp.Gaussian:
    """For the carriers of the chosen variants among cases and controls."""
    moved = dp.sensitivity.counts(k=CHOSEN, relation="add-remove")
    return dp.Gaussian(sensitivity=moved, epsilon=COUNTS_EPSILON, delta=DELTA)


def promise() -> dp.Guarantee:
    """Both steps together; the second may depend on what the first has said."""
    return dp.compose([choice().guarantee, noise_on_counts().guarantee])


def release(counts: np.ndarray) -> Release:
    """Choose, then count what was chosen."""
    chosen, noise = choice().release(scores(counts)), noise_on_counts()
    carriers = noise.release(counts[:, list(chosen)])
    return Release(chosen, carriers, noise.error(0.95), promise())


def laplace_on_all(counts: int) -> dp.Laplace:
    """Noise for this many counts, any of which may be of the same person, at ε = ln 2."""
    moved = dp.sensitivity.counts(k=counts, relation="replace")
    return dp.Laplace(sensitivity=moved, epsilon=math.log(2))


def check_scores(relation: str, variants: int = 3) -> Any:
    """Search for people who move a score by more than the proof says, on small cohorts."""

    def of_people(people: list[tuple[int, ...]]) -> np.ndarray:
        table = np.array(people, dtype=int).reshape(len(people), 1 + variants)
        return scores(count_carriers(table[:, 1:], table[:, 0] == 1))

    person = ([0, 1], *[[0, 1, 2, -127]] * variants)  # case or not, and a genotype a variant
    return dp.check_sensitivity(of_people, person, 1, relation, norm="linf", tries=1_000, size=6)
