"""Plan → charge → run → noise → release."""

import sys
from types import ModuleType
from typing import NoReturn

from discreet.session.session import Session as Session


class _Module(ModuleType):
    """A module that is called by those who mean the class in it."""

    def __call__(self, *_: object, **__: object) -> NoReturn:
        raise TypeError(
            "discreet has no 'session' to call; write dp.Session(table, budget=dp.Pure(3))"
        )


sys.modules[__name__].__class__ = _Module
