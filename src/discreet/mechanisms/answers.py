"""The caller's answers at the door: categories 0 … k − 1, any shape, in their own dtype.

What is refused is refused by type and shape. A category that does not exist is moved to the
nearest one that does, so no answer can make a release fail. No message contains an answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.mechanisms.values import read
from discreet.noise.uniform import LARGEST_BOUND

_BOOLS: Final = (bool, np.bool_)


@dataclass(frozen=True)
class Answers:
    """Answers as one flat array of bools or integers, and the shape they came in."""

    flat: NDArray[Any]
    shape: tuple[int, ...] | None  # None for a scalar

    def shaped(self, result: NDArray[Any]) -> Any:
        """Give ``result`` the shape the answers had; a scalar becomes a Python int or bool."""
        return result[0].item() if self.shape is None else result.reshape(self.shape)


def read_answers(value: ArrayLike, categories: int) -> Answers:
    """Read a scalar, a sequence or an array of integers; for two categories also of bools.

    >>> read_answers([True, False], 2).flat.dtype, read_answers([3, 1, 2], 4).flat.dtype
    (dtype('bool'), dtype('int64'))
    """
    answers = _read(value)
    dtype = answers.flat.dtype
    if dtype == np.bool_ and categories != 2:
        raise _refuse(value, f"integers from 0 to {categories - 1}", "bools have two categories")
    if dtype.itemsize < 8 and dtype != np.bool_ and categories - 1 > np.iinfo(dtype).max:
        hint = f"convert it with .astype(np.{np.min_scalar_type(categories - 1)})"
        raise _refuse(value, f"of a dtype that holds {categories - 1}, not {dtype}", hint)
    return answers


def clamp(flat: NDArray[Any], categories: int, out: NDArray[Any]) -> None:
    """Write integers moved into 0 … categories − 1 to ``out``, which has their dtype."""
    np.minimum(flat, categories - 1, out=out)
    np.maximum(out, 0, out=out)


def _read(value: ArrayLike) -> Answers:
    if type(value) is int:
        # No category lies beyond, so this changes nothing but fits every int into an int64.
        return Answers(np.array([min(max(value, 0), LARGEST_BOUND)], np.int64), None)
    if isinstance(value, _BOOLS):
        return Answers(np.array([value], np.bool_), None)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        array = np.array(list(value), dtype=object)  # each element as it is: no guessing
        if array.size and all(isinstance(element, _BOOLS) for element in array.flat):
            return Answers(array.astype(np.bool_).reshape(-1), array.shape)
    elif not isinstance(value, np.ma.MaskedArray):
        array = np.asarray(value)
        if array.dtype.kind in "biu" and array.ndim:
            if array.size == 0:
                raise _refuse(value, "at least one answer")
            return Answers(np.ascontiguousarray(array).reshape(-1), array.shape)
    values = read(value)  # refuses what is empty, ragged or no number
    if not values.whole:
        raise _refuse(value, "integers or bools", "round or code the answers first")
    return Answers(values.flat, values.shape)


def _refuse(value: object, expected: str, hint: str = "") -> InvalidArgument:
    given = InvalidArgument.describe_data(value)
    return InvalidArgument(name="value", expected=expected, given=given, hint=hint)
