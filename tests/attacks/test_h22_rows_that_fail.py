"""H22: one person's cell that made a query fail after the charge, or every later one."""

import datetime
from decimal import Decimal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines import duckdb
from discreet.errors import InvalidArgument

FAR = (0, 2**62, -(2**63), -(2**63) + 1, 2**63 - 1)


def years(source) -> dp.Result:
    """A question about a moment."""
    table = dp.table(source)
    query = table.mutate(y=lambda row: row.t.year()).group_by("y", keys=[1970, 2000])
    return dp.Session(table, budget=dp.Pure(1)).release(query.agg(n=dp.count()), epsilon=1)


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_h22_no_moment_in_memory_makes_a_query_fail(unit, zone):
    """Catches a moment with a zone that the engine cannot convert: this one person would show."""
    for value in FAR:
        moments = pa.array([0, value], pa.int64()).view(pa.timestamp(unit, zone))
        assert len(years(pa.table({"t": moments}))) == 2


def test_h22_nor_in_a_frame_of_pandas():
    """Catches the usual moments of pandas, which were charged and never answered."""
    moments = pd.to_datetime(["2000-01-01", "1970-01-01"]).tz_localize("UTC")
    assert len(years(pd.DataFrame({"t": moments}))) == 2


@pytest.mark.parametrize("value", FAR)
def test_h22_nor_in_a_file(tmp_path, value):
    """Catches the same in Parquet, in microseconds; other units with a zone are not offered."""
    moments = pa.array([0, value], pa.int64()).view(pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"t": moments}), tmp_path / "t.parquet")
    assert len(years(tmp_path / "t.parquet")) == 2
    other = pa.table({"t": pa.array([0], pa.timestamp("ms", "UTC"))})
    pq.write_table(other, tmp_path / "ms.parquet")
    with pytest.raises(InvalidArgument):
        years(tmp_path / "ms.parquet")


def test_h22_texts_that_are_doubled_stay_short():
    """Catches a text that 30 doublings make a gigabyte long, if its row is there: the engine broke
    down, for this question and for every later one."""
    for names in (["other"], ["other", "target"]):
        table = dp.table(pa.table({"name": names}))
        query = table.where(lambda row: row.name == "target")
        for _ in range(30):
            query = query.mutate(name=lambda row: row.name.concat(row.name))
        length = dp.sum(lambda row: row.name.length(), bounds=(0, 1))
        dp.Session(table, budget=dp.Pure(1)).release(query.agg(n=length), epsilon=1)


def test_h22_bytes_that_are_no_text_are_refused_at_the_door():
    """Catches an Arrow table that nobody looked at: one cell stopped the query."""
    cells = pa.array([b"a", b"\xff"])
    names = pa.Array.from_buffers(pa.string(), 2, cells.buffers())
    with pytest.raises(InvalidArgument, match="texts are UTF-8"):
        dp.table(pa.table({"name": names}))


def test_h22_a_database_that_broke_down_is_opened_again(monkeypatch):
    """Catches a process that can never answer again."""
    table = dp.table(pa.table({"x": [1, 2]}))
    dp.Session(table, budget=dp.Pure(1)).release(table.agg(n=dp.count()), epsilon=1)
    broken = duckdb.database()
    monkeypatch.setattr(duckdb, "_answers", lambda connection: connection is not broken)
    dp.Session(table, budget=dp.Pure(1)).release(table.agg(n=dp.count()), epsilon=1)
    assert duckdb.database() is not broken


@pytest.mark.parametrize("what", ["frame", "dict", "keys"])
def test_h23_a_public_table_is_what_it_was(what):
    """Catches a view of the caller's memory: keys that were distinct when they were looked at, and
    are equal when they are joined."""
    people = dp.table(pa.table({"k": [5]}))
    keys = np.arange(1000)
    frame = pd.DataFrame({"k": keys})
    if what == "keys":
        query = people.group_by("k", keys=keys).agg(n=dp.count())
    else:
        public = dp.public(frame if what == "frame" else {"k": keys, "v": np.ones(1000)})
        query = people.join(public, on="k").agg(n=dp.count())
    session = dp.Session(people, budget=dp.Pure(10**9))
    for _ in range(2):
        result = session.release(query, epsilon=10**8)
        assert sum(result.to_arrow()["n"].to_pylist()) == 1
        keys[:] = 5
        frame.loc[:, "k"] = 5


def test_h6_a_question_that_moves_to_another_table_takes_no_private_keys(tmp_path):
    """Catches a question built on a sample, with the private file as its public table."""
    pq.write_table(pa.table({"w": ["a", "b"]}), tmp_path / "private.parquet")
    sample = dp.table(pa.table({"w": ["a"]}))
    query = sample.group_by("w", keys=dp.public(tmp_path / "private.parquet")).agg(n=dp.count())
    with pytest.raises(InvalidArgument, match="the table of people itself"):
        query.on(dp.table(tmp_path / "private.parquet"))


def test_h12_an_hour_that_comes_twice_is_two_questions():
    """Catches a stored question that is taken for another: Python holds both moments for equal."""
    moment = datetime.datetime(2020, 10, 25, 1, 0)
    table = dp.table(pa.table({"t": pa.array([moment], pa.timestamp("us"))}))
    session = dp.Session(table, budget=dp.Pure(10**9))
    counts = []
    for fold in (0, 1):
        limit = datetime.datetime(2020, 10, 25, 2, 30, tzinfo=ZoneInfo("Europe/Berlin"), fold=fold)
        query = table.where(lambda row, limit=limit: row.t < limit).agg(n=dp.count())
        counts.append(session.release(query, epsilon=10**8).value("n").value)
    assert counts == [0, 1]


@pytest.mark.parametrize("ids", [[2**53, 2**53 + 1], [10**20, 10**20 + 1]])
def test_h19_decimal_ids_stay_apart(ids):
    """Catches numbers of a database that became doubles on their way to text."""
    frame = pd.DataFrame({"who": [Decimal(one) for one in ids], "x": [1, 2]}, dtype=object)
    table = dp.table(frame, unit="who")
    query = table.bound(max_rows=1).agg(people=dp.count_units())
    result = dp.Session(table, budget=dp.Pure(10**9)).release(query, epsilon=10**8)
    assert result.value("people").value == 2
