"""Is it the same noise? Whatever decides it is compared by value: no digit may be cut off."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from discreet.auditor.moving import Move, move, numbers
from discreet.auditor.replaying.outputs import opaque

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def alike(x: Any, y: Any) -> bool:
    """Do both say the same about the noise: scales, names, arrays, objects with either?

    >>> alike(np.full(3000, 0.1), np.full(3000, 0.1 + 1e-15)), alike(object(), object())
    (False, True)
    """
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if isinstance(x, Mapping):
        return x.keys() == y.keys() and all(alike(x[key], y[key]) for key in x)
    if numbers(x) is not None:
        moved = move(x, y)
        return isinstance(moved, Move) and moved.size("l0") == 0
    if isinstance(x, list | tuple):
        return len(x) == len(y) and all(map(alike, x, y))
    if isinstance(x, np.ndarray):
        return alike(x.tolist(), y.tolist())
    if isinstance(x, FunctionType):
        return x.__code__ == y.__code__ and alike(_held(x), _held(y))
    return _alike_objects(x, y)


def _alike_objects(x: Any, y: Any) -> bool:
    if not opaque(x):
        try:
            return bool(x == y)
        except Exception:  # an array in it, say, has no one answer
            pass
    held = getattr(x, "__dict__", None)
    if held:
        return alike(dict(held), dict(y.__dict__))
    return _ADDRESS.sub("", repr(x)) == _ADDRESS.sub("", repr(y))


def _held(function: FunctionType) -> list[Any]:
    """What a function brings along."""
    return [*(cell.cell_contents for cell in function.__closure__ or ()), function.__defaults__]
