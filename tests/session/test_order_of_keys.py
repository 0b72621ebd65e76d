"""Discovered keys come in their own order, in whatever order an engine found them."""

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.query.measures import Units
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from discreet.query.request import Exact
from discreet.session import _discovered


def test_the_order_of_an_engine_is_not_passed_on():
    """Catches keys in the order of the data. Ours are sorted by engines too: this is for others."""
    table = dp.table(pa.table({"ward": ["A"], "sex": ["f"]}))
    query = table.group_by("ward", "sex", keys="discover").agg(n=dp.count())
    plan = make_plan(query, Spend.read(epsilon=1, delta="1e-6"))
    found = pa.table({"ward": ["B", "A", "B", "A"], "sex": ["f", "m", "a", "f"]})
    exact = Exact(found, {Units(): np.full(4, 10**6)})
    assert _discovered(plan, exact).table.to_pydict() == {
        "ward": ["A", "A", "B", "B"],
        "sex": ["f", "m", "a", "f"],
    }
