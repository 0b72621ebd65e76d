"""Value plus noise, rounded to a grid: exactly, and fast.

For each value a law first computes its rounded noise in float64 and says where its proven
error bound leaves no doubt (``fast``). The doubtful few are looked at again with a bound of
their own (``closer``), and what is still in doubt is settled in ball arithmetic (``slow``),
from the same random bits. So the result is always the exact one.

The work does not depend on the values nor, except for the doubtful few, on the draw.

Noise of a few steps on many integers is quicker by table. An integer law with distribution
function F is drawn by inversion: for a uniform real U,

    X = the least k with U < F(k)        so that P(X ≤ k) = F(k).

``thresholds`` holds ⌊2^64·F(k)⌋ from ball arithmetic; 64 bits of U settle X unless they equal
one of them. ``guide`` gives X from the first 16 bits of U alone wherever no threshold begins
with those bits: for a spread of up to ``WIDEST`` steps that is 97 draws in 100 or more. No
floating-point arithmetic is involved there, so nothing is taken on trust.

Results lie on a grid: the integers, or the multiples of a power of two.

A grid splits a value into a whole number of steps and an offset in [-½, ½] steps, and puts
value and rounded noise together again. For noise Z in steps,

    result = step · (whole + ⌊offset + Z + ½⌋)      and the integers are the case offset = 0,

which is the exact value + step·Z rounded to the grid. ``join`` does this for arrays and for
whole numbers that a double holds exactly, ``join_float`` for one such value, and ``join_one``
for one value and any integer.
"""

import sys
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InternalError
from discreet.lazy import cached_property
from discreet.noise import entropy
from discreet.noise.accuracy import trusted
from discreet.noise.entropy import Draw, Real, Source, Tape, Words, settle
from discreet.noise.workspace import Workspace, chunks, in_blocks, room
from discreet.numeric.balls import arb, ball, precision

# -- grids: the integers, or the multiples of a power of two ---------------------------------------


Floats = NDArray[np.float64]

INT_MAX: Final = (1 << 63) - 1
INT_MIN: Final = -(1 << 63)
FAR: Final = 1 << 53  # more than any whole number of noise that the fast path is sure of
FLOAT_MAX: Final = sys.float_info.max


@dataclass(frozen=True)
class IntegerGrid:
    """int64, saturating at both ends: nothing wraps, nothing raises."""

    dtype: ClassVar = np.int64

    def offset(self, values: NDArray[Any], room: Workspace) -> Floats | None:
        return None

    def offset_float(self, value: int) -> float:
        return 0.0

    def offset_one(self, value: Any) -> Fraction:
        return Fraction(0)

    def join(
        self,
        values: NDArray[Any],
        offset: Floats | None,
        whole: Floats,
        out: NDArray[Any],
        room: Workspace,
    ) -> None:
        noise = room.words("spare", values.size).view(np.int64)
        np.copyto(noise, whole, casting="unsafe")
        self.add(values, noise, out)

    def add(self, values: NDArray[Any], noise: NDArray[np.int64], out: NDArray[Any]) -> None:
        """Add whole numbers below 2^53 in size, saturating."""
        np.add(values, noise, out=out)
        if values.max() > INT_MAX - FAR or values.min() < INT_MIN + FAR:  # it may have wrapped
            wrapped = (out < values) != (noise < 0)
            out[wrapped] = np.where(noise[wrapped] < 0, INT_MIN, INT_MAX)

    def join_float(self, value: int, offset: float, whole: int) -> int:
        return self.join_one(value, whole)

    def join_one(self, value: Any, whole: int) -> int:
        return max(INT_MIN, min(INT_MAX, int(value) + whole))


