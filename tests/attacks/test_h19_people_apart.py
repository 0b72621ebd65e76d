"""H19, H20: people whom a query took for each other, or for somebody. The fuzzer found both."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

CLOSE = {
    "large whole numbers": pa.array([2**63, 2**63 + 1], pa.uint64()),
    "the largest ones": pa.array([2**64 - 1, 2**63 - 1], pa.uint64()),
    "nanoseconds": pa.array([1, 2], pa.timestamp("ns")),
    "nanoseconds somewhere": pa.array([1, 2], pa.timestamp("ns", "Europe/Berlin")),
    "microseconds": pa.array([1, 2], pa.timestamp("us")),
    "texts": pa.array(["a", "a "]),
}


def exact(who, *, salt, **asked):
    """The exact numbers of people with one row each, in wards of their own."""
    table = dp.table(pa.table({"who": who, "ward": ["x", "y", "z"][: len(who)]}), unit="who")
    bounded = table.bound(max_rows=1)
    query = bounded.group_by("ward", keys=["x", "y", "z"]).agg(**(asked or {"n": dp.count()}))
    request = make_plan(query, Spend.read(epsilon=1)).request(salt)
    return [column.tolist() for column in table.source.measure(request).columns.values()]


@pytest.mark.parametrize("who", CLOSE.values(), ids=CLOSE)
def test_h19_people_whose_ids_are_close_stay_two(who):
    """Catches ids that become equal in the types of a query: to remove one of two people who are
    taken for one can bring back the other's row, so that two numbers move where one was declared.
    With 20 salts, a bound of one row would leave one of two out, whichever it is."""
    for salt in range(20):
        assert exact(who, salt=salt) == [[1, 1, 0]]
        assert exact(who.slice(1), salt=salt) == [[1, 0, 0]]


@pytest.mark.parametrize("kind", [pa.uint64(), pa.int64(), pa.timestamp("ns")])
def test_h20_rows_of_nobody_are_nobodys(kind):
    """Catches a missing id of 64 bits without a sign that was read as the largest number."""
    who = pa.array([1, None, None], kind)
    assert exact(who, salt=1, n=dp.count(), people=dp.count_units()) == [[1, 0, 0], [1, 0, 0]]


def test_h20_missing_numbers_stay_missing():
    """Catches the same for a value: it counted, as the upper bound."""
    table = dp.table(pa.table({"x": pa.array([None, 1], pa.uint64())}))
    query = table.agg(n=dp.count("x"), s=dp.sum("x", bounds=(0, 10)))
    request = make_plan(query, Spend.read(epsilon=1)).request(1)
    assert [c.tolist() for c in table.source.measure(request).columns.values()] == [[1], [1]]
