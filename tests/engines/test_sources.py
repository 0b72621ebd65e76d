"""Every kind of source gives the same answer, from metadata that no row can change."""

import datetime
import multiprocessing
import threading
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

from discreet.engines.sources import open_source, read_public
from discreet.errors import EngineError, InvalidArgument
from discreet.query.contribution import ContributionBound
from discreet.query.measures import AllRows, Present
from discreet.query.schema import Type
from tests.engines.asking import ask, cell, numbers

NAN = float("nan")
ROWS = pa.table(
    {
        "person": pa.array([1, 1, 1, 2, 2, None, 3, 4], pa.int64()),
        "ward": ["A", "A", "B", "A", None, "A", "it's", "B"],
        "x": [1.0, -2.5, NAN, 9e30, 5.0, 6.0, None, -3.0],
        "n": pa.array([1, 2, 3, 4, 5, 6, 7, None], pa.int32()),
    }
)
KEYS = ["it's", "B", "nowhere", "A"]
TYPES = {"person": "integer", "ward": "text", "x": "real", "n": "integer"}


def parquet(folder: Path) -> Any:
    pq.write_table(ROWS.slice(0, 3), folder / "a [1].parquet")
    pq.write_table(ROWS.slice(3), folder / "b 'two'.parquet")
    return str(folder / "*.parquet")


def csv(folder: Path) -> Any:
    pa.csv.write_csv(ROWS, folder / "rows.csv")
    return folder / "rows.csv"


def relation(folder: Path) -> Any:
    connection = duckdb.connect()
    connection.register("rows", ROWS)
    return connection.sql("FROM rows")


def ibis_table(folder: Path) -> Any:
    connection = ibis.duckdb.connect()
    connection.con.register("given", ROWS)
    connection.con.execute("CREATE TABLE kept AS FROM given").fetchall()
    return connection.table("kept")


KINDS: dict[str, Callable[[Path], Any]] = {
    "Arrow table": lambda _: ROWS,
    "Arrow dataset": lambda _: pa.dataset.dataset(ROWS),
    "Parquet": parquet,
    "CSV": csv,
    "pandas": lambda _: ROWS.to_pandas().set_index(pd.Index(range(8, 0, -1))),
    "pandas objects": lambda _: ROWS.to_pandas().astype({"ward": object, "x": object}),
    "pandas categories": lambda _: ROWS.to_pandas().astype({"ward": "category"}),
    "pandas on Arrow": lambda _: ROWS.to_pandas(types_mapper=pd.ArrowDtype),
    "Polars": lambda _: pl.from_arrow(ROWS).with_columns(pl.col("ward").cast(pl.Categorical)),
    "Polars, lazy": lambda _: pl.from_arrow(ROWS).lazy(),
    "DuckDB": relation,
    "Ibis": ibis_table,
    "records": lambda _: ROWS.to_pylist(),
}


# Ibis 12 calls what DuckDB 2 calls deprecated; we do not.
@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_gives_the_same_answer(kind: str, tmp_path: Path) -> None:
    # Catches a kind whose nulls, NaN, types or order are read in another way.
    source = open_source(KINDS[kind](tmp_path), schema=TYPES)
    columns = list(source.measure(ask(source, *numbers(source), keys=KEYS)).columns.values())
    rows, units, present, _, squares, bins = columns
    assert rows.tolist() == units.tolist() == [1, 2, 0, 4]
    assert present.tolist() == [0, 1, 0, 4]
    assert bins.sum(axis=1).tolist() == [0, 1, 0, 4] and bins[3, 16] == 1
    wanted = open_source(ROWS).measure(ask(open_source(ROWS), *numbers(source), keys=KEYS))
    for mine, theirs in zip(columns, wanted.columns.values(), strict=True):
        assert np.array_equal(mine, theirs)
    assert squares[0] == 0


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_keeps_the_same_people(kind: str, tmp_path: Path) -> None:
    # Catches a unit that is lost or read as another value: 2 people are over the bound.
    source = open_source(KINDS[kind](tmp_path), schema=TYPES)
    request = ask(
        source, *numbers(source), keys=KEYS, unit="person", bound=ContributionBound(1, 1, None)
    )
    rows, units, *_ = source.measure(request).columns.values()
    assert rows.tolist() == units.tolist() and rows.sum() == 4 and rows[0] == 1


def test_types_come_from_metadata() -> None:
    # Catches a type that is guessed from values, and a promise about nulls that is not made.
    fields = [
        pa.field("flag", pa.bool_(), nullable=False),
        pa.field("small", pa.uint8(), nullable=False),
        pa.field("large", pa.uint64()),
        pa.field("real", pa.float32(), nullable=False),
        pa.field("money", pa.decimal128(10, 2), nullable=False),
        pa.field("text", pa.large_string()),
        pa.field("code", pa.dictionary(pa.int8(), pa.string())),
        pa.field("day", pa.date32(), nullable=False),
        pa.field("moment", pa.timestamp("ns", "UTC")),
        pa.field("list", pa.list_(pa.int64())),
    ]
    schema = open_source(pa.schema(fields).empty_table()).schema
    kinds = "boolean integer integer real real text text date timestamp other"
    assert [str(field.type) for field in schema] == kinds.split()
    # Nothing keeps missing cells out of what is in memory, whatever its schema says.
    assert all(field.nullable for field in schema)


