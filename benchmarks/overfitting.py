"""The overfitting attack, 1,000 times against each holdout (``make bench-overfitting``).

    python -m benchmarks.overfitting                 all of them; writes RESULTS-adaptive.md
    python -m benchmarks.overfitting --runs 20       a quick look; writes nothing
    python -m benchmarks.overfitting ladder          only these

It ends with an error if a protected holdout breaks its stated bound in more than 1 % of the
runs, or if the naive one keeps its own in more than 1 %.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.run import _machine
from discreet.adaptive.analyst import Analyst
from discreet.adaptive.ladder import Ladder
from discreet.adaptive.thresholdout import Thresholdout
from tests.adaptive import overfitting_attack as attacks

HERE = Path(__file__).parent
CONFIDENCE = 0.99
RUNS = 1000
HITS = 20


@dataclass(frozen=True)
class Scene:
    """How many records, features and rounds."""

    n: int
    features: int
    rounds: int

    @property
    def queries(self) -> int:
        return self.features + self.rounds


SMALL = Scene(n=1_000, features=1_000, rounds=10)
LARGE = Scene(n=10_000, features=400, rounds=8)


@dataclass(frozen=True)
class Guard:
    """A fresh holdout, and the error that it states beforehand."""

    holdout: attacks.Holdout
    error: float


def _naive(scene: Scene) -> Guard:
    holdout = attacks.naive(scene.n, CONFIDENCE)
    one = holdout(np.ones(scene.n, np.uint8), np.ones(scene.n, np.uint8))
    return Guard(holdout, one.value - one.low)


def _ladder(scene: Scene) -> Guard:
    labels = np.ones(scene.n, np.uint8)
    guard = Ladder(labels, submissions=scene.queries, confidence=CONFIDENCE)
    return Guard(attacks.ladder(guard), guard.error)


def _thresholdout(scene: Scene, **noise: object) -> Guard:
    guard = Thresholdout(
        scene.n,
        np.arange(scene.n),
        queries=scene.queries,
        hits=HITS,
        confidence=CONFIDENCE,
        **noise,  # type: ignore[arg-type]
    )
    return Guard(attacks.thresholdout(guard), guard.error)


def _analyst(scene: Scene) -> Guard:
    rows = np.arange(scene.n)
    guard = Analyst(rows, queries=scene.queries, confidence=CONFIDENCE, method="gaussian")
    return Guard(attacks.analyst(guard), guard.error)


CASES: dict[str, tuple[str, Scene, Callable[[Scene], Guard]]] = {
    "naive-small": ("naive holdout", SMALL, _naive),
    "ladder": ("Ladder", SMALL, _ladder),
    "thresholdout-plain": (
        "Thresholdout without noise, 20 hits",
        SMALL,
        lambda scene: _thresholdout(scene, private=False),
    ),
    "naive-large": ("naive holdout", LARGE, _naive),
    "thresholdout": (
        "Thresholdout, ε = 1, 20 hits",
        LARGE,
        lambda scene: _thresholdout(scene, epsilon=1),
    ),
    "analyst": ("Analyst, Gaussian noise", LARGE, _analyst),
}


@dataclass(frozen=True)
class Row:
    """What came of all runs against one holdout."""

    name: str
    n: int
    features: int
    rounds: int
    runs: int
    error: float
    reported: float  # the mean report on the last vote
    highest: float  # the highest report on a vote in any run
    kept: int  # runs in which every interval held the truth
    last_kept: int  # runs in which that of the last vote did
    refused: int  # runs in which the holdout gave out before the attack did
    seconds: float

    @property
    def fine(self) -> bool:
        if self.name.startswith("naive"):
            return self.last_kept <= 0.01 * self.runs
        return self.kept >= 0.99 * self.runs


def run(key: str, runs: int) -> Row:
    """Attack one kind of holdout, a fresh one each time."""
    name, scene, make = CASES[key]
    started = time.perf_counter()
    outcomes, error = [], 0.0
    for seed in range(runs):
        guard = make(scene)
        error = max(error, guard.error)
        outcomes.append(
            attacks.attack(
                guard.holdout,
                n=scene.n,
                features=scene.features,
                rounds=scene.rounds,
                coins=np.random.default_rng([seed, scene.n]),
            )
        )
    return Row(
        name=name,
        **asdict(scene),
        runs=runs,
        error=error,
        reported=float(np.mean([outcome.votes[-1].value for outcome in outcomes])),
        highest=max(vote.value for outcome in outcomes for vote in outcome.votes),
        kept=sum(outcome.all_hold for outcome in outcomes),
        last_kept=sum(outcome.votes[-1].holds for outcome in outcomes),
        refused=sum(outcome.refused for outcome in outcomes),
        seconds=time.perf_counter() - started,
    )


HEAD = (
    "holdout | records | features | stated error | reported at the end, mean | highest | "
    "all intervals hold | the last one holds | refused early | s"
)


def written(rows: dict[str, Row]) -> str:
    """The results as a page."""
    lines = [
        "# The overfitting attack",
        "",
        "Made by `make bench-overfitting`. Features and labels are fair coins, so that the true",
        "accuracy of every classifier is 0.5. The analyst asks the holdout for the accuracy of",
        "each feature, turns those below one half around and asks for the accuracy of their",
        f"vote, after each block of features. Stated errors are at confidence {CONFIDENCE}, the",
        "naive one being Hoeffding's for a single question. A run counts as held if *every*",
        "interval of the run holds the truth.",
        "",
        *(f"- {what}: {value}" for what, value in _machine().items()),
        "",
        f"| {HEAD} |",
        "|" + "---|" * (HEAD.count("|") + 1),
    ]
    for key in (key for key in CASES if key in rows):
        row = rows[key]
        lines.append(
            f"| {row.name} | {row.n:,} | {row.features:,} | {row.error:.3f} | {row.reported:.3f} "
            f"| {row.highest:.3f} | {row.kept:,} of {row.runs:,} "
            f"| {row.last_kept:,} of {row.runs:,} | {row.refused:,} "
            f"| {row.seconds:.0f} |"
        )
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit code is 1 if a bound was broken."""
    parser = argparse.ArgumentParser(prog="benchmarks.overfitting")
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("names", nargs="*", choices=[*CASES, []])
    asked = parser.parse_args(arguments)
    store = HERE / "RESULTS-adaptive.json"
    rows = {}
    if store.exists():
        rows = {key: Row(**row) for key, row in json.loads(store.read_text()).items()}
    for key in asked.names or CASES:
        rows[key] = run(key, asked.runs)
        print(rows[key], flush=True)
        if asked.runs == RUNS:
            kept = {key: asdict(row) for key, row in rows.items()}
            store.write_text(json.dumps(kept, indent=1) + "\n")
            (HERE / "RESULTS-adaptive.md").write_text(written(rows))
    return 0 if all(row.fine for row in rows.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
