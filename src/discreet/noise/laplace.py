"""Laplace noise: discrete on the integers, real and rounded for floats.

A word is read as 63 bits of a uniform U and one sign bit. E = −ln U is exponential. With the
scale t in grid steps,

    discrete    X = ±⌊t·E + s⌋,   s = t·ln(2/(1 + e^(−1/t)))
    real        ⌊offset ± t·E + ½⌋

The first has P(|X| ≥ k) = e^(−(k−s)/t) = 2e^(−k/t)/(1 + e^(−1/t)) for k ≥ 1, which is the
tail of P(k) ∝ e^(−|k|/t). As P(X = 0) = 1 − P(|X| ≥ 1) is counted once, the sign of zero
does no harm.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import exp, inf, log
from typing import Final, TypeVar

import numpy as np

from discreet.lazy import cached_property
from discreet.noise.accuracy import ULPS
from discreet.noise.additive import Flags, Floats, Narrow, certain, narrow, round_within
from discreet.noise.entropy import Draw, Real, Tape, Words, nearest, settle
from discreet.noise.workspace import Workspace
from discreet.numeric.balls import arb, ball, precision

F = TypeVar("F", float, Floats)

TAG: Final = 0x100
LOW_E: Final = 14.0  # fast path: one error bound for all E up to here
HIGH_E: Final = 36.0  # beyond this, too few of the 63 bits are left for an error bound
ROUNDING: Final = 2.0**-50  # shift as a float and the last sums, in steps
LOW_ERROR: Final = 2.0**-52 * 1202605 + (ULPS + 3) * 2.0**-52 * LOW_E  # e^14 < 1202605


@dataclass(frozen=True)
class LaplaceSampler:
    """Density exp(−|z|/scale)/(2·scale) on the reals."""

    scale: Fraction

    @cached_property
    def _float(self) -> float:
        return float(self.scale)

    def table(self) -> Narrow | None:
        return None  # its offsets differ

    def one(self, draw: Draw, offset: float) -> int | None:
        e, error = _exponential(draw)
        y = -e * self._float if draw.word & 1 else e * self._float
        return certain(y + offset, self._float * error + ROUNDING)

    def fast(self, words: Words, offset: Floats | None, room: Workspace) -> tuple[Floats, Flags]:
        scale = self._float
        y = quick_log_uniform(words, room)
        y *= -scale
        common = _up_to(scale * LOW_E, y, room)
        whole, sure = self._rounded(y, words, offset, scale * LOW_ERROR + ROUNDING, room)
        if common is not None:
            sure &= common
        return whole, sure

    def closer(self, tape: Tape, offset: Floats | None) -> tuple[Floats, Flags]:
        room = Workspace()
        e = -log_uniform(tape.words, room)
        error = self._float * _error(e) + ROUNDING
        whole, sure = self._rounded(e * self._float, tape.words, offset, error, room)
        sure &= e <= HIGH_E
        return whole, sure

    def _rounded(
        self, y: Floats, words: Words, offset: Floats | None, error: float | Floats, room: Workspace
    ) -> tuple[Floats, Flags]:
        """Give y = t·E its sign, round it, and say where that is certain."""
        y = flip(y, words, room)
        if offset is not None:
            y += offset
        return round_within(y, error, room)

    def slow(self, tape: Tape, index: int, offset: Fraction) -> int:
        noise = LaplaceReal(tape, index, TAG)
        return settle(
            [noise.uniform], lambda: nearest(ball(offset) + noise.ball() * ball(self.scale))
        )


@dataclass(frozen=True)
class DiscreteLaplaceSampler(LaplaceSampler):
    """P(k) ∝ exp(−|k|/scale) on the integers. No offset: integers are on the grid."""

    @cached_property
    def _middle(self) -> float:
        """shift − ½"""
        with precision(128 + self.scale.numerator.bit_length()):
            shift = float(_shift(self.scale).mid())
        return shift - 0.5

    @property
    def spread(self) -> Fraction:
        return self.scale

    def cdf(self, k: int) -> arb:
        """P(X ≤ k) = 1 − p^(k+1)/(1 + p) with p = e^(−1/t) for k ≥ 0, and by symmetry below."""
        if k < 0:
            return 1 - self.cdf(-k - 1)
        t = ball(self.scale)
        return 1 - (-(k + 1) / t).exp() / (1 + (-1 / t).exp())

    def table(self) -> Narrow | None:
        return narrow(self)

    def one(self, draw: Draw, offset: float) -> int | None:
        e, error = _exponential(draw)
        whole = certain(e * self._float + self._middle, self._float * error + ROUNDING)
        return -whole if whole is not None and draw.word & 1 else whole

    def _rounded(
        self, y: Floats, words: Words, offset: Floats | None, error: float | Floats, room: Workspace
    ) -> tuple[Floats, Flags]:
        y += self._middle
        whole, sure = round_within(y, error, room)
        return flip(whole, words, room), sure

    def slow(self, tape: Tape, index: int, offset: Fraction) -> int:
        noise = LaplaceReal(tape, index, TAG)

        def attempt() -> int | None:
            above = ball(self.scale) * noise.exponential() + _shift(self.scale)
            whole = above.floor().unique_fmpz()
            return None if whole is None else int(whole)

        magnitude = settle([noise.uniform], attempt)
        return -magnitude if noise.negative else magnitude


class LaplaceReal:
    """A real Laplace number, known to as many bits as were needed so far."""

    def __init__(self, tape: Tape, index: int, tag: int) -> None:
        word = int(tape.words[index])
        self.uniform = Real(tape, index, first=word >> 1, bits=63, tag=tag)
        self.negative = bool(word & 1)

    def exponential(self) -> arb:
        """Return a ball around E, its size."""
        return -self.uniform.ball().log()

    def ball(self) -> arb:
        """Return a ball around ±E."""
        return -self.exponential() if self.negative else self.exponential()


def quick_log_uniform(words: Words, room: Workspace) -> Floats:
    """Return ln U of each word from its first 52 bits m, within 2^-52·e^E + ULPS·2^-52·E."""
    bits = np.right_shift(words, 12, out=room.words("y", words.size))
    bits |= 0x3FF0000000000000  # read as a float: 1 + m/2^52
    u = bits.view(np.float64)
    u -= 1 - 2.0**-53  # the middle (2m + 1)/2^53 of what the bits allow; exact, never 0 or 1
    return np.log(u, out=u)


def log_uniform(words: Words, room: Workspace) -> Floats:
    """Return −E = ln U of each word, within ``_error(E)``; it lives in ``room``."""
    # The 63 bits read as an odd number m: |2^63·U − m| ≤ 1, and m is never 0.
    odd = np.right_shift(words, 1, out=room.words("spare", words.size))
    odd |= 1
    u = room.floats("y", words.size)
    np.copyto(u, odd.view(np.int64))
    u *= 2.0**-63
    return np.log(u, out=u)


def _exponential(draw: Draw) -> tuple[float, float]:
    """Return E of one word and its error; infinite where too few bits are left to tell."""
    e = -log(((draw.word >> 1) | 1) * 2.0**-63)
    return e, _error(e) if e <= HIGH_E else inf


def flip(magnitude: Floats, words: Words, room: Workspace) -> Floats:
    """Give each magnitude the sign in the lowest bit of its word, in place."""
    sign = np.left_shift(words, 63, out=room.words("spare", words.size))
    np.bitwise_xor(magnitude.view(np.uint64), sign, out=magnitude.view(np.uint64))
    return magnitude


def _up_to(limit: float, y: Floats, room: Workspace) -> Flags | None:
    """Return where y ≤ limit; None for everywhere, which is nearly always so and quick to check."""
    return None if y.max() <= limit else np.less_equal(y, limit, out=room.flags("common", y.size))


def _error(e: F) -> F:
    """Bound |computed − exact| of scale·E, in units of scale (docs/noise.md has the proof).

    2^-53             63 bits as a float: relative in U, so absolute in ln U
    2^-62·e^E         the bits of U not yet drawn: at most 2^-63/U, doubled for good measure
    (ULPS+3)·2^-52·E  the log, scale as a float, the product, and the two sums that follow
    """
    grown = exp(e) if isinstance(e, float) else np.exp(e)
    return 2.0**-53 + 2.0**-62 * grown + (ULPS + 3) * 2.0**-52 * e


def _shift(scale: Fraction) -> arb:
    """Return s, between 0 and ½, at the working precision."""
    t = ball(scale)
    return t * (2 / (1 + (-1 / t).exp())).log()
