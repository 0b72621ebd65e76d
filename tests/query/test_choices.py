"""Private choices: what a plan promises for them, against the laws of what comes out."""

import math
from fractions import Fraction

import pytest

import discreet as dp
from discreet.guarantees import to_zcdp
from discreet.query.plan import make_plan
from discreet.query.purchase import Spend

from .sources import people

SPENDS = [{"epsilon": 0.5}, {"epsilon": 3}, {"rho": 0.05}, {"mu": 0.3}]
# Neighbours that differ by one replaced row, and by one row: counts at each candidate.
REPLACED = [([1, 0], [0, 1]), ([2, 1], [1, 2])]
ADDED = [([1, 0], [0, 0]), ([1, 1], [1, 0])]
SEX = {"candidates": ["f", "m"]}


def losses(mechanism, a, b):
    """The exact laws of both neighbours, as pairs of probabilities."""
    p, q = mechanism.law(a), mechanism.law(b)
    return [(float(p.pmf((i,))), float(q.pmf((i,)))) for i in range(len(a))]


def chooser(relation, aggregate, spend):
    plan = make_plan(people(relation=relation).agg(a=aggregate), Spend.read(**spend))
    (bought,) = plan.bought.values()
    return bought, plan.guarantee


@pytest.mark.parametrize("spend", SPENDS, ids=str)
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(
    "aggregate",
    [dp.most_common("sex", **SEX), dp.median("days", bounds=(0, 1))],
    ids=["most common", "median"],
)
def test_choices_keep_what_the_plan_promises(aggregate, relation, spend):
    """Catches a choice priced as two for someone who is replaced: leaving and coming bear on one
    and the same draw, which is group privacy and costs four times the ρ, not twice."""
    bought, guarantee = chooser(relation, aggregate, spend)
    rho = float(to_zcdp(guarantee).rho)
    for a, b in REPLACED if relation == "replace" else ADDED:
        pairs = losses(bought.mechanism, a, b)
        assert sum(p for p, _ in pairs) == pytest.approx(1)
        for x in (0, 0.1, 0.5, 1):
            delta = sum(max(0.0, p - math.exp(x) * q) for p, q in pairs)
            assert delta <= guarantee.delta(Fraction(str(x))) + 1e-12
        for alpha in (1.01, 2, 8):
            moment = sum(p**alpha * q ** (1 - alpha) for p, q in pairs)
            assert math.log(moment) / (alpha - 1) <= alpha * rho * (1 + 1e-9)


def test_half_the_noise_would_be_seen():
    """The planted error: a mechanism for people who come or leave, used where they are replaced."""
    bought, guarantee = chooser("add-remove", dp.most_common("sex", **SEX), SPENDS[0])
    pairs = losses(bought.mechanism, *REPLACED[0])
    assert sum(max(0.0, p - q) for p, q in pairs) > guarantee.delta(0)
