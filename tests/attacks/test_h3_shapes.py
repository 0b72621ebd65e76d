"""H3: the shape of an answer is decided by the plan, never by a value."""

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.query.measures import Total
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from discreet.query.request import Exact
from discreet.release.result import to_bytes
from discreet.session import run
from discreet.testing import seeded

ROWS = pa.table({"x": [1, 2], "y": [0.5, 1.5], "w": ["a", "b"]})
ASKED = {
    "n": dp.count(),
    "small": dp.sum("x", bounds=(0, 100)),
    "large": dp.sum("x", bounds=(0, 2**30)),
    "huge": dp.sum("x", bounds=(-(10**18), 10**18)),
    "real": dp.sum("y", bounds=(0, 1)),
    "mean": dp.mean("y", bounds=(0, 1)),
    "std": dp.std("x", bounds=(0, 2**20)),
    "bins": dp.histogram("x", edges=[0, 1, 2]),
    "q": dp.quantile("x", [0.1, 0.5, 0.9], bounds=(0, 10)),
    "top": dp.top_k("w", 2, candidates=["a", "b", "c"]),
}


def shape(result: dp.Result) -> object:
    """All of an answer but its numbers."""
    frame = result.to_arrow()
    chunks = [column.num_chunks for column in frame.columns]
    return frame.schema, chunks, result.columns, result.notes, result.suppressed, str(result)[-300:]


def answered(monkeypatch, value: int, keys: object) -> dp.Result:
    """The answer where every exact number is this one."""
    table = dp.table(ROWS)
    query = table.group_by("w", keys=keys).agg(**ASKED)

    def measured(request):
        def column(measure):
            places = (2, measure.size) if hasattr(measure, "size") else 2
            wide = isinstance(measure, Total) and measure.wide
            limit = 2**80 if wide else 2**62 if isinstance(measure, Total) else 2**40
            least = -limit if isinstance(measure, Total) else 0
            number = min(max(value, least), limit)
            return np.full(places, number, object if wide else np.int64)

        found = pa.table({"w": ["a", "b"]}) if keys == "discover" else None
        return Exact(found, {measure: column(measure) for measure in request.measures})

    monkeypatch.setattr(type(table.source), "measure", lambda self, request: measured(request))
    with seeded(3):
        return run(make_plan(query, Spend.read(epsilon=50, delta="1e-6")), cost="")


@pytest.mark.parametrize("keys", [["a", "b"], "discover"])
@pytest.mark.parametrize("value", [1, 2**31, 2**52, 2**61, 2**62, 2**63, 2**70, -(2**70)])
def test_h3_no_exact_number_decides_the_shape(monkeypatch, keys, value):
    """Catches a sum that is a decimal above 2^62 and an integer below, so that neighbours on both
    sides of it differ with certainty. (Keys that nobody has are not discovered, so from 1 on.)"""
    if keys == "discover" and value < 1000:
        value = 1000
    told, other = (answered(monkeypatch, one, keys) for one in (1000, value))
    assert shape(told)[:-1] == shape(other)[:-1]
    assert to_bytes(told) and to_bytes(other)


@pytest.mark.parametrize("aggregate", ["small", "large", "huge", "std"])
def test_h3_engines_return_numbers_of_one_type(aggregate):
    """Catches Python integers where a sum is large, and 64 bits where it is not."""
    for rows in ([1], [2**62] * 5):
        table = dp.table(pa.table({"x": rows}))
        plan = make_plan(table.agg(s=ASKED[aggregate]), Spend.read(epsilon=1))
        for measure, column in table.source.measure(plan.request(1)).columns.items():
            wide = isinstance(measure, Total) and measure.wide
            assert column.dtype == (object if wide else np.int64)


def test_h3_a_choice_among_no_groups_has_a_type(monkeypatch):
    """Catches a column of type null where no key was discovered."""
    table = dp.table(ROWS)
    query = table.group_by("w", keys="discover").agg(
        top=dp.top_k("w", 1, candidates=["a", "b"]),
        q=dp.quantile("x", [0.1, 0.2, 0.3], bounds=(0, 9)),
    )
    result = dp.Session(table, budget=dp.Approx(1, "1e-6")).release(
        query, epsilon="0.1", delta="1e-8"
    )
    assert result.to_arrow().schema.field("top").type == pa.string()
    assert any("known only beside a count" in note for note in result.notes)


@pytest.mark.parametrize("most", [2**23, 2**23 + 1, 2**30, 10**12])
def test_h3_certificates_of_large_sums_verify(most):
    """Catches a verifier that expects another type than the plan gives."""
    table = dp.table(pa.table({"x": [1, 2, 3]}))
    query = table.agg(s=dp.sum("x", bounds=(0, most)))
    result = dp.Session(table, budget=dp.Pure(1)).release(query, epsilon=1)
    assert result.certificate.verify(result=result).ok
    whole = pa.types.is_integer(result.to_arrow().schema.field("s").type)
    assert whole == (most <= 2**23)
