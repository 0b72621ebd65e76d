"""Adaptive analysis: answers that hold on the population, not only on the sample.

From the bottom up:

1. ``arguments``    the arguments that every part takes, checked
2. ``validity``     two ways from a sample to its population: by stability, and by counting
3. ``noise_width``  how wide a bound is with noise, and which noise is best
4. ``bounds``       every method's bound for the same questions, side by side
5. ``question_plan``, ``plot``   how many questions a sample supports, before anything is asked
6. ``answer``       one answer, with what it says about the population
7. ``ledger_account``   counts and charges questions, and derives validity from a ledger's caps
8. ``analyst``, ``thresholdout``, ``ladder``    what answers: statistical queries, a reusable
   holdout, a leaderboard
9. ``scorer``       a holdout as a scorer for scikit-learn's loops over models

>>> from discreet import adaptive
>>> adaptive.drift.__name__
'drift'
"""

from importlib import import_module
from typing import TYPE_CHECKING

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
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        from discreet.hints import unknown

        raise unknown("discreet.adaptive", name, __all__)
    found = getattr(import_module(f"discreet.adaptive.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
