"""H2: columns of PostgreSQL whose collation or type holds different texts for equal."""

from collections.abc import Iterator
from typing import Any

import ibis
import pytest

import discreet as dp
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

SPELLINGS = [
    "".join(c.upper() if i >> j & 1 else c for j, c in enumerate("maternity")) for i in range(512)
]


@pytest.fixture(scope="module")
def nurses(icu_postgres_address: dict[str, str]) -> Iterator[Any]:
    """One row, in columns that ignore case, accents or both, and trailing spaces."""
    connection = ibis.postgres.connect(**icu_postgres_address)
    for sql in (
        "CREATE COLLATION no_case (provider=icu, locale='und-u-ks-level2', deterministic=false)",
        "CREATE COLLATION no_accent (provider=icu, locale='und-u-ks-level1', deterministic=false)",
        "CREATE TABLE nurses (a text COLLATE no_case, b varchar COLLATE no_accent, c char(20), "
        "w text COLLATE no_case, x integer)",
        "INSERT INTO nurses VALUES ('a', 'a', 'a', 'maternity', 1)",
        "CREATE VIEW seen AS SELECT a, w, x, upper(a) COLLATE no_case AS u FROM nurses",
    ):
        connection.raw_sql(sql).close()
    yield connection
    connection.disconnect()


def exact(table: dp.Table, query: dp.Query) -> list[Any]:
    """The exact numbers of a question that was checked first, as a session does."""
    request = make_plan(query, Spend.read(epsilon=1)).request(1)
    table.source.check(request)
    return [column.tolist() for column in table.source.measure(request).columns.values()]


@pytest.mark.parametrize(
    ("column", "others"), [("a", ["A"]), ("b", ["A", "á", "Á"]), ("c", ["A", "a "])]
)
def test_h2_a_row_has_one_key(nurses, column, others):
    """Catches keys that the column's collation holds for equal: one row would count in each."""
    table = dp.table(nurses.table("nurses"))
    keys = ["a", *others]
    assert exact(table, table.group_by(column, keys=keys).agg(n=dp.count())) == [
        [1] + [0] * len(others)
    ]


@pytest.mark.parametrize("source", ["nurses", "seen"])
def test_h2_a_join_matches_one_row(nurses, source):
    """Catches a join with all spellings of a word, each of which would bring the row once more."""
    table = dp.table(nurses.table(source))
    public = dp.public({"w": SPELLINGS, "more": range(len(SPELLINGS))})
    joined = table.join(public, on="w")
    assert exact(table, joined.agg(n=dp.count(), s=dp.sum("more", bounds=(0, 600)))) == [[1], [0]]


def test_h2_a_histogram_does_not_multiply_the_count_beside_it(nurses):
    """Catches a lookup of many categories that matches several of them."""
    table = dp.table(nurses.table("nurses"))
    query = table.agg(n=dp.count(), h=dp.histogram("w", categories=SPELLINGS[:64]))
    count, bins = exact(table, query)
    assert count == [1] and bins == [[1] + [0] * 63]


def test_h2_conditions_compare_code_points(nurses):
    """Catches a condition, a list or a discovered key that sees fewer texts than there are."""
    table = dp.table(nurses.table("seen"))
    for condition, wanted in [
        (lambda row: row.a == "A", 0),
        (lambda row: row.a == "a", 1),
        (lambda row: row.a.is_in(["A", "B"]), 0),
        (lambda row: row.a.lower() == row.u, 0),
        (lambda row: row.u == "A", 1),
        (lambda row: row.a > "Z", 1),
        (lambda row: row.a.startswith("A"), 0),
    ]:
        assert exact(table, table.where(condition).agg(n=dp.count())) == [[wanted]]


def test_h2_people_are_told_apart_by_code_points(nurses):
    """Catches two people whom the collation of their ids holds for one."""
    connection = nurses
    connection.raw_sql("CREATE TABLE ids (who text COLLATE no_case, w text)").close()
    connection.raw_sql("INSERT INTO ids VALUES ('a', 'x'), ('A', 'x'), ('A', 'x')").close()
    table = dp.table(connection.table("ids"), unit="who")
    query = table.bound(max_rows=1).agg(n=dp.count(), people=dp.count_units())
    assert exact(table, query) == [[2], [2]]


def test_h2_keys_that_a_server_cannot_hold_are_refused_before_the_charge(nurses):
    """Catches a charge for a key with a NUL, which PostgreSQL has no text for."""
    table = dp.table(nurses.table("nurses"))
    session = dp.Session(table, budget=dp.Pure(1))
    with pytest.raises(dp.InvalidArgument):
        session.release(table.group_by("a", keys=["a", "a\0"]).agg(n=dp.count()), epsilon="0.5")
    assert session.spent == dp.Pure(0)
    session.release(table.group_by("a", keys=["a"]).agg(n=dp.count()), epsilon="0.5")
