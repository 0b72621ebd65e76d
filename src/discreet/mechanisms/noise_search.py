"""The least noise that is enough, with as few trials as possible.

A trial may cost a whole composition. Privacy loss is nearly a power of the noise, so on
logarithmic scales the next trial is where a straight line through the last two meets the limit.
Whatever is tried, both ends are kept: noise that was enough, and less noise that was not.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

_MOST_TRIALS = 400
_FARTHEST = 200.0  # e^200 times the first guess, or as little, is no noise anyone wants
_LONGEST = 1.0  # a line through one trial is not trusted further than this
_TOO_NEAR = 1e-9  # trials that are nearer than this say nothing about a slope


@dataclass(frozen=True)
class Found:
    """Noise that is enough, and how the excess falls with it: excess ∝ size^(−slope)."""

    size: float
    slope: float


def least_noise(
    excess: Callable[[float], float], *, start: float, tolerance: float, slope: float = 1.0
) -> Found | None:
    """The least size with excess(size) ≤ 1, up to a factor of 1 + tolerance.

    None if all sizes are enough, or none is. `excess` never increases with the size. Where it is
    0 or infinite, which says no more than whether the size is enough, the search goes by halves.

    >>> found = least_noise(lambda size: 7 / size**2, start=1, tolerance=1e-12)
    >>> round(found.size, 9), round(found.slope, 6)
    (2.645751311, 2.0)
    >>> enough = lambda size: 0.0 if size**2 >= 7 else math.inf
    >>> round(least_noise(enough, start=1, tolerance=1e-12).size, 9)
    2.645751311
    """
    x = 0.0  # sizes are start·e^x
    low, high = -math.inf, math.inf  # not enough, and enough
    stride, before = 0.5, None
    for _ in range(_MOST_TRIALS):
        ratio = excess(start * math.exp(x))
        low, high = (low, x) if ratio <= 1 else (x, high)
        if high - low <= tolerance or abs(x) > _FARTHEST:
            break
        y = math.nan
        if 0 < ratio < math.inf:
            here = (x, math.log(ratio))
            slope = _slope(before, here, slope)
            # A little to the other side of the limit, so that both ends close in on it.
            step = here[1] / slope + math.copysign(tolerance / 3, here[1])
            y = x + max(-_LONGEST, min(step, _LONGEST))
            before = here
        if not low < y < high:
            y, stride = _halfway(x, low, high, stride)
        x = y
    if math.isinf(low) or math.isinf(high):
        return None
    return Found(start * math.exp(high), slope)


def _slope(before: tuple[float, float] | None, here: tuple[float, float], slope: float) -> float:
    """The slope of the line through the last two trials, unless they say nothing sensible."""
    if before is None or abs(before[0] - here[0]) < _TOO_NEAR:
        return slope
    measured = (before[1] - here[1]) / (here[0] - before[0])
    return measured if 1e-2 < measured < 1e4 else slope


def _halfway(x: float, low: float, high: float, stride: float) -> tuple[float, float]:
    """Between both ends, or a longer stride on where one of them is still missing."""
    if math.isfinite(low) and math.isfinite(high):
        return (low + high) / 2, stride
    return (x + stride if math.isinf(high) else x - stride), 2 * stride
