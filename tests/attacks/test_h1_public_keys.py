"""H1, H5, H6: tables that are said to be public, and what they may not do."""

import datetime
import os

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

MANY = 1_000


class Word(pa.ExtensionType):
    """A text by another name."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "discreet.tests.word")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage_type, serialized):
        return cls()


def encodings(values: list[str]) -> dict[str, pa.Array | pa.ChunkedArray]:
    """The same cells in every way that Arrow can hold them."""
    plain = pa.array(values, pa.string())
    places = pa.array(range(len(values)), pa.int32())
    ends = pa.array(range(1, len(values) + 1), pa.int32())
    return {
        "plain": plain,
        "dictionary": pa.DictionaryArray.from_arrays(places, plain),
        "large dictionary": pa.DictionaryArray.from_arrays(places, plain.cast(pa.large_string())),
        "run ends": pa.RunEndEncodedArray.from_arrays(ends, plain),
        "view": plain.cast(pa.string_view()),
        "large": plain.cast(pa.large_string()),
        "extension": pa.ExtensionArray.from_storage(Word(), plain),
        "chunks": pa.chunked_array([plain.slice(0, 1), plain.slice(1)]),
        "sliced": pa.array(["other", *values, "more"], pa.string()).slice(1, len(values)),
    }


ENCODINGS = list(encodings(["a", "b"]))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_h1_a_key_that_stands_twice_is_refused_in_every_encoding(encoding):
    """Catches distinctness that is checked on indices: one row joined to a thousand equal values
    would count a thousand times."""
    column = encodings(["a"] * MANY)[encoding]
    people = dp.table(pa.table({"w": ["a"], "x": [1]}))
    public = dp.public(pa.table({"w": column, "more": range(MANY)}))
    with pytest.raises(InvalidArgument, match="each key once"):
        people.join(public, on="w")
    with pytest.raises(InvalidArgument, match="distinct"):
        people.group_by("w", keys=public)


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_h1_distinct_keys_count_once_in_every_encoding(encoding):
    """Catches an encoding that is refused, lost or read wrongly."""
    public = dp.public(pa.table({"w": encodings(["a", "b"])[encoding], "more": [1, 2]}))
    people = dp.table(pa.table({"w": ["a", "a", "b", "c"]}))
    for query in (
        people.group_by("w", keys=public).agg(n=dp.count()),
        people.join(public, on="w").group_by("more", keys=[1, 2]).agg(n=dp.count()),
    ):
        request = make_plan(query, Spend.read(epsilon=1)).request(1)
        people.source.check(request)
        (counts,) = people.source.measure(request).columns.values()
        assert counts.tolist() == [2, 1]


def test_h1_a_lower_cased_categorical_is_refused():
    """The accident: categories that are equal once they are lower-cased."""
    wards = pa.array(["Maternity", "maternity"]).dictionary_encode()
    lowered = pa.DictionaryArray.from_arrays(
        wards.indices, pa.array([one.lower() for one in wards.dictionary.to_pylist()])
    )
    people = dp.table(pa.table({"ward": ["maternity"]}))
    with pytest.raises(InvalidArgument, match="each key once"):
        people.join(dp.public(pa.table({"ward": lowered, "floor": [1, 2]})), on="ward")


def test_h1_dates_with_a_time_of_day_are_days():
    """Catches two moments of one day that count as two keys here and as one in the engine, and an
    error of Arrow, which quotes a cell, where such a table is hashed."""
    noon = pa.array([43_200_000, 86_400_000, -1], pa.int64()).view(pa.date64())
    public = dp.public(pa.table({"day": noon, "more": [1, 2, 3]}))
    days = [datetime.date(1970, 1, 1), datetime.date(1970, 1, 2), datetime.date(1969, 12, 31)]
    people = dp.table(pa.table({"day": days}))
    query = people.join(public, on="day").group_by("more", keys=[1, 2, 3]).agg(n=dp.count())
    dp.Session(people, budget=dp.Pure(1)).release(query, epsilon=1)
    counts = people.source.measure(make_plan(query, Spend.read(epsilon=1)).request(1)).columns
    assert [column.tolist() for column in counts.values()] == [[1, 1, 1]]
    twice = pa.array([0, 1], pa.int64()).view(pa.date64())
    with pytest.raises(InvalidArgument, match="each key once"):
        people.join(dp.public(pa.table({"day": twice, "more": [1, 2]})), on="day")


def test_h1_the_engine_that_joins_is_asked(monkeypatch):
    """Catches a check in Arrow alone: what the engine holds for equal decides how rows multiply.
    Planted: an engine that is told keys which are equal to it and not to us."""
    from discreet.engines.duckdb import DuckDbPass

    people = dp.table(pa.table({"w": ["a"]}))
    session = dp.Session(people, budget=dp.Pure(1))
    query = people.group_by("w", keys=["a", "A"]).agg(n=dp.count())
    monkeypatch.setattr(DuckDbPass, "matches", lambda self, name: 4)
    with pytest.raises(InvalidArgument, match="distinct for the engine"):
        session.release(query, epsilon="0.5")
    assert session.spent == dp.Pure(0)


# -- H5 --------------------------------------------------------------------------------------------

VISITS = pa.table({"patient": [1, 1, 2], "days": [3, 5, 9], "ward": ["A", "B", "A"]})
PEOPLE = pa.table({"patient": [1, 2], "age": [40, 50]})
SPELLINGS = {
    "itself": lambda table: table,
    "a copy": lambda table: table.mutate(who="patient"),
    "a copy of a copy": lambda table: table.mutate(other="patient").mutate(who="other"),
    "a cast": lambda table: table.mutate(who=lambda row: row.patient.cast("text")),
    "a sum": lambda table: table.mutate(who=lambda row: row.patient + 1000),
    "a product": lambda table: table.mutate(who=lambda row: row.patient * 1),
    "a quotient": lambda table: table.mutate(who=lambda row: row.patient // 1),
    "a choice": lambda table: table.mutate(
        who=lambda row: dp.case((row.patient > 0, row.patient), otherwise=0)
    ),
    "a selection": lambda table: table.select("ward", who=lambda row: row.patient),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_h5_a_table_by_person_is_not_public(spelling):
    """Catches a join with the people themselves: a certificate would hold that table's row count
    and hash, which differ between neighbours."""
    visits = SPELLINGS[spelling](dp.table(VISITS, unit="patient"))
    name = "patient" if spelling == "itself" else "who"
    people = pa.table({name: pa.array(["1"]) if spelling == "a cast" else pa.array([1])})
    with pytest.raises(InvalidArgument, match="which is the unit") as refused:
        visits.join(dp.public(people.append_column("age", pa.array([40]))), on=name)
    assert "before dp.table" in str(refused.value)


def test_h5_a_column_that_many_people_share_may_be_looked_up():
    """Catches a refusal of what is no table of people: codes that are part of an id."""
    visits = dp.table(VISITS, unit="patient").mutate(clinic=lambda row: row.patient // 10)
    visits.join(dp.public({"clinic": [0, 1], "town": ["X", "Y"]}), on="clinic")


def test_h5_every_join_is_told():
    """Catches a join that whoever reads the answer does not learn of."""
    table = dp.table(VISITS, unit="patient").bound(max_rows=2)
    joined = table.join(dp.public({"ward": ["A", "B"], "floor": [1, 2]}), on="ward")
    session = dp.Session(table, budget=dp.Pure(1))
    query = joined.group_by("floor", keys=[1, 2]).agg(n=dp.count())
    explained = str(session.explain(query, epsilon="0.5"))
    assert "Joined: floor: looked up by ward in another table of 2 rows" in explained
    result = session.release(query, epsilon="0.5")
    assert any("looked up by ward" in note and "public" in note for note in result.notes)
    trusted = result.certificate.verify().trusted
    assert any("2 rows joined on ward" in one and "is public" in one for one in trusted)


# -- H6 --------------------------------------------------------------------------------------------


@pytest.fixture
def secret(tmp_path, monkeypatch):
    """A private file, and a table on it."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"w": ["a", "b", "c"], "x": [1, 2, 3]}), "secret.parquet")
    return dp.table("secret.parquet")


