"""Columns of true answers, one a person, as arrays. No message contains an answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument

_NAMED: Final = 12  # options that a message lists
_LONG: Final = 200  # characters of them


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
        astray = (column < 0) | (column >= count)
        raise wrong_rows(f"whole numbers from 0 to {count - 1:,}, all of them", astray)
    return column.astype(np.int64, copy=False)


def looked_up(
    entries: Sequence[object], words: Mapping[Any, int], expected: str
) -> NDArray[np.int64]:
    """The code of each text or bool."""
    found = [_code(entry, words) for entry in entries]
    places = np.array(found, np.int64)
    if -1 in found:
        raise wrong_rows(expected, places < 0)
    return places


def _code(entry: object, words: Mapping[Any, int]) -> int:
    return words.get(entry, -1) if isinstance(entry, str | bool) else -1


def wrong(expected: str, *, answer: object = None, hint: str = "") -> InvalidArgument:
    """A wrong answer, or a column with one in it, without a word about what it is."""
    given = "something else"
    if answer is not None:
        given = f"{InvalidArgument.describe_data(answer)} that is not; it is not repeated here"
    return InvalidArgument(name="answer", expected=expected, given=given, hint=hint)


def wrong_rows(expected: str, astray: NDArray[np.bool_]) -> InvalidArgument:
    """A column with wrong answers in it: where the first one is, and how many there are."""
    first, count = int(astray.argmax()), int(astray.sum())
    more = f", and {count - 1:,} more" if count > 1 else ""
    given = f"something else at place {first:,}, counted from 0{more}"
    return InvalidArgument(name="answer", expected=expected, given=given)


def named(options: Sequence[str]) -> str:
    """The options of a question, which are no secret, where they are few and short.

    >>> named(("red", "blue"))
    " ('red', 'blue')"
    """
    few = len(options) <= _NAMED and sum(map(len, options)) <= _LONG
    return f" ({', '.join(map(repr, options))})" if few else ""
