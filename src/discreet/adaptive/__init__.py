"""Adaptive analysis: answers that hold on the population, not only on the sample.

From the bottom up:

1. ``arguments``    the arguments that every part takes, checked
2. ``validity``     two ways from a sample to its population: by stability, and by counting
3. ``noise_width``  how wide a bound is with noise, and which noise is best
4. ``bounds``       every method's bound for the same questions, side by side
5. ``question_plan``   how many questions a sample supports, before anything is asked
6. ``answer``       one answer, with what it says about the population
7. ``ledger_account``   counts and charges questions, and derives validity from a ledger's caps
8. ``analyst``, ``thresholdout``, ``ladder``    what answers: statistical queries, a reusable
   holdout, a leaderboard
9. ``scorer``       a holdout as a scorer for scikit-learn's loops over models

>>> from discreet import adaptive
>>> adaptive.drift.__name__
'drift'
"""

from typing import TYPE_CHECKING

from discreet.lazy import on_first_use

if TYPE_CHECKING:
    from discreet.adaptive.analyst import Analyst as Analyst
    from discreet.adaptive.ladder import Ladder as Ladder
    from discreet.adaptive.ledger_account import validity_of as validity_of
    from discreet.adaptive.question_plan import plan as plan
    from discreet.adaptive.scorer import Scorer as Scorer
    from discreet.adaptive.thresholdout import Thresholdout as Thresholdout
    from discreet.adaptive.validity import drift as drift

_HOMES = {
    "analyst": "Analyst",
    "ladder": "Ladder",
    "ledger_account": "validity_of",
    "question_plan": "plan",
    "scorer": "Scorer",
    "thresholdout": "Thresholdout",
    "validity": "drift",
}
__all__, __getattr__, __dir__ = on_first_use(__name__, _HOMES)
