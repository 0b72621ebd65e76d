"""H10: rows that DuckDB writes to disk for want of memory are nobody else's to read, and go."""

import os
import signal
import stat
import subprocess
import sys
from contextlib import contextmanager

import pyarrow as pa
import pytest

import discreet as dp
from discreet.engines import duckdb

# Spills in the library's own database, says so, and does what it is told.
SPILLER = """
import os, signal, sys
import pyarrow as pa
from discreet.engines.frames import ArrowTable
one = ArrowTable(pa.table({"x": [1]})).open(["x"])
one.run("SET memory_limit = '10MB'")
one.run("SET threads = 1")
one.run("CREATE TABLE rows AS SELECT range AS a, hash(range) AS b FROM range(1000000)")
assert one.run("SELECT count(*) FROM duckdb_temporary_files()") > [(0,)]
print("spilled", flush=True)
for line in sys.stdin:
    if line == "fork\\n":
        child = os.fork()
        if child == 0:
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        print(status, flush=True)
    if line == "stay\\n":
        child = os.fork()
        if child == 0:
            signal.pause()
        print(child, flush=True)
    if line == "sum\\n":
        print(one.run("SELECT count(*), sum(a) FROM rows")[0], flush=True)
"""
SUM = "(1000000, 499999500000)"


@contextmanager
def spiller(place):
    """A process that has spilled; ends by itself when its input does."""
    environment = {**os.environ, "DISCREET_SPILL": str(place), "TMPDIR": str(place)}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", SPILLER], env=environment, **pipes) as process:
        assert process.stdout.readline() == "spilled\n"
        yield process


def ask(process, what):
    process.stdin.write(f"{what}\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def test_h10_nobody_else_can_read_spilled_rows(tmp_path):
    """H10: catches a folder that others may enter, and files that stay when all went well."""
    with spiller(tmp_path):
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        assert any(file.stat().st_size for file in folder.iterdir())
    assert not list(tmp_path.iterdir())


def test_h10_what_a_killed_process_left_goes_at_the_next_start(tmp_path):
    """H10: catches rows that stay for ever, and the folder of a living process being taken away."""
    with spiller(tmp_path) as living:
        (its,) = tmp_path.iterdir()
        with spiller(tmp_path) as killed:
            killed.send_signal(signal.SIGKILL)
        (left,) = set(tmp_path.iterdir()) - {its}
        assert any(file.stat().st_size for file in left.iterdir())
        with spiller(tmp_path):
            assert its.exists() and not left.exists()
            assert ask(living, "sum") == SUM
        assert list(tmp_path.iterdir()) == [its]


def test_h10_a_forked_child_leaves_its_parents_rows_alone(tmp_path):
    """H10: catches a child that tears the parent's database down when it ends: the parent would
    find its rows gone in the middle of a pass. And one that holds the lock of a dead parent."""
    with spiller(tmp_path) as process:
        assert ask(process, "fork") == "0"
        assert ask(process, "sum") == SUM
        child = int(ask(process, "stay"))
        process.send_signal(signal.SIGKILL)
        process.wait()
        duckdb._remove_stale(str(tmp_path))
        os.kill(child, signal.SIGKILL)
    assert not list(tmp_path.iterdir())


def test_h10_only_folders_of_dead_processes_are_removed(tmp_path, monkeypatch):
    """H10: catches a start that follows a link into somebody's files, or takes what is not ours."""
    monkeypatch.setenv("DISCREET_SPILL", str(tmp_path))
    precious = tmp_path / "precious"
    precious.mkdir()
    for name in ("lock", "duckdb_temp_0.tmp"):
        (precious / name).write_text("rows")
    (tmp_path / "discreet-spill-link").symlink_to(precious)
    (tmp_path / "discreet-spill-starting").mkdir()  # not yet locked, by a process that starts now
    (tmp_path / "discreet-spill-file").write_text("")
    before = sorted(tmp_path.rglob("*"))
    folder, lock = duckdb._spill_folder()
    again, other = duckdb._spill_folder()
    assert sorted(set(tmp_path.iterdir()) - set(before)) == sorted(
        map(type(tmp_path), (folder, again))
    )
    os.close(lock)
    os.close(other)
    duckdb._remove_stale(str(tmp_path))
    assert sorted(tmp_path.rglob("*")) == before


def test_h10_a_place_that_does_not_work_is_refused_before_the_charge(tmp_path, monkeypatch):
    """H10: catches a setting that is found out to be wrong when memory is short, after the charge,
    and rows that then go elsewhere."""
    monkeypatch.setattr(duckdb, "_database", None)
    (tmp_path / "file").write_text("")
    table = dp.table(pa.table({"x": [1]}))
    session = dp.Session(table, budget=dp.Pure(1))
    for place in ("file", "missing"):
        monkeypatch.setenv("DISCREET_SPILL", str(tmp_path / place))
        with pytest.raises(dp.InvalidArgument, match="DISCREET_SPILL must be a folder"):
            session.release(table.agg(n=dp.count()), epsilon=1)
    assert session.spent == dp.Pure(0)


def test_h10_encryption_is_tried_by_a_spill(tmp_path):
    """H10: catches a trial that fails, or succeeds, without a spill: rows would be in clear where
    they need not be, or the first real spill would fail."""
    assert duckdb._can_spill(str(tmp_path), encrypted=False)
    encrypted = duckdb._can_spill(str(tmp_path), encrypted=True)
    (setting,) = (
        duckdb.database()
        .execute("SELECT value FROM duckdb_settings() WHERE name = 'temp_file_encryption'")
        .fetchone()
    )
    assert setting == str(encrypted).lower()
    assert not list(tmp_path.iterdir())
