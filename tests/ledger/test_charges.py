"""A charge is checked against every cap above it, or leaves no trace."""

from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.guarantees.filters import Filter


def spend(ledger: dp.Ledger, epsilon, analyst=None, **rest):
    cost = epsilon if isinstance(epsilon, dp.Guarantee) else dp.Pure(epsilon)
    return ledger.charge(cost, dataset="visits", analyst=analyst, question="by hand", **rest)


def total(ledger: dp.Ledger, name: str = "visits") -> Fraction:
    accounts = (*ledger.datasets, *ledger.analysts, *ledger.groups)
    return next(one.filter.total for one in accounts if one.name == name)


def test_charges_add_up_and_survive(ledger, location):
    """Catches a total that is kept in memory only, or in floats: 0.1 + 0.2 is 0.3 here."""
    spend(ledger, "0.1")
    spend(ledger, "0.2")
    ledger.close()
    with dp.Ledger(location) as again:
        assert total(again) == Fraction(3, 10)
        assert [entry.guarantee for entry in again.history()] == [dp.Pure("0.1"), dp.Pure("0.2")]


def test_the_last_bit_of_a_budget_fits_and_no_more(ledger):
    for _ in range(10):
        spend(ledger, "1/10")
    with pytest.raises(dp.BudgetExceeded, match=r'spent, so ε = 0 is left .*dataset "visits"'):
        spend(ledger, "1/1000000000000000000")
    assert total(ledger) == 1 and len(ledger.history()) == 10


def test_e6_the_cap_of_the_dataset_binds_colluding_analysts(ledger):
    """Catches collusion: two analysts within their own caps, together above the dataset's."""
    ledger.add_analyst("ann", dataset="visits", budget=dp.Pure("0.7"))
    ledger.add_analyst("bob", dataset="visits", budget=dp.Pure("0.7"))
    with pytest.raises(dp.BudgetExceeded, match='analyst "ann"'):
        spend(ledger, "0.8", analyst="ann")
    spend(ledger, "0.6", analyst="ann")
    with pytest.raises(dp.BudgetExceeded, match='dataset "visits"'):
        spend(ledger, "0.5", analyst="bob")
    spend(ledger, "0.4", analyst="bob")
    assert [total(ledger, name) for name in ("visits", "ann", "bob")] == [
        1,
        Fraction(3, 5),
        Fraction(2, 5),
    ]


def test_e6_once_there_are_analysts_a_charge_names_one(ledger):
    """Catches a cap that is avoided by saying nothing."""
    spend(ledger, "0.1")
    ledger.add_analyst("ann", dataset="visits", budget=dp.Pure("0.3"))
    with pytest.raises(dp.Refused, match="say who asks, analyst= one of ann"):
        spend(ledger, "0.1")
    spend(ledger, "0.1", analyst="ann")


def test_charges_without_an_answer_are_known(ledger):
    kept, lost = spend(ledger, "0.1"), spend(ledger, "0.1")
    ledger._journal.keep(kept.number, b"reply")
    assert ledger.unanswered() == ledger.unanswered("visits") == (lost,)
    assert ledger.verify().stranded == 1


def test_datasets_of_the_same_people_share_a_cap(ledger):
    ledger.add_group("people", budget=dp.Pure(1))
    for name in ("a", "b"):
        ledger.add_dataset(name, budget=dp.Pure("0.8"), groups=["people"])
    ledger.charge(dp.Pure("0.8"), dataset="a", question="q")
    with pytest.raises(dp.BudgetExceeded, match='group "people"'):
        ledger.charge(dp.Pure("0.3"), dataset="b", question="q")
    ledger.charge(dp.Pure("0.2"), dataset="b", question="q")
    assert total(ledger, "people") == 1 and total(ledger, "b") == Fraction(1, 5)
    assert total(ledger) == 0  # which is in no group


def test_a_group_and_its_datasets_have_one_relation(ledger):
    """ε under add-remove and ε under replace are different promises and do not add up."""
    ledger.add_group("people", budget=dp.Pure(1), relation="replace")
    with pytest.raises(dp.RelationMismatch):
        ledger.add_dataset("a", budget=dp.Pure(1), groups=["people"])


def test_a_group_holds_rows_or_people_and_not_both(ledger):
    """ε for a row is not ε for all rows of one person, so a cap over both would bound neither."""
    ledger.add_group("people", budget=dp.Pure(1))
    ledger.add_dataset("rows", budget=dp.Pure(1), groups=["people", "people"])
    with pytest.raises(dp.RelationMismatch, match="single rows"):
        ledger.add_dataset("a", budget=dp.Pure(1), unit="id", groups=["people"])
    ledger.charge(dp.Pure("0.1"), dataset="rows", question="q")
    assert total(ledger, "people") == Fraction(1, 10)  # once, though it was named twice


