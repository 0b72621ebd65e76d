"""Real noise rounded to a grid: the law of step·⌊(centre + Z)/step + ½⌋.

An output step·j stands for the cell step·[j − ½, j + ½), so its probability is that of the
cell under the law of centre + Z. The centre need not be on the grid. Z is symmetric and has a
density, and is given by its `tail`, z ↦ P(Z ≥ z) for z ≥ 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.laws.sharp import sharp
from discreet.laws.tails import least_half_width
from discreet.laws.value import Value, exact_value

if TYPE_CHECKING:
    from flint import arb

HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Cells:
    """The grid, where the noise is centred on it, and the tail of the noise."""

    center: Fraction
    step: Fraction
    tail: Callable[[Fraction], arb]

    def mass(self, outcome: Value) -> arb:
        """P(X = outcome), 0 off the grid."""
        return self.interval_mass(outcome, outcome)

    def interval_mass(self, a: Value, b: Value) -> arb:
        """P(a ≤ X ≤ b)."""
        first = (ceil(exact_value(a, name="a") / self.step) - HALF) * self.step - self.center
        end = (floor(exact_value(b, name="b") / self.step) + HALF) * self.step - self.center
        return sharp(lambda: self._between(first, end))

    def cdf(self, x: Value) -> arb:
        """P(X ≤ x)."""
        end = (floor(exact_value(x, name="x") / self.step) + HALF) * self.step - self.center
        return sharp(lambda: self._beyond(-end))

    def above(self, x: Value) -> arb:
        """P(X ≥ x)."""
        start = (ceil(exact_value(x, name="x") / self.step) - HALF) * self.step - self.center
        return sharp(lambda: self._beyond(start))

    def half_width(self, confidence: Fraction) -> Fraction:
        """The least multiple w of the step with P(|X − centre| ≤ w) ≥ confidence."""
        position = self.center / self.step
        right = (floor(position) + HALF - position) * self.step
        left = (position - ceil(position) + HALF) * self.step

        def outside(w: int) -> arb:
            # The first grid points more than w steps away, and all beyond them.
            return self._beyond(right + w * self.step) + self._beyond(left + w * self.step)

        return least_half_width(outside, confidence) * self.step

    def _beyond(self, z: Fraction) -> arb:
        """P(Z ≥ z) for z of either sign."""
        return self.tail(z) if z >= 0 else 1 - self.tail(-z)

    def _between(self, a: Fraction, b: Fraction) -> arb:
        """P(a ≤ Z < b), mirrored so that probabilities near 1 are not subtracted."""
        if a >= b:
            return ball(0)
        if b <= 0:
            a, b = -b, -a
        return self.tail(a) - self.tail(b) if a >= 0 else 1 - self.tail(-a) - self.tail(b)
