"""``make audit-peers``: the auditor on other people's code, in an environment of its own.

Each line says what is expected of it and why. A scalar mechanism is drawn by its own vector
form where it has one: the same noise on every number, one output a number.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.run import HERE, _machine

SECONDS = 6.0


@dataclass(frozen=True)
class Subject:
    """Foreign code, what it claims, and whether that is true."""

    what: str
    run: Callable[..., Any]
    pair: tuple[Any, Any]
    claim: dp.Guarantee
    broken: bool
    why: str
    batched: bool = True


def subjects() -> Iterator[Subject]:
    """All that can be audited here."""
    yield from _numpy()
    yield from _diffprivlib()
    yield from _opendp()


def _numpy() -> Iterator[Subject]:
    draw = np.random.default_rng()
    why = "noise added in floats takes on the coarseness of the larger summand"
    package = f"NumPy {version('numpy')}"
    yield Subject(
        f"{package}: x + laplace(scale=1)",
        lambda value, size: value + draw.laplace(size=size),
        (0.0, 1.0),
        dp.Pure(1),
        broken=True,
        why=why,
    )
    yield Subject(
        f"{package}: x + normal(scale=3.7307)",
        lambda value, size: value + draw.normal(0.0, 3.7307, size=size),
        (0.0, 1.0),
        dp.Approx(1, 1e-5),
        broken=True,
        why=why,
    )


def _diffprivlib() -> Iterator[Subject]:
    from diffprivlib import mechanisms

    package = f"diffprivlib {version('diffprivlib')}"
    why = "four uniform numbers hide where the holes are, not that sums in floats have them"
    yield Subject(
        f"{package}: Laplace(epsilon=1, sensitivity=1)",
        mechanisms.Laplace(epsilon=1, sensitivity=1).randomise,
        (0.0, 1.0),
        dp.Pure(1),
        broken=True,
        why=why,
        batched=False,
    )
    yield Subject(
        f"{package}: GaussianAnalytic(epsilon=1, delta=1e-5, sensitivity=1)",
        mechanisms.GaussianAnalytic(epsilon=1, delta=1e-5, sensitivity=1).randomise,
        (0.0, 1.0),
        dp.Approx(1, 1e-5),
        broken=True,
        why=why,
        batched=False,
    )


def _opendp() -> Iterator[Subject]:
    import opendp.prelude as od

    od.enable_features("contrib")
    package = f"OpenDP {version('opendp')}"
    counts = od.map_domain(od.atom_domain(T="String"), od.atom_domain(T="i32"))
    distance = od.l01inf_distance(od.absolute_distance(T="i32"))
    threshold = od.m.make_laplace_threshold(counts, distance, scale=1.0, threshold=5)
    epsilon, delta = threshold.map((1, 1, 1))

    def kept(count: int, size: int) -> list[int | None]:
        """As many keys as runs, each held by `count` people: their noise is independent."""
        keys = [str(place) for place in range(size)]
        found = threshold(dict.fromkeys(keys, count) if count else {})
        return [found.get(key) for key in keys]

    yield Subject(
        f"{package}: Laplace threshold, scale 1, T = 5, of one key",
        kept,
        (1, 0),
        dp.Approx(epsilon, delta),
        broken=True,
        why="keys from ≥ T are released, δ is that of > T (its issue 2922)",
    )
    for kind, pair in ((float, (0.0, 1.0)), (int, (0, 1))):
        inside = {"nan": False} if kind is float else {}
        numbers = od.vector_domain(od.atom_domain(T=kind, **inside))
        laplace = od.m.make_laplace(numbers, od.l1_distance(T=kind), scale=1.0)
        gaussian = od.m.make_gaussian(numbers, od.l2_distance(T=kind), scale=1.0)
        for name, mechanism, claim in (
            ("Laplace", laplace, dp.Pure(1)),
            ("Gaussian", gaussian, dp.ZCDP("1/2")),
        ):
            yield Subject(
                f"{package}: {name} on {kind.__name__}s, scale 1",
                partial(_vector, mechanism),
                pair,
                claim,
                broken=False,
                why="discrete noise, exact arithmetic",
            )


def _vector(mechanism: Any, value: Any, size: int) -> Any:
    return np.array(mechanism([value] * size))


def main() -> int:
    """Audit them all; the exit code is 1 if one is not as expected."""
    lines, failed = [], 0
    for subject in subjects():
        finding = dp.audit(
            subject.run, subject.pair, subject.claim, seconds=SECONDS, batched=subject.batched
        )
        expected = finding.violated == subject.broken
        failed += not expected
        assert finding.witness is not None
        verdict = "violated" if finding.violated else "no violation found"
        shown = f"{finding.parameter} ≥ {finding.lower_bound:.3g}"
        if isinstance(subject.claim, dp.Approx):
            shown += f", δ ≥ {finding.witness.delta:.4g}"
        row = [
            subject.what,
            str(subject.claim),
            verdict if expected else f"{verdict}: NOT EXPECTED",
            shown,
            str(finding.witness.event)[:90],
            f"{finding.seconds:.1f} s",
            f"{finding.samples:,}",
            subject.why,
        ]
        print(" | ".join(row), flush=True)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |")
    (HERE / "RESULTS-audit-peers.md").write_text(_page(lines))
    return 1 if failed else 0


def _page(lines: list[str]) -> str:
    head = [
        "# Other people's code, audited",
        "",
        f"Made by `make audit-peers`: at most {SECONDS:.0f} s each, confidence 1 − 1e-9. That no",
        "violation was found is not a proof; a bound is what these samples show, not the truth.",
        "",
        *(f"- {key}: {value}" for key, value in _machine().items()),
        "",
        "| what | claim | verdict | shown | event | time | outputs of each input | why |",
        "|---|---|---|---|---|---|---|---|",
    ]
    return "\n".join([*head, *lines]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
