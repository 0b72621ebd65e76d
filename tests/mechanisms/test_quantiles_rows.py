"""Quantiles where one person has several rows: the noise grows with them, in the release too."""

from __future__ import annotations

import numpy as np
from scipy.stats import chisquare

from discreet.mechanisms.quantiles import Quantiles
from discreet.testing import seeded

COUNTS = [20, 10, 30, 0, 20]
GROUPS = 2000


def test_release_follows_the_law_for_so_many_rows():
    """2,000 choices, false-alarm rate 1e-9; the law for one row is rejected. Catches a release
    that is made for one row a person, whatever was declared."""
    quantiles = Quantiles(probabilities=["1/2"], epsilon=2, rows=10)
    with seeded(11):
        chosen = quantiles.release(np.tile(COUNTS, (GROUPS, 1)))[:, 0]
    seen = np.bincount(chosen, minlength=len(COUNTS))

    def p_value(mechanism):
        law = mechanism.law(COUNTS)
        return chisquare(seen, [law.pmf((i,)) * GROUPS for i in range(len(COUNTS))]).pvalue

    assert p_value(quantiles) > 1e-9
    assert p_value(Quantiles(probabilities=["1/2"], epsilon=2)) < 1e-9
