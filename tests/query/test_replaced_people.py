"""People who are replaced: they leave one place and come to another, and both must be hidden."""

import math

import pyarrow as pa
import pytest

import discreet as dp
from discreet.guarantees import BoundedRange
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend
from tests.attacks.tables import check_neighbours

from .sources import people

# Five candidates; the row that is replaced passes all those between.
BEFORE, AFTER = [1, 0, 4, 0, 0], [0, 0, 4, 0, 1]


def asked(values, aggregate):
    return dp.table(pa.table({"x": pa.array(values, pa.float64())}), relation="replace").agg(
        a=aggregate
    )


@pytest.mark.parametrize(
    ("aggregate", "one", "other"),
    [
        (dp.histogram("x", edges=[0, 1, 2, 3]), [0.5, 0.5], [0.5, 2.5]),
        (dp.count("x"), [0.5, 0.5], [0.5, None]),
    ],
    ids=["histogram", "there and not there"],
)
def test_a_replaced_row_moves_two_cells_of_one_group(aggregate, one, other):
    """Catches cells of a single group that are hidden as if a row were only added. What is
    declared is reached by the histogram."""
    shares = check_neighbours(asked(one, aggregate), asked(other, aggregate))
    assert max(shares) == 1.0


@pytest.mark.parametrize("groups", [1, 3])
def test_a_key_of_ones_own_before_and_after(groups):
    """A person who is replaced may hold the only copies of `groups` keys before, and of as many
    others after: all of them together may be seen with probability δ."""
    rows = pa.table({"id": [1], "ward": ["A"]})
    table = dp.table(rows, unit="id", relation="replace")
    table = table.bound(max_groups=groups, max_rows_per_group=1)
    query = table.group_by("ward", keys="discover").agg(n=dp.count())
    finder = make_plan(query, Spend.read(epsilon=1, delta="1e-6")).finder
    assert finder is not None
    assert 2 * groups * finder.mechanism.keep_probability(1) <= 1e-6 * (1 + 1e-9)
    # Keys of many others are 2·groups coins, each e^(ε/m) apart at most.
    assert finder.mechanism.max_groups == 2 * groups


def median(relation):
    query = people(relation=relation).agg(a=dp.median("days", bounds=(0, 4)))
    (bought,) = make_plan(query, Spend.read(epsilon=1)).bought.values()
    return bought


def spread(mechanism):
    """How far apart the losses ln P/P′ of the outcomes are, for the row that is replaced."""
    p, q = mechanism.law(BEFORE), mechanism.law(AFTER)
    losses = [math.log(p.pmf((i,)) / q.pmf((i,))) for i in range(len(BEFORE))]
    return max(losses) - min(losses)


def test_a_quantile_that_a_replaced_row_passes():
    """Candidates below the median lose a row and those above it gain one: their distance to it
    changes both ways. Catches the scale for rows that come or go: bounded range of twice ε."""
    bought = median("replace")
    assert isinstance(bought.guarantee, BoundedRange)
    assert spread(bought.mechanism) <= bought.guarantee.epsilon0 == 1
    assert spread(median("add-remove").mechanism) > 1.9  # the planted error
