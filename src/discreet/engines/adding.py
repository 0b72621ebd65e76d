"""Exact sums and counts by group on arrays of integers."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

LIMB: Final = 26


def added(
    places: np.ndarray[Any, Any],
    values: np.ndarray[Any, Any],
    groups: int,
    *,
    largest: int,
    wide: bool,
) -> np.ndarray[Any, Any]:
    """The sum of the values (at most `largest` in size) of each group; if `wide`, as objects.

    Doubles are exact up to 2^53, so up to 2^27 values are added in limbs of 26 bits:
    v = Σ 2^(26j)·v_j.

    >>> added(np.array([0, 0, 1]), np.array([2**62, 2**62, -5]), 2, largest=2**62, wide=True)
    array([9223372036854775808, -5], dtype=object)
    """
    total = np.zeros(groups, object if wide else np.int64)
    for shift in range(0, 64, LIMB):
        last = largest >> shift < 2**LIMB
        limb = values >> shift if last else (values >> shift) & (2**LIMB - 1)  # the last is signed
        sums = np.bincount(places, weights=limb, minlength=groups).astype(np.int64)
        total += sums.astype(total.dtype) << shift
        if last:
            break
    return total
