"""What a released column can be calculated with, and the sentences that refuse the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import InvalidArgument
from discreet.release.columns import OTHER_ERROR
from discreet.release.combining import FloatArray

if TYPE_CHECKING:
    import pyarrow as pa


def public(other: Any, rows: int, *, name: str) -> FloatArray:
    """A public number, or one a row.

    >>> public(3, 2, name="the factor"), public([1, 2], 2, name="the factor")
    (array([3.]), array([1., 2.]))
    """
    try:
        numbers = np.atleast_1d(np.asarray(other, dtype=float))
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([np.nan])
    fits = numbers.ndim == 1 and len(numbers) in (1, rows)
    if isinstance(other, str | bytes) or not fits or not np.all(np.isfinite(numbers)):
        raise InvalidArgument(
            name=name,
            expected=f"a released column, a finite number, or {rows:,} of them",
            given=InvalidArgument.describe_data(other),
        )
    return numbers


def common_keys(
    keys: pa.Table | None, rows: int, other_keys: pa.Table | None, other_rows: int
) -> pa.Table | None:
    """Rows are calculated with in order, so they must stand for the same groups."""
    if keys is None or other_keys is None:
        if rows == other_rows or 1 in (rows, other_rows):
            return keys if other_keys is None else other_keys
    elif keys is other_keys or keys.equals(other_keys):
        return keys
    raise InvalidArgument(
        name="the other column",
        expected="of the same groups in the same order",
        given="other groups",
        hint="join the tables by their keys first, or release them in one query",
    )


def check_arithmetic(name: str, kind: str) -> None:
    """Refuse values whose error is not one of the value."""
    if kind in OTHER_ERROR:
        raise InvalidArgument(
            name=name,
            expected="a count, sum, mean, variance or std for arithmetic",
            given=f"a {kind}",
            hint=f"its error is one of {OTHER_ERROR[kind]}s, not of values; "
            "use .values if the numbers alone are wanted",
        )


def product() -> InvalidArgument:
    """Two noisy columns have no product here."""
    return InvalidArgument(
        name="the factor",
        expected="a number",
        given="another released column",
        hint="the error of a product of two noisy columns is not tracked; "
        "multiply their .values if the numbers alone are wanted",
    )


def comparison() -> InvalidArgument:
    """Noise decides no comparison here."""
    return InvalidArgument(
        name="a released column",
        expected="compared by its interval",
        given="a comparison of noisy values",
        hint="use .low and .high, which hold the truth 19 times in 20 in each row; "
        "or .values if the noisy numbers themselves are meant",
    )
