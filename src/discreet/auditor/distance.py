"""How far apart two answers are, exactly: no rounding may hide a difference, or make one up.

Numbers are compared as rationals: integers of any length, and floats as the dyadic numbers they
are. Whatever is not a number on both sides (NaN, infinity, text, another shape, type or set of
keys) has no distance at all, since no noise that is added to numbers hides it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.recorder import Norm
from discreet.errors import InvalidArgument

Objects = NDArray[Any]  # of integers and Fractions

# A float is a rounded result, and its last bits are not what a claim is about: a sensitivity that
# is off by this factor moves ε by as little. Integers are compared exactly, except for roots.
TOLERANCE = Fraction(1, 10**9)

_NUMBERS = (int, float, Fraction, Decimal, np.integer, np.floating, np.bool_)


@dataclass(frozen=True)
class Apart:
    """Two answers that no noise makes alike, and why."""

    kind: str  # "type", "shape", "keys", "nan"
    words: str


@dataclass(frozen=True, eq=False)
class Move:
    """The change from one answer to another, number by number, as rationals."""

    change: Objects
    floats: bool

    def size(self, norm: Norm) -> Fraction:
        """Its length; that of l2 rounded down."""
        return _sqrt_down(self.square(norm)) if norm == "l2" else self._length(norm)

    def square(self, norm: Norm) -> Fraction:
        """The square of its length, exactly."""
        if norm == "l2":
            return Fraction(sum(x * x for x in self.change.flat))
        return self._length(norm) ** 2

    def exceeds(self, bound: Fraction, norm: Norm, *, tolerance: Fraction = TOLERANCE) -> bool:
        """Is it longer than the bound?"""
        slack = 1 + tolerance if self.floats or norm == "l2" else 1  # a claim of √3 is rounded
        return self.square(norm) > (bound * slack) ** 2

    def _length(self, norm: Norm) -> Fraction:
        sizes = [abs(x) for x in self.change.flat]
        match norm:
            case "l0":
                return Fraction(sum(size != 0 for size in sizes))
            case "linf":
                return Fraction(max(sizes, default=0))
            case "range" if self.change.size:
                rows = self.change if self.change.ndim == 2 else self.change.reshape(1, -1)
                return Fraction(sum(max(row) - min(row) for row in rows))
        return Fraction(sum(sizes))


def read_norm(norm: Norm) -> Norm:
    """Check the name of a norm."""
    if norm in get_args(Norm):
        return norm
    raise InvalidArgument.of("norm", " or ".join(f'"{name}"' for name in get_args(Norm)), norm)


def move(x: Any, y: Any, *, absent: int | None = None) -> Move | Apart:
    """From one answer to another.

    >>> move([1, 2**70], [1, 2**70 - 3]).size("l1")
    Fraction(3, 1)
    >>> move([0.5, 1.0], [0.5, float("nan")])
    Apart(kind='nan', words='one has a NaN or an infinity where the other has none')
    """
    if isinstance(x, Mapping) and isinstance(y, Mapping):
        return _move_by_key(x, y, absent)
    a, b = numbers(x), numbers(y)
    if a is None or b is None:
        if isinstance(x, tuple | list) and isinstance(y, tuple | list):
            return _move_of_parts(list(x), list(y), absent)
        return _move_of_others(x, y)
    if a.shape != b.shape:
        return Apart("shape", "they differ in shape or length")
    floats = "floats" in (family(a), family(b))
    if a.dtype == b.dtype and a.dtype != object and a.tobytes() == b.tobytes():
        return Move(np.zeros(0, object), floats)
    return _difference(a.astype(object), b.astype(object), floats)


def unmoved(x: Any, y: Any, *, absent: int | None = None) -> bool:
    """Are both answers the same?"""
    moved = move(x, y, absent=absent)
    return isinstance(moved, Move) and moved.size("l0") == 0


def numbers(value: Any) -> NDArray[Any] | None:
    """The value as an array of numbers, if it is one."""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError):
        return None
    if array.dtype.kind in "iubf":
        return array if array.dtype.itemsize <= 8 else array.astype(np.float64)
    if array.dtype.kind == "O" and all(isinstance(item, _NUMBERS) for item in array.flat):
        return array
    return None


def family(array: NDArray[Any]) -> str:
    """Integers or floats: whoever reads an answer can tell them apart."""
    if array.dtype.kind != "O":
        return {"i": "integers", "u": "integers", "b": "booleans", "f": "floats"}[array.dtype.kind]
    if any(isinstance(item, Decimal) for item in array.flat):
        return "decimals"
    floats = any(isinstance(item, float | np.floating) for item in array.flat)
    return "floats" if floats else "integers"


def numeric(value: Any) -> bool:
    """Is an answer made of numbers, so that it has a sensitivity?

    >>> numeric([1, {"a": 0.5}]), numeric("a"), numeric(None), numeric(iter([1]))
    (True, False, False, False)
    """
    if isinstance(value, Mapping):
        return all(map(numeric, value.values()))
    if numbers(value) is not None:
        return True
    return isinstance(value, list | tuple) and all(map(numeric, value))


def _difference(a: Objects, b: Objects, floats: bool) -> Move | Apart:
    change = np.zeros(a.shape, object)
    for place, (one, other) in enumerate(zip(a.flat, b.flat, strict=True)):
        if one == other or (one != one and other != other):
            continue
        if not (_finite(one) and _finite(other)):
            return Apart("nan", "one has a NaN or an infinity where the other has none")
        change.flat[place] = _exact(one) - _exact(other)
    return Move(change, floats)


def _exact(item: Any) -> int | Fraction:
    if isinstance(item, float | np.floating):
        return Fraction(float(item))
    if isinstance(item, Decimal):
        return Fraction(item)
    return item if isinstance(item, Fraction) else int(item)


def _finite(item: Any) -> bool:
    return not isinstance(item, float | np.floating | Decimal) or math.isfinite(item)


def _move_by_key(x: Mapping[Any, Any], y: Mapping[Any, Any], absent: int | None) -> Move | Apart:
    if absent is None and set(x) != set(y):
        return Apart("keys", "they differ in their keys")
    keys = list(dict.fromkeys([*x, *y]))
    return move([x.get(key, absent) for key in keys], [y.get(key, absent) for key in keys])


def _move_of_parts(x: list[Any], y: list[Any], absent: int | None) -> Move | Apart:
    if len(x) != len(y):
        return Apart("shape", "they differ in length")
    changes, floats = [np.zeros(0, object)], False
    for one, other in zip(x, y, strict=True):
        each = move(one, other, absent=absent)
        if isinstance(each, Apart):
            return each
        changes.append(each.change.reshape(-1))
        floats = floats or each.floats
    return Move(np.concatenate(changes), floats)


def _move_of_others(x: Any, y: Any) -> Move | Apart:
    """Text, None and the like: equal, or apart."""
    if type(x) is not type(y):
        return Apart("type", "they differ in type")
    with suppress(Exception):  # what cannot be compared is not known to be equal
        if x == y:
            return Move(np.zeros(0, object), False)
    return Apart("type", "they are not numbers, and differ")


def _sqrt_down(x: Fraction) -> Fraction:
    """A rational at or below √x, within 2⁻⁶⁴ of it."""
    product = x.numerator * x.denominator
    shift = max(0, 65 - product.bit_length() // 2)
    return Fraction(math.isqrt(product << 2 * shift), x.denominator << shift)
