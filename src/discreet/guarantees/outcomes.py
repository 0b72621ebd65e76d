"""A table of outcomes with their probabilities under two laws, and its profile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np

from discreet.balls import ball, upper
from discreet.errors import InvalidArgument
from discreet.exact import number
from discreet.guarantees.bands import LARGEST, UNIT, Atoms, Band, FloatArray, atoms, band
from discreet.laws.sharp import sharp
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

_NEAR_ONE = Fraction(1, 10**6)
_ROUNDING = Fraction(1, 2**52)  # of one probability
_FEW = 64
_LOG_ERROR = 2.0**-48  # of a logarithm of a ratio, relative to 1 + |log|; some units


@dataclass(frozen=True)
class Outcomes:
    """Exact probabilities (under P, under Q), outcome by outcome."""

    pairs: tuple[tuple[Fraction, Fraction], ...]

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash(self.pairs)  # of thousands of fractions: once is enough

    @cached_property
    def swapped(self) -> Outcomes:
        """The same outcomes with P and Q exchanged."""
        return Outcomes(tuple((q, p) for p, q in self.pairs))

    @cached_property
    def missing(self) -> Fraction:
        """What the probabilities under P lack to 1: it may be anything, so it fails."""
        return max(Fraction(0), 1 - self._sums[0][0])

    @cached_property
    def failing(self) -> Fraction:
        """The probability under P of what Q never gives."""
        return self.missing + sum((p for p, q in self.pairs if q == 0), Fraction(0))

    @cached_property
    def largest_loss(self) -> float:
        """The largest log ratio, rounded up; infinite if something is possible under P alone."""
        if self.failing:
            return math.inf
        ratio = max(p / q for p, q in self.pairs)
        return upper(sharp(lambda: ball(ratio).log()))

    @cached_property
    def largest_finite_loss(self) -> float:
        """Beyond it, only failures are left."""
        return max((float(loss) for loss in self._losses if math.isfinite(loss)), default=0.0)

    @cached_property
    def _sorted(self) -> tuple[list[tuple[Fraction, Fraction]], FloatArray]:
        losses = np.array([_loss(p, q) for p, q in self.pairs])
        order = np.argsort(losses, kind="stable")
        return [self.pairs[i] for i in order], losses[order]

    @property
    def _losses(self) -> FloatArray:
        return self._sorted[1]

    @cached_property
    def _sums(self) -> tuple[list[Fraction], list[Fraction]]:
        """P(loss at or after place i) and the same under Q, exactly; 0 at the end."""
        pairs, zero = self._sorted[0][::-1], Fraction(0)
        return (
            list(accumulate((p for p, _ in pairs), initial=zero))[::-1],
            list(accumulate((q for _, q in pairs), initial=zero))[::-1],
        )

    @cached_property
    def _float_sums(self) -> tuple[FloatArray, FloatArray]:
        above, below = (np.array([float(s) for s in sums]) for sums in self._sums)
        return above, below

    @cached_property
    def atoms(self) -> Atoms:
        """The finite losses that have mass under P."""
        finite = np.isfinite(self._losses)
        masses = np.array([float(p) for p, _ in self._sorted[0]])
        losses = self._losses[finite]
        return atoms(losses, masses[finite], rounding=_LOG_ERROR * (1 + np.abs(losses)))

    def profile(self, x: Fraction) -> arb:
        """Σ (p − e^x·q)⁺ plus what is missing, for any real x."""
        x = min(x, LARGEST)  # the profile never increases
        at = float(x)
        near = _LOG_ERROR * (1 + abs(at))
        # Losses surely above x are the best event; those too near to tell are looked at one by
        # one, or, where they are many, add at most their probability times twice the distance.
        sure = int(np.searchsorted(self._losses, at + near, side="right"))
        unsure = int(np.searchsorted(self._losses, at - near, side="left"))
        above, below = (sums[sure] for sums in self._sums)
        factor = ball(x).exp()
        total = ball(self.missing + above) - (factor * ball(below) if below else ball(0))
        if sure - unsure > _FEW:
            most = (self._sums[0][unsure] - above) * Fraction(4 * near)
            return total.union(total + ball(most))
        for p, q in self._sorted[0][unsure:sure]:
            total += ball(p) if q == 0 else (ball(p) - factor * ball(q)).max(ball(0))
        return total

    def band(self, x: FloatArray) -> Band:
        """Both bounds of the profile at many x, in floats."""
        above, below = self._float_sums
        place = np.searchsorted(self._losses, x, side="right")
        factor = np.exp(np.minimum(x, 700.0))
        first, second = above[place] + float(self.missing), factor * below[place]
        second = np.where(below[place] > 0, second, 0.0)
        near = 8 * _LOG_ERROR * (1 + x) * above[np.maximum(place - 1, 0)]
        return band(first - second, error=16 * UNIT * (first + second) + near)


def read_outcomes(p: object, q: object) -> Outcomes:
    """Two arrays of probabilities at the door: floats, or exact numbers in lists."""
    first, second = _read(p, name="p"), _read(q, name="q")
    if len(first) != len(second):
        raise InvalidArgument(
            name="q",
            expected=f"{len(first)} probabilities, outcome by outcome as in p",
            given=str(len(second)),
        )
    return Outcomes(tuple(pair for pair in zip(first, second, strict=True) if any(pair)))


def _read(values: object, *, name: str) -> list[Fraction]:
    if isinstance(values, list | tuple) and any(isinstance(v, Fraction | str) for v in values):
        return _checked([number(v, name=name) for v in values], name)
    try:
        array = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.zeros((0,))
    if array.ndim != 1 or array.size == 0 or not np.all(np.isfinite(array)):
        raise InvalidArgument(
            name=name,
            expected="a list of finite probabilities, one an outcome",
            given=InvalidArgument.describe_parameter(values),
        )
    return _checked([Fraction(v) for v in array.tolist()], name)


def _checked(masses: list[Fraction], name: str) -> list[Fraction]:
    total = sum(masses, Fraction(0))
    if min(masses) < 0 or abs(total - 1) > _NEAR_ONE:
        raise InvalidArgument(
            name=name,
            expected="probabilities of 0 or above that add up to 1",
            given=f"a sum of {float(total):.9g}, least {float(min(masses)):.3g}",
        )
    # What rounding can explain is evened out; what it cannot is missing.
    return [m / total for m in masses] if abs(total - 1) <= _ROUNDING * len(masses) else masses


def _loss(p: Fraction, q: Fraction) -> float:
    """log(p/q), infinite where one of them is 0."""
    if p == 0 or q == 0:
        return -math.inf if p == 0 else math.inf
    ratio = p / q
    if Fraction(1, 2) < ratio < 2:
        return math.log1p(float(ratio - 1))
    return math.log(ratio.numerator) - math.log(ratio.denominator)
