"""The best that any test could do with the same samples, if it knew both laws.

By Neyman and Pearson the best event of its size takes the outputs of the largest ratio of the two
laws, so only those are tried: each cut-off, in both directions, with the counts that are
expected of it and the auditor's own confidence region. A real audit has to find the event first.
"""

from __future__ import annotations

import numpy as np

from discreet.auditor.sampling.parameters import Parameter, question
from discreet.auditor.sampling.region import expected_counts, least
from tests.auditor.zoo.case import Case
from tests.auditor.zoo.laws import Floats, Laws, loss_order

_TRIED = 200  # cut-offs, spread evenly over the logarithms of both probabilities
_EXACT = 8  # of them judged by the region itself, after a first judgement by the normal law
_WIDTH = 4.6  # standard deviations: about what the region allows each side at a risk of 1e-9


def best_bounds(case: Case, *, samples: int, risk: float) -> dict[str, float]:
    """For each parameter of the claim, the largest lower bound that can be expected."""
    asked = question(case.claim)
    return {
        parameter.name: best_bound(case.laws, parameter, samples=samples, risk=risk)
        for parameter in (*asked.parameters, asked.reported)
    }


def best_bound(laws: Laws, parameter: Parameter, *, samples: int, risk: float) -> float:
    """The same for one parameter."""
    p, q = _events(laws, samples)
    rough = np.nan_to_num(parameter.least(*_normal_limits(p, q, samples)), nan=0.0)
    promising = np.argsort(-rough)[:_EXACT]
    return max(
        least(parameter.least, expected_counts(float(p[i]), float(q[i]), samples), risk)
        for i in promising
    )


def _events(laws: Laws, samples: int) -> tuple[Floats, Floats]:
    """p and q of the events worth trying: likely enough to be seen at all."""
    found: set[tuple[float, float]] = set()
    for p, q in laws.directions():
        order = loss_order(p, q)
        up, down = np.cumsum(p[order]), np.cumsum(q[order])
        at = np.geomspace(1 / samples, 1.0, _TRIED)
        for grown in (up, down):
            places = np.clip(np.searchsorted(grown, at), 0, grown.size - 1)
            found |= set(zip(up[places].tolist(), down[places].tolist(), strict=True))
    both = np.minimum(np.array(sorted(found)), 1.0)
    return both[:, 0], both[:, 1]


def _normal_limits(p: Floats, q: Floats, samples: int) -> tuple[Floats, Floats]:
    low = p - _WIDTH * np.sqrt(p * (1 - p) / samples)
    high = q + _WIDTH * np.sqrt(q * (1 - q) / samples) + 20 / samples
    return np.clip(low, 0.0, 1.0), np.clip(high, 1e-12, 1.0)
