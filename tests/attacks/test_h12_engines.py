"""H12: an engine that cannot answer is found out before the charge."""

import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.engines.aggregation import BySumming
from discreet.engines.duckdb import DuckDbPass

ROWS = pd.DataFrame({"ward": ["A", "A", "B"], "who": [1, 1, 2], "x": [1.0, 2.0, 3.0]})


@pytest.fixture(params=["sqlite", "polars"])
def untested(request):
    """A table of an engine that the conformance suite does not know."""
    if request.param == "polars":
        return ibis.polars.connect(tables={"t": pl.from_pandas(ROWS)}).table("t")
    connection = ibis.sqlite.connect()
    connection.create_table("t", pa.Table.from_pandas(ROWS))
    return connection.table("t")


def test_h12_an_engine_that_is_not_tested_is_refused_at_the_door(untested):
    """Catches a budget spent on an engine of which nobody knows whether it answers exactly."""
    with pytest.raises(dp.InvalidArgument, match="untested=True"):
        dp.table(untested)


def test_h12_an_engine_that_cannot_answer_costs_nothing(untested):
    """Catches a charge for a question that the engine then fails on."""
    table = dp.table(untested, untested=True, unit="who")
    session = dp.Session(table, budget=dp.Pure(100))
    query = table.bound(max_rows=2).group_by("ward", keys=["A", "B"])
    try:
        session.release(query.agg(m=dp.mean("x", bounds=(0, 10))), epsilon=50)
    except dp.InvalidArgument:
        assert session.spent == dp.Pure(0)
    else:
        assert session.spent == dp.Pure(50)  # it can, after all


def test_h12_the_very_query_runs_on_no_rows(monkeypatch):
    """Catches a check that only translates: what fails when it runs must fail before the charge."""
    table = dp.table(pa.table({"x": [1, 2]}))
    session = dp.Session(table, budget=dp.Pure(1))

    def fails(self, query):
        raise RuntimeError("secret")

    monkeypatch.setattr(DuckDbPass, "batches", fails)
    with pytest.raises(dp.InvalidArgument, match="engine can answer") as refused:
        session.release(table.agg(n=dp.count()), epsilon="0.5")
    assert session.spent == dp.Pure(0) and "secret" not in str(refused.value)


def test_h12_the_check_touches_no_row():
    """Catches a check that reads: what it finds would not have been paid for."""

    class Rows(list):
        def __iter__(self):
            raise AssertionError("a row was read")

    table = dp.table(Rows([{"x": 1}]), schema={"x": "integer"})
    from discreet.query.plan import make_plan
    from discreet.query.purchase import Spend

    plan = make_plan(table.agg(s=dp.sum("x", bounds=(0, 9))), Spend.read(epsilon=1))
    for request in plan.requests:
        table.source.check(request)


@pytest.mark.parametrize("unit", [None, "who"])
def test_h12_each_question_is_translated_once(monkeypatch, unit):
    """Catches a cache that never matches: one translation for the check, one for the answer."""
    compiled = []
    compile_ = DuckDbPass.compile
    monkeypatch.setattr(
        DuckDbPass, "compile", lambda self, query: compiled.append(1) or compile_(self, query)
    )
    table = dp.table(pa.Table.from_pandas(ROWS), unit=unit)
    bounded = table if unit is None else table.bound(max_groups=2, max_rows_per_group=2)
    query = bounded.group_by("ward", keys=["A", "B"]).agg(
        n=dp.count(), s=dp.sum("x", bounds=(0, 5))
    )
    session = dp.Session(table, budget=dp.Pure(9))
    session.release(query, epsilon=1)
    assert len(compiled) == 1
    session.release(query, epsilon=2)
    assert len(compiled) == 1


def test_h12_a_checked_question_is_not_run_on_nothing_again(monkeypatch):
    """Catches a check that is paid for at every release."""
    ran = []
    answer = BySumming.answer
    monkeypatch.setattr(BySumming, "answer", lambda self, run: ran.append(1) or answer(self, run))
    table = dp.table(pa.table({"x": [1, 2]}))
    session = dp.Session(table, budget=dp.Pure(9))
    for times in (2, 3, 4):
        session.release(table.agg(n=dp.count()), epsilon=1)
        assert len(ran) == times


def test_h12_a_bought_bound_is_checked_too(monkeypatch):
    """Catches a bound on contributions that is charged, and then fails."""
    table = dp.table(pa.Table.from_pandas(ROWS), unit="who")
    session = dp.Session(table, budget=dp.Pure(1))

    def fails(self, query):
        raise RuntimeError("secret")

    monkeypatch.setattr(DuckDbPass, "batches", fails)
    with pytest.raises(dp.InvalidArgument, match="engine can answer"):
        session.release_max_groups(table.group_by("ward", keys=["A", "B"]), epsilon="0.5")
    assert session.spent == dp.Pure(0)
