"""Randomized response, and the small things: one number, one import."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np

import discreet as dp
from benchmarks.timing import Row, against, race, threads

N = 10**7
MANY = 2000
HEAVY = ("scipy", "flint", "pandas", "polars", "duckdb", "ibis", "pyspark", "altair", "fastapi")


def rows() -> Iterator[Row]:
    """Yield randomized response, scalar release and import time."""
    generator = np.random.default_rng()
    bits = generator.integers(0, 2, N, dtype=np.int8)
    answers = generator.integers(0, 16, N, dtype=np.int64)
    with threads(1):
        binary = dp.RandomizedResponse(epsilon=1)
        (seconds,) = race(lambda: binary.release(bits), rounds=5)
        each = seconds / N * 1e9
        yield Row("RandomizedResponse, 10⁷ bits", f"{each:.2f} ns", "", "", "below 6 ns", each < 6)
        many = dp.RandomizedResponse(epsilon=1, categories=16)
        ours, reference = race(
            lambda: many.release(answers), lambda: generator.integers(0, 16, N), rounds=5
        )
        what = "RandomizedResponse, 10⁷ answers of 16"
        yield against(what, ours, reference, N, 3, "Generator.integers")
    yield from _scalars()
    yield _import_time()


def _scalars() -> Iterator[Row]:
    for name, m in (
        ("Laplace", dp.Laplace(sensitivity=1, epsilon=1)),
        ("Gaussian", dp.Gaussian(sensitivity=1, sigma=3)),
    ):
        for value in (1234, 12.5):

            def job(m=m, value=value) -> None:  # type: ignore[no-untyped-def]
                for _ in range(MANY):
                    m.release(value)

            (seconds,) = race(job)
            micro = seconds / MANY * 1e6
            kind = type(value).__name__
            what = f"one scalar release, {name}, {kind}"
            yield Row(what, f"{micro:.1f} µs", "", "", "below 15 µs", micro < 15)


def _import_time() -> Row:
    ours, reference = race(
        lambda: _fresh("import discreet"), lambda: _fresh("import numpy"), rounds=15
    )
    bare = race(lambda: _fresh("pass"), rounds=15)[0]
    ratio = (ours - bare) / (reference - bare)
    loaded = _fresh(
        f"import discreet, sys; print(*[m for m in {HEAVY!r} if m in sys.modules])"
    ).split()
    return Row(
        "import discreet" + (f" (loads {', '.join(loaded)})" if loaded else ""),
        f"{(ours - bare) * 1e3:.0f} ms",
        f"{(reference - bare) * 1e3:.0f} ms, import numpy",
        f"{ratio:.2f}",
        "below 1.5, nothing heavy loaded",
        ratio < 1.5 and not loaded,
    )


def _fresh(code: str) -> str:
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return run.stdout
