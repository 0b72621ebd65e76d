"""H7: a file that is named twice, by whatever names, gives its rows once."""

import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engines.sources import read_public

from .tables import Replay


def write(path, rows=3):
    table = pa.table({"x": pa.array(["1"] * rows)})
    if path.suffix == ".csv":
        path.write_text("x\n" + "1\n" * rows)
    else:
        pq.write_table(table, path)
    return path


def counted(source):
    (exact,) = Replay.of(dp.table(source).agg(n=dp.count())).exact.values()
    return int(exact[0])


def overlapping(path):
    return [path.with_name("a*"), path.with_name("*b*"), path]


def same_path(path):
    return [path, str(path), path.parent / "." / path.name, path.parent / "x" / ".." / path.name]


def soft_link(path):
    path.with_name(f"link{path.suffix}").symlink_to(path)
    return path.with_name(f"*{path.suffix}")


def hard_link(path):
    os.link(path, path.with_name(f"link{path.suffix}"))
    return path.with_name(f"*{path.suffix}")


def linked_folder(path):
    (path.parent / "again").symlink_to(path.parent)
    return [path, path.parent / "again" / path.name]


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize(
    "named", [overlapping, same_path, soft_link, hard_link, linked_folder], ids=lambda f: f.__name__
)
def test_h7_a_file_counts_once(tmp_path, named, suffix):
    """H7: catches rows that count twice, where one was declared, because of how files are named."""
    (tmp_path / "x").mkdir()
    path = write(tmp_path / f"ab.{suffix}")
    assert counted(named(path)) == counted(path) == 3
    assert read_public(named(path) if named is overlapping else path).table.num_rows == 3


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_h7_a_file_that_becomes_another_is_refused_before_the_charge(tmp_path, link, suffix):
    """H7: catches a second file that is replaced by a link to the first one after opening."""
    one, two = write(tmp_path / f"a.{suffix}"), write(tmp_path / f"b.{suffix}")
    table = dp.table(tmp_path / f"*.{suffix}")
    session = dp.Session(table, budget=dp.Pure(9))
    query = table.agg(n=dp.count())
    session.release(query, epsilon=1)
    two.unlink()
    link(one, two)
    with pytest.raises(dp.InvalidArgument, match="open the table again"):
        session.release(query, epsilon=1)
    assert session.spent == dp.Pure(1)


def test_h7_files_of_equal_rows_are_still_two(tmp_path):
    """H7: catches a file that is taken for another because it holds the same."""
    write(tmp_path / "a.csv"), write(tmp_path / "b.csv")
    assert counted(tmp_path / "*.csv") == 6
