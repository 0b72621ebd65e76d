"""Readers never fail on what is in a file, and say clearly when a file cannot be opened."""

import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.survey import (
    ChooseAny,
    ChooseOne,
    Collector,
    Questionnaire,
    YesNo,
    cells,
    collect,
    readers,
)
from discreet.survey.cells import Texts

FORM = Questionnaire(
    "Fuzz",
    [
        YesNo("smoker", "Do you smoke?", epsilon=1),
        ChooseAny("had", "Which?", options=["flu", "mumps", "none"], epsilon=2),
    ],
)
REPORTS = FORM.respond_many({"smoker": [True] * 20, "had": np.zeros((20, 3), bool)})
NAMES = ("survey", "id", "wave", "smoker", "had")

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from([0, 1, 10**40, "0", "٣", "-", "01-", "1--", FORM.digest, "ab" * 16]),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)
reports = st.dictionaries(st.sampled_from([*NAMES, "other"]), values)


def counted(source):
    """All of them are counted somewhere, and none stops the good ones."""
    collector = Collector(FORM)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        collector.add(source)
        collector.add(REPORTS)
    assert collector.respondents >= 20
    return collector.respondents - 20 + sum(collector.set_aside.values())


@given(st.lists(st.one_of(reports, values), max_size=6))
def test_any_items(items):
    """Dicts of anything, and anything instead of dicts. Catches a type nobody thought of."""
    blank = sum(isinstance(item, str) and not item.strip() for item in items)
    assert counted(items) == len(items) - blank


@given(
    st.lists(st.one_of(reports.map(json.dumps).map(str.encode), st.binary(max_size=40)), max_size=6)
)
def test_any_lines(tmp_path_factory, lines):
    """Random bytes between lines of odd reports, in files of lines and of CSV."""
    folder = tmp_path_factory.mktemp("lines")
    content = b"\n".join(lines)
    for name in ("x.jsonl", "x.json", "x.csv"):
        (folder / name).write_bytes(content)
        counted(folder / name)
    header = b"survey,id,wave,smoker,had\n"
    (folder / "y.csv").write_bytes(header + content)
    counted(folder / "y.csv")


@given(st.data())
def test_truncated_files(tmp_path_factory, data):
    """Cut anywhere, the whole lines before the cut count. Catches a last line read as whole."""
    folder = tmp_path_factory.mktemp("cut")
    for ending, head in (("jsonl", 0), ("csv", 1)):
        content = REPORTS.write(folder / f"whole.{ending}").read_bytes()
        cut = data.draw(st.integers(0, len(content)))
        (folder / f"cut.{ending}").write_bytes(content[:cut])
        collector = Collector(FORM)
        collector.add(folder / f"cut.{ending}")
        whole = max(content[:cut].count(b"\n") - head, 0)
        assert whole <= collector.respondents <= whole + 1  # the last may lack its end of line only


@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.one_of(
            st.lists(st.integers(-(2**63), 2**63 - 1) | st.none(), min_size=4, max_size=4),
            st.lists(st.floats() | st.none(), min_size=4, max_size=4),
            st.lists(st.text(max_size=5) | st.none(), min_size=4, max_size=4),
            st.lists(st.booleans(), min_size=4, max_size=4),
            st.lists(st.binary(max_size=4), min_size=4, max_size=4),
            st.lists(st.lists(st.integers(0, 1), max_size=2), min_size=4, max_size=4),
        ),
        min_size=1,
    )
)
def test_any_columns(columns):
    """Columns of any type, as lists and as Arrow. Catches a type without a case."""
    assert counted(columns) == 4
    table = pa.table({name: pa.array(column) for name, column in columns.items()})
    assert counted(table) == 4


@pytest.mark.parametrize("kind", ["float32", "uint64", "int8", "U3", "S2", "datetime64[s]", "bool"])
def test_any_arrays(kind):
    """NumPy's kinds. Catches a uint64 that wraps into the range."""
    array = np.zeros(5, kind)
    if kind == "uint64":
        array[:] = 2**64 - 1
    assert counted({"smoker": array, "had": array}) == 5


def test_damaged_parquet(tmp_path):
    """Without its end it cannot be opened; with a damaged middle its other parts still count."""
    path = REPORTS.write(tmp_path / "whole.parquet")
    content = path.read_bytes()
    for cut in (0, 3, len(content) // 2, len(content) - 1):
        (tmp_path / "cut.parquet").write_bytes(content[:cut])
        with pytest.raises(InvalidArgument, match="truncated"):
            Collector(FORM).add(tmp_path / "cut.parquet")
    table = pa.table(REPORTS.columns())
    pq.write_table(table, tmp_path / "groups.parquet", row_group_size=10, compression="none")
    content = bytearray((tmp_path / "groups.parquet").read_bytes())
    content[4:60] = b"\xff" * 56
    (tmp_path / "groups.parquet").write_bytes(content)
    collector = Collector(FORM)
    collector.add(tmp_path / "groups.parquet")
    assert collector.respondents == 10 and collector.set_aside == {"malformed": 10}


def test_what_cannot_be_opened_is_a_clear_error(tmp_path):
    """Catches a traceback of another library, and a typo that counts nothing."""
    for source, words in (
        (tmp_path / "absent.jsonl", "can be opened"),
        (tmp_path / "absent.parquet", "can be opened"),
        (tmp_path / "reports.xlsx", "ends in .jsonl"),
        (3, "a path, an iterable"),
        (b"{}", "a path, an iterable"),
        ({"smoker": [1, 0], "had": ["01-"]}, "equal length"),
        ({"smoker": [1, 0], "wave": 1}, "a mixture"),
    ):
        with pytest.raises(InvalidArgument, match=words):
            Collector(FORM).add(source)
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InvalidArgument, match="can be opened"):
        Collector(FORM).add(tmp_path / "folder.csv")


