"""Results in other forms: nothing lost, nothing reformatted."""

import csv
import io
import json
import math
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.auditor.certificate.table_check import as_written
from discreet.errors import InvalidArgument
from discreet.guarantees import Guarantee

NASTY = ['a "quote"', "a,comma", "a\r\nline", "é 内", "", "=1+1"]


def test_csv_is_read_back(make, tmp_path):
    """Catches quoting, line ends, encodings and digits that a reader would not undo."""
    frame = {
        "ward": NASTY,
        "n": [1, -2, 3, None, 10**15, 0],
        "n_error": [0.1, 1e-300, math.inf, None, 2 / 3, 5.0],
    }
    result = make.build(frame, make.key("ward"), make.value("n"), make.error("n"))
    text = result.to_csv()
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [as_written(row[0]) for row in rows[1:]] == NASTY
    assert [row[0] for row in rows[1:-1]] == NASTY[:-1]
    assert [row[1] for row in rows[1:]] == ["1", "-2", "3", "", "1000000000000000", "0"]
    assert [row[2] for row in rows[1:]] == ["0.1", "1e-300", "inf", "", "0.6666666666666666", "5.0"]
    assert text.startswith("ward,n,n_error\r\n") and text.endswith("\r\n'=1+1,0,5.0\r\n")
    assert result.to_csv(tmp_path / "r.csv") is None
    assert (tmp_path / "r.csv").read_bytes() == text.encode()


def test_csv_of_other_types(make):
    """Catches Python's spelling of bools and decimals."""
    frame = {
        "smoker": [True, False],
        "at": pa.array([0, 1], pa.timestamp("s")),
        "n": pa.array([10**20, 1], pa.decimal128(38, 0)),
    }
    result = make.build(frame, make.key("smoker"), make.key("at"), make.value("n"))
    lines = result.to_csv().splitlines()
    assert lines[1] == "true,1970-01-01T00:00:00,100000000000000000000"


def test_parquet_carries_the_promise(wards, tmp_path):
    """Catches a file that no longer says what was promised, and lost rows."""
    wards.clip().to_parquet(tmp_path / "r.parquet")
    table = pq.read_table(tmp_path / "r.parquet")
    facts = {k.decode(): v.decode() for k, v in table.schema.metadata.items()}
    assert table.equals(wards.clip().to_arrow())
    assert Guarantee.from_json(facts["discreet.guarantee"]) == wards.guarantee
    assert facts["discreet.cost"] == "ε = 0.5" and "add-remove" in facts["discreet.protects"]
    assert json.loads(facts["discreet.notes"]) == list(wards.notes)
    assert json.loads(facts["discreet.steps"]) == list(wards.clip().steps)
    assert facts["discreet.suppressed"] == wards.suppressed


def test_data_frames(wards):
    """Catches columns or rows that change places, and nulls that become values."""
    dicts = wards.to_dicts()
    assert dicts[0]["n"] == 1234 and dicts[2]["ward"] is None and dicts[2]["stay"] is None
    assert wards.to_polars().to_dicts() == dicts
    pandas = wards.to_pandas()
    assert list(pandas.columns) == list(dicts[0]) and pandas["n"].tolist() == [1234, 870, -3]


@pytest.mark.parametrize("package", ["polars", "pandas"])
def test_a_package_that_is_missing(wards, monkeypatch, package):
    """Catches an ImportError where a sentence would help."""
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(InvalidArgument, match=rf"pip install {package}, or use to_arrow\(\)"):
        getattr(wards, f"to_{package}")()
