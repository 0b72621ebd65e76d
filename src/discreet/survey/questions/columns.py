"""Columns of true answers, one a person, as arrays. No message contains an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument


def array_of(column: ArrayLike, *, dimensions: int = 1) -> NDArray[Any]:
    """The column as an array; lists of lists of different lengths are arrays of lists."""
    if isinstance(column, np.ma.MaskedArray):  # whose gaps an array would fill
        raise wrong("a column with an answer of everybody, without a mask")
    try:
        array = np.asarray(column)
    except ValueError:  # rows of different lengths
        array = np.empty(len(column), object)  # type: ignore[arg-type]
        array[:] = list(column)  # type: ignore[arg-type]
    if array.dtype.kind in "mM" or array.ndim not in (1, dimensions):
        raise wrong(f"a column with one entry a person, not an array of {array.ndim} dimensions")
    return array


def codes(column: NDArray[Any], count: int) -> NDArray[np.int64]:
    """Whole numbers (or bools) from 0 to count − 1, as they are."""
    if column.dtype.kind not in "biu":
        raise wrong(f"whole numbers from 0 to {count - 1:,}")
    if column.size and not (column.min() >= 0 and column.max() < count):
        raise wrong(f"whole numbers from 0 to {count - 1:,}, all of them")
    return column.astype(np.int64, copy=False)


def looked_up(
    entries: Sequence[object], words: Mapping[Any, int], expected: str
) -> NDArray[np.int64]:
    """The code of each text or bool."""
    found = [_code(entry, words) for entry in entries]
    if -1 in found:
        raise wrong(expected)
    return np.array(found, np.int64)


def _code(entry: object, words: Mapping[Any, int]) -> int:
    return words.get(entry, -1) if isinstance(entry, str | bool) else -1


def wrong(expected: str, *, answer: object = None, hint: str = "") -> InvalidArgument:
    """A wrong answer, or a column with one in it, without a word about what it is."""
    given = "something else" if answer is None else InvalidArgument.describe_data(answer)
    return InvalidArgument(name="answer", expected=expected, given=given, hint=hint)