@dataclass(frozen=True)
class FloatGrid:
    """The multiples of ``step`` = 2^exponent among the doubles.

    Beyond 2^53 steps not every multiple is a double. The exact result is then rounded to the
    nearest double, which is a function of the exact result alone and so reveals nothing more.
    """

    exponent: int
    dtype: ClassVar = np.float64

    @cached_property
    def step(self) -> float:
        return float(2.0**self.exponent)

    def offset(self, values: NDArray[Any], room: Workspace) -> Floats:
        # From 2^52 steps on a double is a multiple of the step, so clipping there keeps the
        # offset (zero) and keeps the division finite. Every operation below is exact, but
        # for values so small that dividing them underflows (by less than 2^-1074 steps).
        limit = self.step * 2.0**60
        steps: Floats = np.clip(values, -limit, limit, out=room.floats("offset", values.size))
        steps *= 1.0 / self.step
        steps -= np.rint(steps, out=room.floats("whole", values.size))
        return steps

    def offset_float(self, value: float) -> float:
        limit = self.step * 2.0**60
        steps = max(-limit, min(limit, value)) / self.step
        return steps - round(steps)

    def offset_one(self, value: Any) -> Fraction:
        steps = Fraction(float(value)) / Fraction(self.step)
        return steps - round(steps)  # half to even, as np.rint

    def join(
        self,
        values: NDArray[Any],
        offset: Floats | None,
        whole: Floats,
        out: NDArray[Any],
        room: Workspace,
    ) -> None:
        # values − offset·step is on the grid and exact; adding the noise rounds once.
        assert offset is not None
        offset *= -self.step
        offset += values
        if self.exponent > 0:  # a value whose division underflowed leaves a remainder off the grid
            np.abs(offset, out=out)
            offset[np.less(out, self.step, out=room.flags("common", values.size))] = 0.0
        np.multiply(whole, self.step, out=out)
        out += offset
        np.clip(out, -FLOAT_MAX, FLOAT_MAX, out=out)
        out += 0.0  # the grid has one zero: -0.0 would show the sign of the noise

    def join_float(self, value: float, offset: float, whole: int) -> float:
        base = value - offset * self.step
        if abs(base) < self.step:  # see join: at most a remainder
            base = 0.0
        joined = base + whole * self.step
        return max(-FLOAT_MAX, min(FLOAT_MAX, joined)) + 0.0

    def join_one(self, value: Any, whole: int) -> float:
        steps = Fraction(float(value)) / Fraction(self.step)
        exact = (round(steps) + whole) * Fraction(self.step)
        try:
            return float(exact) + 0.0
        except OverflowError:
            return FLOAT_MAX if exact > 0 else -FLOAT_MAX


Grid = IntegerGrid | FloatGrid


def fine_exponent(scale: Fraction) -> int:
    """Return e with 2^e ≤ scale/2^10 < 2^(e+1): a grid that adds under 1e-7 of the variance."""
    numerator, denominator = scale.numerator, scale.denominator
    exponent = numerator.bit_length() - denominator.bit_length()
    if Fraction(2) ** exponent > scale:
        exponent -= 1
    return exponent - 10


# -- narrow laws: one table look-up for each draw --------------------------------------------------


TAG: Final = 0x700
WIDEST: Final = 50
MANY: Final = 1 << 21  # draws from which the table pays, at once or when used again
UNKNOWN: Final = -(1 << 15)


class IntegerLaw(Protocol):
    """A law on the integers, symmetric around 0."""

    def cdf(self, k: int) -> arb:
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
        """Return X of one word, with as many bits as that takes."""
        word = int(tape.words[index])
        uniform = Real(tape, index, first=word, bits=64, tag=TAG)
        near = self.lowest + bisect_left(self.thresholds.tolist(), word)
        return settle([uniform], lambda: self._least(uniform, near))

    def _least(self, uniform: Real, k: int) -> int | None:
        """Return the least k with U < F(k), starting from a k nearby; None if bits are missing."""
        u = uniform.ball()
        while u >= self.law.cdf(k):
            k += 1
        while u < self.law.cdf(k - 1):
            k -= 1
        return k if u < self.law.cdf(k) and u >= self.law.cdf(k - 1) else None


@lru_cache(maxsize=16)
def narrow(law: IntegerLaw) -> Narrow | None:
    """Make the tables of ``law`` (5 to 50 ms, then cached), or return None if it is too wide."""
    if law.spread > WIDEST:
        return None
    # Upwards from 0 until the tail is below 2^-64; downwards by symmetry, F(−k−1) = 1 − F(k).
    upper: list[int] = []
    with precision(192):
        while not upper or upper[-1] < 2**64 - 1:
            below = law.cdf(len(upper)) * ball(2**64)
            # F is below 1, although a ball around it may not show that
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


# -- any law: float64 first, ball arithmetic in doubt ----------------------------------------------


Flags = NDArray[np.bool_]

FEW: Final = 16  # up to here one by one is quicker
SMALL: Final = 1 << 10  # up to here every draw is looked at closely


