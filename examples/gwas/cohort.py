"""An invented case-control cohort in PLINK files, and the counts that are read from them.

Variants are independent of each other here. In a real genome neighbours go together: keep one of
each block first, by a public reference panel, or the largest scores are all of one place.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bed_reader import create_bed, open_bed

BLOCK = 8_192  # variants in memory at once
CASE, CONTROL = "2", "1"  # as PLINK writes them in the .fam file


@dataclass(frozen=True)
class Effect:
    """A variant that matters: how common it is among controls, and its odds ratio an allele."""

    frequency: float
    odds_ratio: float

    @property
    def shares(self) -> tuple[float, float]:
        """How many of the cases and of the controls carry it, one copy or two."""
        odds = self.odds_ratio * self.frequency / (1 - self.frequency)
        return carrying(odds / (1 + odds)), carrying(self.frequency)


# From strong to weak. Sizes like these are known from age-related macular degeneration, whose two
# strongest places have odds ratios of about 2.8 and 0.4 (Fritsche et al., Nature Genetics 2016).
EFFECTS = (
    Effect(0.21, 2.80),
    Effect(0.43, 0.38),
    Effect(0.15, 0.57),
    Effect(0.21, 1.43),
    Effect(0.14, 0.70),
    Effect(0.48, 0.90),
)
FREQUENCIES = (0.05, 0.5)  # of the rarer allele of all others: even between these


def carrying(frequency: float) -> float:
    """The share of people with at least one copy of an allele."""
    return 1 - (1 - frequency) ** 2


def write_cohort(place: Path, *, variants: int, people: int) -> dict[int, Effect]:
    """Write place.bed, .bim and .fam block by block; return where the effects are."""
    draw = np.random.default_rng(2026)
    case = draw.permutation(people) < people // 2
    columns = draw.choice(variants, len(EFFECTS), replace=False).tolist()
    planted = dict(zip(columns, EFFECTS, strict=True))
    properties = {
        "iid": [f"person{i}" for i in range(people)],
        "pheno": np.where(case, CASE, CONTROL),
        "sid": [f"v{i}" for i in range(variants)],
        "chromosome": [str(1 + 22 * i // variants) for i in range(variants)],
        "bp_position": np.arange(1, variants + 1),
    }
    with create_bed(place, people, variants, properties=properties) as bed:
        for start in range(0, variants, BLOCK):
            columns = range(start, min(start + BLOCK, variants))
            for row in _genotypes(columns, case, planted, draw):
                bed.write(row)
    return planted


def _genotypes(
    columns: range, case: np.ndarray, planted: dict[int, Effect], draw: np.random.Generator
) -> np.ndarray:
    """A row for each variant, with 0, 1 or 2 copies for each person."""
    frequency = draw.uniform(*FREQUENCIES, (len(columns), 1))
    chance = draw.integers(0, 2**16, (len(columns), len(case)), dtype=np.uint16)
    copies = _copies(chance, frequency)
    for column in planted.keys() & set(columns):
        among_cases, among_controls = planted[column].shares
        one = np.where(case, 1 - np.sqrt(1 - among_cases), 1 - np.sqrt(1 - among_controls))
        copies[column - columns.start] = _copies(chance[column - columns.start], one)
    return copies


def _copies(chance: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Two independent copies from one draw: both with q², at least one with 1 − (1 − q)²."""
    both, any_ = (
        (2**16 * share).astype(np.uint16) for share in (frequency**2, 1 - (1 - frequency) ** 2)
    )
    return np.less(chance, both).view(np.int8) + np.less(chance, any_).view(np.int8)


def count_carriers(
    genotypes: np.ndarray, case: np.ndarray, control: np.ndarray | None = None
) -> np.ndarray:
    """Carriers among cases and among controls, for each variant: an array of 2 × variants.

    A row of ``genotypes`` is a person. A missing genotype (−127) counts as no carrier; who is
    neither case nor control is not counted.
    """
    carries = genotypes > 0
    control = ~case if control is None else control
    return np.stack([carries[case].sum(axis=0), carries[control].sum(axis=0)])


def read_counts(place: Path) -> np.ndarray:
    """The exact counts of a whole file, which never leave this machine."""
    return np.concatenate(list(_blocks(place)), axis=1)


def _blocks(place: Path) -> Iterator[np.ndarray]:
    with open_bed(place, num_threads=1) as bed:
        case, control = bed.pheno == CASE, bed.pheno == CONTROL  # others: not known
        for start in range(0, bed.sid_count, BLOCK):
            genotypes = bed.read(np.s_[:, start : start + BLOCK], dtype="int8")
            yield count_carriers(genotypes, case, control)
