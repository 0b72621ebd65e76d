"""For tests, papers and teaching: repeatable noise, and claims as tests. Never for a real release.

This is the only place in the package where a draw can be repeated. Nothing else imports it.

>>> import discreet as dp
>>> from discreet.testing import seeded
>>> coin = dp.Laplace(sensitivity=1, epsilon=1)
>>> with seeded(7):
...     first = coin.release(100)
>>> with seeded(7):
...     again = coin.release(100)
>>> first == again
True
"""

from discreet.testing.asserting import PrivacyViolated, assert_private
from discreet.testing.entropy import ScriptedEntropy, SeededEntropy, seeded, using
from discreet.testing.replaying import replay

__all__ = [
    "PrivacyViolated",
    "ScriptedEntropy",
    "SeededEntropy",
    "assert_private",
    "replay",
    "seeded",
    "using",
]
