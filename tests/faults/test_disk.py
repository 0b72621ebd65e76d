"""Every write, sync, truncation, deletion and creation of a file fails or tears in turn; the disk
is full; the file system is read-only: no budget is freed, and the error is ours and clear."""

import resource
import shutil
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest
from sqlalchemy.exc import OperationalError

import discreet as dp
from discreet.ledger.stores.sqlite import SqliteStore
from tests.faults import clinic
from tests.faults.alone import ROOT
from tests.faults.disk import Disk, Fault
from tests.faults.journal import read_journal

NAME = "people.ledger"
BUDGET = dp.Pure(100)


class Diary:
    """What a caller saw: releases asked for, data touched, answers, errors."""

    def __init__(self):
        self.asked, self.touched, self.answered, self.errors = [], set(), {}, []


def release(session, table, diary, tag):
    """Ask once; an error that is not ours is not caught."""
    diary.asked.append(tag)
    clinic.Counted.when_touched = lambda: diary.touched.add(tag)
    try:
        result = session.release(
            clinic.question(table), epsilon=clinic.price(tag), idempotency_key=f"key {tag}"
        )
    except dp.DiscreetError as error:
        diary.errors.append(error)
    else:
        diary.answered[tag] = clinic.values(result)


def made(folder, diary):
    """A ledger is made, and used once."""
    table = clinic.counted()
    try:
        with dp.Ledger(folder / NAME, create=True) as ledger:
            ledger.add_dataset("clinic", budget=BUDGET)
            release(dp.Session(table, ledger=ledger), table, diary, 1)
    except dp.DiscreetError as error:
        diary.errors.append(error)


def used(folder, diary):
    """A ledger is opened and used twice: what failed for one release may be over by the next."""
    table = clinic.counted()
    try:
        with dp.Ledger(folder / NAME) as ledger:
            session = dp.Session(table, ledger=ledger)
            for tag in (2, 3):
                release(session, table, diary, tag)
    except dp.DiscreetError as error:
        diary.errors.append(error)


def faults(operations):
    """What can go wrong with each operation, for a moment or from then on. Of the pages that
    SQLite writes in one go, the first two and the last are enough."""
    for at, operation in enumerate(operations):
        near = {(o.what, o.path) for o in operations[max(0, at - 2) : at + 2]}
        if near == {(operation.what, operation.path)} and operation.what == "write" and at > 1:
            continue
        yield Fault(at, "error")
        if operation.what != "write":
            yield Fault(at, "error", lasts=True)
            continue
        yield from (Fault(at, "tear"), Fault(at, "full", lasts=True))
        if operation.by == "python":
            yield from (Fault(at, "short"), Fault(at, "read-only", lasts=True))


def check_after(folder, diary, told, *, create):
    """The disk works again: what was answered was charged, and the ledger goes on."""
    table = clinic.counted()
    with dp.Ledger(folder / NAME, create=create) as ledger:
        ledger.add_dataset("clinic", budget=BUDGET)
        journal = read_journal(folder / NAME)
        charged = [clinic.tag_of(record) for record in journal.charges]
        stranded = {clinic.tag_of(r) for r in journal.charges if r["number"] in journal.stranded}
        assert journal.flaws() == [], told
        assert len(charged) == len(set(charged)) and {*charged} <= {1, *diary.asked}, told
        assert diary.touched <= {*charged}, f"data was touched without a charge: {told}"
        assert {*diary.answered} <= {*charged} - stranded, f"an answer was forgotten: {told}"
        assert ledger.datasets[0].filter.spent == dp.Pure(journal.spent_by("clinic")), told

        # Again, under the same keys: stored, refused, or fresh, but never charged twice.
        again, session = Diary(), dp.Session(table, ledger=ledger)
        for tag in diary.asked:
            release(session, table, again, tag)
            outcome = again.answered.get(tag)
            assert (outcome is None) == (tag in stranded), told
            assert tag not in diary.answered or outcome == diary.answered[tag], told
        assert again.touched == {*diary.asked} - {*charged}, told
        journal = read_journal(folder / NAME)
        assert sorted(map(clinic.tag_of, journal.charges)) == sorted({*charged, *diary.asked}), told
        assert ledger.verify().charges == len(journal.charges), told


@pytest.mark.parametrize("work", [made, used])
def test_every_operation_fails_in_turn(work, scratch, record_property):
    """Catches a charge that is believed before it is on disk, a head that a torn write destroys,
    a lock or connection that an error leaves unusable, and an error that is not ours."""
    base, folder = scratch / "base", scratch / "folder"
    base.mkdir()
    if work is used:
        made(base, Diary())
    shutil.copytree(base, folder)
    with Disk(folder) as disk:
        work(folder, Diary())
    plan = list(faults(disk.operations))
    kinds = {(operation.by, operation.what) for operation in disk.operations}
    assert {
        ("python", "write"),
        ("python", "sync"),
        ("sqlite", "write"),
        ("sqlite", "sync"),
    } < kinds
    seen = 0
    for fault in plan:
        shutil.rmtree(folder)
        shutil.copytree(base, folder)
        diary = Diary()
        with Disk(folder, fault) as disk:
            work(folder, diary)
        # The head is synced at most ten times a second: a slower run has a few operations more.
        reached = fault.at < len(disk.operations)
        told = f"{fault}, {disk.operations[fault.at] if reached else 'not reached'}"
        for error in diary.errors:
            seen += 1
            assert isinstance(error, dp.EngineError | dp.LedgerDamaged | dp.Refused), told
            assert error.__context__ is None and error.__cause__ is None, told
            assert NAME in str(error) and "sqlite3" not in str(error), told
        check_after(folder, diary, told, create=work is made)
    assert seen > len(plan) / 2  # the faults did reach the caller
    record_property("measured", f"{len(plan)} faults of a disk ({work.__name__}): {seen} errors")


