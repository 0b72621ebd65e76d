"""The half-normal law cut into strips, so that nearly every draw is one table look-up.

For x ≥ 0 the density is f(x) = √(2/π)·e^(−x²/2). Strip j is [j·h, (j+1)·h), h = 2^-6. Its
mass has two parts: a *block* of height f((j+1)h), where x is uniform on the strip, and the
*rest* above it, where the density falls from f(jh) − f((j+1)h) to 0.

A uniform real P chooses the part: the thresholds

    θ_2j = erf(jh/√2)        (all strips before j)
    θ_2j+1 = θ_2j + h·f((j+1)h)   (and the block of j)

rise to 1, and P in [θ_s, θ_s+1) means strip s//2, its block for even s, its rest for odd s.
``thresholds`` holds ⌊2^64·θ_s⌋ from ball arithmetic. ``guide`` looks P up by its first 16
bits: where those settle that P is in a block it holds j − 16 (``gaussian`` reads the other 48
bits as 16 + V), elsewhere NaN (about 1 %). It is small so that it stays in the cache.
"""

import bisect
import functools
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from discreet.balls import ball, precision
from discreet.errors import InternalError
from discreet.noise.entropy import Words
from discreet.noise.tape import Real

if TYPE_CHECKING:
    from flint import arb

WIDTH: Final = Fraction(1, 64)
STRIPS: Final = 512  # up to 8 standard deviations; beyond them the slow path goes on
GUIDE_BITS: Final = 16


@dataclass(frozen=True)
class Strips:
    """The table, made once a process."""

    list: list[int]  # ⌊2^64·θ_s⌋
    thresholds: Words  # the same as an array
    guide: NDArray[np.float32]


@functools.cache
def strips() -> Strips:
    """Compute the table in ball arithmetic (some 40 ms, at the first Gaussian draw)."""
    with precision(192):
        floors = [(threshold(s) * 2**64).floor().unique_fmpz() for s in range(2 * STRIPS)]
    exact = [int(floor) for floor in floors if floor is not None]
    if len(exact) != len(floors):
        raise InternalError("the strips of the Gaussian are not sharp at 192 bits")
    thresholds = np.array(exact, np.uint64)
    first = np.arange(1 << GUIDE_BITS, dtype=np.uint64) << np.uint64(64 - GUIDE_BITS)
    last = first + np.uint64((1 << (64 - GUIDE_BITS)) - 1)
    part = np.searchsorted(thresholds, first, side="right") - 1
    above = (thresholds[part] < first) | (part == 0)  # the first threshold is 0 exactly
    below = last < np.append(thresholds, np.uint64(0))[part + 1]
    block = above & below & (part % 2 == 0)
    guide = np.where(block, part // 2 - 16, np.nan).astype(np.float32)
    return Strips(exact, thresholds, guide)


def threshold(s: int) -> "arb":
    """Return θ_s at the working precision, for any s ≥ 0."""
    from flint import arb

    left = ball(WIDTH * (s // 2))
    theta = (left / arb(2).sqrt()).erf()
    if s % 2:
        right = ball(WIDTH * (s // 2 + 1))
        theta += ball(WIDTH) * (2 / arb.pi()).sqrt() * (-right * right / 2).exp()
    return theta


def part_of(position: Real) -> int | None:
    """Return s with ``position`` in [θ_s, θ_s+1), or None if more bits are needed."""
    shift = 64 - position.bits
    first = position.first << shift if shift >= 0 else position.first >> -shift
    s = max(0, bisect.bisect_left(strips().list, first) - 1)  # θ_s ≤ position for sure
    place = position.ball()
    while True:
        bound = threshold(s + 1)
        if place < bound:
            return s
        if not place >= bound:
            return None
        s += 1
