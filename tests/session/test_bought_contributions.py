"""A bound on contributions that is bought: what it costs, by its law, under either relation."""

import itertools
import math

import pyarrow as pa
import pytest

import discreet as dp
from discreet.mechanisms.quantiles import Quantiles
from discreet.query.purchase import Spend
from discreet.session import ContributionChoice

PEOPLE = 3
MOST = 3


def choice(relation):
    table = dp.table(pa.table({"id": [1], "ward": ["A"]}), unit="id", relation=relation)
    grouped = table.group_by("ward", keys=["A", "B"])
    return ContributionChoice(grouped, Spend.read(epsilon=1), coverage=0.5, most=MOST)


def worst_loss(mechanism, relation):
    """The largest |ln P/P′| over all tables of up to three people and one more, or another."""
    tables = list(itertools.product(range(PEOPLE + 1), repeat=MOST))
    laws = {counts: mechanism.law(counts) for counts in tables}
    moves = [[-1, 1]] if relation == "replace" else [[-1], [1]]
    worst = 0.0
    for one, two in itertools.combinations(tables, 2):
        if sorted(a - b for a, b in zip(one, two, strict=True) if a != b) not in moves:
            continue
        for place in range(MOST):
            p, q = (laws[counts].pmf((place,)) for counts in (one, two))
            worst = max(worst, abs(math.log(p / q)))
    return worst


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_one_person_costs_no_more_than_is_charged(relation):
    """Catches the factor of two that people who are replaced need: they leave and come."""
    bought = choice(relation)
    charged = bought.mechanism.guarantee.epsilon(0)
    assert worst_loss(bought.mechanism, relation) <= charged * (1 + 1e-12)
    # The planted error: the choice for people who come or go, used where they are replaced.
    half = Quantiles(probabilities=["1/2"], epsilon=1, rows=1)
    assert worst_loss(half, "replace") > 1.2