def test_a_line_without_end_is_skipped_in_bounded_memory(tmp_path, monkeypatch):
    """Catches a file without line breaks that is read into memory whole."""
    monkeypatch.setattr(readers, "_BLOCK", 64)
    monkeypatch.setattr(readers, "_LONGEST", 256)
    good = b"".join(report.to_json().encode() + b"\n" for report in REPORTS)
    (tmp_path / "x.jsonl").write_bytes(b"\xef\xbb\xbf" + good + b"9" * 5000 + b"\n" + good)
    collector = Collector(FORM)
    collector.add(tmp_path / "x.jsonl")
    assert (collector.respondents, collector.set_aside) == (20, {"malformed": 1, "duplicated": 20})


@given(st.lists(st.text(alphabet="0123456789-+ ٣²aF\x00", max_size=20), max_size=8))
def test_texts_are_read_as_python_reads_them(texts):
    """Digits and hex against Python's own, for ASCII alone. Catches a digit of another script."""
    written = Texts(pa.array([text.encode("latin-1", "replace") for text in texts], pa.binary()))
    read = cells.integers(written)
    for row, text in enumerate(texts):
        number = text.isascii() and text.removeprefix("-").isdigit()
        fine = number and text.isdigit() and len(text) <= 18
        assert read.missing[row] == (text == "")
        assert read.wrong[row] == (text != "" and not number)
        assert not number or read.values[row] == (int(text) if fine else -1)
    padded = [text.ljust(32, "0")[:32] for text in texts]
    read = cells.ids(padded)
    for row, text in enumerate(padded):
        fine = all(c in "0123456789abcdefABCDEF" for c in text)
        assert read.wrong[row] == (not fine)
        assert not fine or read.values[row].tolist() == [int(text[:16], 16), int(text[16:], 16)]


def test_files_as_other_programs_write_them(tmp_path):
    """UTF-16 with its mark (PowerShell), and lines that end in CR alone. Catches 1 of 20 read."""
    for ending in ("csv", "jsonl", "json"):
        path = tmp_path / f"{ending}.{'jsonl' if ending == 'json' else ending}"
        content = REPORTS.write(path).read_text().replace("\r\n", "\n")
        for place, odd in enumerate(
            (
                content.encode("utf-16"),
                b"\xfe\xff" + content.replace("\n", "\r\n").encode("utf-16-be"),
                content.replace("\n", "\r").encode(),
            )
        ):
            (tmp_path / f"odd{place}.{ending}").write_bytes(odd)
            collector = Collector(FORM)
            collector.add(tmp_path / f"odd{place}.{ending}")
            assert (collector.respondents, collector.set_aside) == (20, {})
            assert collector.result().notes == ()


def test_files_with_nothing_in_them_are_noted(tmp_path):
    """Catches a wrong file that gives an empty result in silence."""
    header = REPORTS.write(tmp_path / "whole.csv").read_bytes().split(b"\n")[0]
    for name, content, words in (
        ("empty.csv", b"", "empty.csv: there is no report in it"),
        ("header.csv", header + b"\n", "header.csv: there is no report in it"),
        ("nul.csv", bytes(99), "nul.csv: it has no column 'survey', 'id', 'wave' and 2 more"),
        ("other.csv", b"a,b\n1,2\n", "other.csv: it has no column 'survey', 'id', 'wave'"),
        ("empty.jsonl", b"\n\n", "empty.jsonl: there is no report in it"),
    ):
        (tmp_path / name).write_bytes(content)
        collector = Collector(FORM)
        collector.add(tmp_path / name)
        assert any(words in note for note in collector.result().notes)
        assert "note: " in str(collector.result())
    pq.write_table(pa.table({"a": [1]}), tmp_path / "other.parquet")
    collector = Collector(FORM)
    collector.add(tmp_path / "other.parquet")
    assert "other.parquet: it has no column" in collector.result().notes[0]


def test_bits_that_became_numbers_are_noted(tmp_path):
    """pandas and Polars read "010" as 10. Catches all set aside without a word why."""
    form = Questionnaire("U", [ChooseOne("c", "?", options=3, epsilon=1, mechanism="unary")])
    path = form.respond_many({"c": [1] * 20}).write(tmp_path / "bits.csv")
    frames = (pd.read_csv(path), pl.read_csv(path), pd.read_csv(path).to_dict("list"))
    for frame in frames:
        (note,) = collect(form, frame).notes
        assert "leading zeros" in note and "dtype={'c': str}" in note
    assert collect(form, pd.read_csv(path, dtype={"c": str})).respondents == 20
    assert collect(form, path).notes == ()


def test_an_empty_table_is_not_noted():
    """Catches a note about missing columns of a table without a row."""
    for empty in ({"smoker": []}, pa.table({"smoker": pa.array([], pa.int64())}), pd.DataFrame()):
        assert collect(FORM, empty).notes == ()
