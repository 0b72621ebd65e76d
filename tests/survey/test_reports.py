"""Reports as files: the same in each format, whole or not there."""

import csv
import json
import pickle

import numpy as np
import pyarrow.parquet as pq
import pytest

from discreet.errors import InvalidArgument, Refused
from discreet.survey import ChooseAny, ChooseOne, Questionnaire, YesNo
from discreet.survey import reports as writing
from discreet.survey.reports import Report, Reports

FORM = Questionnaire(
    "All",
    [
        YesNo("smoker", "Do you smoke?", truth=0.5),
        ChooseAny("ticks", "Which?", options=["a", "b", "c"], epsilon=1),
        ChooseOne("code", "Which?", options=10_000, epsilon=1),
    ],
)
PEOPLE = 50


@pytest.fixture
def reports(monkeypatch):
    monkeypatch.setattr(writing, "_BLOCK", 16)  # several blocks, the last one short
    ticks = np.arange(3 * PEOPLE).reshape(PEOPLE, 3) % 2 == 0
    return FORM.respond_many(
        {"smoker": np.arange(PEOPLE) % 2, "ticks": ticks, "code": np.arange(PEOPLE)}
    )


def test_every_format_says_the_same(reports, tmp_path):
    """JSON lines, CSV and Parquet against the reports themselves. Catches a block that is lost or
    repeated, and bits that become numbers."""
    expected = [report.document() for report in reports]
    assert len(expected) == len(reports) == PEOPLE
    lines = reports.write(tmp_path / "r.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == expected
    assert lines[0] == next(iter(reports)).to_json()
    with open(reports.write(str(tmp_path / "r.csv")), newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [{key: str(value) for key, value in row.items()} for row in expected]
    assert pq.read_table(reports.write(tmp_path / "r.parquet")).to_pylist() == expected
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["r.csv", "r.jsonl", "r.parquet"]
    columns = reports.columns()
    assert [
        dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
    ] == expected


def test_a_file_is_not_overwritten(reports, tmp_path):
    """Reports cannot be drawn again without telling more. Catches a survey lost by a second run."""
    path = reports.write(tmp_path / "r.csv")
    content = path.read_bytes()
    with pytest.raises(Refused, match=r"r\.csv is there already"):
        reports.write(path)
    assert path.read_bytes() == content
    with pytest.raises(InvalidArgument, match=r"\.jsonl, \.csv, \.parquet"):
        reports.write(tmp_path / "r.xlsx")
    with pytest.raises(InvalidArgument, match="a folder that is there"):
        reports.write(tmp_path / "none" / "r.csv")


def test_a_file_is_whole_or_not_there(reports, tmp_path, monkeypatch):
    """A write that fails leaves nothing behind. Catches half a survey under its name."""

    def fail(self, start, end):
        if start:
            raise OSError(28, "no space left")
        return part(self, start, end)

    part = Reports.part
    monkeypatch.setattr(Reports, "part", fail)
    for name in ("r.jsonl", "r.csv", "r.parquet"):
        with pytest.raises(OSError, match="no space"):
            reports.write(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_report_is_a_value():
    """Frozen with its answers, equal by them, whole after pickling."""
    report = FORM.respond({"smoker": True, "ticks": [], "code": 7})
    assert pickle.loads(pickle.dumps(report)) == report
    assert len({report, pickle.loads(pickle.dumps(report))}) == 1  # it has a hash
    assert report == Report(report.survey, report.id, report.wave, dict(report.answers))
    with pytest.raises(TypeError):
        report.answers["smoker"] = 1
    with pytest.raises(AttributeError):
        report.wave = 2
