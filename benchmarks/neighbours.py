"""Does the time of a release tell neighbours apart? (``make timing``)

    python -m benchmarks.neighbours                   all pairs; writes RESULTS-timing.md
    python -m benchmarks.neighbours --resume          those that have no result there yet
    python -m benchmarks.neighbours --releases 200    a quick look; writes nothing
    python -m benchmarks.neighbours NaN "empty group" only these pairs

Each pair is a table of a million rows in Parquet and a neighbour of it, with the question that
would show the difference most. A block releases the answer on the table, on a copy of it and on
the neighbour, in random order, and takes the CPU time of the whole process for each, all threads
included; drift and a busy machine are the same for all three. The 99.9 % interval of the shift is
Hodges and Lehmann's, of log(there/here) over blocks. It must lie within ± 1 % for each neighbour;
for the copy too, or the machine was too busy to tell; and above 0 for a copy with a planted delay
of 1 %. Files are written anew every few hundred blocks, since a file's place in memory alone can
make it half a percent faster to read. Blocks are added until both intervals are narrow; when to
stop depends on their widths alone, never on where they lie. Each core measures a pair. Run it with
nothing else running.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import multiprocessing
import os
import random
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

RELEASES = 2000  # at least
MOST = 10_000
NARROW = 0.0075  # the width of an interval that is narrow enough; ± 1 % is 0.02
ROWS = 1_000_000
ALLOWED = 0.01
LEVEL = 0.999
WARM_UP = 10
ROUND = 250  # blocks before the files are written anew
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

    @property
    def narrow(self) -> bool:
        return self.high - self.low <= NARROW


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


def write(table: pa.Table, path: Path) -> Path:
    pq.write_table(table, path)  # in one row group, which is read or left out
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
    """A hundredth of the rows: less other work shows more of what one person adds to it."""
    rows = dp.table(path, unit="person").where(lambda row: row.x > 99)
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


def block(
    jobs: dict[str, Callable[[], object]], planted: dict[str, float], order: random.Random
) -> dict[str, float]:
    """The time of each side, in random order."""
    sides = order.sample(list(jobs), len(jobs))
    return {side: timed(jobs[side], planted.get(side, 0.0)) for side in sides}


def measure(name: str, releases: int, folder: Path, *, rows: int = ROWS, seed: int = 17) -> Result:
    """Write both tables, release in turn, compare; `releases` of each at least."""
    pair = PAIRS[name]
    made = columns(rows)
    table = pa.table(made)
    pair.change(made)
    sides = {"here": table, "copy": table, "there": pa.table(made)}
    order = random.Random(seed)
    planted: dict[str, float] = {}
    times: list[dict[str, float]] = []
    while True:
        files = {
            side: write(sides[side], folder / f"{order.random()}.parquet")
            for side in order.sample(list(sides), len(sides))
        }
        jobs = {side: released(pair.question, path) for side, path in files.items()}
        warm = [block(jobs, {}, order)["here"] for _ in range(WARM_UP)]
        planted = planted or {"there": pair.delay * float(np.median(warm))}
        times += blocks(jobs, planted, order, min(releases, ROUND))
        for path in files.values():
            path.unlink()
        if len(times) < releases or (releases >= RELEASES and len(times) % 500):
            continue  # an interval of many blocks takes a second
        result = compared(times, planted=bool(pair.delay))
        enough = result.shift.narrow and result.control.narrow
        if enough or releases < RELEASES or len(times) >= MOST:
            return result


def blocks(
    jobs: dict[str, Callable[[], object]],
    planted: dict[str, float],
    order: random.Random,
    count: int,
) -> list[dict[str, float]]:
    """Times of some blocks, with no garbage collected in one."""
    times = []
    gc.disable()
    try:
        for done in range(count):
            if done % 50 == 0:
                gc.collect()
            times.append(block(jobs, planted, order))
    finally:
        gc.enable()
    return times


def compared(times: list[dict[str, float]], *, planted: bool) -> Result:
    """What the blocks say."""
    here, copy, there = ([block[side] for block in times] for side in ("here", "copy", "there"))
    usual = float(np.median(here))
    return Result(
        releases=len(times),
        seconds=usual,
        spread=float(np.subtract(*np.percentile(here, [75, 25]))) / usual,
        control=shift(here, copy),
        shift=shift(here, there),
        planted=planted,
    )


def page(results: dict[str, Result]) -> str:
    """The results in Markdown."""
    lines = [
        "# Time",
        "",
        "Made by `make timing`. CPU time of a whole release on a table and on a neighbour of it,",
        f"{ROWS:,} rows of Parquet on DuckDB, {RELEASES:,} to {MOST:,} releases a side, in random",
        "order, until intervals are narrow enough, and the same data against itself",
        "as a control. Intervals hold the shift with a confidence of",
        f"{LEVEL:.1%}; they must lie within ± {ALLOWED:.0%}, and that of a planted delay of",
        f"{ALLOWED:.0%} above 0.",
        "",
        *(f"- {key}: {value}" for key, value in _machine().items()),
        "",
        "| neighbours differ by | releases | median | quartiles apart | shift | control | fine |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, r in results.items():
        mark = "yes" if r.fine else "NO"
        lines.append(
            f"| {name} | {r.releases:,} | {r.seconds * 1e3:.1f} ms | {r.spread:.1%} | {r.shift} "
            f"| {r.control} | {mark} |"
        )
    missing = [name for name in PAIRS if name not in results]
    if missing:
        lines += ["", f"Not measured yet: {', '.join(missing)}."]
    return "\n".join(lines) + "\n"


def on_one_core(cores: multiprocessing.Queue[int]) -> None:
    """A worker stays on its core, so that two do not meet."""
    os.sched_setaffinity(0, {cores.get()})


def in_folder(task: tuple[str, int]) -> tuple[str, Result]:
    """Measure one pair with tables of its own."""
    name, releases = task
    with tempfile.TemporaryDirectory() as folder:
        return name, measure(name, releases, Path(folder))


def main(arguments: list[str]) -> int:
    """Run what was asked for; the exit code is 1 if neighbours were told apart."""
    parser = argparse.ArgumentParser(prog="benchmarks.neighbours")
    parser.add_argument("--releases", type=int, default=RELEASES)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("pairs", nargs="*", choices=[*PAIRS, []])
    asked = parser.parse_args(arguments)
    done = kept() if asked.resume else {}
    tasks = [(name, asked.releases) for name in asked.pairs or PAIRS if name not in done]
    context = multiprocessing.get_context("spawn")
    cores: multiprocessing.Queue[int] = context.Queue()
    for core in os.sched_getaffinity(0):
        cores.put(core)
    with context.Pool(len(os.sched_getaffinity(0)), on_one_core, (cores,)) as pool:
        for name, result in pool.imap_unordered(in_folder, tasks):
            print(name, result.shift, "| control", result.control, flush=True)
            done[name] = result
            if not asked.pairs and asked.releases == RELEASES:  # it is long: what is done is kept
                keep({name: done[name] for name in PAIRS if name in done})
    return 0 if all(result.fine for result in done.values()) else 1


STORE = HERE / "RESULTS-timing.json"


def keep(results: dict[str, Result]) -> None:
    """Write the results beside this file."""
    pairs = {name: asdict(result) for name, result in results.items()}
    document = {"machine": _machine(), "pairs": pairs}
    STORE.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    (HERE / "RESULTS-timing.md").write_text(page(results))


def kept() -> dict[str, Result]:
    """The results that this machine measured earlier."""
    document = json.loads(STORE.read_text()) if STORE.exists() else {"machine": {}, "pairs": {}}
    if document["machine"].get("processor") != _machine()["processor"]:
        return {}
    return {
        name: Result(**{**one, **{side: Interval(**one[side]) for side in ("control", "shift")}})
        for name, one in document["pairs"].items()
    }


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
