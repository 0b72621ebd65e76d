"""Sessions on a ledger: the budget outlives them, and an answer is paid for once."""

import os
import threading
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet import session as session_module

ROWS = pa.table({"id": [1, 1, 2, 3], "age": [34, 51, 28, 9], "ward": ["A", "B", "A", "B"]})


@pytest.fixture
def people() -> dp.Table:
    return dp.table(ROWS)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "people.ledger"


def counts(people: dp.Table) -> dp.Query:
    return people.group_by("ward", keys=["A", "B"]).agg(n=dp.count())


def test_d6_a_budget_outlives_its_session(people, path):
    """D6: with a budget in memory a restart would be a reset."""
    first = dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    first.release(counts(people), epsilon="0.7")
    second = dp.Session(people, ledger=path)
    assert second.spent == dp.Pure("0.7") and second.remaining == dp.Pure("0.3")
    with pytest.raises(dp.BudgetExceeded):
        second.release(counts(people), epsilon="0.4")
    second.release(counts(people), epsilon="0.3")
    assert first.spent == dp.Pure(1) and len(first.history) == 2


@pytest.mark.parametrize("budget", [dp.Pure(2), dp.ZCDP(1), dp.Approx(1, "1e-6")])
def test_another_budget_is_refused(people, path, budget):
    dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    for create in (False, True):
        with pytest.raises(dp.Refused, match="a cap is never changed"):
            dp.Session(people, budget=budget, ledger=path, create=create)
    dp.Session(people, budget=dp.Pure(1), ledger=path)


@pytest.mark.parametrize("change", [{"unit": "id"}, {"relation": "replace"}])
def test_another_promise_is_refused(people, path, change):
    """ε for a row is not ε for all rows of one id: the two do not add up."""
    dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    with pytest.raises(dp.RelationMismatch, match="open the table with the same unit"):
        dp.Session(dp.table(ROWS, **change), ledger=path)


def test_which_dataset_is_meant(people, path):
    dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    assert "people" in repr(dp.Session(people, ledger=path))  # named after the ledger, the only one
    dp.Session(people, budget=dp.Pure(2), ledger=path, dataset="more", create=True)
    with pytest.raises(dp.InvalidArgument, match="one of people, more"):
        dp.Session(people, ledger=path)
    with pytest.raises(dp.InvalidArgument, match="one of people, more"):
        dp.Session(people, ledger=path, dataset="moer")
    with pytest.raises(dp.InvalidArgument, match="budget"):
        dp.Session(people, ledger=path, dataset="third", create=True)


def test_ledger_arguments_without_a_ledger(people):
    with pytest.raises(dp.InvalidArgument, match="ledger="):
        dp.Session(people, budget=dp.Pure(1), create=True)
    with pytest.raises(dp.InvalidArgument, match="budget"):
        dp.Session(people)


def test_analysts_and_remaining(people, path):
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("people", budget=dp.Pure(1))
        ledger.add_analyst("ann", dataset="people", budget=dp.Pure("0.3"))
        ledger.add_analyst("bob", dataset="people")
        ann = dp.Session(people, ledger=ledger, analyst="ann")
        assert ann.remaining == dp.Pure("0.3")
        assert 'to the analyst "ann"' in str(ann.explain(counts(people), epsilon="0.2"))
        ann.release(counts(people), epsilon="0.2")
        with pytest.raises(dp.BudgetExceeded, match='analyst "ann"'):
            ann.release(counts(people), epsilon="0.2")
        bob = dp.Session(people, ledger=ledger, analyst="bob")
        bob.release(counts(people), epsilon="0.75")
        assert ann.remaining == dp.Pure("0.05")  # of the dataset, although ann has 0.1 left
        assert [entry.analyst for entry in ann.history] == ["ann", "bob"]
        with pytest.raises(dp.InvalidArgument, match="one of ann, bob"):
            dp.Session(people, ledger=ledger, analyst="eve")


