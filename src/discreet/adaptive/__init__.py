"""Adaptive analysis: answers that hold on the population, not only on the sample.

>>> from discreet import adaptive
>>> adaptive.drift.__name__
'drift'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from discreet.adaptive.analyst import Analyst as Analyst
    from discreet.adaptive.ladder import Ladder as Ladder
    from discreet.adaptive.planning import plan as plan
    from discreet.adaptive.population import validity_of as validity_of
    from discreet.adaptive.scorer import Scorer as Scorer
    from discreet.adaptive.thresholdout import Thresholdout as Thresholdout
    from discreet.adaptive.validity import drift as drift

_HOMES = {
    "analyst": "Analyst",
    "ladder": "Ladder",
    "planning": "plan",
    "population": "validity_of",
    "scorer": "Scorer",
    "thresholdout": "Thresholdout",
    "validity": "drift",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = sorted(_HOME_OF)


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        from discreet.spelling import unknown

        raise unknown("discreet.adaptive", name, __all__)
    found = getattr(import_module(f"discreet.adaptive.{_HOME_OF[name]}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return __all__
