"""What a plan says of itself: the numbers in the sentences, and the warnings."""

import math
import re
from fractions import Fraction

import pytest

import discreet as dp
from discreet.errors import InvalidArgument, Refused
from discreet.query.explain import explain
from discreet.query.plan import least_spend, make_plan
from discreet.query.purchase import Spend

from .sources import people

DAYS = {"bounds": (0, 60)}


def genome(variants: int):
    table = people(unit="id").bound(max_groups=variants, max_rows_per_group=1)
    return table.group_by("days", keys=range(variants)).agg(n=dp.count())


def told(query, **spend) -> str:
    return str(explain(make_plan(query, Spend.read(**spend))))


def test_claim_19_the_genome_numbers():
    """Claim 19: K counts at once have Δ₁ = K; with ε = ln 2 the noise has sd 4.08·10⁶ for
    K = 2·10⁶ and 20.4 for K = 10. The planner prints both, says that the first is useless, and
    what to do instead."""
    large = told(genome(2_000_000), epsilon=math.log(2))
    assert "at most 2.00·10⁶ (l1)" in large and "sd 4.08·10⁶" in large
    assert "swamps" in large and "top_k" in large and "coarser groups" in large
    small = told(genome(10), epsilon=math.log(2))
    assert "at most 10 (l1)" in small and "sd 20.4" in small
    assert "swamps" not in small
    (noise,) = make_plan(genome(10), Spend.read(epsilon=math.log(2))).bought.values()
    exact = math.sqrt(2) * 10 / math.log(2)  # 20.402, of which the discrete law has a bit less
    assert noise.deviation == pytest.approx(exact, rel=1e-3) and noise.deviation < exact


def test_sentences_are_numbered_and_hold_the_numbers():
    """Catches a sentence that is missing, or a number that is not the plan's."""
    table = people(unit="id").bound(max_groups=3, max_rows_per_group=5)
    query = table.group_by("ward", keys=["A", "B"]).agg(n=dp.count(), m=dp.mean("days", **DAYS))
    plan = make_plan(query, Spend.read(epsilon=1))
    text = str(explain(plan))
    lines = text.splitlines()
    assert [int(line.split(".")[0]) for line in lines] == list(range(1, len(lines) + 1))
    assert "all rows of one id, added or removed" in text
    assert "at most 2 groups, and 5 rows in each" in text  # two are listed
    assert "moves them by at most 10 (l1), so each gets Laplace noise of scale 20" in text
    assert "moves them by at most 300 (l1)" in text  # 2 × 5 × 30: from the middle
    for size in ("100", "1,000", "10,000", "100,000"):
        assert re.search(rf"± \S+ with {size}\b", text)


def test_who_is_protected_is_said_in_words():
    """Catches Python's spelling, as unit=, in sentences that the command line prints as well."""
    said = told(people().group_by("ward", keys=["A"]).agg(n=dp.count()), epsilon=1)
    assert "No unit is named, so each row counts as a person of its own" in said
    assert "unit=" not in said


def test_a_plan_does_not_depend_on_anything_but_its_arguments():
    """Catches a plan that draws or remembers: the same twice."""
    query = people().group_by("ward", keys=["A"]).agg(n=dp.count(), q=dp.median("days", **DAYS))
    plans = [make_plan(query, Spend.read(epsilon=1)) for _ in range(2)]
    assert plans[0].bought == plans[1].bought
    assert str(explain(plans[0])) == str(explain(plans[1]))


@pytest.mark.parametrize("columns", [1, 4, 30])
def test_the_noise_with_the_smaller_error_is_chosen(columns):
    """Catches a choice by rule of thumb: Laplace for one count, Gaussian for many columns."""
    query = people().agg(
        **{f"c{i}": dp.sum(lambda row, i=i: row.days + i, **DAYS) for i in range(columns)}
    )
    spend = Spend.read(epsilon=1, delta=1e-6)
    plan = make_plan(query, spend)
    pure = make_plan(query, Spend.read(epsilon=1))
    (chosen, *_), (other, *_) = plan.bought.values(), pure.bought.values()
    assert chosen.deviation <= other.deviation
    assert plan.money.noise == ("gaussian" if columns == 30 else "laplace")
    assert plan.guarantee.delta(1) <= 1e-6
    assert pure.guarantee.epsilon(0) <= 1