def test_large_and_zoned_values_are_read_without_an_error() -> None:
    # Catches a cast that fails on one row: integers beyond 63 bits, moments far away.
    table = pa.table(
        {
            "ward": ["A", "B"],
            "large": pa.array([2**64 - 1, 5], pa.uint64()),
            "money": pa.array([Decimal("1.25"), None], pa.decimal128(10, 2)),
            "moment": pa.array([2**62, 0], pa.timestamp("ms")),
            "zoned": pa.array([0, 1], pa.timestamp("us", "Asia/Tokyo")),
        }
    )
    source = open_source(table)
    for name, kind in (("large", Type.REAL), ("money", None), ("moment", None), ("zoned", None)):
        request = ask(source, Present(cell(source, name, kind)), keys=["A", "B"])
        (present,) = source.measure(request).columns.values()
        assert present.tolist() == {"money": [1, 0], "moment": [0, 1]}.get(name, [1, 1])


def test_opening_reads_no_row(tmp_path: Path) -> None:
    # Catches a look at data before anything is charged: the pages of one column are destroyed.
    path = tmp_path / "broken.parquet"
    table = pa.table({"ward": ["A"] * 999, "x": np.arange(999) / 8, "y": np.arange(999) / 8})
    pq.write_table(table, path, compression="none", use_dictionary=False)
    chunk = pq.read_metadata(path).row_group(0).column(1)
    content = bytearray(path.read_bytes())
    start = chunk.data_page_offset
    content[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(content)
    source = open_source(path)
    assert source.schema.names == ("ward", "x", "y")
    with pytest.raises(EngineError, match="the engine could not compute"):
        source.measure(ask(source, *numbers(source, "x"), keys=["A"]))
    # And a column that is not asked for is not read.
    rows, *_ = source.measure(ask(source, *numbers(source, "y"), keys=["A"])).columns.values()
    assert rows.tolist() == [999]


def test_a_file_is_read_when_it_is_asked(tmp_path: Path) -> None:
    # Catches an answer from a copy that was made too early, or kept too long.
    path = tmp_path / "rows.parquet"
    pq.write_table(ROWS, path)
    source = open_source(path)
    pq.write_table(ROWS.slice(0, 2), path)
    (rows,) = source.measure(ask(source, keys=["A"])).columns.values()
    assert rows.tolist() == [2]
    path.unlink()
    with pytest.raises(EngineError):
        source.measure(ask(source, keys=["A"]))


def test_objects_of_pandas_are_text() -> None:
    # Catches a type, or an error, that depends on what one cell holds.
    day = datetime.date(2026, 1, 31)
    cells = ["A", 1, True, 2.5, None, NAN, b"A", [1], "\ud800", day, 10**5000, pd.NaT]
    cells += [Decimal("sNaN"), Decimal("1e999"), Fraction(10**999), np.datetime64("NaT")]
    source = open_source(pd.DataFrame({"ward": pd.Series(cells, dtype=object)}))
    assert source.schema["ward"].type is Type.TEXT
    keys = ["A", "1", "true", "2.5", "2026-01-31", "\\ud800"]
    (rows,) = source.measure(ask(source, keys=keys)).columns.values()
    assert rows.tolist() == [1] * 6


LINES = {
    "plain": "A,1",
    "quoted": '"A",1',
    "too short": "A",
    "too long": "A,1,2,3",
    "empty": "",
    "open quote": '"A,1',
    "quote inside": 'A"A,1',
    "bad bytes": "\udcff\udcfe,1",
    "not a number": "A,one",
    "line break": '"A\nB",1',
    "three megabytes": "A" * 3_000_000 + ",1",
    "zero byte": "A\0,1",
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_a_csv_bears_on_itself_alone(line: str, tmp_path: Path) -> None:
    # Catches a line that stops the query, or takes its neighbours along.
    path = tmp_path / "rows.csv"
    lines = ["ward,x", *["B,1"] * 5, LINES[line], *["B,2"] * 5]
    path.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape") + b"\n")
    source = open_source(path)
    assert [field.type for field in source.schema] == [Type.RAW, Type.RAW]
    answer = source.measure(ask(source, *numbers(source), keys=["A", "B"]))
    rows, _, present, *_ = answer.columns.values()
    if line != "open quote":  # which may take what follows into its cell
        assert rows[1] == present[1] == 10
    assert rows[0] <= 1


def test_delimiters_and_header_lines(tmp_path: Path) -> None:
    # Catches a guess: nothing but the header line and the caller say how a file is read.
    path = tmp_path / "rows.csv"
    path.write_text("\ufeffward;x\nA;1\nB;2\n")
    source = open_source(path, delimiter=";")
    assert source.schema.names == ("ward", "x")
    (rows,) = source.measure(ask(source, keys=["A"])).columns.values()
    assert rows.tolist() == [1]
    assert open_source(path, delimiter=";", schema={"x": "real"}).schema["x"].type is Type.REAL


def test_what_cannot_be_opened_says_what_to_do(tmp_path: Path) -> None:
    # Catches an error from below, which may quote a cell or help nobody.
    pq.write_table(ROWS, tmp_path / "a.parquet")
    pq.write_table(ROWS.drop(["x"]), tmp_path / "b.parquet")
    (tmp_path / "no.parquet").write_text("not Parquet: SECRET")
    (tmp_path / "empty.csv").write_text("")
    pa.csv.write_csv(ROWS, tmp_path / "c.csv")
    pa.csv.write_csv(ROWS.drop(["x"]), tmp_path / "d.csv")
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (tmp_path / "missing.parquet", {}, "a file, or a pattern"),
        (tmp_path, {}, "all files in a folder"),
        (tmp_path / "[ab].parquet", {}, "files of the same columns"),
        (tmp_path / "no.parquet", {}, "a Parquet file that can be read"),
        (tmp_path / "empty.csv", {}, "first line names the columns"),
        ([tmp_path / "c.csv", tmp_path / "d.csv"], {}, "files of the same header"),
        ([tmp_path / "a.parquet", tmp_path / "c.csv"], {}, "files of one format"),
        (tmp_path / "c.csv", {"delimiter": ",,"}, "one character"),
        (tmp_path / "a.parquet", {"schema": {"y": "real"}}, "one of person, ward"),
        (tmp_path / "a.parquet", {"schema": {"ward": "timestamp"}}, "can be read as timestamp"),
        (pa.table({"a": [1], "A": [1]}), {}, "small and capital"),
        (pa.table({}), {}, "a table with a column"),
        (pd.DataFrame({0: [1]}), {}, "named by text"),
        ([{"a": 1}], {}, "given for a list of records"),
        (7, {}, "a path or pattern"),
        (ibis.table({"a": "int64"}, name="nowhere"), {}, "an Ibis table of one connection"),
    ]
    for source, options, sentence in refused:
        with pytest.raises(InvalidArgument, match=sentence.replace("[", ".")) as caught:
            open_source(source, **options)
        assert "SECRET" not in str(caught.value) and caught.value.__cause__ is None


def test_names_of_columns_are_only_names(tmp_path: Path) -> None:
    # Catches a name that becomes SQL, or clashes with one of ours.
    names = ['a"b', "it's", "select", "u", "c0", "k0", "i", "first", "source", "ü b.c"]
    table = pa.table({name: [f"{name}!", "?"] for name in names})
    pq.write_table(table, tmp_path / "odd.parquet")
    source = open_source(tmp_path / "odd.parquet")
    for name in names:
        request = ask(
            source, group=(name,), keys=[f"{name}!"], unit=names[0], bound=ContributionBound(1, 1)
        )
        (rows,) = source.measure(request).columns.values()
        assert rows.tolist() == [1]


def test_threads_share_a_source() -> None:
    # Catches passes that share a connection: one would read, or stop, another's result.
    source, answers = open_source(ROWS), []

    def work() -> None:
        for _ in range(5):
            (rows,) = source.measure(ask(source, keys=KEYS)).columns.values()
            answers.append(rows.tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [[1, 2, 0, 4]] * 40


def test_a_source_survives_a_fork() -> None:
    # Catches a database that is shared with the parent process, where it would hang.
    source = open_source(ROWS)
    source.measure(ask(source, keys=KEYS))
    context = multiprocessing.get_context("fork")
    child = context.Process(target=_measure, args=(source,))
    child.start()
    child.join(timeout=900)
    assert child.exitcode == 0


def _measure(source: Any) -> None:
    answer = source.measure(ask(source, keys=KEYS))
    assert answer.columns[AllRows()].tolist() == [1, 2, 0, 4]


def test_public_tables_come_from_anything(tmp_path: Path) -> None:
    # Catches a kind that a key list or a lookup table cannot be.
    table = pa.table({"ward": ["A", "B"], "beds": [3, 4]})
    pq.write_table(table, tmp_path / "t.parquet")
    pa.csv.write_csv(table, tmp_path / "t.csv")
    given = [
        table,
        table.to_pydict(),
        table.to_pylist(),
        table.to_pandas(),
        pl.from_arrow(table),
        pl.from_arrow(table).lazy(),
        pa.dataset.dataset(table),
        duckdb.connect().from_arrow(table),
        tmp_path / "t.parquet",
        [str(tmp_path / "t.csv")],
    ]
    for one in given:
        assert read_public(one).table.to_pydict() == table.to_pydict()
    for wrong in (7, "missing.parquet", {"a": [1, 2], "b": [1]}):
        with pytest.raises(InvalidArgument):
            read_public(wrong)
