"""Choosing one of a million candidates."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import discreet as dp
from benchmarks.timing import Row, against, race, threads

N = 10**6


def rows() -> Iterator[Row]:
    """Yield the rows of the selection table."""
    generator = np.random.default_rng()
    scores = generator.normal(0, 100, N)
    kinds = {
        "laplace": ("Laplace", lambda: generator.laplace(size=N)),
        "exponential": ("exponential", lambda: generator.standard_exponential(N)),
        "gumbel": ("Gumbel", lambda: generator.gumbel(size=N)),
    }
    with threads(1):
        for noise, (name, draw) in kinds.items():
            for label, values in (("spread scores", scores), ("all tied", np.zeros(N))):
                m = dp.NoisyMax(sensitivity=1, epsilon=1, noise=noise)  # type: ignore[arg-type]

                def reference(draw=draw, values=values) -> object:  # type: ignore[no-untyped-def]
                    return int(np.argmax(values + draw()))

                ours, theirs = race(lambda m=m, v=values: m.release(v), reference)  # type: ignore[misc]
                what = f"NoisyMax, 10⁶ candidates, {name} noise, {label}"
                yield against(what, ours, theirs, N, 1.5, "argmax(scores + noise)")
        e = dp.Exponential(sensitivity=1, epsilon=1)
        ours, theirs = race(
            lambda: e.release(scores), lambda: int(np.argmax(scores + generator.gumbel(size=N)))
        )
        what = "Exponential, 10⁶ candidates"
        yield against(what, ours, theirs, N, 1.5, "argmax(scores + Gumbel)")
