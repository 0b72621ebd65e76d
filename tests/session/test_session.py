"""A session: what is charged when, what is refused, and what comes back."""

import copy
import os
import pickle
import threading

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import InvalidArgument, Refused
from discreet.testing import seeded

ROWS = {
    "id": [i // 3 for i in range(3000)],
    "ward": [("A", "B", "C")[i % 3] for i in range(3000)],
    "days": [i % 30 for i in range(3000)],
    "income": [1000.0 + i for i in range(3000)],
}
KEYS = ["A", "B", "C", "nobody"]


@pytest.fixture
def visits():
    return dp.table(pa.table(ROWS))


@pytest.fixture
def people():
    return dp.table(pa.table(ROWS), unit="id").bound(max_groups=2, max_rows_per_group=1)


def counts(table):
    return table.group_by("ward", keys=KEYS).agg(n=dp.count())


def test_every_aggregate_is_near_the_truth(visits):
    """Catches a column that is read from the wrong part, sign, step or key. ε is so large that
    all errors are tiny; each value must be within five times its 95 % error (1e-6)."""
    session = dp.Session(visits, budget=dp.Pure(10**7))
    days, income = {"bounds": (0, 30)}, {"bounds": (0, 5000)}
    query = visits.group_by("ward", keys=KEYS).agg(
        n=dp.count(),
        people=dp.count_units(),
        s=dp.sum("income", **income),
        m=dp.mean("income", **income),
        v=dp.variance("days", **days),
        d=dp.std("days", **days),
        q=dp.quantile("days", [0.1, 0.5, 0.9], **days),
        h=dp.histogram("days", edges=[0, 10, 20, 30]),
        c=dp.histogram("ward", categories=["A", "B"]),
        t=dp.top_k("days", 2, candidates=[0, 3, 1]),
    )
    with seeded(4):
        frame = session.release(query, epsilon=10**6).to_arrow().to_pylist()
    for k, row in enumerate(frame[:3]):
        mine = [i for i in range(3000) if i % 3 == k]
        stays, incomes = [i % 30 for i in mine], [1000.0 + i for i in mine]
        mean = sum(stays) / 1000
        truth = {
            "n": 1000,
            "people": 1000,
            "s": sum(incomes),
            "m": sum(incomes) / 1000,
            "v": sum(x * x for x in stays) / 1000 - mean**2,
            "d": (sum(x * x for x in stays) / 1000 - mean**2) ** 0.5,
            "h_0_to_10": sum(x < 10 for x in stays),
            "h_10_to_20": sum(10 <= x < 20 for x in stays),
            "h_20_to_30": sum(x >= 20 for x in stays),
            "c_A": 1000 * (k == 0),
            "c_B": 1000 * (k == 1),
        }
        assert row["ward"] == KEYS[k]
        for name, value in truth.items():
            assert abs(row[name] - value) <= 5 * row[f"{name}_error"] + 1e-9, name
        assert row["q_0.1"] <= row["q_0.5"] <= row["q_0.9"]
        assert abs(row["q_0.5"] - sorted(stays)[500]) <= 3
        assert {row["t_1"], row["t_2"]} <= {0, 3, 1}
        assert row["t_1"] == {0: 0, 1: 1, 2: 0}[k] or k != 1
    assert abs(frame[3]["n"]) <= 5 * frame[3]["n_error"]  # nobody: there, with noise


def test_the_charge_comes_before_the_data(visits):
    """Catches an answer that is given although the charge was refused."""
    session = dp.Session(visits, budget=dp.Pure(1))
    session.release(counts(visits), epsilon="0.7")
    with pytest.raises(dp.BudgetExceeded) as caught:
        session.release(counts(visits), epsilon="0.4")
    assert str(caught.value) == (
        "the request needs ε = 0.4, but ε = 0.7 of ε = 1 is already spent, so ε = 0.3 is left"
    )
    assert session.spent == dp.Pure("0.7") and session.remaining == dp.Pure("0.3")
    assert len(session.history) == 1
    session.release(counts(visits), epsilon="0.3")
    assert session.remaining == dp.Pure(0)


def test_explain_costs_nothing_and_reads_nothing(tmp_path):
    """Catches an explanation that touches data or the budget: the file is not even there."""
    import pyarrow.parquet as pq

    file = tmp_path / "v.parquet"
    pq.write_table(pa.table(ROWS), file)
    visits = dp.table(file)
    session = dp.Session(visits, budget=dp.Pure(1))
    query = counts(visits)
    file.unlink()
    text = str(session.explain(query, epsilon="0.1"))
    assert "Cost: ε = 0.1" in text and "after this 9 more like it fit" in text
    assert session.spent == dp.Pure(0) and len(session.history) == 0


@pytest.mark.parametrize(
    ("budget", "spend"),
    [
        (dp.Pure(1), {"epsilon": 1}),
        (dp.ZCDP(0.5), {"rho": 0.5}),
        (dp.ZCDP(0.5), {"epsilon": 0.5}),
        (dp.GDP(1), {"mu": 1}),
        (dp.GDP(1), {"rho": 0.5}),
        (dp.Approx(1, 1e-6), {"epsilon": 0.5, "delta": 1e-7}),
        (dp.Approx(1, 1e-6), {"rho": 0.01}),
    ],
)
def test_every_notion_of_budget_and_spend(visits, budget, spend):
    """Catches a spend that an account of another notion cannot price."""
    session = dp.Session(visits, budget=budget)
    result = session.release(counts(visits), **spend)
    assert len(result) == 4 and len(session.history) == 1


def test_an_approx_budget_holds_in_the_end(visits):
    """Catches an (ε, δ) budget that can be overspent: what all releases promise together."""
    session = dp.Session(visits, budget=dp.Approx(1, 1e-6))
    released = 0
    while True:
        try:
            session.release(counts(visits), epsilon="0.2", delta=1e-8)
        except dp.BudgetExceeded:
            break
        released += 1
    assert released >= 3
    together = dp.compose([entry.guarantee for entry in session.history])
    assert together.epsilon(1e-6) <= 1
    assert session.guarantee.delta(1) <= 1e-6


def test_discovered_keys(people):
    """Catches a key of nobody or of one, an order that tells, and counts that do not belong to
    their keys: 3,000 rows of three wards and one of a fourth."""
    rows = pa.concat_tables([pa.table(ROWS), pa.table(ROWS).slice(0, 1).set_column(
        1, "ward", pa.array(["rare"]))])  # fmt: skip
    table = dp.table(rows)
    session = dp.Session(table, budget=dp.Approx(4, 1e-5))
    query = table.group_by("ward", keys="discover").agg(
        n=dp.count(), m=dp.mean("days", bounds=(0, 30))
    )
    result = session.release(query, epsilon=1, delta=1e-6)
    frame = result.to_arrow()
    assert frame["ward"].to_pylist() == ["A", "B", "C"]
    assert all(abs(n - 1000) < 200 for n in frame["n"].to_pylist())
    assert "few people" in str(result)
    assert session.remaining_slack < 5e-6
    with pytest.raises(Refused):
        dp.Session(table, budget=dp.Pure(4)).release(query, epsilon=1, delta=1e-6)


def test_units_are_bounded(people):
    """Catches a bound that is not applied: 1,000 people in three wards each, two of them kept."""
    session = dp.Session(people, budget=dp.Pure(10**6))
    query = people.group_by("ward", keys=["A", "B", "C"]).agg(n=dp.count(), u=dp.count_units())
    frame = session.release(query, epsilon=10**5).to_arrow().to_pydict()
    assert abs(sum(frame["n"]) - 2000) <= 5 and abs(sum(frame["u"]) - 2000) <= 5
    assert all(550 < n < 790 for n in frame["n"])  # 2/3 of each; 1,000 coins, 1e-9


def test_error_instead_of_a_spend(visits):
    """Catches a spend that is not the least, or not charged."""
    session = dp.Session(visits, budget=dp.Pure(1))
    result = session.release(counts(visits), error=30)
    assert max(result.to_arrow()["n_error"].to_pylist()) <= 30
    assert 0.09 < float(session.spent.epsilon0) < 0.11


def test_bounds_can_be_bought(visits):
    """Catches bounds that leave most values out, or that are free."""
    session = dp.Session(visits, budget=dp.Pure(3))
    lower, upper = session.release_bounds(visits, "income", epsilon=1)
    assert (lower, upper) == (512.0, 4096.0) or (lower, upper) == (1024.0, 4096.0)
    assert session.spent == dp.Pure(1)
    query = visits.agg(m=dp.mean("income", bounds=(lower, upper)))
    assert len(session.release(query, epsilon=1)) == 1


# -- what is refused -------------------------------------------------------------------------------


def test_queries_of_other_tables_are_refused(visits, people):
    """Catches a query that would be charged to another table's budget."""
    session = dp.Session(visits, budget=dp.Pure(1))
    other = dp.table(pa.table(ROWS))
    with pytest.raises(InvalidArgument, match="another table"):
        session.release(counts(other), epsilon=1)
    for wrong in ("SELECT 1", None, visits):
        with pytest.raises(InvalidArgument, match=r"what \.agg"):
            session.release(wrong, epsilon=1)
    assert len(session.history) == 0


@pytest.mark.parametrize("budget", [None, 1, "1", dp.TotalVariation(0.1), dp.Pure(0)])
def test_senseless_budgets_are_refused(visits, budget):
    """Catches a budget that is none."""
    with pytest.raises(InvalidArgument):
        dp.Session(visits, budget=budget)


def test_a_refused_query_leaves_no_trace(visits):
    """Catches a charge for what was refused."""
    session = dp.Session(visits, budget=dp.Pure(1))
    for spend in ({}, {"epsilon": 0}, {"epsilon": float("nan")}, {"rho": 1}, {"epsilon": 2}):
        with pytest.raises(dp.DiscreetError):
            session.release(counts(visits), **spend)
    assert session.spent == dp.Pure(0)


# -- races and copies ------------------------------------------------------------------------------


def test_threads_cannot_overspend(visits):
    """Catches a check and a charge that are two steps: 16 threads race for ten releases."""
    session = dp.Session(visits, budget=dp.Pure(1))
    query = counts(visits)
    done = []

    def spend():
        for _ in range(3):
            try:
                session.release(query, epsilon="0.1")
                done.append(1)
            except dp.BudgetExceeded:
                pass

    threads = [threading.Thread(target=spend) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(done) == 10 and session.remaining == dp.Pure(0)


def test_a_forked_copy_cannot_spend(visits):
    """Catches a budget that doubles with the process."""
    session = dp.Session(visits, budget=dp.Pure(1))
    query = counts(visits)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            session.release(query, epsilon="0.5")
            os.write(writer, b"released")
        except Refused:
            os.write(writer, b"refused")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"refused"


def test_sessions_cannot_be_copied(visits):
    """Catches a copy with a budget of its own."""
    session = dp.Session(visits, budget=dp.Pure(1))
    for duplicate in (pickle.dumps, copy.deepcopy):
        with pytest.raises(Refused):
            duplicate(session)


CANARY = "c4n4ry-8251"


@pytest.mark.parametrize("make", [pa.table, pd.DataFrame, pl.DataFrame])
def test_printing_shows_columns_and_no_rows(make):
    """Catches a repr that dumps the table: one is enough in a notebook."""
    table = dp.table(make({"id": [CANARY], "x": [82_518_251]}), unit="id")
    grouped = table.bound(max_rows=1).group_by("id", keys=["a"])
    query = grouped.agg(n=dp.count())
    session = dp.Session(table, budget=dp.Pure(1))
    result = session.release(query, epsilon="0.1")
    plan = session._plan(query, (1, None, None, None), None, None)
    exact = table.source.measure(plan.request(1))
    things = [table, grouped, query, session, table.source, table.source.stored, plan, exact]
    for thing in [*things, plan.request(1), session.history, result]:
        assert CANARY not in repr(thing) and "82518251" not in repr(thing)
    assert "x: integer" in repr(table) and "n: Count" in repr(query)


@pytest.mark.parametrize("aggregate", [dp.count(), dp.count_units()])
def test_rows_alone_can_be_counted(aggregate):
    """Catches a query that reads no column at all."""
    table = dp.table(pa.table({"x": [1, 2, 3]}))
    session = dp.Session(table, budget=dp.Pure(100))
    assert session.release(table.agg(n=aggregate), epsilon=50).value("n").value == 3


def test_results_say_what_their_errors_leave_out(people):
    """Catches an error bar that is taken for more than noise."""
    session = dp.Session(people, budget=dp.Pure(1))
    grouped = people.group_by("ward", keys=KEYS)
    result = session.release(grouped.agg(m=dp.mean("days", bounds=(0, 30))), epsilon=1)
    assert "rows beyond 2 groups and 1 a group of one id are left out" in str(result)
    assert "count as the nearer bound" in str(result)


def test_discovered_keys_with_bins_never_fail_on_their_number(monkeypatch):
    """Catches an error that one person's key decides: bins are counted for keys that were found."""
    from discreet.query import limits

    monkeypatch.setattr(limits, "CELLS", 31 * 4)
    shared = [("A", "B", "C")[i % 3] for i in range(3000)]
    for alone in ([], [f"only {i}" for i in range(50)]):
        table = dp.table(pa.table({"k": [*shared, *alone], "x": [1] * (3000 + len(alone))}))
        session = dp.Session(table, budget=dp.Approx(10, 1e-3))
        query = table.group_by("k", keys="discover").agg(q=dp.median("x", bounds=(0, 30)))
        result = session.release(query, epsilon=2, delta=1e-6)
        assert result.to_arrow()["k"].to_pylist() == ["A", "B", "C"]


def test_nothing_discovered_is_an_answer():
    """Catches a table without groups that fails or has other columns."""
    table = dp.table(pa.table({"k": ["a", "b"], "x": [1, 2]}))
    session = dp.Session(table, budget=dp.Approx(10, 1e-3))
    query = table.group_by("k", keys="discover").agg(
        n=dp.count(), m=dp.mean("x", bounds=(0, 9)), q=dp.median("x", bounds=(0, 9)),
        h=dp.histogram("x", edges=[0, 5, 9]), t=dp.most_common("x", candidates=[1, 2]),
    )  # fmt: skip
    frame = session.release(query, epsilon=1, delta=1e-9).to_arrow()
    assert frame.num_rows == 0 and frame.column_names[:3] == ["k", "n", "n_error"]


@pytest.mark.parametrize(
    "build",
    [
        lambda t: t.agg(q=dp.quantile("days", "0.123456789012", bounds=(0, 30))),
        lambda t: t.agg(q=dp.median("days", bounds=(0.3, 0.7))),
        lambda t: t.agg(q=dp.median("income", bounds=(0, 1), step=10)),
    ],
)
def test_mistakes_are_refused_before_the_charge(visits, build):
    """Catches a caller's mistake that is only found after it was paid for."""
    session = dp.Session(visits, budget=dp.Pure(1))
    with pytest.raises(InvalidArgument):
        session.release(build(visits), epsilon=1)
    assert len(session.history) == 0


def test_ranks_of_three_quantiles_allow_for_ties():
    """Catches a rank error that ignores values which most rows share: 60 % are 0."""
    values = [0] * 24_000 + [1 + i % 99 for i in range(16_000)]
    table = dp.table(pa.table({"x": pa.array(values, pa.int64())}))
    quartiles = dp.quantile("x", [0.25, 0.5, 0.75], bounds=(0, 100))
    session = dp.Session(table, budget=dp.Pure(100))
    alone = session.release(table.agg(q=quartiles), epsilon=20)
    assert alone.to_arrow()["q_0.75_rank_error"].to_pylist() == [float("inf")]
    ordered = sorted(values)
    row = session.release(table.agg(n=dp.count(), q=quartiles), epsilon=20).to_dicts()[0]
    for p in (0.25, 0.5, 0.75):
        at = row[f"q_{p}"]
        below, through = sum(v < at for v in ordered), sum(v <= at for v in ordered)
        off = max(0, below - p * 40_000, p * 40_000 - through)
        assert off <= row[f"q_{p}_rank_error"] < 2_000


def test_a_quantile_of_huge_numbers_stays_within_its_bounds():
    """Catches candidates that overflow 64 bits."""
    table = dp.table(pa.table({"x": [9e29] * 1000}))
    session = dp.Session(table, budget=dp.Pure(100))
    query = table.agg(q=dp.median("x", bounds=(0, 1e30)))
    assert 8e29 < session.release(query, epsilon=50).value("q").value <= 1e30
