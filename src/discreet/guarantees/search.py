"""The least number that keeps a promise, found by bisection on certain answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from discreet.exact import number

_LARGEST = 2.0**1000  # the search ends here


def least_float(fits: Callable[[Fraction], bool]) -> float:
    """The least float that fits, where every number above one that fits does too.

    0 is tried first; infinity is returned where nothing up to 2¹⁰⁰⁰ fits.

    >>> least_float(lambda x: x * x >= 2)
    1.4142135623730951
    """

    def keeps(candidate: float) -> bool:
        # A float may be read as a binary number or as the decimal it prints: satisfy both.
        return fits(min(Fraction(candidate), number(candidate, name="candidate")))

    if keeps(0.0):
        return 0.0
    high = 1.0
    while not keeps(high):
        high *= 2
        if high > _LARGEST:
            return math.inf
    while keeps(high / 2):
        high /= 2
    # From here on high fits and low does not.
    low = high / 2
    while math.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (low, middle) if keeps(middle) else (middle, high)
    return high
