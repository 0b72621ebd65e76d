"""The one thing taken on trust about NumPy: how far its log and exp are from the truth.

Assumption: for finite float64 arguments in the ranges used here, log and exp (NumPy's for
arrays, Python's for single numbers) are within ``ULPS`` units in the last place, that is,
their relative error is at most ULPS·2^-52, and the log of 1 is 0.
Addition, subtraction, multiplication, division and rounding are exact to half a unit by
IEEE 754. The tests measure this on more than a million points against Arb; ``trusted``
checks a few hundred hard ones before the first draw of a process. Where it fails, every
draw takes the slow path: slower, never wrong.
"""

import functools
import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.numeric.balls import arb, precision

ULPS: Final = 4


def probe_points() -> NDArray[np.float64]:
    """Arguments of log in (0, 1] that vector code finds hard: near 1, tiny, odd and even."""
    near_one = 1.0 - np.arange(0, 64) * 2.0**-53
    near_root_half = np.sqrt(0.5) + np.arange(-32, 32) * 2.0**-53
    powers = 2.0 ** -np.arange(0, 64)
    spread = np.arange(1, 128) * 0.6180339887498949 % 1.0
    return np.concatenate([near_one, near_root_half, powers, powers * 0.75, spread])


def error_in_ulps(points: NDArray[np.float64]) -> tuple[float, float]:
    """Return the largest error of log at ``points``, and of exp at plus and minus their logs."""
    from flint import arb

    def worst(function: str, x: NDArray[np.float64]) -> float:
        vector, single = getattr(np, function)(x), getattr(math, function)
        return max(
            _ulps(getattr(arb(at), function)(), y)
            for at, first in zip(x.tolist(), vector.tolist(), strict=True)
            for y in (first, single(at))
        )

    logs = np.log(points)
    with precision(128):
        return worst("log", points), worst("exp", np.concatenate([logs, -logs]))


def _ulps(truth: arb, computed: float) -> float:
    from flint import arb

    if computed == 0.0:
        return 0.0 if truth == 0 else float("inf")
    return float(abs((arb(computed) - truth) / truth).upper()) * 2.0**52


@functools.cache
def trusted() -> bool:
    """Return whether this machine's log and exp keep the assumption on the probe points."""
    return max(error_in_ulps(probe_points())) <= ULPS
