"""Noise of a few steps on many integers: one table look-up a draw.

An integer law with distribution function F is drawn by inversion: for a uniform real U,

    X = the least k with U < F(k)        so that P(X ≤ k) = F(k).

``thresholds`` holds ⌊2^64·F(k)⌋ from ball arithmetic; 64 bits of U settle X unless they equal
one of them. ``guide`` knows X by the first 16 bits of U alone wherever no threshold begins
with those bits: for a spread of up to ``WIDEST`` steps that is 97 draws in 100 or more. No
floating-point arithmetic is involved, so nothing is taken on trust here.
"""

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.balls import ball, precision
from discreet.errors import InternalError
from discreet.noise.entropy import Source, Words
from discreet.noise.grid import IntegerGrid
from discreet.noise.tape import Real, Tape, settle
from discreet.noise.workspace import room

if TYPE_CHECKING:
    from flint import arb

TAG: Final = 0x700
WIDEST: Final = 50
MANY: Final = 1 << 21  # draws from which the table pays, at once or when used again
UNKNOWN: Final = -(1 << 15)


class IntegerLaw(Protocol):
    """A law on the integers, symmetric around 0."""

    def cdf(self, k: int) -> "arb":
        """P(X ≤ k) at the working precision."""
        ...

    @property
    def spread(self) -> Fraction:
        """The scale of the law, in steps."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True)
class Narrow:
    """The tables of one law."""

    law: IntegerLaw
    lowest: int  # the k of the first threshold
    thresholds: Words
    guide: NDArray[np.int16]

    def closer(self, words: Words) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return X for each U that begins with these 64 bits, and where that is certain."""
        # ⌊2^64·F⌋ < word means F < U, and ⌊2^64·F⌋ > word means F > U.
        passed = np.searchsorted(self.thresholds, words, side="left")
        next_one = self.thresholds[np.minimum(passed, self.thresholds.size - 1)]
        sure = (next_one != words) & (passed > 0) & (passed < self.thresholds.size)
        return passed + self.lowest, sure

    def slow(self, tape: Tape, index: int) -> int:
        """Return X of one word, whatever it takes."""
        word = int(tape.words[index])
        uniform = tape.real(index, first=word, bits=64, tag=TAG)
        near = self.lowest + bisect_left(self.thresholds.tolist(), word)
        return settle([uniform], lambda: self._least(uniform, near))

    def _least(self, uniform: Real, k: int) -> int | None:
        """Return the least k with U < F(k), going from a k nearby; None if bits are missing."""
        u = uniform.ball()
        while u >= self.law.cdf(k):
            k += 1
        while u < self.law.cdf(k - 1):
            k -= 1
        return k if u < self.law.cdf(k) and u >= self.law.cdf(k - 1) else None


@lru_cache(maxsize=16)
def narrow(law: IntegerLaw) -> Narrow | None:
    """Make the tables of ``law`` (5 to 50 ms, then kept), or return None if it is too wide."""
    if law.spread > WIDEST:
        return None
    # Upwards from 0 until the tail is below 2^-64; downwards by symmetry, F(−k−1) = 1 − F(k).
    upper: list[int] = []
    with precision(192):
        while not upper or upper[-1] < 2**64 - 1:
            below = law.cdf(len(upper)) * ball(2**64)
            # F is below 1, however near: a ball around it may not know
            near_one = below > ball(2**64 - 1)
            digits = 2**64 - 1 if near_one else below.floor().unique_fmpz()
            if digits is None:
                raise InternalError("a threshold of a narrow law is not sharp at 192 bits")
            upper.append(int(digits))
    exact = [2**64 - 1 - digits for digits in reversed(upper)] + upper
    thresholds = np.array(exact, np.uint64)
    first = np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)
    passed = np.searchsorted(thresholds, first, side="left")
    by_then = np.searchsorted(thresholds, first | np.uint64(2**48 - 1), side="right")
    known = (passed == by_then) & (passed > 0) & (passed < thresholds.size)
    guide = np.where(known, passed - len(upper), UNKNOWN).astype(np.int16)
    return Narrow(law, -len(upper), thresholds, guide)


def add_narrow(values: NDArray[Any], out: NDArray[Any], table: Narrow, source: Source) -> None:
    """Fill ``out`` with ``values`` plus noise from ``table``."""
    size = values.size
    with room() as space:
        words = space.words("words", (size + 3) // 4)
        source.fill(words)
        bits = words.view(np.uint16)[:size]
        place = space.words("spare", size).view(np.int64)
        np.copyto(place, bits)
        short = space.words("y", (size + 3) // 4).view(np.int16)[:size]
        table.guide.take(place, mode="clip", out=short)
        unknown = np.equal(short, UNKNOWN, out=space.flags("sure", size))
        doubtful = np.flatnonzero(unknown)
        more = source.words(doubtful.size) >> np.uint64(16)
        more |= bits[doubtful].astype(np.uint64) << np.uint64(48)
        noise, sure = table.closer(more)
        np.copyto(place, short)
        place[doubtful] = np.where(sure, noise, 0)
        IntegerGrid().add(values, place, out)
    if not sure.all():
        tape = Tape(source, more[~sure])
        for i, where in enumerate(doubtful[~sure]):
            out[where] = IntegerGrid().join_one(values[where], table.slow(tape, i))