def test_h6_a_bare_string_is_never_a_path(secret, tmp_path):
    """Catches a question that names a file and gets its rows."""
    (tmp_path / "x.csv").write_text("w\na\n")
    for given in ("x.csv", "secret.parquet", tmp_path / "x.csv"):
        with pytest.raises(InvalidArgument, match=r"dp\.public"):
            secret.group_by("w", keys=given)
        with pytest.raises(InvalidArgument, match=r"dp\.public"):
            secret.join(given, on="w")


def test_h6_a_frame_is_said_to_be_public(secret):
    """Catches a frame that is taken for public because it was handed over."""
    table = pa.table({"w": ["a"], "y": [1]})
    frames = [table, table.to_pandas(), pl.from_arrow(table), table["w"], table.to_pandas()["w"]]
    for frame in frames:
        with pytest.raises(InvalidArgument, match=r"dp\.public"):
            secret.group_by("w", keys=frame)
        with pytest.raises(InvalidArgument, match=r"dp\.public"):
            secret.join(frame, on="w")
    assert len(secret.group_by("w", keys=dp.public(table)).keys) == 1


@pytest.mark.parametrize(
    "name", ["secret.parquet", "./secret.parquet", "link", "hard", "s*.parquet"]
)
def test_h6_the_source_is_not_its_own_public_table(secret, name):
    """Catches the private file as a list of keys, by whatever name."""
    os.symlink("secret.parquet", "link")
    os.link("secret.parquet", "hard")
    public = dp.public(name)
    with pytest.raises(InvalidArgument, match="the table of people itself"):
        secret.group_by("w", keys=public)
    with pytest.raises(InvalidArgument, match="the table of people itself"):
        secret.join(public, on="w", suffix="_2")


def test_h6_nor_is_the_frame_that_it_was_opened_with():
    """Catches the same for what is in memory."""
    frame = pd.DataFrame({"w": ["a", "b"], "day": [datetime.date(2026, 1, 1)] * 2})
    people = dp.table(frame)
    with pytest.raises(InvalidArgument, match="the table of people itself"):
        people.group_by("w", keys=dp.public(frame))
