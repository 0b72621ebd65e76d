"""Noise on sums that need more than 64 bits: each has its own, of the same law."""

import numpy as np
import pyarrow as pa

import discreet as dp
from discreet.query.plan import make_plan
from discreet.query.purchase import AddedNoise, Spend
from discreet.testing import seeded


def test_every_group_has_noise_of_its_own():
    """Catches one draw for all groups, whose differences would be exact. 2,000 draws of the noise
    of a sum (scale 100): their spread is within 20 % of its own, 6 standard deviations and more."""
    query = dp.table(pa.table({"x": [1]})).agg(s=dp.sum("x", bounds=(0, 100)))
    (noise,) = make_plan(query, Spend.read(epsilon=1)).bought.values()
    assert isinstance(noise, AddedNoise)
    exact = np.array([2**70] * 2000, object)
    with seeded(7):
        drawn = (noise.release(exact) - exact).astype(np.float64)
    assert len(set(drawn.tolist())) > 100
    assert abs(drawn.std() / noise.deviation - 1) < 0.2
