"""H9: what folders and files are called is no data, and one row does not change how others are
read."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp

from .tables import Replay

NAMES = ["w=zzz", "W=zzz", "x=7/w=zzz", "filename=zzz", "w=__HIVE_DEFAULT_PARTITION__"]


def counts(source):
    query = dp.table(source).group_by("w", keys=["a", "b", "zzz"]).agg(n=dp.count())
    (exact,) = Replay.of(query).exact.values()
    return [int(n) for n in exact]


@pytest.mark.parametrize("folder", NAMES)
@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet"])
def test_h9_a_folder_is_no_column(tmp_path, folder, suffix):
    """H9: catches a folder's name in place of cells: everybody would be in one ward."""
    path = tmp_path / folder / f"w=zzz.{suffix}"
    path.parent.mkdir(parents=True)
    columns = {"w": ["a", "a", "b"], "x": ["1", "2", "3"], "filename": ["f", "g", "h"]}
    if suffix == "parquet":
        pq.write_table(pa.table(columns), path)
    else:
        lines = [columns, *zip(*columns.values(), strict=True)]
        path.write_text("".join(",".join(line) + "\n" for line in lines))
    assert counts(path) == counts([path]) == [2, 1, 0]


def test_h9_folders_that_disagree(tmp_path):
    """H9: catches files whose columns differ only because their folders do."""
    for folder in ("w=1", "y=2", "plain"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "rows.csv").write_text("w,x\na,1\nb,2\n")
    assert counts(tmp_path / "*" / "rows.csv") == [3, 3, 0]


def test_h9_a_suffix_is_no_compression(tmp_path):
    """H9: catches a file that is unpacked because of its name, which was read as text before."""
    packed = tmp_path / "rows.csv.gz"
    packed.write_bytes(gzip.compress(b"w,x\na,1\n"))
    with pytest.raises(dp.InvalidArgument):
        dp.table(packed)
    inner = tmp_path / "rows.csv"
    inner.write_text("w,x\na,1\n")
    table = dp.table(inner)
    assert "compression='none'" in table.source.stored._read


@pytest.mark.parametrize("last", [b"carl", b"\xff", b"\xc3\x28", b"\xed\xa0\x80"])
def test_h9_bytes_that_are_no_text_stop_nothing(tmp_path, last):
    """H9: catches one person's cell that makes a query fail: an option of the reader decides."""
    cells = pa.array([b"a", b"b", last])
    names = pa.Array.from_buffers(pa.string(), 3, cells.buffers())
    path = tmp_path / "names.parquet"
    pq.write_table(pa.table({"w": names}), path)
    assert counts(path) == [1, 1, 0]


@pytest.mark.parametrize("header", ["\n", "\r\n"])
@pytest.mark.parametrize("line", ["a,1\r", "\r", "\ra,1", "a\r,1", '"a\r",1', "#a,1", "a\\,1"])
def test_h9_a_stray_return_bears_on_its_own_row(tmp_path, header, line):
    """H9: catches a reader that learns from the header what a new line is: a stray return took the
    next person's row along, so that one person moved two."""
    path = tmp_path / "rows.csv"
    rows = ["b,1", line, "b,2", "b,3"]
    path.write_bytes(("w,x" + header + header.join(rows) + header).encode())
    a, b, _ = counts(path)
    assert b == 3 and a <= 1
