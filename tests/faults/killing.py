"""Workers that are killed: at a random moment, at a step of the order of work, or in the middle
of writing to the disk; and the checks that hold after each kill, whatever happened.

The workers are forked from a parent that has imported everything and has nothing open, so one
costs a few milliseconds. They tell the parent what they do through a pipe, each line before the
step after it: what is in the pipe did happen.
"""

import contextlib
import gc
import json
import os
import random
import select
import signal
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import discreet as dp
from discreet.signing import create_key
from tests.faults import clinic
from tests.faults.disk import Disk, Fault
from tests.faults.journal import Journal, read_journal, read_postgres
from tests.faults.server import empty
from tests.faults.steps import SQLITE_ONLY, STEPS, dies_at

BUDGET = dp.Pure(10**6)
TAGS = 2**20  # prices are told apart by this many
HOWS = ("kill", "kill torn", "kill after")


@dataclass(frozen=True)
class Errand:
    """One release: its price has a tag of its own; a key makes a second attempt the same one."""

    tag: int
    key: str | None


@dataclass(frozen=True)
class Doom:
    """How a worker ends: after some seconds, at a step, or at an operation of the disk."""

    seconds: float | None = None
    step: str | None = None
    times: int = 1  # that it comes to the step
    fault: Fault | None = None

    def __str__(self) -> str:
        if self.step is not None:
            return f"{self.step}, time {self.times}"
        return str(self.fault or f"after {self.seconds:.4f} s")


@dataclass
class Worker:
    """A process on its way, and what it has told."""

    process: int
    pipe: int
    doom: Doom
    errands: list[Errand]
    text: bytes = b""
    killed: bool = False

    @property
    def told(self) -> list[dict[str, Any]]:
        """The lines that came through whole."""
        return [json.loads(line) for line in self.text.split(b"\n")[:-1]]


def start(
    location: str, errands: list[Errand], doom: Doom, *, key: Path | None, real: bool = False
) -> Worker:
    """Fork a worker that does the errands, unless its doom comes first."""
    reading, writing = os.pipe()
    process = os.fork()
    if process:
        os.close(writing)
        return Worker(process, reading, doom, errands)
    code = 1
    try:
        os.close(reading)
        with contextlib.ExitStack() as stack:
            if doom.fault is not None:
                stack.enter_context(Disk(Path(location).parent, doom.fault))
            if doom.step is not None:
                stack.enter_context(dies_at(doom.step, doom.times))
            table = clinic.stored() if real else clinic.counted()
            _work(table, location, errands, writing, key)
        code = 0
    except BaseException as error:
        _tell(writing, {"failed": f"{type(error).__name__}: {error}"[:300]})
    finally:
        os._exit(code)


def _tell(pipe: int, what: dict[str, Any]) -> None:
    os.write(pipe, json.dumps(what).encode() + b"\n")


def _work(table: Any, location: str, errands: list[Errand], pipe: int, key: Path | None) -> None:
    session = dp.Session(
        table, budget=BUDGET, ledger=location, dataset="clinic", create=True, key=key
    )
    for errand in errands:
        _tell(pipe, {"asks": errand.tag})
        clinic.Counted.when_touched = partial(_tell, pipe, {"touched": errand.tag})
        query = clinic.question(table)
        try:
            result = session.release(
                query, epsilon=clinic.price(errand.tag), idempotency_key=errand.key
            )
        except dp.Refused as error:
            _tell(pipe, {"refused": errand.tag, "why": str(error)})
        else:
            _tell(pipe, {"answered": errand.tag, "values": clinic.values(result)})


def watch(workers: list[Worker]) -> None:
    """Read what they tell until all have ended; kill those whose time has come."""
    begun = time.monotonic()
    waiting = {worker.pipe: worker for worker in workers}
    doomed = [worker for worker in workers if worker.doom.seconds is not None]
    while waiting:
        due = min((w.doom.seconds for w in doomed), default=None)  # type: ignore[type-var]
        rest = 60.0 if due is None else max(0.0, begun + due - time.monotonic())
        ready, _, _ = select.select(list(waiting), [], [], rest)
        for worker in [w for w in doomed if begun + w.doom.seconds <= time.monotonic()]:
            doomed.remove(worker)
            os.kill(worker.process, signal.SIGKILL)
        for pipe in ready:
            if part := os.read(pipe, 65536):
                waiting[pipe].text += part
            else:
                os.close(pipe)
                ended = waiting.pop(pipe)
                _, status = os.waitpid(ended.process, 0)
                ended.killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
                if ended in doomed:
                    doomed.remove(ended)
        assert ready or due is not None, "a worker hangs"


