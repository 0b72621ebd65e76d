"""Replaying a query on two neighbours: what reaches the noise, and how far apart it is."""

from dataclasses import dataclass

import numpy as np

from discreet.query.plan import Plan, make_plan
from discreet.query.purchase import AddedNoise, Chooser, Spend

SALT = 20_261_115


@dataclass(frozen=True)
class Replay:
    """One plan, the exact integers that reach its noise, and all that the engine returned."""

    plan: Plan
    exact: dict
    columns: dict

    @classmethod
    def of(cls, query, *, salt: int = SALT, **spend) -> "Replay":
        plan = make_plan(query, Spend.read(**(spend or {"epsilon": 1})))
        answer = query.table.source.measure(plan.request(salt))
        exact = {}
        for part, one in plan.bought.items():
            if isinstance(one, AddedNoise):
                exact[part] = np.asarray(part.exact(answer.columns), dtype=object)
            elif isinstance(one, Chooser):
                (measure,) = part.measures
                exact[part] = np.asarray(answer.columns[measure], dtype=object)
        return cls(plan, exact, answer.columns)


def check_neighbours(here, there, **spend) -> list[float]:
    """Both have the same plan and shapes, and no part moves by more than it declares.

    Returns, for each additive part, the share of the declared l1 that was reached.
    """
    return compare(Replay.of(here, **spend), Replay.of(there, **spend))


def compare(a: Replay, b: Replay) -> list[float]:
    """The same for two replays."""
    assert str(a.plan.bought.keys()) == str(b.plan.bought.keys())
    shares = []
    for part, one in a.plan.bought.items():
        if part not in a.exact:
            continue
        assert a.exact[part].shape == b.exact[part].shape
        change = (a.exact[part] - b.exact[part]).reshape(-1)
        sizes = [abs(int(x)) for x in change]
        if not isinstance(one, AddedNoise):
            rows = a.plan.query.contribution.total * a.plan.query.table.relation.add_remove_steps
            assert sum(sizes) <= rows
            continue
        moved = one.sensitivity
        assert sum(sizes) <= moved.l1, part.words
        assert max(sizes, default=0) <= moved.linf, part.words
        assert sum(x * x for x in sizes) <= moved.l2**2, part.words
        shares.append(sum(sizes) / float(moved.l1))
    return shares
