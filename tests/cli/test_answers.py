"""Where the answer of ``discreet release`` goes, and what is said beside it."""

import csv
import errno
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.cli.conftest import CITIES, Run

COUNT = ("release", "people.csv", "--count", "--epsilon", "1", "--no-ledger")
BY_CITY = ("--group-by", "city", "--keys", "A,B,C")


def test_a_release_tells_its_record_and_what_is_left(run: Run, ledger: str) -> None:
    """Catches a charge that leaves its reader to look up what remains, and rounded numbers."""
    asked = ("release", "people.csv", "--unit", "person", "--count", "--ledger", ledger)
    told = run(*asked, "--epsilon", "1/3").out.splitlines()
    assert told[-2].startswith("record 3 of ")
    assert told[-1] == "left of dataset people: ε = 2.66667 of ε = 3"
    result = run(*asked, "--epsilon", "1/3", "--json").result
    (left,), (cost,) = result["remaining"], result["charged"]
    assert (result["record"], left["amount"], cost["amount"]) == (5, "7/3", "1/3")
    assert (left["account"], result["stored"]) == ('dataset "people"', False)
    assert len(result["ledger"]["id"]) == 32
    plain = run(*asked, "--epsilon", "1/3", "--format", "csv")
    assert len(plain.out.splitlines()) == 2  # beside a table of cells, they go to standard error
    assert "left of dataset people: ε = 2 of" in plain.err
    assert run(*COUNT, "--json").result["remaining"] is None


def test_no_file_is_written_over_unless_said(run: Run, ledger: str, folder: Path) -> None:
    """Catches an earlier answer that is lost, and a charge for one that is not written."""
    (folder / "a.csv").write_text("an earlier answer")
    asked = ("release", "people.csv", "--unit", "person", "--count", "--epsilon", "1")
    for option in ("--output", "--certificate"):
        ended = run(*asked, "--ledger", ledger, option, "a.csv")
        assert ended.code == 2
        assert "--force" in ended.err
    assert run("ledger", "show", ledger, "--json").result["accounts"][0]["spent"] == "0"
    assert run(*asked, "--ledger", ledger, "--output", "a.csv", "--force").code == 0
    assert (folder / "a.csv").read_text().startswith("n,n_error")


def test_two_forms_at_once_are_refused(run: Run) -> None:
    """Catches an option that is silently ignored."""
    for command in ("release", "explain"):
        ended = run(command, *COUNT[1:], "--json", "--format", "csv")
        assert ended.code == 2
        assert "--format" in ended.error["message"]
        both = run(command, *COUNT[1:], "--ledger", "people.ledger")
        assert "--no-ledger" in both.err
    assert run(*COUNT, "--json", "--format", "json").code == 0


@pytest.mark.parametrize("name", ["answer.csv", "answer.parquet", "answer.json"])
def test_answers_are_written(run: Run, folder: Path, name: str) -> None:
    """Catches a file of another format than its name says."""
    ended = run(*COUNT, *BY_CITY, "--output", name)
    assert ended.code == 0, ended.err
    match Path(name).suffix:
        case ".csv":
            cities = [row["city"] for row in csv.DictReader(Path(name).read_text().splitlines())]
        case ".parquet":
            cities = pq.read_table(name)["city"].to_pylist()
        case _:
            cities = [row["city"] for row in json.loads(Path(name).read_text())["result"]["rows"]]
    assert cities == list(CITIES)


def test_answers_are_printed_as_csv(run: Run) -> None:
    """Nothing but the table goes to standard output."""
    ended = run(*COUNT, *BY_CITY, "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(ended.out)))
    assert [row["city"] for row in rows] == list(CITIES)
    assert set(rows[0]) == {"city", "n", "n_error"}


def test_what_cannot_be_written_is_refused_before_it_is_charged(run: Run, ledger: str) -> None:
    """Catches an answer that is paid for and lost; and the data written over."""
    asked = ("release", "people.csv", "--unit", "person", "--count", "--epsilon", "1")
    for output in ("nowhere/answer.csv", "answer.xls", "people.csv", ledger):
        ended = run(*asked, "--ledger", ledger, "--output", output)
        assert ended.code == 2, output
    assert run(*asked, "--ledger", ledger, "--certificate", "nowhere/c.json").code == 2
    for both in (("--output", "o.json", "--certificate", "./o.json"), ("--no-ledger",)):
        assert run(*asked, "--ledger", ledger, *both).code == 2, both
    (dataset,) = run("ledger", "show", ledger, "--json").result["accounts"]
    assert dataset["spent"] == "0"


def test_no_output_destroys_what_is_read_or_holds_the_budget(
    run: Run, ledger: str, folder: Path
) -> None:
    """Catches the head of a ledger, half a key, or data by a pattern, written over after a charge;
    and a file that the pattern would take for data the next time."""
    (folder / "v").mkdir()
    for name in ("v/a.csv", "v/b.csv", "keys.csv"):
        (folder / name).write_text("person,city\n1,A\n2,B\n")
    (folder / "keys.csv").write_text("city\nA\nB\n")
    (folder / "k.key.pub").write_text("public")
    (folder / "k.key").write_text("private")
    (folder / "link.csv").symlink_to(folder / "v" / "a.csv")
    (folder / "hard.json").hardlink_to(folder / f"{ledger}.head")
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    asked = ("release", "v/*.csv", "--unit", "person", "--count", "--epsilon", "1")
    asked += ("--ledger", ledger, "--group-by", "city", "--public-keys", "keys.csv")
    certificates = [f"{ledger}{ending}" for ending in ("", ".head", "-wal", "-shm", "-journal")]
    certificates += ["k.key.pub", "k.key", "v/b.csv", "keys.csv", "hard.json"]
    for path in certificates:
        ended = run(*asked, "--key", "k.key", "--certificate", path)
        assert ended.code == 2 and "file other than" in ended.err, path
    for path in ("v/a.csv", "v/new.csv", "link.csv", "keys.csv", "v/../v/b.csv"):
        ended = run(*asked, "--output", path)
        assert ended.code == 2 and "file other than" in ended.err, path
    assert run("ledger", "show", ledger, "--plot", f"{ledger}.head").code == 2
    assert {path: path.read_bytes() for path in before} == before
    (folder / "hard.json").unlink()
    assert run(*asked, "--output", "answer.csv", "--certificate", "c.json").code == 0
    facts = ("--curator", "a", "--curator-type", "Industry", "--intended-use", "b")
    facts += ("--region", "c", "--author", "d", "--result", "answer.csv", "--ledger", ledger)
    for path in ("c.json", "answer.csv", f"{ledger}.head"):
        assert run("verify", "c.json", *facts, "--registry", path).code == 2, path
    assert run("verify", "c.json", *facts, "--registry", "r.yaml").code == 0


def test_an_answer_that_cannot_be_written_is_one_document(
    run: Run, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a note beside the document: with --json standard error is JSON."""

    def full(frame: object, path: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("discreet.release.exports.to_csv", full)
    asked = ("release", "people.csv", "--unit", "person", "--count", "--epsilon", "1")
    ended = run(*asked, "--ledger", ledger, "--output", "full.csv", "--json")
    assert ended.code == 8
    assert "the answer is kept" in ended.error["message"]
