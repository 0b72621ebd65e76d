"""Other libraries on the same vectors, each if it is installed (``make bench-peers``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.timing import Row, race

SIZE = 10**6  # ours and NumPy's
FEW = 10**4  # theirs: they are slow enough to be timed on fewer


def rows() -> Iterator[Row]:
    """Yield one row a library and law; a missing library is named as missing."""
    generator = np.random.default_rng()
    integers, floats = np.arange(SIZE, dtype=np.int64), np.arange(SIZE) * 0.37
    laplace, gaussian = dp.Laplace(sensitivity=1, scale=2), dp.Gaussian(sensitivity=1, sigma=2)
    jobs: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "Laplace, integers": (
            lambda: laplace.release(integers),
            lambda: np.rint(generator.laplace(size=SIZE)),
        ),
        "Laplace, floats": (lambda: laplace.release(floats), lambda: generator.laplace(size=SIZE)),
        "Gaussian, integers": (
            lambda: gaussian.release(integers),
            lambda: np.rint(generator.standard_normal(SIZE)),
        ),
        "Gaussian, floats": (
            lambda: gaussian.release(floats),
            lambda: generator.standard_normal(SIZE),
        ),
    }
    for what, (ours, numpy) in jobs.items():
        mine, reference = race(ours, numpy)
        yield _row(f"{what}: NumPy (not private)", reference / SIZE, mine / SIZE)
        for label, package, make in PEERS:
            try:
                job = make(what)
            except ImportError:
                yield Row(f"{what}: {label}", "", "not installed", "", "", None)
                continue
            if job is not None:
                (theirs,) = race(job, rounds=3)
                name = f"{what}: {label} {metadata.version(package)}"
                yield _row(name, theirs / FEW, mine / SIZE)


def _row(what: str, theirs: float, ours: float) -> Row:
    return Row(
        what, f"{ours * 1e9:.1f} ns", f"{theirs * 1e9:.0f} ns", f"{ours / theirs:.4f}", "", None
    )


def _opendp(what: str) -> Callable[[], Any] | None:
    opendp = import_module("opendp.prelude")
    opendp.enable_features("contrib")
    whole = what.endswith("integers")
    kind = int if whole else float
    vector = [kind(i) for i in range(FEW)]
    domain = opendp.vector_domain(
        opendp.atom_domain(T=kind) if whole else opendp.atom_domain(T=float, nan=False)
    )
    if what.startswith("Laplace"):
        mechanism = opendp.m.make_laplace(domain, opendp.l1_distance(T=kind), 2.0)
    else:
        mechanism = opendp.m.make_gaussian(domain, opendp.l2_distance(T=kind), 2.0)
    return lambda: mechanism(vector)


def _diffprivlib(what: str) -> Callable[[], Any] | None:
    library = import_module("diffprivlib.mechanisms")
    match what:
        case "Laplace, floats":
            one = library.Laplace(epsilon=0.5, sensitivity=1)
        case "Laplace, integers":
            one = library.Geometric(epsilon=0.5, sensitivity=1)
        case "Gaussian, floats":
            one = library.GaussianAnalytic(epsilon=1, delta=1e-2, sensitivity=1)
        case _:
            one = library.GaussianDiscrete(epsilon=1, delta=1e-2, sensitivity=1)
    values = list(range(FEW)) if what.endswith("integers") else [float(i) for i in range(FEW)]
    return lambda: [one.randomise(value) for value in values]


def _pydp(what: str) -> Callable[[], Any] | None:
    library = import_module("pydp.algorithms.numerical_mechanisms")
    if what.startswith("Laplace"):
        one = library.LaplaceMechanism(epsilon=0.5, sensitivity=1)
    else:
        one = library.GaussianMechanism(epsilon=1, delta=1e-2, sensitivity=1)
    values = list(range(FEW)) if what.endswith("integers") else [float(i) for i in range(FEW)]
    return lambda: [one.add_noise(value) for value in values]


PEERS = (
    ("OpenDP", "opendp", _opendp),
    ("diffprivlib", "diffprivlib", _diffprivlib),
    ("PyDP", "python-dp", _pydp),
)
