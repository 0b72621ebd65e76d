"""Replay of our own Sessions: clean as they are, and caught when a part of them is broken."""

import math
from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet import session as running
from discreet.auditor.domains import neighbours
from discreet.auditor.replay import replay as plain_replay
from discreet.engines import cell_table, row_sampling
from discreet.mechanisms.top_k import TopK
from discreet.query import purchase
from discreet.query.aggregates import commonest
from discreet.query.contribution import Contribution
from discreet.query.measures import AllRows
from discreet.testing import replay

SCHEMA = pa.schema([("id", pa.int64()), ("k", pa.string()), ("x", pa.float64()), ("i", pa.int32())])
BASE = [(n // 2, "ABC"[n % 3], float(n), n) for n in range(12)]
BOX = {"bounds": (0, 10)}


def arrow(rows):
    columns = zip(*rows, strict=True) if rows else [[]] * len(SCHEMA)
    return pa.table([pa.array(c, t.type) for c, t in zip(columns, SCHEMA, strict=True)], SCHEMA)


def released(ask, *, make=arrow, unit=None, bound=None, relation="add-remove", **spend):
    """A pipeline: a session on the rows, and one answer of it."""
    spend = spend or {"epsilon": 1}

    def run(rows):
        table = dp.table(make(rows), unit=unit, relation=relation)
        session = dp.Session(table, budget=dp.Approx(100, "1e-2") if "delta" in spend else BUDGET)
        table = table if bound is None else table.bound(**bound)
        return session.release(ask(table), **spend)

    return run


BUDGET = dp.Pure(100)


def by_key(**aggregates):
    return lambda table: table.group_by("k", keys=["A", "B", "Z"]).agg(**aggregates)


EVERYTHING = by_key(
    n=dp.count(),
    there=dp.count("x"),
    s=dp.sum("x", **BOX),
    i=dp.sum("i", **BOX),
    m=dp.mean("x", **BOX),
    v=dp.std("x", **BOX),
    q=dp.quantile("x", [0.25, 0.5], **BOX),
    h=dp.histogram("x", edges=[0, 5, 10]),
    t=dp.top_k("k", 2, candidates=["A", "B", "C"]),
)
NASTY = [(9, "A", math.nan, None), (9, "B", -math.inf, -(2**31))]
BOUND = {"max_groups": 2, "max_rows_per_group": 1}
MINE = [(77, key, 99.0, 99) for key in "ABCZAB"]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_every_aggregate_and_a_nasty_row(relation):
    """Catches a declared sensitivity that a NaN, an infinity, a null or an edge of a type breaks,
    and anything that comes out beside the noise (B5, B6, B12)."""
    other = [*BASE, NASTY[0]] if relation == "replace" else BASE
    finding = replay(released(EVERYTHING, relation=relation), ([*BASE, NASTY[1]], other))
    assert not finding.violated, str(finding)
    assert finding.whole and finding.points >= 7


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("bound", [BOUND, {"max_rows": 3}])
def test_people_with_many_rows(bound, relation):
    """Catches a bound that is not kept for this salt: it must be for each of them (B7, B13)."""
    other = [*BASE, *((88, *row[1:]) for row in MINE)] if relation == "replace" else BASE
    ask = by_key(n=dp.count(), u=dp.count_units(), s=dp.sum("x", **BOX), m=dp.median("x", **BOX))
    run = released(ask, unit="id", bound=bound, relation=relation)
    finding = replay(run, ([*BASE, *MINE], other))
    assert not finding.violated, str(finding)
    used = {(one.point, one.norm): one.measured / one.declared for one in finding.reaches}
    if relation == "add-remove":  # a person with too many rows uses all that was declared
        assert used["rows", "l1"] == 1


@pytest.mark.parametrize("unit", [None, "id"])
def test_discovered_keys_and_what_follows(unit):
    """Catches keys of one person that reach more than the threshold, and a second pass that is
    compared for other keys than the first one released (B14)."""
    rows = BASE * 30
    run = released(
        lambda table: table.group_by("k", keys="discover").agg(n=dp.count(), s=dp.sum("x", **BOX)),
        unit=unit,
        bound=None if unit is None else BOUND,
        epsilon=5,
        delta="1e-3",
    )
    mine = MINE if unit else [(1, "only mine", 1.0, 1)]
    for seed in range(2):
        finding = replay(run, (rows, [*rows, *mine]), seed=seed)
        assert not finding.violated, str(finding)
    assert next(one.point for one in finding.reaches) == "discovered keys"


@pytest.mark.parametrize("kind", ["pandas", "polars", "parquet"])
def test_tables_of_every_kind(kind, tmp_path):
    """Catches a source that reads one neighbour in another way."""

    def make(rows):
        table = arrow(rows).select(["k", "x"])
        if kind == "parquet":
            path = tmp_path / f"{len(rows)}.parquet"
            pq.write_table(table, path)
            return str(path)
        return pd.DataFrame(table.to_pydict()) if kind == "pandas" else pl.from_arrow(table)

    ask = by_key(n=dp.count(), m=dp.mean("x", **BOX))
    finding = replay(released(ask, make=make), (BASE, [*BASE, (1, "A", 1e9, 1)]))
    assert not finding.violated, str(finding)


def test_several_releases_with_bought_bounds_and_noise_of_its_own():
    """Catches a Session that works only with seeded entropy: here each run draws new noise, and
    later questions depend on earlier answers."""

    def run(rows):
        table = dp.table(arrow(rows), unit="id")
        session = dp.Session(table, budget=dp.Pure(10))
        groups = session.release_max_groups(table.group_by("k", keys=["A", "B"]), epsilon=1)
        table = table.bound(max_groups=groups, max_rows_per_group=2)
        grouped = table.group_by("k", keys=["A", "B"])
        first = session.release(grouped.agg(n=dp.count()), epsilon=1)
        few = first.value("n", k="A").value < 10
        query = grouped.agg(s=dp.sum("x" if few else "i", **BOX))
        return session.release(query, epsilon=1), session.spent.epsilon(0)

    for _ in range(2):
        finding = plain_replay(run, (BASE, [*BASE, *MINE]))
        assert not finding.violated, str(finding)
        assert not finding.notes  # the salt is random, and may be
        assert finding.points == 3 and finding.runs == 5 and finding.whole


def test_a_question_that_depends_on_the_data_is_caught():
    """Catches a filter by a value of the data: names, noise and prices are the same."""

    def run(rows, limit=None):
        table = dp.table(arrow(rows))
        limit = float(np.mean([x for _, _, x, _ in rows])) if limit is None else limit
        query = table.where(lambda row: row.x < limit).agg(n=dp.count())
        return dp.Session(table, budget=BUDGET).release(query, epsilon=1)

    pair = BASE, [*BASE, (1, "A", 5.75, 1)]
    assert {one.kind for one in replay(run, pair).differences} == {"question"}
    assert not replay(lambda rows: run(rows, 5.5), pair).violated


def test_noise_by_hand_beside_a_session_is_no_leak():
    """Catches an accusation for a mechanism that the recorder does not know of; that it was not
    compared is said."""

    def run(rows):
        answer = released(by_key(n=dp.count()))(rows)
        # So wide that no two draws are equal by chance.
        return answer, dp.Laplace(sensitivity=1, epsilon="1/1000000").release(len(rows))

    for way in (replay, plain_replay):
        finding = way(run, (BASE, [*BASE, (1, "A", 1.0, 1)]))
        assert not finding.violated and not finding.whole, str(finding)
        assert "part 2 of what is returned" in str(finding)


def one_person(rows):
    """Rows of one person, beside everybody else's."""
    return [(77, *row[1:]) for row in rows]


@pytest.mark.long
@pytest.mark.parametrize("unit", [None, "id"])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_many_neighbours(unit, relation):
    """Catches a query and a pair of neighbours that the short tests do not have: 24 pairs from the
    search's own generator, with edges of doubles and of 64-bit integers, nulls, and row
    arithmetic."""
    domain = ([1, 2, None], ["A", "B", "other", None], np.float64, np.int32)
    questions = [
        EVERYTHING,
        lambda table: (
            table.mutate(y=lambda row: row.x * row.i)
            .where(lambda row: (row.y < 1e9) | row.x.is_null())
            .agg(m=dp.mean("y", bounds=(-5, 10**6)), v=dp.variance("i", **BOX), u=dp.count_units())
        ),
        lambda table: table.group_by("k", keys="discover").agg(m=dp.mean("x", bounds=(-3, 1))),
    ]
    pairs = islice(neighbours(domain, relation, tries=600, size=(1, 12)), 0, None, 25)
    for turn, (x, y) in enumerate(pairs):
        pair = (x, y)
        if unit is not None:  # a person comes with all their rows, or in place of another
            there = [*BASE, *one_person(y)]
            pair = (there, [*BASE, *one_person(x)] if relation == "replace" else BASE)
        run = released(
            questions[turn % 3],
            unit=unit,
            relation=relation,
            bound=None if unit is None else [BOUND, {"max_rows": 3}][turn // 3 % 2],
            epsilon=1,
            delta="1e-3",
        )
        finding = replay(run, pair, seed=turn)
        assert not finding.violated, str(finding)


# -- parts of ours, broken -------------------------------------------------------------------------


def found(ask, more=MINE, **how):
    finding = replay(released(ask, **how), (BASE, [*BASE, *more]))
    return {(one.kind, one.norm) for one in finding.differences}


def true_size(plan):
    return plan.query.table.source.measure(plan.request(0)).columns[AllRows()].sum()


def test_a_clamp_that_is_missing_is_caught(monkeypatch):
    """X28, B12: without it a row of −2^31 moves the sum by more than its bounds."""
    ask = by_key(i=dp.sum("i", **BOX))
    assert not found(ask, more=NASTY[1:])
    monkeypatch.setattr(cell_table, "clamped", lambda x, lower, upper: x)
    assert ("distance", "l1") in found(ask, more=NASTY[1:])


def test_a_contribution_bound_that_is_missing_is_caught(monkeypatch):
    """X29: all rows of a person are kept."""
    how = {"unit": "id", "bound": BOUND, "ask": by_key(n=dp.count())}
    assert not found(**how)
    monkeypatch.setattr(row_sampling, "kept", lambda keys, *rest, **more: np.ones(len(keys), bool))
    assert found(**how) >= {("distance", "l1"), ("distance", "linf")}


def test_a_sensitivity_of_one_group_is_caught(monkeypatch):
    """The mechanism is told what a person does to one group, and they are in two."""
    how = {"unit": "id", "bound": BOUND, "ask": by_key(n=dp.count())}
    real = Contribution.moves
    monkeypatch.setattr(
        Contribution,
        "moves",
        lambda self, **sizes: real(self.__class__(1, 1, 1, self.relation, True), **sizes),
    )
    assert found(**how) >= {("distance", "l0"), ("distance", "l1"), ("distance", "l2")}


def test_a_mechanism_that_is_told_less_than_the_plan_is_caught(monkeypatch):
    """The plan is right, and the noise is scaled to half of it."""
    how = {"unit": "id", "bound": BOUND, "ask": by_key(n=dp.count())}
    real = purchase.Laplace
    monkeypatch.setattr(
        purchase,
        "_noise",
        lambda moved, money: real(sensitivity=moved.l1 / 2, epsilon=money.amount, step=1),
    )
    assert ("distance", "l1") in found(**how)


def test_choices_scaled_for_counts_that_all_rise_are_caught_under_replace(monkeypatch):
    """C2: monotone noise for a replaced row, which moves one count up and another down."""
    ask = by_key(t=dp.top_k("i", 2, candidates=[1, 2]))
    pair = [*BASE, (1, "A", 1.0, 1)], [*BASE, (1, "A", 1.0, 2)]
    run = released(ask, relation="replace")
    assert not replay(run, pair).violated
    monkeypatch.setattr(commonest, "TopK", lambda **told: TopK(**{**told, "monotone": True}))
    assert {one.norm for one in replay(run, pair).differences} == {"range"}


def test_the_true_number_of_rows_in_the_answer_is_caught(monkeypatch):
    """B6: an error that shrinks with the true size, beside noisy numbers."""
    ask = by_key(n=dp.count())
    real = running._drawn

    def drawn(plan):
        frame, outputs = real(plan)
        size = true_size(plan)
        return frame, [replace(one, error=np.full(len(one.values), 5.0 / size)) for one in outputs]

    monkeypatch.setattr(running, "_drawn", drawn)
    assert found(ask, more=[(1, "A", 1.0, 1)]) == {("output", None)}


def test_an_engine_that_fails_on_one_row_is_caught(monkeypatch):
    """E1: a cast that raises, on one of the neighbours only."""
    real = running._drawn

    def drawn(plan):
        if true_size(plan) > 8:
            raise OverflowError("a cell")
        return real(plan)

    monkeypatch.setattr(running, "_drawn", drawn)
    assert found(by_key(n=dp.count()), more=[(1, "A", 1.0, 1)]) >= {("error", None)}
