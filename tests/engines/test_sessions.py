"""The same query object on each engine: a session asks, and the answers before noise agree."""

import datetime

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, RelationMismatch
from discreet.testing import seeded

from .test_conformance import stored

ROWS = pa.table(
    {
        "id": pa.array([i // 4 for i in range(400)], pa.int64()),
        "ward": pa.array([("A", "B", "C", None, "other")[i % 5] for i in range(400)]),
        "days": pa.array([i % 31 for i in range(400)], pa.int64()),
        "cost": pa.array([None if i % 7 == 0 else i * 1.25 for i in range(400)], pa.float64()),
        "seen": pa.array(
            [datetime.date(2026, 1, 1) + datetime.timedelta(i) for i in range(400)], pa.date32()
        ),
    }
)
KEYS = ["C", "A", "B", "nobody"]
PUBLIC = pa.table({"ward": ["A", "B"], "floor": [1, 2]})


def question(table):
    """A bit of everything."""
    kept = table.where(lambda row: (row.days > 1) & (row.seen < "2026-12-01"))
    made = kept.mutate(
        month=lambda row: row.seen.month(), ratio=lambda row: row.cost / (row.days - 5)
    )
    joined = made.join(dp.public(PUBLIC), on="ward").bound(max_groups=3, max_rows_per_group=4)
    return joined.group_by("ward", keys=KEYS).agg(
        n=dp.count(),
        people=dp.count_units(),
        cost=dp.mean("cost", bounds=(0, 500)),
        ratio=dp.sum("ratio", bounds=(-100, 100)),
        spread=dp.std("days", bounds=(0, 31)),
        month=dp.histogram("month", edges=[1, 4, 7, 10, 13]),
        floor=dp.count("floor"),
        median=dp.median("days", bounds=(0, 31)),
        usual=dp.most_common("days", candidates=[2, 3, 4]),
    )


def answers(query, table):
    """Released with next to no noise; quantiles and choices left out, which tie."""
    session = dp.Session(table, budget=dp.Pure(10**9))
    with seeded(11):  # what noise there is may not decide
        frame = session.release(query, epsilon=10**8).to_arrow()
    names = [n for n in frame.column_names if not n.endswith("_error")]
    return {n: frame[n].to_pylist() for n in names if n not in ("median", "usual")}


def test_the_same_query_object_everywhere(engine):
    """Catches an engine that answers another question. Nobody is over the bound: 4 rows each."""
    reference = dp.table(ROWS, unit="id")
    query = question(reference)
    there = dp.table(stored(engine, ROWS), unit="id")
    ours, theirs = answers(query, reference), answers(query.on(there), there)
    assert ours.keys() == theirs.keys()
    for name, values in ours.items():
        assert theirs[name] == pytest.approx(values, abs=1e-3), name


def test_discovered_keys_everywhere(engine):
    """Catches an engine that loses or adds a key, or counts rows for people."""
    table = dp.table(stored(engine, ROWS), unit="id")
    query = table.bound(max_rows=4).group_by("ward", keys="discover").agg(n=dp.count())
    session = dp.Session(table, budget=dp.Approx(10**9, 1e-3), slack=5e-4)
    result = session.release(query, epsilon=10**3, delta=1e-4)
    assert result.to_arrow()["ward"].to_pylist() == ["A", "B", "C", "other"]


def test_bounds_are_bought_everywhere(engine):
    """Catches an engine that counts people's groups or rows wrongly."""
    table = dp.table(stored(engine, ROWS), unit="id")
    grouped = table.group_by("ward", keys=["A", "B", "C", "other"])
    session = dp.Session(table, budget=dp.Pure(10**6))
    # each id has four rows in a row of five wards: 3 of the listed ones, or 4
    assert session.release_max_groups(grouped, epsilon=10**3, coverage=0.9) == 4
    assert session.release_max_rows_per_group(grouped, epsilon=10**3, coverage=0.9) == 1


def test_a_query_fits_only_a_table_like_its_own():
    """Catches a query that runs on other types, units or relations than it was planned for."""
    table = dp.table(ROWS, unit="id")
    query = question(table)
    with pytest.raises(RelationMismatch):
        query.on(dp.table(ROWS))
    with pytest.raises(RelationMismatch):
        query.on(dp.table(ROWS, unit="id", relation="replace"))
    other = ROWS.set_column(2, "days", ROWS["days"].cast(pa.float64()))
    with pytest.raises(InvalidArgument, match="days"):
        query.on(dp.table(other, unit="id"))
    with pytest.raises(InvalidArgument, match="with steps"):
        query.on(table.where(lambda row: row.days > 1))


ODD = ["", " ", "A ", "a", "\\", "\\n", "'", '"', "%", "_", "ü", "🦊", "`x`", "--", "{}", "$1"]


def test_odd_keys_everywhere(engine):
    """Catches a key that an engine reads as another one, in a list or in a join."""
    rows = pa.table({"k": [key for i, key in enumerate(ODD) for _ in range(i + 1)]})
    table = dp.table(stored(engine, rows))
    session = dp.Session(table, budget=dp.Pure(10**9))
    query = table.group_by("k", keys=[*ODD, "A", "\\\\", "none"]).agg(n=dp.count())
    frame = session.release(query, epsilon=10**8).to_arrow()
    assert frame["n"].to_pylist() == [*range(1, len(ODD) + 1), 0, 0, 0]
    assert frame["k"].to_pylist() == [*ODD, "A", "\\\\", "none"]


def test_groups_without_a_value_are_still_counted(engine):
    """Catches a group that is lost because its sum is missing."""
    rows = pa.table({"k": ["A", "A", "B"], "x": pa.array([None, None, 1.0], pa.float64())})
    table = dp.table(stored(engine, rows))
    session = dp.Session(table, budget=dp.Pure(10**9))
    query = table.group_by("k", keys=["A", "B"]).agg(
        s=dp.sum("x", bounds=(0, 9)), n=dp.count(), m=dp.median("x", bounds=(0, 9))
    )
    frame = session.release(query, epsilon=10**8).to_arrow()
    assert frame["n"].to_pylist() == [2, 1]


@pytest.mark.parametrize("ansi", ["true", "false"])
def test_a_spark_frame_is_a_source(spark, ansi):
    """Catches a frame that cannot be opened, or a bad row that stops it in ANSI mode."""
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", ansi)
    texts = pa.table({"k": ["A", "A", "B"], "t": ["1", "x", "99999999999999999999"]})
    table = dp.table(session.createDataFrame(texts))
    asked = dp.Session(table, budget=dp.Pure(10**9))
    number = dp.count(lambda row: row.t.cast("integer") / 0)
    query = table.group_by("k", keys=["A", "B"]).agg(
        n=dp.count(), there=dp.count(lambda row: row.t.cast("integer")), none=number
    )
    frame = asked.release(query, epsilon=10**8).to_arrow()
    assert frame["n"].to_pylist() == [2, 1]
    assert frame["there"].to_pylist() == [1, 0] and frame["none"].to_pylist() == [0, 0]
    assert (
        session.conf.get("spark.sql.ansi.enabled") == ansi
    )  # the caller's session stays as it was
