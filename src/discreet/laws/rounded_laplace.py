"""Laplace noise on the reals, rounded to a grid."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import TYPE_CHECKING

from discreet.balls import ball, upper
from discreet.exact import Number, positive, probability
from discreet.laws.cells import HALF, Cells
from discreet.laws.real_laplace import RealLaplace
from discreet.laws.sharp import sharp
from discreet.laws.value import Value, exact_value

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False)
class RoundedLaplace:
    """The law of step·⌊(centre + Z)/step + ½⌋, where Z has density e^(−|z|/t)/(2t).

    >>> law = RoundedLaplace(center=Fraction(1, 3), scale=2, step=1)
    >>> law.pmf(0), law.pmf(1)
    (0.2103574775851165, 0.1810046344296381)
    >>> law.tail(0.95)
    Fraction(6, 1)
    """

    center: Fraction
    scale: Fraction  #: t
    step: Fraction

    def __init__(self, center: Value, scale: Number, step: Number) -> None:
        object.__setattr__(self, "center", exact_value(center, name="center"))
        object.__setattr__(self, "scale", positive(scale, name="scale"))
        object.__setattr__(self, "step", positive(step, name="step"))

    def mass(self, outcome: Value) -> arb:
        """P(X = outcome) as a ball; 0 off the grid."""
        return self._cells.mass(outcome)

    def pmf(self, outcome: Value) -> float:
        """P(X = outcome) as a float."""
        return float(self.mass(outcome))

    def interval_mass(self, a: Value, b: Value) -> arb:
        """P(a ≤ X ≤ b) as a ball."""
        return self._cells.interval_mass(a, b)

    def cdf(self, x: Value) -> arb:
        """P(X ≤ x) as a ball."""
        return self._cells.cdf(x)

    def above(self, x: Value) -> arb:
        """P(X ≥ x) as a ball."""
        return self._cells.above(x)

    @property
    def shape(self) -> tuple[str, Fraction, Fraction]:
        """The noise and its grid without the centre; log-concave."""
        return "RoundedLaplace", self.scale, self.step

    @property
    def unrounded(self) -> RealLaplace:
        """The law before rounding: the output is a function of it."""
        return RealLaplace(self.center, self.scale)

    @property
    def tails(self) -> tuple[Fraction, Fraction, Fraction]:
        """(low, high, rate): up to low and from high on, each step outward is e^(−rate) times
        as likely, exactly, since those cells lie on one side of the centre."""
        position = self.center / self.step
        low, high = floor(position - HALF), ceil(position + HALF)
        return low * self.step, high * self.step, self.step / self.scale

    def log_weight(self, outcome: Value) -> tuple[Fraction, Hashable] | None:
        """log P(outcome) up to what laws of one shape share; None for the centre's cell."""
        distance = abs(exact_value(outcome, name="outcome") - self.center)
        return (-distance / self.scale, self.shape) if 2 * distance >= self.step else None

    @property
    def variance(self) -> float:
        """Var(X), rounded up; near 2t² + step²/12."""
        return upper(sharp(self._variance))

    def tail(self, confidence: Number) -> Fraction:
        """The least multiple w of the step with P(|X − centre| ≤ w) ≥ confidence."""
        return self._cells.half_width(probability(confidence, name="confidence"))

    @property
    def _cells(self) -> Cells:
        # P(Z ≥ z) = e^(−z/t)/2
        return Cells(self.center, self.step, lambda z: ball(-z / self.scale).exp() / 2)

    def _variance(self) -> arb:
        """With R = X/step less its value for Z = 0, s = t/step, q = e^(−1/s) and k ≥ 1,

            P(R ≥ k) = a·q^(k−1)   and   P(R ≤ −k) = b·q^(k−1)   for their values a, b at k = 1,

        so E R = (a − b)/(1 − q) and E R² = Σ (2k − 1)·(a + b)·q^(k−1) = (a + b)(1 + q)/(1 − q)².
        """
        position = self.center / self.step
        offset = position - floor(position + HALF)  # in [−½, ½)
        rate = self.step / self.scale  # 1/s
        a = ball(-(HALF - offset) * rate).exp() / 2
        b = ball(-(HALF + offset) * rate).exp() / 2
        q, one_less_q = ball(-rate).exp(), -ball(-rate).expm1()
        mean = (a - b) / one_less_q
        square = (a + b) * (1 + q) / one_less_q**2
        return (square - mean * mean) * ball(self.step) ** 2
