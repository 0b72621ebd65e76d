"""Noise on vectors, one thread and two, and what it costs in memory."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import numpy as np

import discreet as dp
from benchmarks.timing import Row, against, race, threads

N = 10**7


def rows() -> Iterator[Row]:
    """Yield the rows of the noise table."""
    generator = np.random.default_rng()
    integers = np.arange(N, dtype=np.int64)
    floats = integers * 0.37
    laplace = "Generator.laplace"
    normal = "Generator.standard_normal"

    def numpy_laplace() -> object:
        return generator.laplace(size=N)

    def numpy_normal() -> object:
        return generator.standard_normal(N)

    with threads(1):
        for scale in (2, 50, 2**20):
            m = dp.Laplace(sensitivity=1, scale=scale)
            ours, reference = race(lambda m=m: m.release(integers), numpy_laplace, rounds=5)  # type: ignore[misc]
            yield against(f"Laplace, 10⁷ int64, scale {scale}", ours, reference, N, 0.5, laplace)
        for sigma in (2, 50, 300, 2**20):
            g = dp.Gaussian(sensitivity=1, sigma=sigma)
            ours, reference = race(lambda g=g: g.release(integers), numpy_normal, rounds=5)  # type: ignore[misc]
            most = 0.8 if sigma <= 50 else 1.2
            yield against(f"Gaussian, 10⁷ int64, σ = {sigma}", ours, reference, N, most, normal)
        m, g = dp.Laplace(sensitivity=1, scale=2), dp.Gaussian(sensitivity=1, sigma=2)
        ours, reference = race(lambda: m.release(floats), numpy_laplace, rounds=5)
        yield against("Laplace, 10⁷ float64", ours, reference, N, 2, laplace)
        ours, reference = race(lambda: g.release(floats), numpy_normal, rounds=5)
        yield against("Gaussian, 10⁷ float64", ours, reference, N, 2, normal)
    wide = dp.Laplace(sensitivity=1, scale=2**20)
    for what, job in (
        ("Laplace, 10⁷ int64, scale 2", lambda: m.release(integers)),
        ("Laplace, 10⁷ int64, scale 1048576", lambda: wide.release(integers)),
        ("Laplace, 10⁷ float64", lambda: m.release(floats)),
        ("Gaussian, 10⁷ int64, σ = 2", lambda: g.release(integers)),
        ("Gaussian, 10⁷ float64", lambda: g.release(floats)),
    ):
        yield _speedup(what, job)
    yield _memory("Laplace, 10⁷ int64", "dp.Laplace(sensitivity=1, scale=2)", "int64")
    yield _memory("Laplace, 10⁷ int64", "dp.Laplace(sensitivity=1, scale=4096)", "int64")
    yield _memory("Gaussian, 10⁷ float64", "dp.Gaussian(sensitivity=1, sigma=2)", "float64")


def _speedup(what: str, job: object) -> Row:
    assert callable(job)
    with threads(1):
        job()

    def one() -> None:
        with threads(1):
            job()

    def two() -> None:
        with threads(2):
            job()

    single, double = race(one, two)
    speedup = single / double
    return Row(
        f"two threads, {what}",
        f"{double / N * 1e9:.2f} ns",
        f"{single / N * 1e9:.2f} ns, one thread",
        f"{speedup:.2f} × faster",
        "at least 1.6 × faster",
        speedup >= 1.6,
    )


def _memory(what: str, mechanism: str, dtype: str) -> Row:
    """Peak memory of the first large release of a process, beyond its output."""
    code = (
        "import tracemalloc, numpy as np, discreet as dp\n"
        f"m, values = {mechanism}, np.zeros({N}, np.{dtype})\n"
        "m.release(values[:2])\n"
        "tracemalloc.start()\n"
        "result = m.release(values)\n"
        "print(tracemalloc.get_traced_memory()[1] - result.nbytes)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    mib = int(run.stdout) / 2**20
    what = f"memory beyond the output, {what}, {mechanism.split(', ')[1].rstrip(')')}"
    return Row(what, f"{mib:.1f} MiB", "", "", "at most 16 MiB", mib <= 16)
