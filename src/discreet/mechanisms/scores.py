"""What selection mechanisms share: scores, and whether they all move the same way."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import InvalidArgument
from discreet.mechanisms.values import read


def read_scores(scores: Any, *, name: str = "scores") -> NDArray[Any]:
    """Read a flat list or array of integers or finite floats as int64 or float64.

    >>> read_scores([3, 1, 2]).dtype
    dtype('int64')
    """
    values = read(scores, name=name)
    dimensions = 0 if values.shape is None else len(values.shape)
    if dimensions == 1:
        return values.flat
    raise InvalidArgument(
        name=name,
        expected="a flat list or array, with one score for each candidate",
        given="a single number" if dimensions == 0 else f"an array of {dimensions} dimensions",
        hint="as in release([12, 7, 31])",
    )


def read_score(score: ArrayLike) -> NDArray[Any]:
    """Read a single integer or finite float as an array of one."""
    values = read(score, name="score")
    if not values.shape:
        return values.flat
    raise InvalidArgument(
        name="score",
        expected="a single number",
        given=f"an array of {len(values.shape)} dimensions",
        hint="ask one score at a time, or pass all of them to release",
    )


def read_flag(flag: object, *, name: str) -> bool:
    """Read True or False and nothing that merely counts as such: "no" would be true."""
    if isinstance(flag, bool | np.bool_):
        return bool(flag)
    given = InvalidArgument.describe_parameter(flag)
    raise InvalidArgument(name=name, expected="True or False", given=given)
