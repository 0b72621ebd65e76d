"""What a statistical query says about each record, as whole numbers from 0 to 2^32.

Every record has a value of its own, whatever the query does with it: what is not a number
counts as 0, what is outside of [0, 1] is clamped, and a query that raises has the value 0
there. So nothing fails because of one record, and one record moves the sum by at most 2^32.
Whole numbers have one sum, in whatever order they are added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import floor
from numbers import Real
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument

UNIT: Final = 1 << 32  # the value 1, in steps
_NUMBERS: Final[Any] = (Real, np.bool_)  # NumPy registers its own integers and floats as Real


EXAMPLE: Final = "as in lambda age: age > 60"


def sum_of_records(phi: Callable[[Any], Any], records: Iterable[Any]) -> int:
    """Return the sum of ⌊φ(record)·2^32 + ½⌋ over all records.

    >>> sum_of_records(lambda x: 1 / x, [2, 0, -3]) / UNIT      # ½, an error, below 0
    0.5
    """
    with np.errstate(all="ignore"):
        return sum(_steps(phi, record) for record in records)


def check_column_function(phi: Callable[[Any], Any], column: NDArray[Any]) -> None:
    """Refuse what is no function of rows. It is shown none of them, so a refusal tells nothing."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(phi(column[:0]))
        given = f"a value of shape {values.shape} and dtype {values.dtype}"
        fits = _fits(values, column[:0])
    except Exception as failure:
        given, fits = f"a {type(failure).__name__}", False
    if not fits:
        raise InvalidArgument(
            name="phi",
            expected="a function from an array of rows to as many numbers, none for no rows",
            given=f"{given} for no rows",
            hint="leave out vectorized=True for a function of one record",
        )


def sum_of_column(phi: Callable[[Any], Any], rows: NDArray[Any]) -> int:
    """Return the same for a function of arrays, each row of which is a record.

    The function must treat rows one by one. Where it raises, or returns something else than a
    number for each, it is asked again about each half of the rows. So one bad row does not
    change what the others count for: each has the value that it has by itself.

    >>> sum_of_column(lambda x: x > 1, np.array([0, 1, 2, 3])) / UNIT
    2.0
    """
    values = _values(phi, rows)
    if values is not None:
        unit = np.fmin(np.fmax(values, 0.0), 1.0)  # fmax(NaN, 0) is 0
        return int(np.floor(unit * UNIT + 0.5).astype(np.int64).sum())
    if len(rows) == 1:
        return 0
    middle = len(rows) // 2
    return sum_of_column(phi, rows[:middle]) + sum_of_column(phi, rows[middle:])


def _values(phi: Callable[[Any], Any], rows: NDArray[Any]) -> NDArray[np.float64] | None:
    """Return one number for each row, or None where the function gives none."""
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(phi(rows))
        return values.astype(np.float64) if _fits(values, rows) else None
    except Exception:
        return None


def _fits(values: NDArray[Any], rows: NDArray[Any]) -> bool:
    return values.shape == (len(rows),) and values.dtype.kind in "biuf"


def _steps(phi: Callable[[Any], Any], record: Any) -> int:
    try:
        value = phi(record)
        if not isinstance(value, _NUMBERS) or not value > 0:  # NaN is not above 0
            return 0
        return UNIT if value >= 1 else floor(float(value) * UNIT + 0.5)
    except Exception:
        return 0