@pytest.mark.parametrize(
    "spend",
    [
        {"epsilon": 1},
        {"epsilon": "0.3", "delta": 1e-6},
        {"epsilon": 5, "delta": 1e-3},
        {"rho": 0.1},
        {"mu": 0.7},
        {"rho": 0.1, "delta": 1e-6},
    ],
)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("keys", [["A", "B", "C", "D", "E", "F", "G"], "discover"])
def test_no_plan_costs_more_than_its_spend(spend, relation, keys):
    """Catches a share, a rounding or a multiplicity on the wrong side."""
    if keys == "discover" and "delta" not in spend:
        spend = {**spend, "delta": 1e-6}
    table = people(unit="id", relation=relation).bound(max_groups=2, max_rows_per_group=3)
    query = table.group_by("ward", keys=keys).agg(
        n=dp.count(weight=3),
        u=dp.count_units(),
        m=dp.mean("income", **DAYS),
        v=dp.variance("days", **DAYS),
        q=dp.quantile("days", [0.1, 0.5, 0.9], **DAYS),
        t=dp.top_k("sex", 2, candidates=["f", "m", "x"]),
        h=dp.histogram("days", edges=[0, 7, 14, 60]),
    )
    plan = make_plan(query, Spend.read(**spend))
    delta = spend.get("delta", 0)
    if "epsilon" in spend:
        total = float(Fraction(spend["epsilon"]))
        assert plan.guarantee.delta(total) <= delta
    else:
        account = dp.ZCDP(spend["rho"]) if "rho" in spend else dp.GDP(spend["mu"])
        dp.Filter(limit=account, slack=delta).charge(plan.guarantee)  # fits exactly once


def test_a_larger_share_than_allowed_would_be_seen():
    """The planted error: a plan for twice the spend does not fit the account."""
    plan = make_plan(people().agg(n=dp.count()), Spend.read(rho=0.2))
    with pytest.raises(dp.BudgetExceeded):
        dp.Filter(limit=dp.ZCDP(0.1)).charge(plan.guarantee)


def test_weights_share_the_spend():
    """Catches weights that are ignored, or applied the wrong way round."""
    query = people().agg(n=dp.count(weight=3), s=dp.sum("days", **DAYS))
    shares = [one.share for one in make_plan(query, Spend.read(epsilon=1)).bought.values()]
    assert shares == [Fraction(3, 4), Fraction(1, 4)]


def test_a_pure_account_refuses_what_needs_a_delta():
    """Catches a delta that slips into a pure account."""
    pure = dp.Filter(limit=dp.Pure(9))
    listed = people().group_by("ward", keys=["A"]).agg(n=dp.count())
    found = people().group_by("ward", keys="discover").agg(n=dp.count())
    for query, spend in [
        (listed, {"rho": 1}),
        (listed, {"mu": 1}),
        (found, {"epsilon": 1, "delta": 1e-6}),
    ]:
        with pytest.raises(Refused):
            make_plan(query, Spend.read(**spend), account=pure)
    plan = make_plan(listed, Spend.read(epsilon=1, delta=1e-6), account=pure)
    assert plan.money.noise == "laplace" and "this account is pure" in plan.reason
    with pytest.raises(InvalidArgument, match="delta"):
        make_plan(found, Spend.read(epsilon=1))


@pytest.mark.parametrize(
    "spend",
    [{}, {"epsilon": 1, "rho": 1}, {"epsilon": 0}, {"epsilon": -1}, {"epsilon": float("nan")},
     {"epsilon": "x"}, {"mu": float("inf")}, {"epsilon": 1, "delta": 0}, {"delta": 1e-6},
     {"epsilon": 1, "delta": 1}, {"epsilon": True}],
)  # fmt: skip
def test_senseless_spends_are_refused(spend):
    """Catches a spend that is read as something else."""
    with pytest.raises(InvalidArgument):
        Spend.read(**spend)


