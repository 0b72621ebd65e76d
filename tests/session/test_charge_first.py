"""Nothing is looked at before it is paid for, and what was looked at stays paid for."""

import pyarrow as pa
import pytest

import discreet as dp
from discreet.engines.sources import open_source
from discreet.errors import EngineError


@pytest.fixture
def touched(monkeypatch):
    """The names of what was asked of any table's data, in order."""
    calls = []
    kind = type(open_source(pa.table({"x": [1]})))
    for name in ("measure", "spread"):
        real = getattr(kind, name)

        def spy(self, *given, name=name, real=real):
            calls.append(name)
            return real(self, *given)

        monkeypatch.setattr(kind, name, spy)
    return calls


@pytest.fixture
def people():
    rows = {"id": [i // 2 for i in range(200)], "ward": ["A", "B"] * 100}
    return dp.table(pa.table(rows), unit="id").bound(max_groups=2, max_rows_per_group=1)


def grouped(people):
    return people.group_by("ward", keys=["A", "B"])


def test_a_refused_release_touches_no_data(people, touched):
    """Catches a look at the data before the charge, which a crash or a refusal makes free."""
    session = dp.Session(people, budget=dp.Pure(1))
    with pytest.raises(dp.BudgetExceeded):
        session.release(grouped(people).agg(n=dp.count()), epsilon=2)
    with pytest.raises(dp.BudgetExceeded):
        session.release_max_groups(grouped(people), epsilon=2)
    with pytest.raises(dp.BudgetExceeded):
        session.release_max_rows_per_group(grouped(people), epsilon=2)
    assert touched == []
    session.release(grouped(people).agg(n=dp.count()), epsilon=1)
    assert touched == ["measure"]  # or there was nothing to see


def test_a_failure_after_the_charge_is_not_given_back(people, monkeypatch):
    """Catches a refund: whether there is one would tell something of the data."""
    session = dp.Session(people, budget=dp.Pure(1))

    def fail(*given):
        raise ValueError("a cell")

    monkeypatch.setattr(type(people.source), "measure", fail)
    with pytest.raises(EngineError) as caught:
        session.release(grouped(people).agg(n=dp.count()), epsilon="0.6")
    assert session.spent == dp.Pure("0.6") and len(session.history) == 1
    assert "cell" not in str(caught.value)
    assert caught.value.__cause__ is caught.value.__context__ is None
