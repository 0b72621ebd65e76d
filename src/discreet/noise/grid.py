"""Where results live: the integers, or the multiples of a power of two.

A grid splits a value into a whole number of steps and an offset in [-½, ½] steps, and puts
value and rounded noise together again. For noise Z in steps,

    result = step · (whole + ⌊offset + Z + ½⌋)      and the integers are the case offset = 0,

which is the exact value + step·Z rounded to the grid. ``join`` does it for arrays and for
whole numbers that a double holds exactly, ``join_float`` the same for one value, and
``join_one`` for one value and any integer.
"""

import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from discreet.lazy import cached_property
from discreet.noise.workspace import Workspace

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
    nearest double, which is a function of the exact result alone and so tells nothing more.
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
        steps: Floats = np.minimum(values, limit, out=room.floats("offset", values.size))
        np.maximum(steps, -limit, out=steps)
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
        if self.exponent > 0:  # a value whose division underflowed leaves a crumb off the grid
            np.abs(offset, out=out)
            offset[np.less(out, self.step, out=room.flags("common", values.size))] = 0.0
        np.multiply(whole, self.step, out=out)
        out += offset
        np.minimum(out, FLOAT_MAX, out=out)
        np.maximum(out, -FLOAT_MAX, out=out)
        out += 0.0  # the grid has one zero: -0.0 would show the sign of the noise

    def join_float(self, value: float, offset: float, whole: int) -> float:
        base = value - offset * self.step
        if abs(base) < self.step:  # see join: a crumb, if anything
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
