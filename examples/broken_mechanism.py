"""Auditing a broken mechanism: four plausible mistakes, and the same count done right.

Each function below claims ε = 1. Three of them use exact noise in a wrong way, the fourth is what
most people write first: NumPy's Laplace noise on floats. None of them looks wrong, and each answer
looks like any other. `dp.audit` calls them on two neighbouring inputs, looks for an event that
tells the two apart better than ε = 1 allows, and tests it on outputs that it has not seen before.

    python examples/broken_mechanism.py
    python examples/broken_mechanism.py --samples 1000000

To audit your own code, write `run(value)` or, faster, `run(value, size)`, think of the worst pair
of neighbours, and put `assert_private` into a test, as `test_counts_are_private` does.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dp
from discreet import laws
from discreet.testing import PrivacyViolated, assert_private, seeded

CLAIM = dp.Pure(1)
FULL = dp.Laplace(sensitivity=1, epsilon=1)
HALF = dp.Laplace(sensitivity=1, epsilon="1/2")
REPAIRED = dp.Laplace(sensitivity=3, epsilon=1)


def three_counts(wards: list[int], size: int) -> np.ndarray:
    """Counts of three wards, noise for one: but a patient may be in all three."""
    return FULL.release(np.tile(wards, (size, 1)))


def best_count(scores: list[int], size: int) -> np.ndarray:
    """Noisy max with enough noise to say which ward is fullest; this says how full."""
    return HALF.release(np.tile(scores, (size, 1))).max(axis=1)


def alarms(counts: list[int], size: int) -> np.ndarray:
    """Sparse vector with one noise for all questions: on the limit, and none on the counts."""
    limit = FULL.release(np.zeros(size, dtype=np.int64))
    return np.asarray(counts) >= limit[:, None]


def numpy_laplace(total: float, size: int, generator: np.random.Generator) -> np.ndarray:
    """Somebody else's design: the textbook's formula, in floats, from no source of noise."""
    return total + generator.laplace(0, 1, size)


def repaired_counts(wards: list[int], size: int) -> np.ndarray:
    """Counts of three wards, noise for a patient who is in all of them."""
    return REPAIRED.release(np.tile(wards, (size, 1)))


WITH_PATIENT = ([10, 20, 30], [11, 21, 31])
# name: function, two neighbouring inputs, and the true ε, which the auditor is not told
AUDITED: dict[str, tuple[Callable[..., Any], tuple[Any, Any], float]] = {
    "three counts, noise for one": (three_counts, WITH_PATIENT, 3),
    "noisy max that tells the max": (best_count, ([0] * 5, [1] * 5), 2.5),
    "sparse vector, noise reused": (alarms, ([0] * 5 + [1] * 5, [1] * 5 + [0] * 5), math.inf),
    "NumPy's Laplace noise": (numpy_laplace, (0.0, 1.0), math.inf),
    "three counts, noise for three": (repaired_counts, WITH_PATIENT, 1),
}


class NoisyMaxWithHalfTheNoise:
    """A mechanism that states its law can be checked exactly, for rare events too."""

    guarantee = CLAIM

    def law(self, scores: list[int]) -> laws.NoisyArgmax:
        """Which score is largest after Laplace noise of scale 1, where ε = 1 needs scale 2."""
        return laws.NoisyArgmax(scores, scale=1, noise="laplace")


def audit_all(samples: int) -> dict[str, Any]:
    """A finding for each; seeded, so that this page shows what you will see."""
    floats = partial(numpy_laplace, generator=np.random.default_rng(26))
    with seeded(1):
        return {
            name: dp.audit(
                floats if run is numpy_laplace else run,
                pair=pair,
                claim=CLAIM,
                samples=samples,
                batched=True,
            )
            for name, (run, pair, _) in AUDITED.items()
        }


def test_counts_are_private(run: Callable[..., Any] = repaired_counts) -> None:
    """What to put into your own tests: fails, with the witness, if ε is more than claimed."""
    assert_private(run, pair=WITH_PATIENT, claim=CLAIM, samples=20_000, batched=True)


def main(samples: int = 100_000, picture: str = "broken_mechanism.svg") -> dict[str, Any]:
    """Audit, verify, test; returns all findings."""
    findings = audit_all(samples)
    print(f"{'claimed to be 1-private':31}shown     truth")
    for name, finding in findings.items():
        shown, truth = f"ε ≥ {finding.lower_bound:.2f}", str(AUDITED[name][2]).replace("inf", "∞")
        verdict = "violated" if finding.violated else "no violation found"
        print(f"{name:31}{shown}  ε = {truth:5}{verdict}")
    worst = findings["NumPy's Laplace noise"]
    print(f"\nThe witness against NumPy's noise:\n\n{worst}")
    worst.plot().save(picture)
    print(f"Both laws and the event are in {Path(picture).name}.")

    pair = ([6, 0, 0, 0, 0], [7, -1, 1, 1, 1])
    exact = dp.verify(NoisyMaxWithHalfTheNoise(), pairs=[pair])
    print(f"\nBy its law, noisy max with half the noise:\n\n{exact}\n")
    right = dp.verify(dp.NoisyMax(sensitivity=1, epsilon=1))
    print(f"And ours: {str(right).splitlines()[0]}.")

    test_counts_are_private()
    try:
        test_counts_are_private(three_counts)
    except PrivacyViolated as failure:
        print(f"\nIn a test: PrivacyViolated: {str(failure).splitlines()[0]}")
    return {**findings, "exact": exact, "right": right}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--samples", type=int, default=100_000, help="outputs of each (100,000)")
    parser.add_argument("--picture", default="broken_mechanism.svg", help="where the picture goes")
    given = parser.parse_args()
    if given.samples < 64:
        parser.error("--samples must be 64 or above")
    main(**vars(given))