@dataclass
class Campaign:
    """Rounds of killing on one ledger after another, and what was found wrong."""

    folder: Path
    coins: random.Random
    url: str | None = None  # of an empty PostgreSQL database; its schema is dropped and made anew
    per_ledger: int = 25  # rounds
    kills: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    _location: str = ""
    _key: Path | None = None
    _ledgers: int = 0
    _tag: int = 0
    _before: Journal | None = None
    _values: dict[int, list[int]] = field(default_factory=dict)
    _crashed: list[Errand] = field(default_factory=list)
    _checks: int = 0
    _seconds: float = 0.05  # that a worker takes
    _operations: int = 0  # that a worker does to the disk

    def run(self, kills: int, *, until_found: bool = False) -> None:
        """Rounds, until this many workers were killed, or until something is found wrong."""
        self._warm()
        target = self.kills + kills
        rounds = 0
        while self.kills < target and not (until_found and self.violations):
            if rounds % self.per_ledger == 0:
                self._new_ledger()
            rounds += 1
            self._round()

    # -- one round ---------------------------------------------------------------------------------

    def _round(self) -> None:
        size = 1 if self.coins.random() < 0.8 else 3
        workers = []
        for _ in range(size):
            errands = [self._errand() for _ in range(self.coins.choice([1, 1, 2]))]
            real = self.url is None and size == 1 and self.coins.random() < 0.02
            doom = self._doom(size)
            workers.append(start(self._location, errands, doom, key=self._key, real=real))
            self.counts["with a real engine"] += real
        watch(workers)
        self._check(workers)

    def _errand(self) -> Errand:
        if self._crashed and self.coins.random() < 0.5:
            return self._crashed.pop(self.coins.randrange(len(self._crashed)))
        self._tag += 1
        return Errand(self._tag, f"key {self._tag}" if self.coins.random() < 0.6 else None)

    def _doom(self, size: int) -> Doom:
        kind = self.coins.choice(["time", "step", "disk"] if self.url is None else ["time", "step"])
        if kind == "time":
            return Doom(seconds=self.coins.random() * self._seconds * size)
        if kind == "step":
            steps = [step for step in STEPS if self.url is None or step not in SQLITE_ONLY]
            self.coins.shuffle(steps)
            rarest = min(steps, key=lambda step: self.counts[f"killed at: {step}"])
            return Doom(step=rarest, times=1 if self.coins.random() < 0.8 else 2)
        at = self.coins.randrange(self._operations)
        return Doom(fault=Fault(at, self.coins.choice(HOWS)))

    def _warm(self) -> None:
        """What is computed once a process is computed before the forks; nothing stays open."""
        table = clinic.counted()
        create_key(self.folder / "key")
        for key in ("first", "second"):
            path = self.folder / "warm.ledger"
            with Disk(self.folder) as disk, dp.Ledger(path, create=True) as ledger:
                session = dp.Session(table, budget=BUDGET, ledger=ledger, create=True)
                for _ in range(2):
                    session.release(clinic.question(table), epsilon=1, idempotency_key=key)
                self._operations = len(disk.operations)
        gc.collect()
        gc.freeze()  # what is there already is not looked through in each worker
        self._new_ledger()
        taken = []
        for _ in range(5):
            begun = time.monotonic()
            self._tag += 1
            errands = [Errand(self._tag, None)]
            watch([worker := start(self._location, errands, Doom(seconds=60), key=None)])
            taken.append(time.monotonic() - begun)
            self._check([worker])
        self._seconds = sorted(taken)[2]

    def _new_ledger(self) -> None:
        self._ledgers += 1
        self._key = None if self._ledgers % 2 else self.folder / "key"  # every other one is signed
        if self.url is None:
            for path in self.folder.glob(f"{self._ledgers - 1}.ledger*"):
                path.unlink()
            self._location = str(self.folder / f"{self._ledgers}.ledger")
        else:
            empty(self.url)
            self._location = self.url
        self._before, self._crashed, self._values = None, [], {}

    # -- what must hold ----------------------------------------------------------------------------

    def _check(self, workers: list[Worker]) -> None:
        dead = [worker for worker in workers if worker.killed]
        self.kills += len(dead)
        self.counts["killed"] += len(dead)
        for worker in workers:
            kind = "step" if worker.doom.step else "disk" if worker.doom.fault else "time"
            self.counts[f"killed by {kind}" if worker.killed else "survived"] += 1
            if worker.killed and worker.doom.step:
                self.counts[f"killed at: {worker.doom.step}"] += 1
        dooms = ", ".join(f"{w.doom}{'' if w.killed else ' (lived)'}" for w in workers)
        try:
            for problem in self._problems(workers, len(dead)):
                self.violations.append(f"{problem} [ledger {self._ledgers}; {dooms}]")
        except Exception as error:
            self.violations.append(f"{type(error).__name__}: {error} [{dooms}]")

    def _problems(self, workers: list[Worker], dead: int) -> list[str]:
        found: list[str] = []
        self._settle()
        ledger = self._open()
        journal = read_journal(self._location) if self.url is None else read_postgres(self.url)
        found += journal.flaws()
        [account] = ledger.datasets
        if account.filter.spent != dp.Pure(journal.spent_by("clinic")):
            found.append("spent is not the sum of the journal's charges")
        self._checks += 1  # opening has read the whole chain; this prices all charges again
        if self._checks % 4 == 0 and ledger.verify().charges != len(journal.charges):
            found.append("verify counts other charges than there are")
        ledger.close()

        before = self._before
        if before is not None and journal.hashes[: len(before.hashes)] != before.hashes:
            found.append("records of before have changed")
        new = len(journal.stranded) - (0 if before is None else len(before.stranded))
        if new > dead:
            found.append(f"{dead} crashes left {new} charges without a reply")
        self.counts["stranded"] += max(new, 0)
        charged = Counter(clinic.tag_of(record) for record in journal.charges)
        found += [f"release {tag} was charged {n} times" for tag, n in charged.items() if n > 1]
        earlier = (
            Counter(clinic.tag_of(record) for record in before.charges) if before else Counter()
        )
        for worker in workers:
            found += self._told(worker, journal, charged, earlier)
        self._before = journal
        return found

    def _told(
        self, worker: Worker, journal: Journal, charged: "Counter[int]", earlier: "Counter[int]"
    ) -> list[str]:
        """Compare what a worker saw with what is in the journal."""
        found = []
        stranded = {clinic.tag_of(r) for r in journal.charges if r["number"] in journal.stranded}
        keys = {errand.tag: errand.key for errand in worker.errands}
        ended = set()
        for line in worker.told:
            match line:
                case {"touched": tag}:
                    if not charged[tag]:
                        found.append(f"release {tag} touched data without a durable charge")
                    if earlier[tag]:
                        found.append(f"release {tag} touched data again, although it was charged")
                case {"answered": tag, "values": values}:
                    ended.add(tag)
                    self.counts["answered"] += 1
                    if not charged[tag]:
                        found.append(f"release {tag} was answered without a durable charge")
                    if tag in stranded:
                        found.append(f"release {tag} was answered and its reply is not stored")
                    if earlier[tag]:
                        self.counts["answered again from the store"] += 1
                    if self._values.setdefault(tag, values) != values:
                        found.append(f"release {tag} was answered in two ways under one key")
                case {"refused": tag, "why": why}:
                    ended.add(tag)
                    self.counts["refused after a crash"] += 1
                    if not earlier[tag] or tag not in stranded:
                        found.append(f"release {tag} was refused without a reason: {why}")
                case {"failed": error}:
                    found.append(f"a worker failed: {error}")
        asked = {line["asks"] for line in worker.told if "asks" in line}
        found += [
            f"release {tag} was charged before it was asked for"
            for tag in keys
            if tag not in asked and charged[tag] > earlier[tag]
        ]
        if not worker.killed:
            found += [f"release {tag} has no outcome" for tag in keys if tag not in ended]
        else:
            self._crashed += [e for e in worker.errands if e.key is not None]
        return found

    def _settle(self) -> None:
        """A server may still be at the last thing that a dead worker asked for: wait for it."""
        if self.url is None:
            return
        import psycopg

        others = "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"
        with psycopg.connect(self.url, autocommit=True) as connection:
            while connection.execute(others).fetchone() != (1,):
                time.sleep(0.001)

    def _open(self) -> Any:
        """Open as a user would after a crash: also one that came while the ledger was made."""
        ledger = dp.Ledger(self._location, create=True, key=self._key)
        if not ledger.datasets:
            ledger.add_dataset("clinic", budget=BUDGET)
        return ledger

    def summary(self) -> str:
        """For people."""
        lines = [f"{self.kills:,} kills on {self._ledgers:,} ledgers"]
        lines += [f"  {name}: {count:,}" for name, count in sorted(self.counts.items())]
        lines += [f"VIOLATION: {violation}" for violation in self.violations[:50]]
        lines += [f"{len(self.violations):,} violations"]
        return "\n".join(lines)
