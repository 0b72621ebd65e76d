"""H8: files that are replaced under an open table are not read as if they were the old ones."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines.duckdb import DuckDbPass
from discreet.engines.execution import FAILED

OLD = {"pay": ["10", "20"], "age": ["1", "2"]}
OTHER = {
    "order": {"age": ["1", "2"], "pay": ["10", "20"]},
    "names": {"pay": ["10", "20"], "years": ["1", "2"]},
    "fewer": {"pay": ["10", "20"]},
    "more": {"pay": ["10", "20"], "age": ["1", "2"], "more": ["1", "2"]},
}


def write(path, columns):
    """In one step, as `mv` does."""
    new = path.with_name("new")
    if path.suffix == ".csv":
        lines = [columns, *zip(*columns.values(), strict=True)]
        new.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
    else:
        pq.write_table(pa.table(columns), new)
    os.replace(new, path)
    return path


def opened(path):
    table = dp.table(path)
    query = table.agg(n=dp.count(), s=dp.sum("pay", bounds=(0, 100)))
    return dp.Session(table, budget=dp.Pure(10**9)), query


def number(columns):
    return {name: [int(cell) for cell in cells] for name, cells in columns.items()}


@pytest.mark.parametrize("change", OTHER)
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_h8_other_columns_are_refused_before_the_charge(tmp_path, suffix, change):
    """H8: catches a new file whose second column is read under the name of the old one's."""
    path = write(tmp_path / f"a.{suffix}", number(OLD))
    session, query = opened(path)
    session.release(query, epsilon=1)
    write(path, number(OTHER[change]))
    with pytest.raises(dp.InvalidArgument, match="open the table again"):
        session.release(query, epsilon=1)
    assert session.spent == dp.Pure(1)


@pytest.mark.parametrize("kind", [pa.float64(), pa.int32(), pa.string()], ids=str)
def test_h8_other_types_of_parquet_are_refused_before_the_charge(tmp_path, kind):
    """H8: catches a column that has another type now than the plan was made for."""
    path = write(tmp_path / "a.parquet", {"pay": pa.array([1, 2], pa.int64())})
    session, query = opened(path)
    write(path, {"pay": pa.array([1, 2], pa.int64()).cast(kind)})
    with pytest.raises(dp.InvalidArgument, match="open the table again"):
        session.release(query, epsilon=1)
    assert session.spent == dp.Pure(0)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_h8_a_file_that_is_gone_is_refused_before_the_charge(tmp_path, suffix):
    """H8: catches a budget that is spent on a file which is not there."""
    path = write(tmp_path / f"a.{suffix}", number(OLD))
    session, query = opened(path)
    path.unlink()
    with pytest.raises(dp.InvalidArgument, match="open the table again"):
        session.release(query, epsilon=1)
    assert session.spent == dp.Pure(0)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("rows", [OLD, OTHER["order"]], ids=["same columns", "other columns"])
def test_h8_a_swap_while_it_is_read_is_no_answer(tmp_path, monkeypatch, suffix, moment, rows):
    """H8: catches an answer from a file that was put there after the last look at its header, and
    one that is part old, part new. It says no more than any failure."""
    path = write(tmp_path / f"a.{suffix}", number(OLD))
    session, query = opened(path)
    real = DuckDbPass.batches

    def swapped(self, sql):
        if moment == "before":
            write(path, number(rows))
        yield from real(self, sql)
        write(path, number(rows))

    monkeypatch.setattr(DuckDbPass, "batches", swapped)
    with pytest.raises(dp.EngineError) as caught:
        session.release(query, epsilon=1)
    assert caught.value.args == (FAILED,)
    assert session.spent == dp.Pure(1)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_h8_a_swap_after_the_check_is_found(tmp_path, monkeypatch, suffix):
    """H8: catches a pass that trusts the look before the charge."""
    path = write(tmp_path / f"a.{suffix}", number(OLD))
    session, query = opened(path)
    source = query.table.source
    check = type(source).check

    def late(self, request):
        check(self, request)
        write(path, number(OTHER["order"]))

    monkeypatch.setattr(type(source), "check", late)
    with pytest.raises(dp.EngineError) as caught:
        session.release(query, epsilon=1)
    assert caught.value.args == (FAILED,)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_h8_files_may_grow_between_releases(tmp_path, suffix):
    """H8: catches a check that refuses new rows under the same columns."""
    path = write(tmp_path / f"a.{suffix}", number(OLD))
    session, query = opened(path)
    for rows in (2, 4, 1000):
        write(path, {"pay": [10] * rows, "age": [1] * rows})
        result = session.release(query, epsilon=10**6)
        assert result.value("n").value == rows
        assert result.value("s").value == pytest.approx(10 * rows, abs=0.01)
