"""Gaussian noise, real, rounded to the grid.

The half-normal law is cut into strips, so that nearly every draw is one table look-up. For
x ≥ 0 the density is f(x) = √(2/π)·e^(−x²/2). Strip j is [j·h, (j+1)·h), h = 2^-6. Its mass has
two parts: a *block* of height f((j+1)h), where x is uniform on the strip, and the *rest* above
it, where the density falls from f(jh) − f((j+1)h) to 0.

A uniform real P chooses the part: the thresholds

    θ_2j = erf(jh/√2)        (all strips before j)
    θ_2j+1 = θ_2j + h·f((j+1)h)   (and the block of j)

rise to 1, and P in [θ_s, θ_s+1) means strip s//2, its block for even s, its rest for odd s.
``thresholds`` holds ⌊2^64·θ_s⌋ from ball arithmetic. ``guide`` looks P up by its first 16
bits: where those settle that P is in a block it holds j − 16 (the other 48 bits are read as
16 + V), elsewhere NaN (about 1 %). It is small so that it stays in the cache.

A word is read as 16 bits that choose a strip, 47 bits V of a uniform and one sign bit. In the
block of strip j the draw is Z = ±h·(j + V), and 99 draws in 100 end there: a look-up, two
multiplications, a rounding. Otherwise more bits of the same position are drawn, and in the rest
of a strip V is found by rejection. With c = (j+1)h and

    A(V) = (c² − x²)/2 = h²(1−V)(2j+1+V)/2  at x = h(j+V),      B = A(0),

the density there is ∝ e^A − 1. The smaller of two uniforms has density 2(1−V), and
e^A − 1 ≤ A·e^B ≤ M·(1−V) with M = h²(j+1)·e^B; so V is kept when a·M·(1−V) < e^A − 1 for
a uniform a.
"""

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import exp, nan
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.lazy import cached_property
from discreet.noise.additive import SMALL, Flags, Floats, Narrow, certain, narrow, round_within
from discreet.noise.entropy import Draw, Real, Tape, Words, nearest, settle
from discreet.noise.laplace import flip
from discreet.noise.workspace import Workspace
from discreet.numeric.balls import arb, ball, precision

# -- the half-normal law in strips -----------------------------------------------------------------


WIDTH: Final = Fraction(1, 64)
STRIPS: Final = 512  # up to 8 standard deviations; beyond them the slow path goes on
GUIDE_BITS: Final = 16


@dataclass(frozen=True)
class Strips:
    """The table, made once per process."""

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


def threshold(s: int) -> arb:
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
    s = max(0, bisect_left(strips().list, first) - 1)  # θ_s ≤ position for sure
    place = position.ball()
    while True:
        bound = threshold(s + 1)
        if place < bound:
            return s
        if not place >= bound:
            return None
        s += 1


# -- draws -----------------------------------------------------------------------------------------


F = TypeVar("F", float, Floats)

POSITION_TAG: Final = 0x200
PLACE_TAG: Final = 0x300
REST_TAG: Final = 0x1000  # round r uses REST_TAG + 0x300·r and the two tags 0x100 apart
ROUNDS: Final = 3  # of rejection in floats, 97 % each; the slow path goes on from there
ROUNDS_ALONE: Final = 2  # the same for a single number: 3 in a million draws go on
H: Final = float(WIDTH)
# Errors in units of sigma, and in steps; docs/noise.md adds them up.
BLOCK_ERROR: Final = 2.0**-49  # of a draw from the guide, which ends below 4
ROUNDING: Final = 2.0**-50
KEEP_MARGIN: Final = 2.0**-46