@pytest.mark.parametrize(
    "odd",
    [
        {"question": 5},
        {"question": None},
        {"question": " "},
        {"question": "half \ud800"},
        {"idempotency_key": ""},
        {"idempotency_key": 5},
        {"idempotency_key": "a\nb"},
        {"analyst": "nobody"},
        {"dataset": None},
    ],
)
def test_odd_charges(tmp_path, odd):
    with dp.Ledger(tmp_path / "x.ledger", create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        with pytest.raises(dp.InvalidArgument):
            ledger.charge(dp.Pure("0.1"), **{"dataset": "visits", "question": "q", **odd})
        with pytest.raises(dp.InvalidArgument):
            ledger.history(analyst="nobody")
        with pytest.raises(dp.InvalidArgument):
            ledger.add_dataset("x", budget=dp.Pure(1), unit=5)
        assert len(ledger.history()) == 0


def test_accounts_may_have_different_notions(ledger):
    """One charge costs ε here and ρ there, and is refused where it has no price."""
    ledger.add_dataset("rho", budget=dp.Approx(1, "1e-6"))
    ledger.add_analyst("ann", dataset="rho", budget=dp.Pure(1))
    entry = ledger.charge(dp.Pure("0.1"), dataset="rho", analyst="ann", question="q")
    assert [cost.notion for cost in entry.costs] == [dp.ZCDP, dp.Pure]
    assert entry.costs[0].amount < entry.costs[1].amount / 10
    with pytest.raises(dp.DiscreetError):
        ledger.charge(dp.GDP("0.1"), dataset="rho", analyst="ann", question="q")
    assert len(ledger.history()) == 1


ADVERSARIAL = [
    lambda: dp.Pure(0),
    lambda: dp.Pure(-1),
    lambda: dp.Pure(float("nan")),
    lambda: dp.Pure(float("inf")),
    lambda: dp.Pure(5e-324),
    lambda: dp.Pure("1e-400"),
    lambda: dp.Pure("0." + "1" * 5000),
    lambda: dp.Pure(Fraction(1, 3**60)),
    lambda: dp.Pure(10**400),
    lambda: dp.TotalVariation("0.1"),  # no pure ε, and no slack for it
    lambda: dp.Approx("0.1", "1e-9"),
    lambda: 0.5,
    lambda: "0.5",
    lambda: None,
    lambda: Filter(limit=dp.Pure(1)),
]


def test_adversarial_spends_are_refused_and_leave_no_trace(ledger):
    """D3: zero, negative, not a number, subnormal, endless digits, another notion."""
    before = ledger.verify()
    for cost in ADVERSARIAL:
        with pytest.raises(dp.DiscreetError):
            ledger.charge(cost(), dataset="visits", question="q")
    assert ledger.verify().head == before.head


@settings(
    max_examples=15,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    spends=st.lists(
        st.fractions(min_value=Fraction(1, 10**6), max_value=Fraction(1, 2), max_denominator=10**6),
        max_size=12,
    )
)
def test_what_is_spent_is_what_fits(tmp_path_factory, spends):
    """The ledger accepts exactly what one filter in memory accepts, and sums to the same."""
    account = Filter(limit=dp.Pure(1))
    path = tmp_path_factory.mktemp("l") / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        for each in spends:
            try:
                account = account.charge(dp.Pure(each))
                fits = True
            except dp.BudgetExceeded:
                fits = False
            try:
                spend(ledger, each)
                assert fits
            except dp.BudgetExceeded:
                assert not fits
        assert ledger.datasets[0].filter.total == account.total


def test_sums_of_long_fractions_are_those_of_a_filter(tmp_path):
    """Reading a journal adds equal charges at once; past 256 bits sums are rounded, in order.
    Catches two ways of adding that differ: a ledger would refuse to open, or have room for more."""
    primes = [p for p in range(2**31, 2**31 + 700) if all(p % d for d in range(2, 46400))]
    assert len(primes) > 20
    costs = [dp.Pure(Fraction(i, p)) for p in primes for i in (1, 1, 2)]
    account, path = Filter(limit=dp.Pure(1)), tmp_path / "x.ledger"
    with dp.Ledger(path, create=True) as ledger:
        ledger.add_dataset("visits", budget=dp.Pure(1))
        for cost in costs:
            account = account.charge(cost)
            spend(ledger, cost)
        assert total(ledger) == account.total > sum(cost.epsilon0 for cost in costs)
    with dp.Ledger(path) as ledger:
        assert total(ledger) == account.total


def test_an_idempotency_key_is_charged_once(ledger):
    spend(ledger, "0.1", idempotency_key="x")
    with pytest.raises(dp.Refused, match="charged before, in record 3"):
        spend(ledger, "0.1", idempotency_key="x")
    ledger.add_analyst("ann", dataset="visits")
    spend(ledger, "0.1", analyst="ann", idempotency_key="x")  # her x is another key
    assert total(ledger) == Fraction(1, 5)


def test_two_ledger_objects_see_each_other(ledger, location):
    with dp.Ledger(location) as other:
        spend(ledger, "0.6")
        assert total(other) == Fraction(3, 5)
        with pytest.raises(dp.BudgetExceeded):
            spend(other, "0.5")
        spend(other, "0.4")
    assert total(ledger) == 1


def test_an_entry_tells_all_but_data(ledger):
    mechanism = dp.Laplace(sensitivity=1, epsilon="0.5")
    entry = spend(ledger, mechanism.guarantee)
    (again,) = ledger.history()
    assert again == entry and entry.hash is not None and len(entry.hash) == 64
    assert (entry.dataset, entry.analyst, entry.unit) == ("visits", None, "id")
    assert entry.relation is dp.Relation.ADD_REMOVE and entry.time.tzinfo is not None
    assert entry.costs[0].amount == Fraction(1, 2)


def test_no_float_is_ever_stored(ledger, sql):
    """A float in the journal would be a number that two programs read differently."""
    import json

    spend(ledger, 0.1)
    ledger.add_analyst("ann", dataset="visits", budget=dp.Approx(0.3, 1e-9))
    for body, detail in sql("SELECT body, detail FROM discreet_journal"):
        json.loads(body, parse_float=pytest.fail)
        json.loads(detail, parse_float=pytest.fail)


def test_a_charge_is_found_by_its_number(ledger):
    entry = spend(ledger, "0.1")
    assert ledger.entry(entry.number) == entry and ledger.hash_of(entry.number) == entry.hash
    assert ledger.entry(1) is None and ledger.entry(99) is None and ledger.hash_of(99) is None
