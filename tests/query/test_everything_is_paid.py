"""Everything that is bought is in what the plan promises: the other side of "no more than"."""

import itertools
import math

import pyarrow as pa

import discreet as dp
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend


def plan_of(aggregate, *, groups, keys=("A", "B", "C"), **spend):
    rows = pa.table({"id": [1], "ward": ["A"], "days": pa.array([1], pa.int64())})
    table = dp.table(rows, unit="id").bound(max_groups=groups, max_rows_per_group=1)
    keys = keys if isinstance(keys, str) else list(keys)
    return make_plan(table.group_by("ward", keys=keys).agg(a=aggregate), Spend.read(**spend))


def worst_loss(mechanism, candidates):
    """The largest ln P/P′ over counts of up to two rows at each candidate, and one row more."""
    worst = 0.0
    for counts in itertools.product(range(3), repeat=candidates):
        for place in range(candidates):
            more = [count + (i == place) for i, count in enumerate(counts)]
            p, q = mechanism.law(list(counts)), mechanism.law(more)
            for i in range(candidates):
                worst = max(worst, abs(math.log(p.pmf((i,)) / q.pmf((i,)))))
    return worst


def test_a_choice_is_paid_for_in_every_group():
    """A person with a row in each of three groups bears on three choices. Catches a plan that
    promises for all of them what holds for one."""
    plan = plan_of(dp.median("days", bounds=(0, 2)), groups=3, epsilon=1)
    (bought,) = plan.bought.values()
    together = 3 * worst_loss(bought.mechanism, 3)
    assert 0.5 < together <= plan.guarantee.epsilon(0) * (1 + 1e-12) <= 1 + 1e-9


def test_discovered_keys_are_paid_for():
    """A key of one person is seen with some probability, whatever ε is: that is in the plan's δ.
    Catches keys that are discovered for nothing."""
    plan = plan_of(dp.count(), groups=2, keys="discover", epsilon=1, delta="1e-6")
    assert plan.finder is not None
    lone = 1 - (1 - plan.finder.mechanism.keep_probability(1)) ** 2
    assert lone > 1e-7
    assert lone * (1 - 1e-9) <= plan.guarantee.delta(50) <= 1e-6
