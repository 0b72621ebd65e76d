"""Gaussian noise on the reals, rounded to a grid."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from discreet.balls import ball, upper
from discreet.exact import Number, positive, probability
from discreet.laws.cells import HALF, Cells
from discreet.laws.normal import upper_normal
from discreet.laws.real_gaussian import RealGaussian
from discreet.laws.sharp import sharp
from discreet.laws.value import Value, exact_value

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False)
class RoundedGaussian:
    """The law of step·⌊(centre + Z)/step + ½⌋, where Z is N(0, σ²).

    >>> law = RoundedGaussian(center=0, sigma=1, step=1)
    >>> law.pmf(0)                   # P(|Z| ≤ ½)
    0.3829249225480262
    >>> law.tail(0.95)
    Fraction(2, 1)
    """

    center: Fraction
    sigma: Fraction
    step: Fraction

    def __init__(self, center: Value, sigma: Number, step: Number) -> None:
        object.__setattr__(self, "center", exact_value(center, name="center"))
        object.__setattr__(self, "sigma", positive(sigma, name="sigma"))
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
        return "RoundedGaussian", self.sigma, self.step

    @property
    def unrounded(self) -> RealGaussian:
        """The law before rounding: the output is a function of it."""
        return RealGaussian(self.center, self.sigma**2)

    @property
    def variance(self) -> float:
        """Var(X), rounded up; near σ² + step²/12."""
        position = self.center / self.step
        offset = position - floor(position + HALF)  # in [−½, ½)
        spread = self.sigma / self.step
        moments = _variance_by_cells if spread < HALF else _variance_by_waves
        return upper(sharp(lambda: moments(offset, spread) * ball(self.step) ** 2))

    def tail(self, confidence: Number) -> Fraction:
        """The least multiple w of the step with P(|X − centre| ≤ w) ≥ confidence."""
        return self._cells.half_width(probability(confidence, name="confidence"))

    @property
    def _cells(self) -> Cells:
        return Cells(self.center, self.step, lambda z: upper_normal(z / self.sigma))


def _variance_by_cells(d: Fraction, s: Fraction) -> arb:
    """Var(R) of R = ⌊d + sW + ½⌋, W normal, |d| ≤ ½, for s < ½: few cells matter.

    E R = Σ P(R ≥ k) − P(R ≤ −k) and E R² = Σ (2k − 1)·(P(R ≥ k) + P(R ≤ −k)) over k ≥ 1. With
    P(R ≥ k), P(R ≤ −k) ≤ e^(−(k−1)²/(2s²))/2 the terms of either sum from k = 17 on more than
    halve each time, so all of them together are below twice the bound on the first.
    """
    mean, square = ball(0), ball(0)
    for k in range(1, 17):
        above, below = upper_normal((k - HALF - d) / s), upper_normal((k - HALF + d) / s)
        mean += above - below
        square += (2 * k - 1) * (above + below)
    rest = 2 * 33 * ball(-(16**2) / (2 * s * s)).exp()
    square, mean = square + _within(rest), mean + _within(rest)
    return square - mean * mean


def _variance_by_waves(d: Fraction, s: Fraction) -> arb:
    """The same for s ≥ ½, by the Fourier series of the rounding error D = U − R of U = d + sW.

        D  = Σ (−1)^(n+1)/(πn)·sin(2πnU),     D² = 1/12 + Σ (−1)^n/(πn)²·cos(2πnU),
        E sin(2πnU) = sin(2πnd)·hₙ,   E cos(2πnU) = cos(2πnd)·hₙ,   hₙ = e^(−2(πns)²),
        Cov(U, D) = Σ (−1)^(n+1)·2s²·cos(2πnd)·hₙ   (Stein's lemma),

    and Var R = s² − 2·Cov(U, D) + E D² − (E D)². Each hₙ is below a hundredth of the one before,
    so the terms left out are below twice the first of them.
    """
    pi = ball(0).pi()
    mean, square, covariance = ball(0), ball(Fraction(1, 12)), ball(0)
    for n in range(1, 9):
        sign = -1 if n % 2 else 1
        height = sign * (-2 * (pi * n * ball(s)) ** 2).exp()
        sine, cosine = ball(2 * n * d).sin_pi(), ball(2 * n * d).cos_pi()
        mean -= sine * height / (pi * n)
        square += cosine * height / (pi * n) ** 2
        covariance -= 2 * ball(s) ** 2 * cosine * height
    rest = _within(2 * (1 + 2 * ball(s) ** 2) * (-2 * (pi * 9 * ball(s)) ** 2).exp())
    square, mean, covariance = square + rest, mean + rest, covariance + rest
    return ball(s) ** 2 - 2 * covariance + square - mean * mean


def _within(radius: arb) -> arb:
    """A ball that holds everything from −radius to radius."""
    return (-radius).union(radius)