def test_a_key_gives_the_same_answer_for_one_charge(people, path):
    """Catches a second draw: two noisy answers for one price average to a better one."""
    session = dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    first = session.release(counts(people), epsilon="0.6", idempotency_key="report")
    again = dp.Session(people, ledger=path).release(
        counts(people), epsilon="0.6", idempotency_key="report"
    )
    assert again.to_arrow() == first.to_arrow() and again.columns == first.columns
    assert again.origin == first.origin and again.record == first.record == 3
    assert "stored answer of record 3" in str(again)
    assert session.spent == dp.Pure("0.6")
    for other in ({"epsilon": "0.1"}, {"epsilon": "0.6", "delta": "1e-9"}):
        with pytest.raises(dp.Refused, match="another query or spend"):
            session.release(counts(people), **other, idempotency_key="report")
    with pytest.raises(dp.Refused, match="another query or spend"):
        session.release(people.agg(n=dp.count()), epsilon="0.6", idempotency_key="report")
    assert session.spent == dp.Pure("0.6")


def test_keys_work_in_memory_too(people):
    session = dp.Session(people, budget=dp.Pure(1))
    results = [
        session.release(counts(people), epsilon="0.6", idempotency_key="x") for _ in range(3)
    ]
    assert len({str(result.to_dicts()) for result in results}) == 1
    assert session.spent == dp.Pure("0.6")


@pytest.mark.parametrize("key", ["", 3, "a\nb", "x" * 201, b"x"])
def test_odd_keys(people, key):
    with pytest.raises(dp.InvalidArgument, match="idempotency_key"):
        dp.Session(people, budget=dp.Pure(1)).release(
            counts(people), epsilon="0.1", idempotency_key=key
        )


@pytest.mark.parametrize("where", ["memory", "ledger"])
def test_d4_a_release_that_was_cut_off_stays_charged_and_is_not_computed_again(
    people, path, where, monkeypatch
):
    """D4: a refund, or a second try for free, would make failing a free look at the data."""
    on_disk = {} if where == "memory" else {"ledger": path, "create": True}
    session = dp.Session(people, budget=dp.Pure(1), **on_disk)

    def fails(plan, *, cost):
        raise dp.EngineError("cut off")

    with monkeypatch.context() as broken, pytest.raises(dp.EngineError):
        broken.setattr(session_module, "run", fails)
        session.release(counts(people), epsilon="0.6", idempotency_key="x")
    assert session.spent == dp.Pure("0.6")
    with pytest.raises(dp.Refused, match="its answer was never stored"):
        session.release(counts(people), epsilon="0.6", idempotency_key="x")
    with pytest.raises(dp.InvalidArgument, match="cut off"):
        session.recall(session.history[0])
    assert len(session.history) == 1


def test_past_answers_are_free(people, path):
    session = dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    result = session.release(counts(people), epsilon="0.6")
    assert session.recall(session.history[0]).to_arrow() == result.to_arrow()
    assert session.spent == dp.Pure("0.6")


def test_an_entry_of_another_ledger_is_not_recalled(people, tmp_path):
    """Catches an answer that was bought dearly, with a certificate of a cheap one."""
    sessions = [
        dp.Session(people, budget=dp.Pure(1), ledger=tmp_path / name, create=True)
        for name in ("a.ledger", "b.ledger")
    ]
    for session, epsilon in zip(sessions, ("0.1", "0.9"), strict=True):
        session.release(counts(people), epsilon=epsilon)
    (cheap,) = sessions[0].history
    for entry in (cheap, replace(sessions[1].history[0], hash="0" * 64), None, 99, True):
        with pytest.raises(dp.InvalidArgument):
            sessions[1].recall(entry)
    forged = replace(sessions[1].history[0], costs=cheap.costs, guarantee=cheap.guarantee)
    certificate = sessions[1].recall(forged).certificate.document
    assert certificate["charges"][0]["amount"] == "9/10"  # as the ledger has it


