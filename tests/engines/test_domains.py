"""Domains that the owner of a table declares: checked when it is opened, and then no clamp."""

import math
import os
import struct

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines.sources import IbisSource
from discreet.errors import EngineError, InvalidArgument
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

BOUNDS = {"bounds": (0, 100)}
DOMAIN = {"x": {"domain": (0, 100)}}


def written(path, values, kind=None):
    kind = kind or pa.float64()
    keys = pa.array(["A"] * len(values), pa.string())
    pq.write_table(pa.table({"x": pa.array(values, kind), "k": keys}), path)
    return path


def exact(source, bounds=BOUNDS, schema=None):
    """The exact sums and counts that reach the noise."""
    table = dp.table(source, schema=schema)
    query = table.group_by("k", keys=["A", "B"]).agg(
        n=dp.count(), m=dp.mean("x", **bounds), v=dp.variance("x", **bounds)
    )
    plan = make_plan(query, Spend.read(epsilon=1))
    answer = table.source.measure(plan.request(1))
    return {m: v.tolist() for m, v in answer.columns.items()}, table.source


def sql_of(source: IbisSource) -> str:
    return next(iter(source.prepared.seen.values()))[0].numbers


@pytest.mark.parametrize(
    "values",
    [
        [0.0, 100.0, 12.345, 99.999999, 1e-300, -0.0],
        [0.0, None, 50.5],
        [None, None],
        [],
        np.linspace(0, 100, 5000),
    ],
)
def test_values_within_a_domain_give_what_clamped_ones_give(tmp_path, values):
    """Catches another rounding on the way without a clamp."""
    path = written(tmp_path / "x.parquet", values)
    assert exact(path, schema=DOMAIN)[0] == exact(pq.read_table(path))[0]


@pytest.mark.parametrize("values", [[0, 100, 7], [None, 3]])
@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint64()])
def test_whole_numbers_too(tmp_path, values, kind):
    """Catches the same for integers."""
    path = written(tmp_path / "x.parquet", values, kind)
    for bounds in (BOUNDS, {"bounds": (0, 101)}):  # a middle that is no whole number
        known = exact(path, bounds, schema=DOMAIN)[0]
        assert known == exact(pq.read_table(path), bounds)[0]


def test_cells_of_a_csv_file_too(tmp_path):
    """Catches a domain that is forgotten where a cell is read as a number first."""
    path = tmp_path / "x.csv"
    path.write_text("x,k\n7,A\n100,A\n,A\nmany,A\n")
    schema = {"x": {"type": "integer", "domain": (0, 100)}}
    found, source = exact(path, schema=schema)
    assert found == exact(path, schema={"x": "integer"})[0]
    assert source.schema["x"].domain is not None


def test_bounds_around_a_domain_need_no_clamp(tmp_path):
    """Catches the shortcut getting lost; and taken for bounds that cut the domain."""
    path = written(tmp_path / "a.parquet", [1.0, 99.0])
    without = sql_of(exact(path, schema=DOMAIN)[1])
    narrow = sql_of(exact(path, {"bounds": (0, 99)}, schema=DOMAIN)[1])
    undeclared = sql_of(exact(path)[1])
    assert "ABS" not in without and "ABS" in narrow and "ABS" in undeclared


@pytest.mark.parametrize("value", [-1e-9, 100.0000001, math.inf, -math.inf, math.nan, 1e308])
def test_a_value_outside_is_refused_at_the_door(tmp_path, value):
    """Catches a declared domain that is believed, and a refusal that quotes the value."""
    path = written(tmp_path / "x.parquet", [5.0, value, None])
    with pytest.raises(InvalidArgument, match="a domain that holds all values") as refused:
        dp.table(path, schema=DOMAIN)
    assert str(value) not in str(refused.value)
    with pytest.raises(InvalidArgument, match="a domain that holds all values"):
        dp.table(pq.read_table(path), schema=DOMAIN)  # in memory as well


def test_the_footer_is_not_believed(tmp_path):
    """Catches a check by what a writer stated: the largest value is patched in the footer alone."""
    path = written(tmp_path / "x.parquet", [1.0, 987654.25])
    whole = path.read_bytes()
    start = whole.rindex(struct.pack("<d", 987654.25))  # the last ones are the footer's
    size = struct.unpack("<i", whole[-8:-4])[0]
    assert start > len(whole) - 8 - size
    lying = whole.replace(struct.pack("<d", 987654.25), struct.pack("<d", 99.0))
    data = whole.index(struct.pack("<d", 987654.25))
    path.write_bytes(lying[:data] + whole[data : data + 8] + lying[data + 8 :])
    assert pq.read_metadata(path).row_group(0).column(0).statistics.max == 99.0
    assert pq.read_table(path)["x"].to_pylist() == [1.0, 987654.25]
    with pytest.raises(InvalidArgument, match="a domain that holds all values"):
        dp.table(path, schema=DOMAIN)


def test_what_can_change_unseen_is_always_clamped():
    """Catches a frame that is changed after its domain was checked."""
    import pandas as pd

    frame = pd.DataFrame({"x": [1.0, 99.0], "k": ["A", "A"]})
    table = dp.table(frame, schema=DOMAIN)
    frame.loc[1, "x"] = 1e6
    query = table.agg(s=dp.sum("x", **BOUNDS))
    request = make_plan(query, Spend.read(epsilon=1)).request(1)
    (steps,) = table.source.measure(request).columns.values()
    (total,) = request.measures
    assert steps[0] == total.grid.quantise(1.0) + total.grid.quantise(100.0)


def test_a_file_that_was_changed_is_refused_before_the_charge(tmp_path):
    """Catches a value that nobody looked at in a file of the same size, name and time."""
    path = written(tmp_path / "x.parquet", [1.0, 99.0])
    table = dp.table(path, schema=DOMAIN)
    session = dp.Session(table, budget=dp.Pure(1))
    before = os.stat(path)
    written(path, [1.0, 999.0])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # ctime still tells
    with pytest.raises(InvalidArgument, match="files that have changed since"):
        session.release(table.agg(s=dp.sum("x", **BOUNDS)), epsilon="0.5")
    assert session.spent == dp.Pure(0)


def test_a_file_that_changes_while_it_is_read_gives_no_answer(tmp_path, monkeypatch):
    """Catches an answer from rows that nobody looked at before."""
    path = written(tmp_path / "x.parquet", [1.0, 99.0])
    table = dp.table(path, schema=DOMAIN)
    stored = type(table.source.stored)
    attach = stored.attach

    def swapped(self, cursor, columns):
        attach(self, cursor, columns)
        written(path, [1.0, 99.5])

    monkeypatch.setattr(stored, "attach", swapped)
    session = dp.Session(table, budget=dp.Pure(1))
    with pytest.raises(EngineError):
        session.release(table.agg(s=dp.sum("x", **BOUNDS)), epsilon="0.5")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"domain": (5, 0)}, "x"),
        ({"domain": (0, 1e300)}, "between -1e100 and 1e100"),
        ({"limits": (0, 1)}, '"type" and "domain"'),
        ({}, '"type" and "domain"'),
        ({"type": "number"}, "schema"),
        ({"type": "real", "domain": 7}, "x"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(said, words):
    with pytest.raises(InvalidArgument, match=words):
        dp.table(pa.table({"x": [1.0]}), schema={"x": said})


def test_text_has_no_domain():
    with pytest.raises(InvalidArgument, match="unless it is a number"):
        dp.table(pa.table({"x": ["a"]}), schema={"x": {"domain": (0, 1)}})
