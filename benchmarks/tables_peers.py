"""Other libraries on the same tables, each in an environment of its own: their pins conflict.

The environment of, say, OpenDP is ``.venv-peer-opendp`` beside this folder, or the one whose
Python ``DISCREET_PEER_OPENDP`` names; ``make bench-tables`` makes them. Theirs and ours
take turns. Errors are those of the count and of the mean, the root of the mean square over the
groups, at the same ε = 1 and on whole numbers, which are the kindest to the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from benchmarks import tables_questions as questions
from benchmarks.tables_data import FULL, Sizes, visits, wards
from benchmarks.timing import Row, race

HERE = Path(__file__).parent
LIMIT = 900  # seconds for one answer
COLUMN = "days"


@dataclass(frozen=True)
class Peer:
    """A library, and which questions it is asked on how many rows."""

    name: str
    words: str
    units: tuple[bool, ...] = (False, True)
    looped: bool = False  # goes through the rows in Python


PEERS = (
    Peer("opendp", "OpenDP {} with Polars"),
    Peer("smartnoise", "SmartNoise SQL {} on SQLite"),
    Peer("tumult", "Tumult Analytics {} on Spark local[2], count and sum", units=(False,)),
    Peer("pipelinedp", "PipelineDP {}, local", looped=True),
)


def rows(sizes: Sizes = FULL) -> Iterator[Row]:
    """Yield a row for each library and question; a missing library is named as missing."""
    for peer in PEERS:
        count = sizes.peer_rows if peer.looped else sizes.rows
        for unit in peer.units:
            kind = f"{questions.MAX_GROUPS} groups a person" if unit else "a row a person"
            what = f"count and mean by group, {count:,} rows, {kind}: "
            python = interpreter(peer.name)
            if python is None:
                yield Row(what + peer.words.replace(" {}", ""), "", "not installed", "", "", None)
                continue
            path = visits(count, count * sizes.people // sizes.rows)
            yield _beside(peer, what, path, python, count, unit)


def interpreter(name: str) -> str | None:
    """The Python of a library's environment, if there is one."""
    chosen = os.environ.get(f"DISCREET_PEER_{name.upper()}")
    usual = HERE.parent / f".venv-peer-{name}" / "bin" / "python"
    return chosen or (str(usual) if usual.exists() else None)


def _beside(peer: Peer, what: str, path: Path, python: str, count: int, unit: bool) -> Row:
    # Bounding drops hardly anything where people see three clinics, so what errs is the noise.
    group = "clinic" if unit else "ward"
    question = {
        "path": str(path),
        "rows": count,
        "group": group,
        "column": COLUMN,
        "bounds": questions.BOUNDS[COLUMN],
        "keys": wards(),
        "unit": unit,
        "epsilon": questions.EPSILON,
        "max_groups": questions.MAX_GROUPS,
        "max_rows": questions.MAX_ROWS,
    }
    ask = questions.ours(path, column=COLUMN, group=group, unit="person" if unit else None)
    true = questions.truth(path, column=COLUMN, group=group)
    with worker(python, peer.name, question) as other:
        if other.version is None:
            label = peer.words.replace(" {}", "")
            return Row(what + label, "", f"failed: {other.complaint}", "", "", None)
        words = peer.words.format(other.version)
        try:
            mine, theirs = race(ask, other.ask, rounds=2)
        except EOFError:
            return Row(what + words, "", f"failed: {other.complaint}", "", "", None)
        answers = {key: (n, mean) for key, n, mean in other.last["answers"]}
        peak = other.last["peak"]
        memory = f", {peak / 2**30:.1f} GiB" if peak and "Spark" not in words else ""
    return Row(
        what + words,
        f"{mine:.2f} s, {questions.errors(questions.released(ask()), true)}",
        f"{theirs:.2f} s, {questions.errors(answers, true)}{memory}",
        f"{theirs / mine:.1f} times slower",
        "slower than ours",
        theirs > mine,
    )


class Worker:
    """Another library in a process of its own, which answers when asked."""

    def __init__(self, process: subprocess.Popen[str], log: Any) -> None:
        self.process, self.log = process, log
        self.last: dict[str, Any] = {}
        first = self._read()
        self.version: str | None = json.loads(first)["version"] if first else None

    def ask(self) -> None:
        """Wait for one answer."""
        assert self.process.stdin is not None
        self.process.stdin.write("again\n")
        self.process.stdin.flush()
        line = self._read()
        if not line:
            raise EOFError
        self.last = json.loads(line)

    @property
    def complaint(self) -> str:
        """The last line it wrote before it ended."""
        if self.process.wait(timeout=10) < 0:
            return f"ended after {LIMIT} s, or by another's hand"
        self.log.seek(0)
        lines = self.log.read().decode(errors="replace").split("\n")
        return next((line for line in reversed(lines) if line.strip()), "no reason given")[:120]

    def _read(self) -> str:
        assert self.process.stdout is not None
        timer = Timer(LIMIT, self.process.kill)
        timer.start()
        try:
            return self.process.stdout.readline()
        finally:
            timer.cancel()


@contextmanager
def worker(python: str, name: str, question: dict[str, Any]) -> Iterator[Worker]:
    """Start a library, and end it with the block."""
    script = str(HERE / "tables_peer_jobs.py")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as log:
        order = json.dumps({**question, "folder": folder})
        process = subprocess.Popen(
            [python, "-P", script, name, order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
        )
        try:
            yield Worker(process, log)
        finally:
            try:
                process.communicate(timeout=30)  # closes its input, at which it ends
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