def test_bought_bounds_are_charged_and_kept(path):
    visits = dp.table(ROWS, unit="id")
    session = dp.Session(visits, budget=dp.Pure(2), ledger=path, create=True)
    groups = visits.group_by("ward", keys=["A", "B"])
    bound = session.release_max_groups(groups, most=5, epsilon="0.5")
    (entry,) = session.history
    assert session.recall(entry).value("bound").value == bound
    assert entry.query["kind"] == "groups a person" and entry.costs[0].amount == Fraction(1, 2)


def test_e5_what_is_left_depends_on_questions_only(people, path, tmp_path):
    """E5: two tables that differ in one row leave the same balance, whatever is asked."""
    other = dp.table(ROWS.slice(1))
    balances = []
    for i, table in enumerate((people, other)):
        session = dp.Session(
            table, budget=dp.Approx(1, "1e-6"), ledger=tmp_path / f"{i}.ledger", create=True
        )
        session.release(counts(table), epsilon="0.1")
        session.release(
            table.group_by("ward", keys="discover").agg(n=dp.count()), epsilon="0.2", delta="1e-7"
        )
        balances.append((session.spent, session.remaining, session.remaining_slack))
    assert balances[0] == balances[1]


def test_more_rows_reset_nothing(people, path):
    session = dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    session.release(counts(people), epsilon="0.6")
    grown = dp.table(pa.concat_tables([ROWS, ROWS]))
    assert dp.Session(grown, ledger=path).spent == dp.Pure("0.6")


def test_d2_threads_share_a_session(people, path):
    """D2, between threads: ten at a time for the last of the budget."""
    session = dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    refused = []

    def ask():
        try:
            session.release(counts(people), epsilon="0.2")
        except dp.BudgetExceeded:
            refused.append(1)

    threads = [threading.Thread(target=ask) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert session.spent == dp.Pure(1) and len(refused) == 5 and len(session.history) == 5


def test_a_fork_goes_on_with_the_same_budget(people, path):
    """A budget in memory refuses to be forked; one on disk is shared."""
    session = dp.Session(people, budget=dp.Pure(1), ledger=path, create=True)
    session.release(counts(people), epsilon="0.2")
    child = os.fork()
    if not child:
        code = 1
        try:
            session.release(counts(people), epsilon="0.3")
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert session.spent == dp.Pure("0.5")
    session.release(counts(people), epsilon="0.5")
    with dp.Ledger(path) as ledger:
        assert ledger.verify().charges == 3


def test_a_replay_says_whether_it_is_a_guarantee(people, path):
    session = dp.Session(people, budget=dp.ZCDP(1), ledger=path, create=True)
    session.release(counts(people), rho="0.1")
    assert session.history.replay().is_guarantee
    session.release(counts(people), rho="0.1")
    replay = session.history.replay()
    assert not replay.is_guarantee and "estimate" in str(replay)
    fixed = session.history.replay(fixed_in_advance=True)
    assert fixed.is_guarantee and "as you say" in str(fixed)
    # Two Gaussians of ρ = 0.1 are one of ρ = 0.2, whose profile is below the ρ's.
    assert replay.epsilon("1e-6") < dp.ZCDP("0.2").epsilon("1e-6")
    assert replay.epsilon("1e-6") == pytest.approx(dp.GDP("0.632455532").epsilon("1e-6"), rel=1e-6)


def test_e4_the_ledger_names_no_data(path):
    """E4: values that occur only in the data are nowhere in the ledger's files."""
    canary, number = "canary-7f3e", 918273645
    table = dp.table(
        pa.table({"ward": ["A", canary], "age": [number, 20], "id": [canary, "x"]}), unit="id"
    )
    session = dp.Session(table, budget=dp.Approx(2, "1e-6"), ledger=path, create=True)
    bounded = table.bound(max_groups=1, max_rows_per_group=1)
    session.release(
        bounded.group_by("ward", keys=["A", "B"]).agg(m=dp.mean("age", bounds=(0, 100))),
        epsilon="0.5",
    )
    session.release(
        bounded.group_by("ward", keys="discover").agg(n=dp.count()), epsilon="0.1", delta="1e-9"
    )
    written = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert canary.encode() not in written and str(number).encode() not in written
