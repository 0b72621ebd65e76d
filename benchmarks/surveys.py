"""Answers of many people, randomized and estimated (``make bench-surveys``).

pure-ldp has an environment of its own, ``.venv-peer-pureldp`` beside this folder or the one
whose Python ``DISCREET_PEER_PURELDP`` names. It takes its answers one by one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.tables_peers import interpreter
from benchmarks.timing import Row, against, race, threads
from discreet.survey.randomizers import Levels, Projective, Response

N = 10**7
MOST = 5
EPSILON = 1
REPORTS = 10**6
JOBS = Path(__file__).with_name("surveys_peer_jobs.py")
DRAWS = "Generator.integers for as many draws"


def rows() -> Iterator[Row]:
    """Yield k-ary answers and numbers beside NumPy's draws, then large domains and pure-ldp."""
    for count in (1, 2):
        with threads(count):
            words = "1 thread" if count == 1 else f"{count} threads"
            for k in (2, 4, 16, 100):
                yield _answers(k, words)
            for epsilon in (1, 4):
                yield _numbers(epsilon, words)
    for items in (10**4, 10**6):
        for epsilon in (1, 3):
            yield _large(items, epsilon)
    yield from _peer()


def _answers(k: int, words: str) -> Row:
    response = Response(categories=k, epsilon=EPSILON)
    generator = np.random.default_rng()
    truths = generator.integers(0, k, N)

    def ours() -> Any:
        supports = response.supports(response.randomize(truths))
        return (supports / N - float(response.outside)) / float(response.kept)

    mine, reference = race(ours, lambda: generator.integers(0, k, N), rounds=7)
    what = f"10⁷ answers of {k} randomized and estimated, {words}"
    return against(what, mine, reference, N, MOST, DRAWS)


def _numbers(epsilon: int, words: str) -> Row:
    levels = Levels(steps=1 << 20, epsilon=epsilon)
    generator = np.random.default_rng()
    truths = generator.integers(0, (1 << 20) + 1, N)
    mine, reference = race(
        lambda: levels.counts(levels.randomize(truths)) @ levels.contributions() / N,
        lambda: generator.integers(0, levels.outcomes, N),
        rounds=7,
    )
    what = f"10⁷ numbers on {levels.outcomes} levels, and their mean, {words}"
    return against(what, mine, reference, N, MOST, DRAWS)


def _large(items: int, epsilon: int) -> Row:
    projective = Projective(categories=items, epsilon=epsilon)
    truths = np.random.default_rng().integers(0, items, REPORTS)
    reports = projective.randomize(truths)
    seconds, drawing = race(
        lambda: projective.supports(reports), lambda: projective.randomize(truths), rounds=3
    )
    space = f"F_{projective.space.prime}^{projective.space.dimension}"
    return Row(
        f"10⁶ reports over {items:,} items estimated, ε = {epsilon} ({space})",
        f"{seconds:.3f} s",
        f"{drawing:.2f} s to randomize them",
        "",
        "within 5 s" if items == 10**4 else "",
        seconds <= 5 if items == 10**4 else None,
    )


def _peer() -> Iterator[Row]:
    python = interpreter("pureldp")
    if python is None:
        yield Row("pure-ldp", "", "not installed", "", "", None)
        return
    run = subprocess.run([python, str(JOBS)], capture_output=True, text=True, check=False)
    if run.returncode:
        yield Row("pure-ldp", "", f"failed: {run.stderr.splitlines()[-1][:120]}", "", "", None)
        return
    found = json.loads(run.stdout.splitlines()[-1])
    version, seconds = found["version"], found["seconds"]
    few = Response(categories=16, epsilon=EPSILON)
    many = Projective(categories=10**4, epsilon=EPSILON)
    generator = np.random.default_rng()
    sixteen, thousands = generator.integers(0, 16, N), generator.integers(0, 10**4, REPORTS)
    (plain,) = race(lambda: few.supports(few.randomize(sixteen)), rounds=3)
    (large,) = race(lambda: many.supports(many.randomize(thousands)), rounds=3)
    for name, words, mine in (
        ("direct", "one of 16, direct encoding", plain / N),
        ("hadamard", "one of 10,000, Hadamard response", large / REPORTS),
        ("hashing", "one of 10,000, optimal local hashing", large / REPORTS),
    ):
        theirs = seconds[name]
        yield Row(
            f"a respondent, {words} of pure-ldp {version}",
            f"{mine * 1e6:.3f} µs",
            f"{theirs * 1e6:,.1f} µs",
            f"{theirs / mine:,.0f} times slower",
            "slower than ours",
            theirs > mine,
        )