@dataclass(frozen=True)
class GaussianSampler:
    """Density ∝ exp(−z²/(2·sigma²)) on the reals, sigma in steps."""

    sigma: Fraction

    @cached_property
    def _float(self) -> float:
        return float(self.sigma)

    @property
    def spread(self) -> Fraction:
        return self.sigma

    def cdf(self, k: int) -> arb:
        """P(⌊Z + ½⌋ ≤ k) = Φ((k + ½)/σ), for noise on integers."""
        return (-ball((2 * k + 1) / (2 * self.sigma)) / ball(2).sqrt()).erfc() / 2

    def table(self) -> Narrow | None:
        return narrow(self)

    def one(self, draw: Draw, offset: float) -> int | None:
        # The work is the same whatever is drawn: the rest of the strip is computed in any case.
        word, thresholds = draw.word, strips().list
        position = (word & (0xFFFF << 48)) | (draw.more(POSITION_TAG) >> GUIDE_BITS)
        part = bisect_right(thresholds, position) - 1
        place, rest = ((word & (2**48 - 1)) | 1) * 2.0**-48, _rest_one(draw, part // 2)
        if thresholds[part] == position or part == 2 * STRIPS - 1:
            return None
        if part % 2:
            place = rest
        z = H * (part // 2 + place)
        y = (-z if word & 1 else z) * self._float + offset
        return certain(y, self._float * _error(z) + ROUNDING)

    def fast(self, words: Words, offset: Floats | None, room: Workspace) -> tuple[Floats, Flags]:
        place = np.bitwise_and(words, 2**48 - 1, out=room.words("y", words.size))
        # 47 bits and a 1 behind them (the middle of the interval), read as the float 16 + V.
        place |= 0x4030000000000001
        z = place.view(np.float64)
        strip = np.right_shift(words, 64 - GUIDE_BITS, out=room.words("spare", words.size))
        short = room.words("short", (words.size + 1) // 2).view(np.float32)[: words.size]
        strips().guide.take(strip.view(np.int64), mode="clip", out=short)
        left = room.floats("whole", words.size)
        np.copyto(left, short)
        z += left  # + j − 16
        sigma = self._float
        z *= sigma * H
        y = flip(z, words, room)
        if offset is not None:
            y += offset
        return round_within(y, sigma * BLOCK_ERROR + ROUNDING, room)

    def closer(self, tape: Tape, offset: Floats | None) -> tuple[Floats, Flags]:
        position = tape.words & np.uint64(0xFFFF << 48)
        position |= tape.more(POSITION_TAG) >> np.uint64(GUIDE_BITS)
        thresholds = strips().thresholds
        part = np.searchsorted(thresholds, position, side="right") - 1
        sure = (thresholds[part] != position) & (part < 2 * STRIPS - 1)
        strip, odd = part >> 1, part & 1
        place = ((tape.words & np.uint64(2**48 - 1)) | np.uint64(1)).astype(np.float64) * 2.0**-48
        rest = np.flatnonzero(odd)
        # If draws are few, all do the work of the rest: the time does not reveal which needed it.
        look = rest if strip.size > SMALL else np.arange(strip.size)
        other, found = _rest_places(tape, look, strip[look].astype(np.float64))
        chosen = odd[look] == 1
        place[look[chosen]] = other[chosen]
        sure[look[chosen]] &= found[chosen]
        room = Workspace()
        z = H * (strip + place)
        error = _error(z)
        y = flip(z, tape.words, room)
        y *= self._float
        if offset is not None:
            y += offset
        whole, rounded = round_within(y, self._float * error + ROUNDING, room)
        return whole, sure & rounded

    def slow(self, tape: Tape, index: int, offset: Fraction) -> int:
        word = int(tape.words[index])
        position = Real(tape, index, first=word >> 48, bits=GUIDE_BITS, tag=POSITION_TAG)
        part = settle([position], lambda: part_of(position))
        if part % 2 == 0:
            pair = [Real(tape, index, first=(word >> 1) % 2**47, bits=47, tag=PLACE_TAG)]
        else:
            pair = _rest_place(tape, index, part // 2)

        def attempt() -> int | None:
            z = ball(WIDTH) * (part // 2 + _smallest(pair)) * ball(self.sigma)
            return nearest(ball(offset) + (-z if word & 1 else z))

        return settle(pair, attempt)


def _error(z: F) -> F:
    """Bound |computed − exact| of sigma·z, in units of sigma (docs/noise.md has the proof).

    2^-53      the bits of V not yet drawn, 2^-54 at most
    2^-50·z    four roundings of half a unit: h·(j + V), sigma as a float, product, sum
    """
    return 2.0**-53 + 2.0**-50 * z


def _rest_places(tape: Tape, look: NDArray[np.intp], strip: Floats) -> tuple[Floats, Flags]:
    """Return V for a draw in the rest of each strip, and where it is certain.

    ``look`` says which words of the tape. If they are few, all of them do ``ROUNDS`` rounds; if
    many, only those that need another one go on.
    """
    place = np.full(strip.size, nan)
    going = np.ones(strip.size, np.bool_)  # rejected for certain so far
    work = np.arange(strip.size)
    for r in range(ROUNDS):
        which = look[work]
        u, v, a = (tape.more(tag)[which] * 2.0**-64 for tag in _rest_tags(r))
        smaller = np.minimum(u, v)
        lead = _lead(smaller, a, strip[work], np.exp)
        keep = going[work] & (lead > KEEP_MARGIN)
        place[work[keep]] = smaller[keep]
        going[work] &= lead < -KEEP_MARGIN
        if strip.size > SMALL:
            work = np.flatnonzero(going)
    return place, ~np.isnan(place)


def _rest_one(draw: Draw, strip: int) -> float:
    """Return V for a draw in the rest of the strip, or NaN where it is not certain."""
    # How soon V is kept depends on the strip, so the rounds go on whether or not it was.
    place, going = nan, True
    for r in range(ROUNDS_ALONE):
        u, v, a = (draw.more(tag) * 2.0**-64 for tag in _rest_tags(r))
        lead = _lead(min(u, v), a, float(strip), exp)
        place = min(u, v) if going and lead > KEEP_MARGIN else place
        going = going and lead < -KEEP_MARGIN
    return place


def _lead(v: F, a: F, strip: F, exp: Callable[[F], F]) -> F:
    """Return e^A − 1 − a·M·(1−V), the difference of the two sides of the rejection test."""
    h2 = H * H
    top = exp(h2 * (2 * strip + 1) / 2)
    return exp(h2 * (1 - v) * (2 * strip + 1 + v) / 2) - 1 - a * (h2 * (strip + 1) * top) * (1 - v)


def _rest_tags(r: int) -> tuple[int, int, int]:
    first = REST_TAG + 0x300 * r
    return first, first + 0x100, first + 0x200


def _rest_place(tape: Tape, index: int, strip: int) -> list[Real]:
    """Return the two reals whose smaller one is V, by exact rejection."""
    r = 0
    while True:
        reals = [
            Real(tape, index, first=int(tape.more(tag)[index]), bits=64, tag=tag + 1)
            for tag in _rest_tags(r)
        ]
        if settle(reals, lambda reals=reals: _kept(reals, strip)):  # type: ignore[misc]
            return reals[:2]
        r += 1


def _kept(reals: list[Real], strip: int) -> bool | None:
    """Decide a·M·(1−V) < e^A − 1, or return None if more bits are needed."""
    h2, v = ball(WIDTH * WIDTH), _smallest(reals[:2])
    below = (h2 * (1 - v) * (2 * strip + 1 + v) / 2).expm1()
    above = reals[2].ball() * h2 * (strip + 1) * (h2 * (2 * strip + 1) / 2).exp() * (1 - v)
    if above < below:
        return True
    return False if above >= below else None


def _smallest(reals: list[Real]) -> arb:
    value = reals[0].ball()
    for real in reals[1:]:
        value = value.min(real.ball())
    return value
