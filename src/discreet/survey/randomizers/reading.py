"""Truths and reports at the door. No message contains one of them."""

from __future__ import annotations

from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument

MOST_OUTCOMES: Final = 4096  # that a law is written down for
_AT_ONCE: Final = 1 << 15  # values looked at a time: they stay in the cache


def read_integers(values: ArrayLike, bound: int, *, name: str) -> NDArray[Any]:
    """Read a column of integers from 0 to ``bound`` − 1, in their own dtype.

    >>> read_integers([2, 0, 5], 5, name="truths")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: truths must be integers from 0 to 4, got others too
    """
    column = _column(values, bound, name)
    for start in range(0, column.size, _AT_ONCE):
        _within(column[start : start + _AT_ONCE], bound, name)
    return column


def count_integers(values: ArrayLike, outcomes: int) -> NDArray[np.int64]:
    """How often each of 0 … outcomes − 1 was reported."""
    reports = _column(values, outcomes, "reports")
    total = np.zeros(outcomes, np.int64)
    at_once = max(_AT_ONCE, 4 * outcomes)  # each batch costs a pass over the outcomes
    for start in range(0, reports.size, at_once):
        part = reports[start : start + at_once]
        _within(part, outcomes, "reports")
        total += np.bincount(part.astype(np.int64, copy=False), minlength=outcomes)
    return total


def _column(values: ArrayLike, bound: int, name: str) -> NDArray[Any]:
    column = np.asarray(values)
    if column.ndim == 1 and column.size == 0:
        return np.empty(0, np.int64)  # an empty list has no dtype to speak of
    if column.ndim != 1 or column.dtype.kind not in "biu":
        given = InvalidArgument.describe_data(values)
        expected = f"one column of integers from 0 to {bound - 1}"
        raise InvalidArgument(name=name, expected=expected, given=given)
    return column


def _within(part: NDArray[Any], bound: int, name: str) -> None:
    if not 0 <= part.min() <= part.max() < bound:
        expected = f"integers from 0 to {bound - 1}"
        raise InvalidArgument(name=name, expected=expected, given="others too")


def read_sets(values: ArrayLike, items: int, most: int) -> NDArray[np.bool_]:
    """Read chosen items, a row a person: bools, at most ``most`` of them true."""
    rows = np.asarray(values)
    if rows.shape[1:] != (items,) or rows.dtype != np.bool_:
        given = InvalidArgument.describe_data(values)
        expected = f"bools, {items} in a row"
        raise InvalidArgument(name="truths", expected=expected, given=given)
    if most < items and rows.size and np.count_nonzero(rows, axis=1).max() > most:
        expected = f"rows with at most {most} items chosen"
        raise InvalidArgument(name="truths", expected=expected, given="others too")
    return rows


def count_bits(values: ArrayLike, items: int, *, least: int) -> NDArray[np.int64]:
    """Two rows for reports of bits: how often each bit was 1, and how often it was asked for.

    Bits are 1, 0, and where ``least`` is −1 also −1, which says that the item was not asked.
    """
    rows = np.asarray(values)
    if rows.shape[1:] != (items,) or rows.dtype.kind not in "biu":
        given = InvalidArgument.describe_data(values)
        raise InvalidArgument(name="reports", expected=f"bits, {items} in a row", given=given)
    if rows.size and not least <= rows.min() <= rows.max() <= 1:
        expected = f"bits from {least} to 1"
        raise InvalidArgument(name="reports", expected=expected, given="others too")
    total = np.zeros((2, items), np.int64)
    at_once = max(1, _AT_ONCE // items)
    for start in range(0, len(rows), at_once):
        part = rows[start : start + at_once]
        total[0] += np.count_nonzero(part == 1, axis=0)
        total[1] += np.count_nonzero(part >= 0, axis=0) if least < 0 else len(part)
    return total


def sets(items: int, most: int) -> list[tuple[int, ...]]:
    """All sets of at most ``most`` items; the first ones are the single items, in order.

    >>> sets(3, 2)
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), ()]
    """
    sizes = [*range(1, most + 1), 0]
    return [chosen for size in sizes for chosen in combinations(range(items), size)]


def writable(outcomes: int) -> None:
    """Refuse to write down the law of too many outcomes."""
    if outcomes > MOST_OUTCOMES:
        raise InvalidArgument(
            name="law",
            expected=f"asked for where there are at most {MOST_OUTCOMES} reports",
            given=f"{outcomes} of them",
            hint="look at the same randomizer with fewer categories",
        )
