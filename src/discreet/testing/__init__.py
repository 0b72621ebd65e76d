"""For tests, papers and teaching: repeatable noise. Never for a real release.

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

from discreet.testing.entropy import ScriptedEntropy, SeededEntropy, seeded, using

__all__ = ["ScriptedEntropy", "SeededEntropy", "seeded", "using"]
