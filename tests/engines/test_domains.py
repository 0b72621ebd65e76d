"""Sums that skip the clamp where all values are known to lie within the bounds: same answers."""

import math
import os
import struct
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines import aggregating
from discreet.engines.sources import IbisSource, open_source
from discreet.query.plan import make_plan
from discreet.query.spend import Spend

BOUNDS = {"bounds": (0, 100)}


def written(path, values, kind=None):
    kind = kind or pa.float64()
    keys = pa.array(["A"] * len(values), pa.string())
    pq.write_table(pa.table({"x": pa.array(values, kind), "k": keys}), path)
    return path


def exact(source, bounds=BOUNDS):
    """The exact sums and counts that reach the noise."""
    table = dp.table(source)
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
        [101.0, 5.0],
        [-1e-9, 5.0],
        [math.nan, 5.0],
        [math.inf, 5.0],
        [-math.inf, 1e308, 5e-324],
        [None, None],
        [],
    ],
)
def test_files_give_what_tables_in_memory_give(tmp_path, values):
    """Catches a shortcut that is taken where it does not hold: Arrow tables never take it."""
    path = written(tmp_path / "x.parquet", values)
    assert exact(path)[0] == exact(pq.read_table(path))[0]


@pytest.mark.parametrize("values", [[0, 100, 7], [0, 101, 7], [None, 3], [-5, 3]])
@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint64()])
def test_whole_numbers_too(tmp_path, values, kind):
    """Catches the same for integers."""
    if kind == pa.uint64():
        values = [v for v in values if v is None or v >= 0]
    path = written(tmp_path / "x.parquet", values, kind)
    for bounds in (BOUNDS, {"bounds": (0, 101)}):  # a middle that is no whole number
        assert exact(path, bounds)[0] == exact(pq.read_table(path), bounds)[0]


def test_values_within_the_bounds_are_not_clamped(tmp_path):
    """Catches the shortcut getting lost, and taken with a value outside."""
    inside = sql_of(exact(written(tmp_path / "a.parquet", [1.0, 99.0]))[1])
    outside = sql_of(exact(written(tmp_path / "b.parquet", [1.0, 101.0]))[1])
    assert "SUM" in inside and "CASE" in outside and "CASE" not in inside.split("a2")[0]


def test_the_footer_is_not_believed(tmp_path):
    """Catches a clamp left out because a footer lies: the largest value is patched in it alone."""
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
    clamped, _ = exact(path)
    assert clamped == exact(pa.table({"x": [1.0, 100.0], "k": ["A", "A"]}))[0]


def test_a_file_that_changes_is_looked_at_again(tmp_path):
    """Catches a range that outlives its file, of the same size and name."""
    path = written(tmp_path / "x.parquet", [1.0, 99.0])
    source = open_source(path)
    exact(path)
    before = os.stat(path)
    written(path, [1.0, 999.0])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # ctime still tells
    assert exact(path)[0] == exact(pa.table({"x": [1.0, 100.0], "k": ["A", "A"]}))[0]
    assert source.schema.names == ("x", "k")


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path, monkeypatch):
    """Catches an answer from rows that nobody looked at before."""
    path = written(tmp_path / "x.parquet", [1.0, 99.0])
    table = dp.table(path)
    query = table.agg(m=dp.sum("x", **BOUNDS))
    plan = make_plan(query, Spend.read(epsilon=1))
    stored = type(table.source.stored)
    looked = stored.ranges

    def meanwhile(self, cursor, columns):
        found = looked(self, cursor, columns)
        written(path, [1.0, 5000.0])
        return found

    monkeypatch.setattr(stored, "ranges", meanwhile)
    ((part, _),) = plan.bought.items()
    total = part.exact(table.source.measure(plan.request(1)).columns)
    assert Fraction(int(total[0])) * part.step == 101


def test_groups_too_large_for_doubles_are_added_as_integers(tmp_path, monkeypatch):
    """Catches a sum of doubles beyond 2^53, where it rounds."""
    path = written(tmp_path / "x.parquet", np.linspace(0, 100, 5000))
    wanted = exact(path)[0]
    monkeypatch.setattr(aggregating.Sum, "exact", lambda self, counts: False)
    assert exact(path)[0] == wanted


def test_how_many_steps_add_up_exactly():
    """Catches a limit that is off: 2^53 and no more."""
    grid = dp.sum("x", **BOUNDS).resolve(open_source(pa.table({"x": [1.0]})).schema).part.total
    made = aggregating.Sum(grid, ("a", "b"), steps=True)
    most = 2**53 // max(abs(grid.grid.lower), abs(grid.grid.upper))
    assert made.exact(np.array([most])) and not made.exact(np.array([most + 1]))
    assert made.exact(np.array([], np.int64))
