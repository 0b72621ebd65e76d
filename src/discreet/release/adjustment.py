"""Labelled post-processing: nicer numbers under the same promise, and their errors."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.numeric.exact import integer
from discreet.release.column import (
    COUNTS,
    OTHER_ERROR,
    ColumnInfo,
    Released,
    error_column,
    errors_of,
    named,
    numbers_of,
)
from discreet.release.propagation import FloatArray
from discreet.release.text import number

if TYPE_CHECKING:
    from discreet.release.result import Result


_LARGEST_TOTAL = 2**53
_MOST_DIGITS = 12


def clip(result: Result) -> Result:
    """Move every value to the nearest one that can be true."""
    changed = {}
    for column in result.values:
        values = numbers_of(result.frame, column.name)
        if values.dtype.kind in "iuf" and np.isfinite([column.least, column.greatest]).any():
            changed[column.name] = _inside(values, column)
    step = "counts below 0 set to 0, other values moved into their declared bounds"
    return _changed(result, changed, step)


def round_to(result: Result, digits: int) -> Result:
    """Round every number to this many decimals; errors grow by as far as their numbers move."""
    digits = integer(digits, name="digits")
    if not -_MOST_DIGITS <= digits <= _MOST_DIGITS:
        expected = f"from -{_MOST_DIGITS} to {_MOST_DIGITS}"
        raise InvalidArgument.of("digits", expected, digits)
    changed: dict[str, Any] = {}
    for column in result.values:
        values = numbers_of(result.frame, column.name)
        if values.dtype.kind not in "iuf" or column.kind in OTHER_ERROR:
            continue
        changed[column.name] = np.round(values, digits)
        if (errors := error_column(result, column)) is not None:
            moved = np.abs(changed[column.name] - values)
            changed[errors] = errors_of(result, column) + np.where(np.isnan(moved), 0.0, moved)
    return _changed(result, changed, f"rounded to multiples of {number(10.0**-digits)}")


def consistent(result: Result, *, total: int | Result | Released, value: str | None) -> Result:
    """Make counts whole, ≥ 0, and of a given sum; errors also cover how far their counts move.

    The truth is within wᵢ of xᵢ, hence of max(xᵢ, 0), 19 times in 20; so it is within
    wᵢ + |yᵢ − max(xᵢ, 0)| of any yᵢ, however that was chosen.
    """
    column = _count_column(result, value)
    wanted, origin = _total(total, column.name)
    x = np.asarray(numbers_of(result.frame, column.name), dtype=float)
    width = errors_of(result, column)
    if len(x) == 0 or not np.all(np.isfinite(x) & np.isfinite(width)):
        raise InvalidArgument(column.name, "of known counts and errors", "unknown ones")
    # A half-width of 0 does not mean that the count is exact (see `propagation`), so add a step.
    y = whole_with_total(nearest_with_total(x, width + 1.0, wanted), wanted)
    changed: dict[str, Any] = {column.name: y}
    if (errors := error_column(result, column)) is not None:
        changed[errors] = width + np.abs(y - np.maximum(x, 0.0))
    step = f"{column.name} made whole, not below 0, and to add up to the {origin} {number(wanted)}"
    return _changed(result, changed, step)


def _inside(values: Any, column: ColumnInfo) -> Any:
    least, greatest = column.least, column.greatest
    if values.dtype.kind in "iu":  # for whole numbers, the nearest whole numbers inside the bounds
        least = np.ceil(least) if np.isfinite(least) else np.iinfo(values.dtype).min
        greatest = np.floor(greatest) if np.isfinite(greatest) else np.iinfo(values.dtype).max
        return np.clip(values, int(least), int(greatest))
    return np.clip(values, least, greatest)


def _count_column(result: Result, value: str | None) -> ColumnInfo:
    counts = tuple(column for column in result.values if column.kind in COUNTS)
    if value is None and len(counts) == 1:
        return counts[0]
    if value is None:
        raise InvalidArgument(
            "value",
            f"one of {', '.join(c.name for c in counts)}" if counts else "a count column",
            "None" if counts else "a result without counts",
        )
    return named(counts, value, role="value", argument="value")


def _total(total: object, column: str) -> tuple[int, str]:
    """The total as a whole number ≥ 0, and whether it is "public" or "released"."""
    from discreet.release.result import Result

    if isinstance(total, Result):
        counts = [c.name for c in total.values if c.kind in COUNTS]
        only = column if column in counts else counts[0] if len(counts) == 1 else None
        if only is None or len(total) != 1:
            raise InvalidArgument(
                "total",
                f"a result of one row with a count called {column}",
                f"{len(total):,} rows with {len(counts)} counts",
            )
        return _released_total(total[only])
    if isinstance(total, Released):
        return _released_total(total)
    public = integer(total, name="total")
    if not 0 <= public <= _LARGEST_TOTAL:
        raise InvalidArgument.of("total", "from 0 to 2^53", public)
    return public, "public total"


def _released_total(total: Released) -> tuple[int, str]:
    number_there = float(total.values[0]) if len(total) == 1 else math.nan
    if not math.isfinite(number_there):
        given = "an unknown one" if len(total) == 1 else f"{len(total):,} of them"
        raise InvalidArgument("total", "one known number", given)
    return max(round(number_there), 0), "released total"


def _changed(result: Result, changed: dict[str, Any], step: str) -> Result:
    import pyarrow as pa

    frame = result.frame
    for name, values in changed.items():
        place, kind = frame.column_names.index(name), frame.schema.field(name).type
        array = pa.array(values, from_pandas=True)  # nan stands for null here
        whole = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        frame = frame.set_column(place, name, array.cast(kind) if whole else array)
    return replace(result, frame=frame, steps=(*result.steps, step))


# -- the nearest counts with a given total ---------------------------------------------------------


def nearest_with_total(x: FloatArray, spread: FloatArray, total: float) -> FloatArray:
    """The y ≥ 0 with Σ y = total ≥ 0 that is nearest to x: Σ ((yᵢ − xᵢ)/sᵢ)² is smallest.

    The answer is yᵢ = max(0, xᵢ − λ·sᵢ²) for the one λ that gives the total. With counts sorted
    by xᵢ/sᵢ², those above 0 are the first k, and λ = (Σ xᵢ − total)/Σ sᵢ² over them; k is the
    last place whose own count stays above 0 (Held, Wolfe and Crowder 1974).

    >>> nearest_with_total(np.array([5.0, 3.0, -2.0]), np.ones(3), 6.0).tolist()
    [4.0, 2.0, 0.0]
    """
    if total == 0:
        return np.zeros_like(x)
    squares = spread**2
    order = np.argsort(-x / squares, kind="stable")
    shifts = (np.cumsum(x[order]) - total) / np.cumsum(squares[order])
    last = np.flatnonzero(x[order] > shifts * squares[order])[-1]
    nearest: FloatArray = np.maximum(x - shifts[last] * squares, 0.0)
    return nearest


def whole_with_total(y: FloatArray, total: int) -> NDArray[np.int64]:
    """Round y ≥ 0 to whole numbers with this sum: the largest remainders are rounded up.

    >>> whole_with_total(np.array([1.5, 2.25, 1.25]), 5).tolist()
    [2, 2, 1]
    """
    whole = np.floor(y).astype(np.int64)
    missing = total - int(whole.sum())
    order = np.argsort(whole - y, kind="stable")  # the largest remainder first
    if missing < 0:  # sums of floats beyond 2^53 may be off by more than 1
        order = np.array([i for i in order[::-1] if whole[i] > 0])
    # Each is moved by |missing|/n, rounded down, and the first ones by 1 more.
    each, extra = divmod(abs(missing), len(order))
    gain = np.full(len(order), each)
    gain[:extra] += 1
    whole[order] += np.sign(missing) * gain
    return whole
