"""The bits of floats: what addition in floating point leaves behind.

Noise that is added in floats takes on the coarseness of the larger summand, so how fine the
lowest bit of a sum is tells what was added to what (Mironov 2012; Haney et al. 2022).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray

_NONE = 4000.0  # of 0, infinity and NaN, which have no lowest bit


def lowest_bit(y: FloatArray) -> FloatArray:
    """The e for which 2^e is the lowest bit that is set: y is an odd multiple of 2^e.

    >>> lowest_bit(np.array([1.0, 0.75, 6.0, 0.1]))
    array([  0.,  -2.,   1., -55.])
    """
    mantissa, exponent = np.frexp(np.where(np.isfinite(y), y, 0.0))
    whole = np.abs(mantissa * 2.0**53).astype(np.int64)
    zeros = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    none = np.where(np.signbit(y) & (y == 0), _NONE + 1, _NONE)  # −0.0 is a pattern of its own
    return np.where(whole == 0, none, exponent - 53.0 + zeros)


def exponents(y: FloatArray) -> NDArray[np.int64]:
    """Of y itself and of its lowest bit, in one key."""
    exponent = np.frexp(np.where(np.isfinite(y), y, 0.0))[1].astype(np.int64)
    lowest = np.minimum(lowest_bit(y), 2000).astype(np.int64)
    return (exponent + 2048) * 4096 + lowest + 2048


def exponent_words(key: int) -> str:
    """What a key of `exponents` stands for."""
    return f"2^{key // 4096 - 2049} and 2^{key % 4096 - 2048}"


def low_bits(y: FloatArray) -> NDArray[np.int64]:
    """The last eight bits of the double."""
    return np.ascontiguousarray(y).view(np.int64) & 255


def fraction(y: FloatArray) -> FloatArray:
    """What stands behind the point, exactly."""
    finite = np.where(np.isfinite(y), y, 0.0)
    return finite - np.floor(finite)
