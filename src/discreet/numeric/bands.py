"""Arrays of floats that carry both bounds of what they stand for.

A composition reads a profile at a hundred thousand points, too many for ball arithmetic. So it
is computed in NumPy, and widened by the most that rounding can have cost. The elementary
functions are assumed to err by at most 4 units in the last place, `erfcx` by at most 64 (units
of 2⁻⁵³): 1.1 and 7.8 were measured, and a test measures again.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.numeric.exact import round_down, round_up

FloatArray: TypeAlias = NDArray[np.float64]

UNIT = 2.0**-53  # the relative error of one operation
LARGEST = Fraction(10**300)  # a loss that is still a float


class Band(NamedTuple):
    """Lower and upper bounds, element by element; never negative, never above 1."""

    lower: FloatArray
    upper: FloatArray


class Atoms(NamedTuple):
    """Losses with their masses under P, both rounded up."""

    losses: FloatArray
    masses: FloatArray
    rounding: FloatArray  #: how much of each loss is there for rounding only
    units: float  #: likewise for the masses, but relative, in units


def atoms(
    losses: FloatArray | list[float],
    masses: FloatArray | list[float],
    *,
    rounding: FloatArray | float = 0.0,
    units: float = 16,
) -> Atoms:
    """Atoms known up to an absolute error of the losses and a relative one of the masses."""
    at, mass = np.asarray(losses, np.float64), np.asarray(masses, np.float64)
    return Atoms(
        at + rounding, mass * (1 + units * UNIT), 2 * rounding + np.zeros(at.shape), 2 * units
    )


def band(value: FloatArray, *, error: FloatArray | float) -> Band:
    """The band of values known up to an absolute error.

    >>> band(np.array([0.5, 0.0]), error=0.25)
    Band(lower=array([0.25, 0.  ]), upper=array([0.75, 0.25]))
    """
    return _certain(np.maximum(value - error, 0.0), np.minimum(value + error, 1.0))


def widen(lower: FloatArray, upper: FloatArray, *, units: float) -> Band:
    """Widen computed bounds by a relative error of this many units."""
    slack = units * UNIT
    return _certain(np.maximum(lower * (1 - slack), 0.0), np.clip(upper * (1 + slack), 0.0, 1.0))


def _certain(lower: FloatArray, upper: FloatArray) -> Band:
    """Where arithmetic overflowed nothing is known: from 0 to 1."""
    return Band(np.where(np.isnan(lower), 0.0, lower), np.where(np.isnan(upper), 1.0, upper))


def ends(x: Fraction) -> tuple[float, float]:
    """The floats just below and just above an exact parameter."""
    return round_down(x), round_up(x)
