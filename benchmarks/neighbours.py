"""Does the time of a release tell neighbours apart? (``make timing``)

    python -m benchmarks.neighbours                   all pairs; writes RESULTS-timing.md
    python -m benchmarks.neighbours --releases 200    a quick look; writes nothing
    python -m benchmarks.neighbours NaN "empty group" only these pairs

Each pair is a table of a million rows in Parquet and a neighbour of it, with the question that
would show the difference most. A block releases the answer on the table, on a copy of it and on
the neighbour, in random order, and takes the CPU time of the whole process for each, all threads
included; drift and a busy machine are the same for all three. The 99.9 % interval of the shift is
Hodges and Lehmann's, of log(there/here) over blocks. It must lie within ± 1 % for each neighbour;
for the copy too, or the machine was too busy to tell; and above 0 for a copy with a planted delay
of 1 %. Run it with nothing else running.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.stats import norm

import discreet as dp
from benchmarks.run import HERE, _machine
from discreet.query.keys import DiscoveredKeys

RELEASES = 2000
ROWS = 1_000_000
ALLOWED = 0.01
LEVEL = 0.999
WARM_UP = 10
LONGEST = 2**16  # characters of a text: longer ones take longer (docs/security.md)
WARDS = tuple("ABCDEFGH")
RARE = "rare"  # the ward of one row

Columns = dict[str, Any]
Change = Callable[[Columns], None]
Question = Callable[[Path], Any]


@dataclass(frozen=True)
class Pair:
    """A neighbour, and the question that would tell it from the table."""

    change: Change
    question: Question
    delay: float = 0.0  # share of the time that is planted on the neighbour


@dataclass(frozen=True)
class Interval:
    """Where a relative shift lies."""

    low: float
    high: float

    def __str__(self) -> str:
        return f"{100 * self.low:+.2f} … {100 * self.high:+.2f} %"

    @property
    def small(self) -> bool:
        return self.low >= -ALLOWED and self.high <= ALLOWED


@dataclass(frozen=True)
class Result:
    """What was measured of one pair; seconds are medians."""

    releases: int
    seconds: float
    spread: float
    control: Interval
    shift: Interval
    planted: bool

    @property
    def fine(self) -> bool:
        found = self.shift.low > 0 if self.planted else self.shift.small
        return self.control.small and found


def shift(here: Sequence[float], there: Sequence[float], level: float = LEVEL) -> Interval:
    """The interval of there/here − 1 over blocks (Hodges and Lehmann 1963).

    If the sides differ by a factor, their logarithms differ symmetrically about it, since the order
    within a block is random. The k-th smallest and the k-th largest of the means of two differences
    then have it between them, unless Wilcoxon's signed-rank statistic is below k, which is normal
    for as many blocks as are of use here.
    """
    ratios = np.log(there) - np.log(here)
    n = len(ratios)
    means = np.sort((ratios[:, None] + ratios)[np.triu_indices(n)] / 2)
    deviation = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
    k = math.floor(len(means) / 2 - float(norm.isf((1 - level) / 2)) * deviation)
    if k < 1:
        return Interval(-math.inf, math.inf)
    return Interval(math.expm1(means[k - 1]), math.expm1(means[-k]))


# -- tables ----------------------------------------------------------------------------------------


def columns(rows: int) -> Columns:
    """Sorted by x and k, so that statistics say much; ten rows a person, in two wards."""
    rng = np.random.default_rng(17)
    person = rng.permutation(rows) // 10
    ward = np.array(WARDS, object)[(person + rng.integers(0, 2, rows)) % len(WARDS)]
    ward[rows // 2] = RARE
    return {
        "person": person,
        "ward": ward,
        "x": np.sort(rng.uniform(0, 100, rows)),
        "k": np.sort(rng.integers(0, 100, rows)),
        "note": np.char.add("note ", rng.integers(0, 1000, rows).astype(str)).astype(object),
    }


def last(**values: Any) -> Change:
    """Other values in the last row."""

    def change(table: Columns) -> None:
        for name, value in values.items():
            table[name] = [*table[name][:-1], value]

    return change


def more(count: int, **values: Any) -> Change:
    """The last row again, so many times, with other values in some columns."""

    def change(table: Columns) -> None:
        for name, column in table.items():
            table[name] = [*column, *[values.get(name, column[-1])] * count]

    return change


def empty(table: Columns) -> None:
    """Nobody is in the rare ward."""
    table["ward"] = [WARDS[0] if ward == RARE else ward for ward in table["ward"]]


def write(table: Columns, path: Path) -> Path:
    pq.write_table(pa.table(table), path)  # in one row group, which is read or left out
    return path


# -- questions -------------------------------------------------------------------------------------


def mean(path: Path) -> Any:
    return dp.table(path).agg(m=dp.mean("x", bounds=(0, 100)))


def by_ward(path: Path) -> Any:
    wards = dp.table(path).group_by("ward", keys=[*WARDS, RARE])
    return wards.agg(n=dp.count(), m=dp.mean("x", bounds=(0, 100)))


def above(path: Path) -> Any:
    rows = dp.table(path).where(lambda row: row.k > 100)
    return rows.agg(n=dp.count(), m=dp.mean("x", bounds=(0, 100)))


def by_note(path: Path) -> Any:
    return dp.table(path).group_by("note", keys=["note 1", "note 2"]).agg(n=dp.count())


def people(path: Path, keys: Any = WARDS) -> Any:
    """A tenth of the rows, since less other work shows more of what one person adds to it."""
    rows = dp.table(path, unit="person").where(lambda row: row.x > 90)
    wards = rows.bound(max_groups=3, max_rows_per_group=10).group_by("ward", keys=keys)
    return wards.agg(n=dp.count(), m=dp.mean("x", bounds=(0, 100)))


PAIRS = {
    "extreme value": Pair(last(x=1e300), mean),
    "a planted delay": Pair(lambda table: None, mean, delay=ALLOWED),
    "NaN": Pair(last(x=math.nan), mean),
    "one matching row": Pair(last(k=101), above),
    "a text of the longest length": Pair(last(note="x" * LONGEST), by_note),
    "an empty group": Pair(empty, by_ward),
    "a duplicate row": Pair(more(1), by_ward),
    "one person over a bound": Pair(more(20), people),
    "a huge integer": Pair(last(person=2**62), people),
    "a missing value": Pair(last(x=None), people),
    "one more key of a person": Pair(last(ward="new"), lambda path: people(path, "discover")),
}


# -- measuring -------------------------------------------------------------------------------------


def released(question: Question, path: Path) -> Callable[[], object]:
    """One release after the other, on a ledger in memory."""
    query = question(path)
    session = dp.Session(query.table, budget=dp.Approx(10**6, 0.5))
    delta = {"delta": "1e-9"} if isinstance(query.keys, DiscoveredKeys) else {}
    return lambda: session.release(query, epsilon="1/10", **delta)


def timed(job: Callable[[], object], delay: float) -> float:
    """Seconds of all threads; a delay is work of this one."""
    start = time.process_time()
    job()
    if delay:
        end = time.thread_time() + delay
        while time.thread_time() < end:
            pass
    return time.process_time() - start


def blocks(
    jobs: dict[str, Callable[[], object]], releases: int, delay: float, seed: int
) -> dict[str, list[float]]:
    """The times of each side, block by block; `delay` is a share of a usual time."""
    warm = [timed(job, 0.0) for _ in range(WARM_UP) for job in jobs.values()]
    planted = {"there": delay * float(np.median(warm))}
    times: dict[str, list[float]] = {side: [] for side in jobs}
    order = random.Random(seed)
    gc.collect()
    gc.disable()
    try:
        for block in range(releases):
            for side in order.sample(list(jobs), len(jobs)):
                times[side].append(timed(jobs[side], planted.get(side, 0.0)))
            if block % 50 == 49:
                gc.collect()
    finally:
        gc.enable()
    return times


def measure(name: str, releases: int, folder: Path, *, rows: int = ROWS, seed: int = 17) -> Result:
    """Write both tables, release in turn, compare."""
    pair = PAIRS[name]
    table = columns(rows)
    here = write(table, folder / "here.parquet")
    copy = Path(shutil.copy(here, folder / "copy.parquet"))
    pair.change(table)
    paths = {"here": here, "copy": copy, "there": write(table, folder / "there.parquet")}
    jobs = {side: released(pair.question, path) for side, path in paths.items()}
    times = blocks(jobs, releases, pair.delay, seed)
    usual = float(np.median(times["here"]))
    return Result(
        releases=releases,
        seconds=usual,
        spread=float(np.subtract(*np.percentile(times["here"], [75, 25]))) / usual,
        control=shift(times["here"], times["copy"]),
        shift=shift(times["here"], times["there"]),
        planted=bool(pair.delay),
    )


def page(results: dict[str, Result]) -> str:
    """The results in Markdown."""
    (releases,) = {result.releases for result in results.values()}
    lines = [
        "# Time",
        "",
        "Made by `make timing`. CPU time of a whole release on a table and on a neighbour of it,",
        f"{ROWS:,} rows of Parquet on DuckDB, {releases:,} releases a side in random order, and",
        "the same data against itself as a control. Intervals hold the shift with a confidence of",
        f"{LEVEL:.1%}; they must lie within ± {ALLOWED:.0%}, and that of a planted delay of",
        f"{ALLOWED:.0%} above 0.",
        "",
        *(f"- {key}: {value}" for key, value in _machine().items()),
        "",
        "| neighbours differ by | median | quartiles apart | shift | control | reached |",
        "|---|---|---|---|---|---|",
    ]
    for name, r in results.items():
        mark = "yes" if r.fine else "NO"
        lines.append(
            f"| {name} | {r.seconds * 1e3:.1f} ms | {r.spread:.1%} | {r.shift} | {r.control} "
            f"| {mark} |"
        )
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit code is 1 if neighbours were told apart."""
    parser = argparse.ArgumentParser(prog="benchmarks.neighbours")
    parser.add_argument("--releases", type=int, default=RELEASES)
    parser.add_argument("pairs", nargs="*", choices=[*PAIRS, []])
    asked = parser.parse_args(arguments)
    results = {}
    for name in asked.pairs or PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            results[name] = measure(name, asked.releases, Path(folder))
        print(name, results[name].shift, "| control", results[name].control, flush=True)
        if not asked.pairs and asked.releases == RELEASES:  # it is long: what is done is kept
            kept = {name: asdict(result) for name, result in results.items()}
            document = {"machine": _machine(), "pairs": kept}
            store = HERE / "RESULTS-timing.json"
            store.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
            (HERE / "RESULTS-timing.md").write_text(page(results))
    return 0 if all(result.fine for result in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
