"""The caller's values at the door: integers or reals, any shape, read without guessing.

What is refused is refused by type and shape. Only NaN and infinities are refused by value,
because no noise makes them safe: replace or clamp them before, for every record alike.
No message contains a value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.noise.grid import INT_MAX, INT_MIN

# Integers beyond 2^53 would be rounded on their way to a float, and rounding can move two
# neighbours apart. Clamping cannot.
EXACT_FLOAT: Final = 1 << 53


@dataclass(frozen=True)
class Values:
    """Values as one flat array of int64 or float64, and the shape they came in."""

    flat: NDArray[Any]
    shape: tuple[int, ...] | None  # None for a scalar, which is an array of one here

    @property
    def whole(self) -> bool:
        """Are these integers?"""
        return self.flat.dtype == np.int64


def read(value: ArrayLike, *, name: str = "value") -> Values:
    """Read a scalar, a sequence or an array of integers or finite floats.

    Integers outside int64 are clamped to its edges, which never moves two values apart.

    >>> read([1, 2, 3]).whole, read(0.5).whole, read([1, 2.5]).whole
    (True, False, False)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return Values(np.array([_clamp(value)], np.int64), None)
    if type(value) is float and isfinite(value):
        return Values(np.array([value]), None)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes | bytearray | memoryview):
        return _finite(_from_sequence(value, name), name)
    if isinstance(value, np.ma.MaskedArray):  # its hidden values would come back
        raise _refuse(name, value, "without a mask", "fill or drop what is masked")
    array = np.asarray(value)
    shape = array.shape if isinstance(value, np.ndarray) or array.ndim else None
    return _finite(Values(_from_array(array, value, name), shape), name)


def as_floats(values: Values) -> Values:
    """Return integers as the same numbers in float64."""
    if not values.whole:
        return values
    exact = np.clip(values.flat, -EXACT_FLOAT, EXACT_FLOAT)
    return Values(exact.astype(np.float64), values.shape)


def _from_sequence(value: Sequence[Any], name: str) -> Values:
    # dtype=object keeps each element as it is: NumPy would turn large integers into floats
    try:
        array = np.array(list(value), dtype=object)
    except ValueError:  # NumPy's word for arrays of different shapes
        raise _refuse(name, value, "of one shape", "some of its rows differ in length") from None
    kinds = {type(element) for element in array.flat}
    if kinds and all(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds):
        flat = np.array([_clamp(int(element)) for element in array.flat], np.int64)
    elif kinds and all(
        issubclass(kind, int | float | np.integer | np.floating) and kind is not bool
        for kind in kinds
    ):
        flat = np.array([_as_float(element) for element in array.flat], np.float64)
    else:
        raise _refuse_elements(name, value, kinds)
    return Values(flat, array.shape)


def _from_array(array: NDArray[Any], value: object, name: str) -> NDArray[Any]:
    if array.size == 0:
        raise _refuse(name, value, "at least one number", "there is nothing to release")
    flat = np.ascontiguousarray(array).reshape(-1)
    match flat.dtype.kind, flat.dtype.itemsize:
        case "u", 8:
            clamped: NDArray[np.uint64] = np.minimum(flat, np.uint64(INT_MAX))
            return clamped.astype(np.int64)
        case (("i" | "u"), _):
            return flat.astype(np.int64, copy=False)
        case "f", (2 | 4 | 8):
            return flat.astype(np.float64, copy=False)
    kind = "" if flat.dtype.kind in "OUSV" else f" of dtype {flat.dtype}"
    raise _refuse(
        name,
        value,
        f"a number, or a list or array of integers or floats, not{kind or ' text or objects'}",
        "convert it with int() or float(), and pass the values of a table or mapping as a list",
    )


def _finite(values: Values, name: str) -> Values:
    flat = values.flat
    if values.whole or (np.isfinite(flat.max()) and np.isfinite(flat.min())):
        return values
    raise InvalidArgument(
        name=name,
        expected="finite",
        given="NaN or an infinity",
        hint="replace or clamp such values in every record before anything is summed",
    )


def _clamp(number: int) -> int:
    return max(INT_MIN, min(INT_MAX, number))


def _as_float(element: Any) -> float:
    if isinstance(element, int | np.integer):
        return float(max(-EXACT_FLOAT, min(EXACT_FLOAT, int(element))))
    return float(element)


def _refuse_elements(name: str, value: object, kinds: set[type]) -> InvalidArgument:
    """Say what is wrong with a list by the types in it, never by its values."""
    if not kinds:
        return _refuse(name, value, "at least one number", "there is nothing to release")
    if kinds & {list, tuple}:
        return _refuse(name, value, "of one shape", "some of its rows differ in length")
    others = sorted(
        kind.__name__
        for kind in kinds
        if kind is bool or not issubclass(kind, int | float | np.integer | np.floating)
    )
    return _refuse(
        name,
        value,
        f"numbers only, without elements of type {', '.join(others)}",
        "convert or replace them in every record first",
    )


def _refuse(name: str, value: object, expected: str, hint: str) -> InvalidArgument:
    given = InvalidArgument.describe_data(value)
    return InvalidArgument(name=name, expected=expected, given=given, hint=hint)
