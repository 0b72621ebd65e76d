"""Private queries beside the same questions without privacy (``make bench-tables``).

``python -m benchmarks.tables --quick`` runs all of it on small tables, to see that it works; the
ratios mean nothing there, since what a query costs once is most of it. Names of parts, such as
``units``, run those alone. Peak memory is that of a
process of its own that does nothing else, imports and all.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Any

import discreet as dp
from benchmarks import tables_data as data
from benchmarks import tables_peers, tables_spark
from benchmarks import tables_questions as questions
from benchmarks.tables_data import FULL, QUICK, Sizes
from benchmarks.tables_memory import GIB, peak, streamed
from benchmarks.timing import Row, race


def rows(sizes: Sizes = FULL, parts: Sequence[str] = ()) -> Iterator[Row]:
    """Yield the rows of the table, or of these parts of it."""
    for name, part in PARTS.items():
        if not parts or name in parts:
            yield from part(sizes)


def _row_privacy(sizes: Sizes) -> Iterator[Row]:
    path = data.visits(sizes.rows, sizes.people)
    for column, words in (("value", "floats"), ("days", "integers")):
        ask, raw = questions.ours(path, column=column), questions.raw(path, column=column)
        what = f"count and mean by group of {words}, {sizes.rows:,} rows, a row a person"
        yield _against(what, ask, raw, most=1.3, rounds=sizes.rounds, name=questions.RAW)


def _unit_privacy(sizes: Sizes) -> Iterator[Row]:
    path = data.visits(sizes.rows, sizes.people)
    bounds = f"{questions.MAX_GROUPS} groups a person, {questions.MAX_ROWS} rows a group"
    cases = (
        ("person", "ward", "people by number"),
        ("name", "ward", "people by name"),
        ("person", "clinic", "people by number, in 3 groups each"),
    )
    for unit, group, words in cases:
        arguments = {"unit": unit, "group": group}
        yield _against(
            f"count and mean by group, {sizes.rows:,} rows, {bounds}, {words}",
            questions.ours(path, **arguments),
            questions.cells(path, **arguments),
            most=2.5,
            rounds=min(sizes.rounds, 5),
            name=f"DuckDB's GROUP BY {unit}, {group}",
            memory=peak("ours", path, **arguments),
            most_memory=3,
        )


def _many_keys(sizes: Sizes) -> Iterator[Row]:
    path = data.places(sizes.key_rows, sizes.keys)
    cases = (("place", "integers", range(sizes.keys)), ("code", "text", data.codes(sizes.keys)))
    for group, words, keys in cases:
        yield _against(
            f"count and mean by group, {sizes.key_rows:,} rows, {sizes.keys:,} keys of {words}",
            questions.ours(path, group=group, keys=keys),
            questions.raw(path, group=group),
            most=2,
            rounds=sizes.rounds,
            name=questions.RAW,
        )


def _large(sizes: Sizes) -> Iterator[Row]:
    what = f"count and mean by group of floats, {sizes.large:,} rows, a row a person"
    if not data.room():
        yield Row(what, "", "not run: disk", "", "at most 1.3, below 2 GiB", None)
        return
    path = data.readings(sizes.large)
    yield _against(
        what,
        questions.ours(path),
        questions.raw(path),
        most=1.3,
        rounds=min(sizes.rounds, 3),
        name=questions.RAW,
        memory=peak("ours", path),
        most_memory=2,
    )


def _explain(sizes: Sizes) -> Iterator[Row]:
    """With (ε, δ), so that both kinds of noise are compared; each spend is new, so none is kept."""
    table = dp.table(data.visits(sizes.rows, sizes.people), unit="person")
    session = dp.Session(table, budget=dp.Approx(100, 1e-3))
    bounded = table.bound(max_groups=questions.MAX_GROUPS, max_rows_per_group=questions.MAX_ROWS)
    thousandths = count(1)

    def job() -> str:
        query = bounded.group_by("ward", keys=data.wards()).agg(
            n=dp.count(),
            mean=dp.mean("value", bounds=(0, 100)),
            median=dp.quantile("value", 0.5, bounds=(0, 100)),
        )
        epsilon = 1 + next(thousandths) / 1000
        return str(session.explain(query, epsilon=epsilon, delta=1e-6))

    (seconds,) = race(job, rounds=9)
    what = "explain: count, mean and median by group, ε and δ"
    yield Row(what, f"{seconds * 1e3:.1f} ms", "", "", "below 20 ms", seconds < 0.02)


def _spark(sizes: Sizes) -> Iterator[Row]:
    path = data.visits(sizes.rows, sizes.people)
    yield tables_spark.row(path, sizes.rows, rounds=sizes.rounds)


def _streamed(sizes: Sizes) -> Iterator[Row]:
    path = data.places(sizes.rows, sizes.cells)
    job = streamed(path, keys=sizes.cells)
    mine, reference = race(job, questions.raw(path, group="place"), rounds=min(sizes.rounds, 3))
    memory = peak("streamed", path, keys=sizes.cells)
    yield Row(
        f"count and mean by group, {sizes.rows:,} rows, {sizes.cells:,} keys, written to Parquet",
        f"{mine:.2f} s, {memory / GIB:.2f} GiB",
        f"{reference:.2f} s, {questions.RAW}, to memory",
        f"{mine / reference:.2f}",
        "",
        None,
    )


def _against(
    what: str,
    ours: Callable[[], Any],
    reference: Callable[[], Any],
    *,
    most: float,
    rounds: int,
    name: str,
    memory: int | None = None,
    most_memory: int = 0,
) -> Row:
    """At most so many times the reference and, where it is measured, below so many GiB."""
    mine, other = race(ours, reference, rounds=rounds)
    ratio = mine / other
    shown, target, ok = f"{mine:.3f} s", f"at most {most:g}", ratio <= most
    if memory is not None:
        shown += f", {memory / GIB:.2f} GiB"
        target += f", below {most_memory} GiB"
        ok = ok and memory < most_memory * GIB
    threads = questions.THREADS
    return Row(what, shown, f"{other:.3f} s, {name}, {threads} threads", f"{ratio:.2f}", target, ok)


PARTS: dict[str, Callable[[Sizes], Iterator[Row]]] = {
    "rows": _row_privacy,
    "units": _unit_privacy,
    "keys": _many_keys,
    "large": _large,
    "explain": _explain,
    "spark": _spark,
    "streamed": _streamed,
    "peers": tables_peers.rows,
}


def main(arguments: list[str]) -> None:
    """Print the rows; ``make bench-tables`` also writes them down."""
    sizes = QUICK if "--quick" in arguments else FULL
    for row in rows(sizes, [name for name in PARTS if name in arguments]):
        print(f"{row.what}: {row.ours} | {row.reference} | {row.ratio} ({row.target})", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
