"""Durable charges beside bare inserts, and opening long journals (``make bench-ledger``)."""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from statistics import median

import discreet as dp
from benchmarks.timing import Row
from discreet.ledger import Claim
from discreet.ledger.head import Head
from discreet.ledger.journal import LedgerBudget
from discreet.ledger.record import Record
from discreet.ledger.stores.store import journal_table
from tests.faults.disk import Disk, Operation

AT_ONCE, ROUNDS = 50, 30
LONG = 1_000_000
MILLISECOND = 0.001
COST = dp.Pure("1/100")
MECHANISM = {
    "for": "count of rows",
    "mechanism": "laplace",
    "scale": "100",
    "sensitivity": {"l0": "1", "l1": "1", "l2": "1", "linf": "1"},
    "step": "1",
    "times": 1,
}
QUERY = {
    "kind": "query",
    "aggregates": [{"column": None, "kind": "count", "name": "n", "weight": "1"}],
    "group": [],
    "keys": None,
    "relation": "add-remove",
    "steps": [],
    "unit": None,
}
DIGEST = "0" * 64


def rows() -> Iterator[Row]:
    """Yield the rows of the table."""
    with tempfile.TemporaryDirectory(dir=".") as name:
        folder = Path(name)
        yield from _speed(folder / "fast", "here")
        with _SlowDisk(folder):
            yield from _speed(folder / "slow", "on a disk that takes 1 ms to sync", rounds=6)
        yield from _long(folder / "long")


class _SlowDisk(Disk):
    """Every sync takes a millisecond more, ours and SQLite's alike."""

    def pass_through(
        self,
        operation: Operation,
        work: Callable[[], object],
        fail: Callable[[str], object],
        half: Callable[[], object] | None = None,
    ) -> object:
        if operation.what == "sync":
            time.sleep(MILLISECOND)
        return work()


def _speed(folder: Path, where: str, rounds: int = ROUNDS) -> Iterator[Row]:
    folder.mkdir()
    with dp.Ledger(folder / "x.ledger", create=True) as ledger:
        purse, number = _purse(ledger), count()
        bare = _bare(folder / "bare")
        body = "x" * 900  # about what a record takes

        def ours() -> None:
            purse.charge(Claim(f"q{next(number)}", COST, DIGEST, (MECHANISM,), QUERY))

        def reference() -> None:
            bare.execute("INSERT INTO t (b) VALUES (?)", (body,))

        charge, insert = _medians(ours, reference, rounds)
        bare.close()
    ratio = insert / charge
    slow = insert >= MILLISECOND
    yield Row(
        f"durable charges, {where}",
        f"{1 / charge:,.0f} a second ({charge * 1e6:.0f} µs)",
        f"{1 / insert:,.0f} a second, a bare insert with synchronous=FULL",
        f"{ratio:.2f}",
        "at least 0.3" if slow else "at least 1,500 a second",
        ratio >= 0.3 if slow else 1 / charge >= 1500,
    )


def _medians(
    ours: Callable[[], None], reference: Callable[[], None], rounds: int
) -> tuple[float, float]:
    """Seconds of one, in turns of fifty; the middle of all turns."""
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        for job, times in zip((ours, reference), taken, strict=True):
            start = time.perf_counter()
            for _ in range(AT_ONCE):
                job()
            times.append((time.perf_counter() - start) / AT_ONCE)
    return median(taken[0][1:]), median(taken[1][1:])


def _purse(ledger: dp.Ledger) -> LedgerBudget:
    ledger.add_dataset("visits", budget=dp.Pure(10**6))
    ledger.add_analyst("ann", dataset="visits", budget=dp.Pure(10**6))
    return ledger.purse("visits", "ann")


def _bare(path: Path) -> sqlite3.Connection:
    bare = sqlite3.connect(path, isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"):
        bare.execute(statement)
    bare.execute("CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT)")
    return bare


def _long(folder: Path) -> Iterator[Row]:
    folder.mkdir()
    path = folder / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        purse = _purse(ledger)
        short = _charges(purse)
        _fill(ledger, LONG)
        long = _charges(purse)
    took = []
    for _ in range(3):
        start = time.perf_counter()
        with dp.Ledger(path) as ledger:
            took.append(time.perf_counter() - start)
            assert len(ledger.datasets) == 1
    seconds = min(took)
    what = f"open and verify {LONG:,} records"
    yield Row(what, f"{seconds:.1f} s", "", "", "below 10 s", seconds < 10)
    yield Row(
        f"one charge after {LONG:,} records",
        f"{long * 1e6:.0f} µs",
        f"{short * 1e6:.0f} µs, in an empty ledger",
        f"{long / short:.2f}",
        "does not grow (below 1.25)",
        long / short < 1.25,
    )


def _charges(purse: LedgerBudget) -> float:
    """Seconds of one charge: the middle of some hundred."""
    times = []
    for i in range(300):
        start = time.perf_counter()
        purse.charge(Claim(f"q{i}", COST, DIGEST, (MECHANISM,), QUERY))
        times.append(time.perf_counter() - start)
    return median(times)


def _fill(ledger: dp.Ledger, records: int) -> None:
    """Many charges in one transaction: as they would be one by one, but for the waiting."""
    state = ledger._journal.current()
    dataset, analyst = (
        state.names["dataset", None, "visits"],
        state.names["analyst", state.names["dataset", None, "visits"], "ann"],
    )
    fields = {
        "analyst": analyst,
        "charges": [[dataset, "1/100", "0"], [analyst, "1/100", "0"]],
        "dataset": dataset,
        "digest": DIGEST,
        "kind": "charge",
        "relation": "add-remove",
        "time": "2026-01-31T12:00:00.000000+00:00",
    }
    guarantee = {"epsilon": "1/100", "notion": "pure", "version": 1}
    detail = {"guarantee": guarantee, "mechanisms": [MECHANISM], "query": QUERY}
    with ledger._journal.store.writing() as transaction:
        number, digest = state.number, state.hash
        for first in range(0, records, 10_000):
            added = []
            for i in range(first, first + 10_000):
                told = {**detail, "question": f"question {i}"}
                record = Record.write(number + 1, digest, fields, detail=told)
                number, digest = record.number, record.hash
                added.append(dict(zip(journal_table.c.keys(), record, strict=True)))
            transaction._connection.execute(journal_table.insert(), added)
        transaction.following = Head(transaction.head.ledger, number, digest)


if __name__ == "__main__":
    for row in rows():
        print(row, file=sys.stdout)
