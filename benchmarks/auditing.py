"""The auditor against the zoo of broken and correct mechanisms (``make bench-audit``).

    python -m benchmarks.auditing                       every mechanism once, and a table
    python -m benchmarks.auditing --false-alarms 200    every correct one 200 times

Both use two processes, and end with an error if a broken mechanism is missed, a correct one is
accused, or a bound falls short of its target.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path

from benchmarks.auditing_rows import CONFIDENCE, SECONDS, Row, audited, compared, repeated
from benchmarks.run import _machine
from tests.auditor.zoo.every import CORRECT, LISTED, SEEN, UNLISTED

HERE = Path(__file__).parent
PROCESSES = 2
WALL = 60.0  # seconds for the published list
SYMBOLS = {"epsilon": "ε", "rho": "ρ", "mu": "μ", "tv": "TV"}
HEAD = (
    "id",
    "mechanism",
    "claimed",
    "true of the pair",
    "found",
    "best possible",
    "share",
    "true δ",
    "found",
    "best",
    "samples",
    "s",
    "verdict",
)


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit code is 1 if anything falls short."""
    parser = argparse.ArgumentParser(prog="benchmarks.auditing")
    parser.add_argument("--false-alarms", type=int, metavar="TIMES")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for each, at most")
    parser.add_argument("names", nargs="*", help="only these mechanisms; nothing is written")
    asked = parser.parse_args(arguments)
    if asked.false_alarms:
        return false_alarms(asked.false_alarms)
    if asked.names:
        rows, seconds = run([c.id for c in SEEN if c.id in asked.names], asked.seconds)
        return _failed(rows, seconds)
    listed, seconds = run([case.id for case in LISTED if case in SEEN], asked.seconds)
    unlisted, further = run([case.id for case in UNLISTED if case in SEEN], asked.seconds)
    _write(listed, seconds, unlisted, further, asked.seconds)
    return _failed([*listed, *unlisted], seconds)


def run(names: list[str], each: float) -> tuple[list[Row], float]:
    """Audit, then compare with the truth; the seconds are those of the audits, from the start."""
    started = time.perf_counter()
    with _processes() as pool:
        found = pool.map(partial(audited, seconds=each), names, chunksize=1)
        seconds = time.perf_counter() - started
        rows = pool.map(compared, found, chunksize=1)
    for row in rows:
        print(" | ".join(_cells(row)), row.event[:60], sep=" | ", flush=True)
    print(f"{len(rows)} audits in {seconds:.1f} s on {PROCESSES} processes", flush=True)
    return rows, seconds


def false_alarms(times: int) -> int:
    """Every correct mechanism many times; none may be accused."""
    started, wrong = time.perf_counter(), 0
    with _processes() as pool:
        jobs = [(case.id, times) for case in CORRECT]
        for name, accused, seconds in pool.imap_unordered(repeated, jobs, chunksize=1):
            wrong += accused
            print(f"{name}: accused {accused} of {times} times, {seconds:.1f} s", flush=True)
    total = time.perf_counter() - started
    print(f"{wrong} of {times * len(CORRECT):,} audits accused a correct mechanism; {total:.0f} s")
    return 1 if wrong else 0


@contextmanager
def _processes() -> Iterator[Pool]:
    """Two processes of one thread each."""
    for name in ("DISCREET_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[name] = "1"
    with get_context("spawn").Pool(PROCESSES) as pool:
        yield pool


def _failed(rows: list[Row], seconds: float) -> int:
    problems = [f"{row.id}: {row.problem}" for row in rows if row.problem]
    if seconds > WALL:
        problems.append(f"the list took {seconds:.0f} s, more than {WALL:.0f} s")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def _cells(row: Row) -> list[str]:
    symbol = SYMBOLS[row.parameter]
    finite = 0 < row.truth < math.inf
    return [
        row.id,
        row.words,
        f"{symbol} {row.claimed:.4g}",
        "∞" if row.truth == math.inf else f"{row.truth:.4g}",
        f"{row.found:.4g}",
        f"{row.best:.4g}",
        f"{row.found / row.truth:.0%}" if finite else "",
        *(
            "" if value is None else f"{value:.4g}"
            for value in (row.delta, row.delta_found, row.delta_best)
        ),
        f"{row.samples:,}",
        f"{row.seconds:.1f}",
        row.problem or ("caught" if row.broken else "not accused") + ", short" * row.short,
    ]


def _table(rows: list[Row]) -> list[str]:
    lines = [HEAD, ["---"] * len(HEAD), *(_cells(row) for row in rows)]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _write(
    listed: list[Row], seconds: float, unlisted: list[Row], further: float, each: float
) -> None:
    ok = {True: "yes", False: "NO"}
    missed = [row.id for row in [*listed, *unlisted] if row.problem]
    lines = [
        "# The auditor",
        "",
        f"Made by `make bench-audit`: at most {each:g} s a mechanism, {PROCESSES} processes,",
        f"confidence 1 − {1 - CONFIDENCE:.0e}. The truth is the pair's (for (ε, δ) at the claimed",
        "δ), found is a lower bound, and best possible is what a test could expect from the same",
        "samples if it knew both laws and spent none of them on searching. Where the truth is",
        "infinite, or the event that shows it is rare, no share is asked for; of a correct one",
        'below nine tenths the table says "short", and no more.',
        "",
        *(f"- {key}: {value}" for key, value in _machine().items()),
        "",
        "| what | measured | target | reached |",
        "|---|---|---|---|",
        f"| the published list | {seconds:.1f} s | at most {WALL:.0f} s | {ok[seconds <= WALL]} |",
        f"| others of the same kinds | {further:.1f} s | | |",
        f"| caught, not accused, near the truth | {len(missed)} of {len(listed) + len(unlisted)} "
        f"fall short | none | {ok[not missed]} |",
        "",
        "## The published list",
        "",
        *_table(listed),
        "",
        "## Others of the same kinds",
        "",
        *_table(unlisted),
    ]
    (HERE / "RESULTS-audit.md").write_text("\n".join(lines) + "\n")
    document = {
        "machine": _machine(),
        "seconds": {"listed": seconds, "unlisted": further},
        "rows": [_plain(row) for row in [*listed, *unlisted]],
    }
    (HERE / "RESULTS-audit.json").write_text(
        json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    )


def _plain(row: Row) -> dict[str, object]:
    """JSON has no infinity."""
    return {k: "infinite" if v == math.inf else v for k, v in asdict(row).items()}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
