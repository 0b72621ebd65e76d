"""Questions about forms: how long they are, and what they contain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.outputs import Outputs, Reader

_MOST = 48  # elements that are asked about


def error_kind(reader: Reader, form: int) -> str | None:
    """The class of the error that a form stands for, if it does for one."""
    match reader.known[form]:
        case ("raised", str(kind), _):
            return kind
    return None


def errors(reader: Reader, outputs: Outputs) -> NDArray[np.int64]:
    """The first form with an error of the same class; −1 where there was no error."""
    forms, place = np.unique(outputs.forms, return_inverse=True)
    kinds = [error_kind(reader, form) for form in range(len(reader.known))]
    found: NDArray[np.int64] = np.array(
        [-1 if kinds[form] is None else kinds.index(kinds[form]) for form in forms], np.int64
    )[place]
    return found


def sizes(reader: Reader, outputs: Outputs) -> FloatArray:
    """The length of sets, dicts, lists, texts and arrays; −1 for what has none."""
    forms, place = np.unique(outputs.forms, return_inverse=True)
    return np.array([_size(reader.known[form]) for form in forms], np.float64)[place]


def contains(reader: Reader, element: str, outputs: Outputs) -> NDArray[np.int64]:
    """Whether a set or a dict has this element or key."""
    forms, place = np.unique(outputs.forms, return_inverse=True)
    found: NDArray[np.int64] = np.array(
        [int(element in _elements(reader.known[form])) for form in forms], np.int64
    )[place]
    return found


def elements(reader: Reader, sides: tuple[Outputs, Outputs]) -> list[str]:
    """The elements of sets and keys of dicts that the two sides have most unequally often."""
    tally: Counter[str] = Counter()
    forms = reader.known
    counts = [np.bincount(side.forms, minlength=len(forms)) / max(1, len(side)) for side in sides]
    for place in np.flatnonzero(counts[0] + counts[1]).tolist():
        for element in set(_elements(forms[place])):
            tally[element] += counts[0][place] - counts[1][place]
    ranked = sorted(tally, key=lambda element: (-abs(tally[element]), element))
    return ranked[:_MOST]


def _size(form: Hashable) -> int:
    match form:
        case ("str" | "bytes", str() | bytes() as value):
            return len(value)
        case ("set" | "dict", tuple(inner), *_):
            return len(inner)
        case (str(), int(size), _):
            return size
        case (str(kind), tuple(shape)) if kind.startswith("array") or " of " in kind:
            return int(np.prod(shape))
        case (str(), tuple(inner)):
            return len(inner)
    return -1


def _elements(form: Hashable) -> Iterator[str]:
    match form:
        case ("set", tuple(inner)):
            yield from map(str, inner)
        case ("dict", tuple(items), *_):
            for key, inner in items:
                yield repr(key)
                yield from _elements(inner)
        case ("list" | "tuple", tuple(inner)):
            for one in inner:
                if isinstance(one, tuple) and len(one) == 2 and one[0] == "str":
                    yield repr(one[1])
        case ("list" | "tuple", int(), ("str", value)):
            yield repr(value)
    return