class Law(Protocol):
    """Noise in units of a grid step; ``offset`` is added to it before rounding."""

    def one(self, draw: Draw, offset: float) -> int | None:
        """Return ⌊offset + noise + ½⌋ for one word, or None if that is not certain."""
        ...

    def fast(self, words: Words, offset: Floats | None, room: Workspace) -> tuple[Floats, Flags]:
        """Return what ``one`` does for many words, and where it is certain."""
        ...

    def closer(self, tape: Tape, offset: Floats | None) -> tuple[Floats, Flags]:
        """Return what ``fast`` does for the words of ``tape``, by an error bound for each word."""
        ...

    def slow(self, tape: Tape, index: int, offset: Fraction) -> int:
        """Return the result for one word, with as many bits as that takes."""
        ...

    def table(self) -> Narrow | None:
        """Return tables for many draws without offset, if the law is narrow."""
        ...


def round_within(y: Floats, error: float | Floats, room: Workspace) -> tuple[Floats, Flags]:
    """Return rint(y), and where every real within ``error`` of y rounds to the same.

    Uses up ``y``. What it returns lives in ``room``.
    """
    whole = np.rint(y, out=room.floats("whole", y.size))
    y -= whole  # exact
    np.abs(y, out=y)
    return whole, np.less(y, 0.5 - error, out=room.flags("sure", y.size))


def certain(y: float, error: float) -> int | None:
    """Return the integer that every real within ``error`` of y rounds to, or None."""
    if not abs(y) < 2.0**52:  # or NaN, which the guide holds where it does not know
        return None
    whole = round(y)
    return whole if abs(y - whole) < 0.5 - error else None


def add_one(value: Any, law: Law, grid: Grid) -> Any:
    """Return one number plus noise of ``law``, rounded to ``grid``."""
    draw = Draw(entropy.source())
    offset = grid.offset_float(value)
    whole = law.one(draw, offset) if trusted() else None
    if whole is not None:
        return grid.join_float(value, offset, whole)
    return grid.join_one(value, law.slow(draw.tape(), 0, grid.offset_one(value)))


def add(values: NDArray[Any], law: Law, grid: Grid) -> NDArray[Any]:
    """Return ``values`` plus independent noise of ``law``, rounded to ``grid``.

    ``values`` is flat, contiguous and of the grid's dtype.
    """
    if values.size <= FEW:
        return np.array([add_one(value, law, grid) for value in values.tolist()], grid.dtype)
    source = entropy.source()
    out = np.empty(values.size, grid.dtype)

    table = law.table() if values.size >= MANY and isinstance(grid, IntegerGrid) else None

    def work(start: int, end: int) -> None:
        if table is None:
            _add_block(values[start:end], out[start:end], law, grid, source)
        else:
            add_narrow(values[start:end], out[start:end], table, source)

    in_blocks(work, values.size, source)
    return out


def _add_block(
    values: NDArray[Any], out: NDArray[Any], law: Law, grid: Grid, source: Source
) -> None:
    # In a small block the time would reveal whether any draw was doubtful; so all count as such.
    if values.size <= SMALL or not trusted():
        out[:] = _add_closer(values, source.words(values.size), law, grid, source)
        return
    doubtful, words = [], []
    for chunk in chunks(values.size):
        where, which = _add_fast(values[chunk], out[chunk], law, grid, source)
        doubtful.append(where + chunk.start)
        words.append(which)
    where = np.concatenate(doubtful)
    if where.size:
        out[where] = _add_closer(values[where], np.concatenate(words), law, grid, source)


def _add_fast(
    values: NDArray[Any], out: NDArray[Any], law: Law, grid: Grid, source: Source
) -> tuple[NDArray[np.intp], Words]:
    """Fill ``out`` except for the doubtful places; return those with their words."""
    with room() as space:
        words = space.words("words", values.size)
        source.fill(words)
        offset = grid.offset(values, space)
        whole, sure = law.fast(words, offset, space)
        doubtful = np.flatnonzero(np.logical_not(sure, out=sure))
        whole[doubtful] = 0.0  # a placeholder
        grid.join(values, offset, whole, out, space)
        return doubtful, words[doubtful]


def _add_closer(
    values: NDArray[Any], words: Words, law: Law, grid: Grid, source: Source
) -> NDArray[Any]:
    out = np.empty(values.size, grid.dtype)
    tape = Tape(source, words)
    settled = np.zeros(values.size, np.bool_)
    if trusted():
        space = Workspace()
        offset = grid.offset(values, space)
        whole, settled = law.closer(tape, offset)
        whole[~settled] = 0.0
        grid.join(values, offset, whole, out, space)
    for i in np.flatnonzero(~settled):
        exact = law.slow(tape, int(i), grid.offset_one(values[i]))
        out[i] = grid.join_one(values[i], exact)
    return out
