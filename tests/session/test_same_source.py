"""A session is about one promise, not only about one table."""

import dataclasses

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import RelationMismatch
from discreet.neighbors import Relation, Unit


@pytest.mark.parametrize(
    "change", [{"relation": Relation.REPLACE}, {"unit": Unit("ward")}], ids=str
)
def test_the_same_data_under_another_promise_is_refused(change):
    """Catches answers that protect rows which are added, charged to a budget for rows which are
    replaced: the two do not add up."""
    table = dp.table(pa.table({"id": [1, 2], "ward": ["A", "B"]}), unit="id")
    session = dp.Session(table, budget=dp.Pure(1))
    other = dataclasses.replace(table, **change).bound(max_rows=1)
    with pytest.raises(RelationMismatch, match="this session protects"):
        session.release(other.agg(n=dp.count()), epsilon="0.5")
    assert session.spent == dp.Pure(0)
    assert len(session.release(table.bound(max_rows=1).agg(n=dp.count()), epsilon="0.5")) == 1