# -- error= ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("notion", [dp.Pure, dp.ZCDP, dp.GDP])
def test_the_least_spend_for_an_error(notion):
    """Catches a spend that does not reach the error, or one that is larger than needed."""
    query = people().group_by("ward", keys=["A"]).agg(n=dp.count(), m=dp.mean("days", **DAYS))
    account = dp.Filter(limit=notion(1))
    plan = least_spend(query, {"n": 20, "m": 0.5}, account=account, delta=None, group_size=1000)
    errors = {e.name: e.error for e in plan.expected(1000)}
    assert errors["n"] <= 20 and errors["m"] <= 0.5
    kind, amount = plan.money.kind, plan.money.amount
    assert kind == {dp.Pure: "epsilon", dp.ZCDP: "rho", dp.GDP: "mu"}[notion]
    assert amount == Fraction(f"{float(amount):.4g}")  # charged as it is shown
    less = amount * Fraction(998, 1000)
    cheaper = {e.name: e.error for e in make_plan(query, Spend(kind, less)).expected(1000)}
    assert cheaper["n"] > 20 or cheaper["m"] > 0.5


def test_errors_that_cannot_be_asked_for():
    """Catches an error for a column that is not there, or one that needs a size."""
    query = people().agg(n=dp.count(), m=dp.mean("days", **DAYS))
    ask = {"account": dp.Filter(limit=dp.Pure(1)), "delta": None, "group_size": None}
    for error, said in [({"x": 1}, "columns of the answer"), (5, "depends on the rows")]:
        with pytest.raises(InvalidArgument, match=said):
            least_spend(query, error, **ask)
    for error in (0, -1, float("nan"), {"n": 0}):
        with pytest.raises(InvalidArgument):
            least_spend(query, error, **ask)
    with pytest.raises(InvalidArgument, match="some spend reaches"):
        least_spend(query, {"m": 1e-9}, **(ask | {"group_size": 1}))


@pytest.mark.parametrize("epsilon", ["0.1", "0.5", "1", "3"])
def test_an_approx_budget_spent_at_once_fits(epsilon):
    """Catches a refusal of what was promised: all of ε and δ, on a fresh account, and for parts of
    it a price that grows with ε."""
    query = people().agg(n=dp.count())
    account = dp.Filter.from_epsilon_delta(epsilon=3, delta=1e-6, slack=5e-7)
    plan = make_plan(query, Spend.read(epsilon=epsilon, delta=1e-6), account=account)
    assert plan.money.noise == "gaussian"
    spent = account.charge(plan.guarantee).total
    less = make_plan(query, Spend.read(epsilon="0.05", delta=1e-6), account=account)
    assert account.charge(less.guarantee).total < spent
    assert plan.guarantee.delta(Fraction(epsilon)) <= 1e-6


def test_on_an_account_in_rho_errors_are_compared_at_the_same_charge():
    """Catches a rule of thumb: for a large ε Laplace noise hides more than its ρ says."""
    query = people().agg(n=dp.count())
    account = dp.Filter(limit=dp.ZCDP(1000))
    small, large = (
        make_plan(query, Spend.read(epsilon=e, delta=1e-6), account=account) for e in (1, 20)
    )
    assert small.money.noise == "gaussian" and large.money.noise == "laplace"


def test_the_share_of_keys_that_are_discovered():
    """Catches shares in the sentence that are not the mechanism's, at the sizes it names."""
    query = people().group_by("ward", keys="discover").agg(n=dp.count())
    plan = make_plan(query, Spend.read(epsilon=1, delta=1e-6))
    shares = re.findall(r"([\d,]+) people with ([\d.]+) %", str(explain(plan)))
    assert len(shares) >= 4
    for size, share in shares:
        exact = 100 * plan.finder.mechanism.keep_probability(int(size.replace(",", "")))
        assert float(share) == pytest.approx(exact, rel=0.01)
    assert "Bought: discovered keys" in str(explain(plan))  # an item of its own