def test_a_swallowed_error_is_caught(scratch, monkeypatch):
    """Catches checks that cannot fail: a store that keeps errors to itself answers without a
    durable charge, and that is seen."""
    made(scratch, Diary())
    with Disk(scratch) as disk:
        used(scratch, Diary())
    at = next(n for n, o in enumerate(disk.operations) if o.what == "sync" and "-wal" in o.path)
    (scratch / "again").mkdir()
    made(scratch / "again", Diary())
    diary = Diary()
    with monkeypatch.context() as patch, Disk(scratch / "again", Fault(at)):
        patch.setattr(SqliteStore, "in_our_words", lambda _: suppress(OperationalError))
        used(scratch / "again", diary)
    assert diary.answered
    with pytest.raises((AssertionError, dp.LedgerDamaged)):
        check_after(scratch / "again", diary, "swallowed", create=False)


# -- real ones -------------------------------------------------------------------------------------


def test_a_limit_on_the_size_of_files(scratch):
    """Catches an answer without a durable charge where the system itself refuses to write: no
    file may grow beyond a few pages."""
    made(scratch, Diary())
    table, diary = clinic.counted(), Diary()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with dp.Ledger(scratch / NAME) as ledger:
        session = dp.Session(table, ledger=ledger)
        resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]))
        try:
            for tag in range(2, 8):
                release(session, table, diary, tag)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert diary.answered and diary.errors  # some before, none after
    check_after(scratch, diary, "RLIMIT_FSIZE", create=False)


MOUNTED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
NEWNS, NEWUSER, PRIVATE = 0x20000, 0x10000000, 1 << 18 | 1 << 14
user, group = os.geteuid(), os.getegid()
if libc.unshare(NEWNS | (NEWUSER if user else 0)):
    sys.exit(77)
if user:
    maps = {{"uid_map": f"0 {{user}} 1", "setgroups": "deny", "gid_map": f"0 {{group}} 1"}}
    for name, text in maps.items():
        with open(f"/proc/self/{{name}}", "w") as file:
            file.write(text)
libc.mount(b"none", b"/", None, PRIVATE, None)
folder, options = sys.argv[1].encode(), sys.argv[2].encode()
if libc.mount(b"tmpfs", folder, b"tmpfs", 0, options):
    sys.exit(77)
from tests.faults import test_disk
test_disk.{name}(sys.argv[1], lambda flags: libc.mount(None, folder, None, flags, None))
"""
REMOUNT, READ_ONLY = 32, 1


def on_a_file_system_of_its_own(name, folder, options):
    """Run a function of this module on a small file system that only its process sees."""
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", MOUNTED.format(name=name), str(folder), options],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if done.returncode == 77:
        pytest.fail(
            "this system lets no process mount a file system of its own: run this as root, or "
            "where unprivileged user namespaces are allowed"
        )
    assert done.returncode == 0, done.stderr


@pytest.mark.long  # not for its time: mounting is not allowed everywhere
def test_a_full_disk(scratch):
    """Catches the same on a disk that has no block left, and gets some back."""
    on_a_file_system_of_its_own("fill_the_disk", scratch / "small", "size=200k")


def fill_the_disk(name, remount):
    """Releases until the disk is full, and after something was removed."""
    folder, diary = Path(name), Diary()
    made(folder, diary)
    ballast = folder / "ballast"
    ballast.write_bytes(bytes(60_000))
    table = clinic.counted()
    with dp.Ledger(folder / NAME) as ledger:
        session = dp.Session(table, ledger=ledger)
        while not diary.errors:
            release(session, table, diary, len(diary.asked) + 1)
        assert "disk is full" in str(diary.errors[-1]) or "no space" in str(diary.errors[-1])
        full = len(diary.errors)
        release(session, table, diary, len(diary.asked) + 1)
        assert len(diary.errors) == full + 1
        ballast.unlink()
        release(session, table, diary, len(diary.asked) + 1)
        assert len(diary.errors) == full + 1  # it works again
    check_after(folder, diary, "a full disk", create=False)


@pytest.mark.long  # likewise
def test_a_read_only_file_system(scratch):
    """Catches an answer from a ledger that cannot be written, and an error that says less."""
    on_a_file_system_of_its_own("write_protect", scratch / "small", "size=1m")


def write_protect(name, remount):
    """Open and charge where nothing can be written, and again where it can."""
    folder, diary = Path(name), Diary()
    made(folder, diary)
    table = clinic.counted()
    with closing(dp.Ledger(folder / NAME)):
        pass
    assert remount(REMOUNT | READ_ONLY) == 0
    used(folder, diary)
    assert len(diary.errors) == 1 and not diary.touched - {1}
    assert "read-only" in str(diary.errors[0])
    with pytest.raises(dp.DiscreetError, match="read-only"):
        dp.Ledger(folder / "other.ledger", create=True)
    assert remount(REMOUNT) == 0
    check_after(folder, diary, "a read-only file system", create=False)
    with dp.Ledger(folder / NAME) as ledger:
        release(dp.Session(table, ledger=ledger), table, diary, 9)
    assert 9 in diary.answered
