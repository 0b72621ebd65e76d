"""How commands end: exit codes, one shape for errors, nothing that should not be seen."""

import json
import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import discreet as dp
from discreet.cli import failures, main
from tests.cli.conftest import Run

COUNT = ("--count", "--epsilon", "1", "--no-ledger")


def test_every_error_of_ours_has_a_code_of_its_tree() -> None:
    """Catches a new class of error that ends as a bug, and codes that overlap."""
    classes = [getattr(dp, name) for name in dp.__all__ if name[0].isupper()]
    ours = [c for c in classes if isinstance(c, type) and issubclass(c, dp.DiscreetError)]
    given = {c: failures.code_of(c.__new__(c)) for c in ours if c is not dp.DiscreetError}
    assert given[dp.RelationMismatch] == given[dp.UnboundedSensitivity] == given[dp.Refused] == 3
    assert len({given[c] for c in failures.CODES}) == len(failures.CODES)
    assert [c for c, code in given.items() if code == 70] == [dp.InternalError]
    assert set(given.values()) | {0, 1, 8, 9, 130, 141} == set(failures.MEANINGS)


WRONG = {
    "a missing file": ("release", "nowhere.csv", *COUNT),
    "a column that is not there": ("release", "people.csv", *COUNT, "--mean", "height:0:1"),
    "a unit that is not there": ("release", "people.csv", *COUNT, "--unit", "soul"),
    "an empty file": ("release", "empty.csv", *COUNT),
    "no Parquet": ("release", "broken.parquet", *COUNT),
    "no aggregate": ("release", "people.csv", "--epsilon", "1", "--no-ledger"),
    "no spend": ("release", "people.csv", "--count", "--no-ledger"),
    "a spend of nothing": ("release", "people.csv", "--count", "--epsilon", "0", "--no-ledger"),
    "a spend of text": ("release", "people.csv", "--count", "--epsilon", "much", "--no-ledger"),
    "not a number": ("release", "people.csv", "--count", "--epsilon", "nan", "--no-ledger"),
    "digits without end": ("explain", "people.csv", "--count", "--epsilon", "1e999999999"),
    "no keys": ("release", "people.csv", *COUNT, "--group-by", "city"),
    "keys without a group": ("release", "people.csv", *COUNT, "--keys", "A"),
    "more keys than groups": (
        *("release", "people.csv", *COUNT, "--group-by", "city", "--keys", "A", "--keys", "B"),
    ),
    "bounds upside down": ("release", "people.csv", *COUNT, "--mean", "age:9:0"),
    "an unknown type": ("release", "people.csv", *COUNT, "--schema", "age=number"),
    "a type without a column": ("release", "people.csv", *COUNT, "--schema", "integer"),
    "an unknown relation": ("release", "people.csv", *COUNT, "--relation", "swap"),
    "a bound without a unit": ("release", "people.csv", *COUNT, "--max-rows", "3"),
    "an unknown format": ("release", "people.csv", *COUNT, "--format", "xml"),
    "a long delimiter": ("release", "people.csv", *COUNT, "--delimiter", "::"),
    "an unknown option": ("release", "people.csv", *COUNT, "--colour", "red"),
    "an unknown command": ("relaese", "people.csv"),
    "no data": ("release", *COUNT),
    "a word for a number": ("release", "people.csv", *COUNT, "--max-rows", "many"),
    "an error without a budget": (
        *("release", "people.csv", "--count", "--no-ledger", "--error", "5"),
    ),
    "a missing ledger": ("ledger", "show", "nowhere.ledger"),
    "a dataset without a cap": ("ledger", "create", "new.ledger", "--dataset", "people"),
    "a cap without a dataset": ("ledger", "create", "new.ledger", "--epsilon", "3"),
    "two caps": (
        *("ledger", "create", "new.ledger", "--dataset", "p", "--epsilon", "3", "--rho", "1"),
    ),
    "a missing key": ("ledger", "create", "new.ledger", "--key", "nowhere.key"),
    "no record": ("ledger", "verify", "people.csv", "--expect", "first"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_mistake_is_told_in_one_line_and_as_one_document(
    run: Run, folder: Path, case: str
) -> None:
    """Catches tracebacks, other exit codes than 2, and output where there is no answer."""
    (folder / "empty.csv").write_text("")
    (folder / "broken.parquet").write_text("PAR1")
    told = run(*WRONG[case])
    assert (told.code, told.out) == (2, "")
    assert told.err.startswith("error: ")
    assert len(told.err.splitlines()) == 1
    document = run(*WRONG[case], "--json")
    assert (document.code, document.out) == (2, "")
    assert document.error["exit_code"] == 2
    assert document.error["message"] in told.err.replace("error: ", "")
    assert document.error["kind"] in ("InvalidArgument", "Usage")


def test_hints_are_in_the_words_of_the_command_line(run: Run) -> None:
    """Catches a hint that names an argument of Python."""
    ended = run("release", "people.csv", *COUNT, "--unit", "person", "--max-groups", "3")
    assert ended.code == 0 or "--max-rows-per-group" in ended.err
    assert "delimiter=" not in run("release", "people.csv", *COUNT, "--delimiter", "").err


def test_a_file_that_is_no_ledger_is_refused(run: Run, folder: Path) -> None:
    """Catches a text file that is opened, or written over, as a ledger."""
    before = (folder / "people.csv").read_bytes()
    for asked in (("show", "people.csv"), ("create", "people.csv", "--dataset", "p", "--rho", "1")):
        ended = run("ledger", *asked)
        assert ended.code == 2
        assert "which is not one" in ended.err
    assert (folder / "people.csv").read_bytes() == before
    assert not (folder / "people.csv.head").exists()


def test_what_nobody_foresaw_says_nothing_of_the_data(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an exception whose text, which may quote a row, is printed."""

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("Ann earns 31415")

    monkeypatch.setattr(dp.Session, "release", fails)
    for extra in ((), ("--json",)):
        ended = run("release", "people.csv", *COUNT, *extra)
        assert ended.code == 70
        assert "RuntimeError" in ended.err
        assert "31415" not in ended.err + ended.out
        assert "Traceback" not in ended.err


def test_an_interrupt_is_told_in_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Catches a traceback on Ctrl-C, and silence where a document is promised."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dp.Session, "release", interrupted)
    ended = run("release", "people.csv", *COUNT)
    assert (ended.code, ended.out) == (130, "")
    assert ended.err == "error: interrupted before its end\n"
    assert run("release", "people.csv", *COUNT, "--json").error["exit_code"] == 130
    pool = logging.getLogger("sqlalchemy.pool.impl.QueuePool")
    assert not pool.isEnabledFor(logging.ERROR)  # "Error closing cursor", with a traceback


def test_a_reader_that_leaves_is_no_error(folder: Path) -> None:
    """Catches a traceback where the output goes to a pipe that nobody reads, and the exit code of
    a verification that failed: one process."""
    reader, writer = os.pipe()
    os.close(reader)
    code = "import sys; from discreet.cli.main import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "release", "--help"]
    ended = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=900)
    os.close(writer)
    assert (ended.stderr, ended.returncode) == ("", 141)


def test_names_are_shown_as_they_are(run: Run, folder: Path) -> None:
    """Catches markup of rich, colours and cursor moves that come from names and keys."""
    (folder / "odd.csv").write_text("[bold]c,x\n[red]A[/red],1\n")
    ended = run(
        *("release", "odd.csv", *COUNT, "--group-by", "[bold]c"),
        *("--keys", "[red]A[/red],\x1b[2J"),
    )
    assert ended.code == 0, ended.err
    assert "[red]A[/red]" in ended.out
    assert "[bold]c" in ended.out
    assert "\x1b" not in ended.out
    wrong = run("release", "odd.csv", *COUNT, "--mean", "[blink]\x1b[2J:0:1")
    assert "[blink]" in wrong.err
    assert "\x1b" not in wrong.err


def test_the_front_page(run: Run) -> None:
    """Version, help, and help where nothing was asked."""
    assert run("--version").out == f"discreet {dp.__version__}\n"
    assert run("--version", "--json").result == {"version": dp.__version__}
    assert "ledger" in run().out
    assert "analysts" in run("ledger").out
    assert "create" in run("key").out
    assert (run("--json").code, run("--json").out) == (2, "")
    assert run().code == run("--help").code == run("ledger", "create", "--help").code == 0
    assert main.main(["--version"]) == 0


def test_help_is_light(folder: Path) -> None:
    """Catches an engine, Arrow or SQLAlchemy loaded for `discreet --help`: one process."""
    code = (
        "import sys; from discreet.cli.main import main; main(['--help']); "
        "print(*sys.modules, sep='\\n')"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=900)
    loaded = set(told.stdout.split())
    heavy = {"ibis", "duckdb", "pyarrow", "sqlalchemy", "altair", "scipy", "flint", "numpy"}
    assert "discreet.cli.main" in loaded
    assert not loaded & heavy


def test_the_demo_runs(run: Run, folder: Path) -> None:
    """As text, and as a document."""
    assert "left Pure(epsilon=2)" in run("demo", "seen.svg").out
    assert (folder / "seen.svg").read_text().startswith("<svg")
    told = run("demo", "--json").result
    assert told["picture"] == "demo.svg"
    assert json.dumps(told["lines"]).count("Protected") == 1
    assert run("demo", "nowhere/demo.svg").code == 2
