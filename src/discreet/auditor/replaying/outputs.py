"""Two outputs of any type, part by part: where they differ, in form or in value.

A part is named by the places that lead to it, (1, 0) being the first part of the second: keys may
be data, and are not told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any, Literal

import numpy as np

from discreet.auditor.moving import Move, family, move, numbers
from discreet.auditor.replaying.notes import kept

Place = tuple[int, ...]
Unlike = tuple[Place, Literal["form", "value"]]

_FEW = 64  # parts of a list of numbers that are told apart


def plain(value: Any) -> Any:
    """An output as numbers, text, lists and dicts, where it is made of those."""
    if callable(getattr(value, "to_arrow", None)):  # a table of ours, with all that it prints
        return {"table": plain(value.to_arrow()), "words": repr(value)}
    if callable(getattr(value, "to_pydict", None)):  # one of Arrow's
        return {"types": str(getattr(value, "schema", "")), **plain(value.to_pydict())}
    if hasattr(value, "dtypes") and hasattr(value, "index") and hasattr(value, "items"):  # pandas'
        columns = [(str(name), plain(np.asarray(column))) for name, column in value.items()]
        return {"types": str(value.dtypes), "index": plain(list(value.index)), "columns": columns}
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if type(value) in (list, tuple):
        return type(value)(plain(each) for each in value)
    if isinstance(value, np.ndarray) and value.dtype == object:
        return plain(value.tolist())
    return kept(value)


def unlike(x: Any, y: Any, place: Place = ()) -> Iterator[Unlike]:
    """Where two plain outputs differ; below a part that differs in form nothing is compared.

    >>> list(unlike({"n": 1, "at": 5}, {"n": 1, "at": 6}))
    [((1,), 'value')]
    >>> list(unlike({"n": 1, "at": 5}, {"at": 5, "n": 1})), list(unlike([1], (1,)))
    ([((), 'form')], [((), 'form')])
    """
    if type(x) is not type(y):
        yield place, "form"
    elif isinstance(x, Mapping):
        if [(type(key), key) for key in x] != [(type(key), key) for key in y]:
            yield place, "form"  # another order tells as well as another key
            return
        yield from _parts(x.values(), y.values(), place)
    elif _divided(x) or _divided(y):
        if len(x) != len(y):
            yield place, "form"
            return
        yield from _parts(x, y, place)
    elif _form(x) != _form(y):
        yield place, "form"
    elif not opaque(x) and not _same(x, y):
        yield place, "value"


def opaques(value: Any) -> Iterator[str]:
    """The types of parts of a plain output that cannot be compared."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple) and numbers(value) is None:
        for part in value:
            yield from opaques(part)
    elif opaque(value):
        yield type(value).__name__


def opaque(value: Any) -> bool:
    """Has it no equality of its own?"""
    kinds = type(value).__mro__[:-1]
    return value is not None and not any("__eq__" in vars(kind) for kind in kinds)


def _parts(xs: Any, ys: Any, place: Place) -> Iterator[Unlike]:
    for i, x, y in zip(count(), xs, ys, strict=False):
        yield from unlike(x, y, (*place, i))


def _divided(value: Any) -> bool:
    """Is it compared part by part? Long lists of numbers are one part."""
    if not isinstance(value, list | tuple):
        return False
    return len(value) <= _FEW or numbers(value) is None


def _form(value: Any) -> Any:
    """What a part looks like, whatever its numbers are."""
    array = numbers(value)
    if array is None:
        return type(value)
    floats = array.astype(np.float64) if family(array) == "floats" else None
    odd = None if floats is None else (~np.isfinite(floats)).tobytes()
    return array.shape, family(array), dtype(value), odd


def dtype(value: Any) -> str | None:
    """The type that a caller gets to see; lists hold what Python has."""
    kind = getattr(value, "dtype", None)
    return None if kind is None else str(kind)


def _same(x: Any, y: Any) -> bool:
    """NaN equals NaN, 0.0 is not −0.0."""
    moved = move(x, y)
    return isinstance(moved, Move) and moved.size("l0") == 0 and _signs(x) == _signs(y)


def _signs(value: Any) -> bytes:
    """Of zeros, too: 0.0 and −0.0 are equal, and print differently."""
    array = numbers(value)
    if array is None or array.dtype.kind not in "fO" or family(array) != "floats":
        return b""
    return np.signbit(array.astype(np.float64)).tobytes()


def in_words(place: Sequence[int]) -> str:
    """Which part of what is returned.

    >>> in_words(()), in_words((1, 0))
    ('what is returned', 'part 2.1 of what is returned')
    """
    part = ".".join(str(i + 1) for i in place)
    return f"part {part} of what is returned" if part else "what is returned"
