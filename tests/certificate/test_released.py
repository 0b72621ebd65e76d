"""Released values and their digest: they survive files, and a changed cell does not."""

import datetime
import os
from decimal import Decimal
from pathlib import Path

import jsonschema
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.auditor.certificate.json_schema import misfits, schema
from discreet.auditor.certificate.table_check import released_table
from discreet.certificate import verify
from discreet.certificate.certificate import Certificate
from discreet.certificate.issue import certify, told_released
from discreet.errors import InvalidArgument
from discreet.guarantees import Pure
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from discreet.release.column import ColumnInfo
from discreet.release.exports import to_csv

from .releases import COLUMNS, EVERYTHING, QUESTIONS, certificate, charge, frame, query

DOCS = Path(__file__).parents[2] / "docs"
TABLE = pa.table(
    {
        "ward": ["A", 'with "quotes", commas\nand lines', "007", ""],
        "day": [datetime.date(2026, 1, 31)] * 4,
        "open": [True, False, True, False],
        "n": [1, -(2**62), 2**53 + 1, 0],
        "m": [0.1, 1e300, -0.0, 1 / 3],
        "sum": pa.array(
            [Decimal(10**30), Decimal(-5), Decimal(0), Decimal(7)], pa.decimal128(38, 0)
        ),
    }
)
INFOS = tuple(ColumnInfo(name, "value") for name in TABLE.column_names)


@pytest.fixture
def told():
    return told_released(TABLE, INFOS)


def test_tables_are_known_again_from_every_file(told, tmp_path):
    """Catches a digest that depends on a program, a type's width or a file's form."""
    to_csv(TABLE, tmp_path / "ours.csv")
    pl.from_arrow(TABLE).write_csv(tmp_path / "polars.csv")
    TABLE.to_pandas().to_csv(tmp_path / "pandas.csv", index=False)
    pq.write_table(TABLE, tmp_path / "ours.parquet")
    for name in ("ours.csv", "polars.csv", "pandas.csv", "ours.parquet"):
        assert released_table(tmp_path / name, told), name
    narrow = TABLE.set_column(3, "n", TABLE["n"]).combine_chunks()
    assert released_table(narrow, told) and released_table(TABLE.slice(0, 4), told)


def test_any_other_table_is_not_taken_for_it(told, tmp_path):
    """Catches a cell, a row, a name or an order that no check covers."""
    for place, name in enumerate(TABLE.column_names):
        cells = TABLE[name].to_pylist()
        cells[0], cells[1] = cells[1], cells[0]
        if cells != TABLE[name].to_pylist():
            swapped = TABLE.set_column(place, name, pa.array(cells, TABLE[name].type))
            assert not released_table(swapped, told), name
    assert not released_table(TABLE.slice(1), told)
    assert not released_table(TABLE.rename_columns(["a", "day", "open", "n", "m", "sum"]), told)
    assert not released_table(TABLE.select(TABLE.column_names[::-1]), told)
    path = tmp_path / "x.csv"
    to_csv(TABLE, path)
    path.write_text(path.read_text().replace("0.1", "0.2"))
    assert not released_table(path, told)
    path.write_bytes(b"\x00\xff\xfe")
    assert not released_table(path, told)
    with pytest.raises(InvalidArgument):
        released_table(tmp_path / "none.csv", told)
    with pytest.raises(InvalidArgument):
        released_table(17, told)


def test_verify_compares_the_values(tmp_path):
    """The path of a user: a certificate and a file beside it."""
    sent, table = certificate(with_table=True)
    to_csv(table, tmp_path / "r.csv")
    verdict = verify(sent, result=tmp_path / "r.csv")
    assert verdict.ok and any("this certificate describes" in one for one in verdict.proved)
    assert any("of the query's keys, each once" in one for one in verdict.proved)
    to_csv(table.slice(1), tmp_path / "r.csv")
    assert not verify(sent, result=tmp_path / "r.csv").ok


def test_errors_in_words():
    """One number where it is the same for all values, the column's name where it is not."""
    told = {one["name"]: one["error"] for one in told_released(frame(5), COLUMNS)["columns"]}
    assert told["n"] == "95 % of values are within 6 (n_error)"
    assert told["m"] == "95 % of values are within the m_error beside them"
    assert told["ward"] is None and told["n_error"] is None


def test_the_published_schema_is_the_one_that_is_checked():
    """Catches docs that fell behind."""
    beside = Path(misfits.__code__.co_filename).with_name("certificate.schema.json")
    assert beside.read_text() == (DOCS / "certificate.schema.json").read_text()


def test_forms_are_told_as_json_schema_tells_them():
    """An independent implementation agrees on what fits and what does not."""
    oracle = jsonschema.Draft202012Validator(schema())
    good = [certificate(EVERYTHING), certificate(spend="zcdp", keys="discover", unit=None)]
    for sent in good:
        assert not misfits(sent.document) and oracle.is_valid(sent.document)
    for path, value in (
        (("version",), 2),
        (("version",), True),
        (("dataset",), None),
        (("protects", "relation"), "other"),
        (("released", "rows"), -1),
        (("released", "columns"), []),
        (("charges", 0, "amount"), "0.5"),
        (("charges", 0, "amount"), "1/0"),
        (("mechanisms", 0, "times"), 0),
        (("mechanisms", 0, "sensitivity"), {"l1": "1"}),
        (("mechanisms", 0, "mechanism"), "none"),
        (("query", "tree", "aggregates", 0, "kind"), "max"),
        (("signature",), {"algorithm": "none"}),
        (("more",), 1),
    ):
        document = good[0].document
        place = document
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value
        assert misfits(document), path
        assert not oracle.is_valid(document), path
        assert not verify(Certificate.of(document)).ok


def test_nothing_of_the_data_is_in_it():
    """Two tables, one question: the certificates differ in the released values alone."""
    plan = make_plan(query(QUESTIONS["count"]), Spend.read(epsilon=1))
    entry = charge(plan, Pure)
    one, other = (certify(entry=entry, frame=frame(n), columns=COLUMNS).document for n in (2, 3))
    differing = {name for name in one if one[name] != other[name]}
    assert differing == {"released", "digest"}
    path = os.path.expanduser("~")
    assert path not in str(one)
