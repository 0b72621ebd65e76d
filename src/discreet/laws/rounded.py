"""Real noise rounded to a grid: the law of step·⌊(centre + Z)/step + ½⌋.

An output step·j stands for the cell step·[j − ½, j + ½), so its probability is that of the
cell under the law of centre + Z. The centre need not be on the grid. Z is symmetric and has a
density; a law says its tail, z ↦ P(Z ≥ z) for z ≥ 0, and its variance.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from discreet.laws.gaussian import RealGaussian
from discreet.laws.laplace import RealLaplace
from discreet.laws.value import HALF, GridLaw, Value, exact_value
from discreet.numeric.balls import arb, ball, sharp, upper, upper_normal
from discreet.numeric.exact import Number, positive

# -- Laplace noise ---------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class RoundedLaplace(GridLaw):
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
        """log P(outcome), less a term that laws of this shape share; None in the centre's cell."""
        distance = abs(exact_value(outcome, name="outcome") - self.center)
        return (-distance / self.scale, self.shape) if 2 * distance >= self.step else None

    @property
    def variance(self) -> float:
        """Var(X), rounded up; near 2t² + step²/12."""
        return upper(sharp(self._variance))

    def _tail(self, z: Fraction | int) -> arb:
        return ball(-z / self.scale).exp() / 2

    def _variance(self) -> arb:
        """With R = X/step less its value for Z = 0, s = t/step, q = e^(−1/s) and k ≥ 1,

            P(R ≥ k) = a·q^(k−1)   and   P(R ≤ −k) = b·q^(k−1)   for their values a, b at k = 1,

        so E R = (a − b)/(1 − q) and E R² = Σ (2k − 1)·(a + b)·q^(k−1) = (a + b)(1 + q)/(1 − q)².
        """
        offset = self._offset
        rate = self.step / self.scale  # 1/s
        a = ball(-(HALF - offset) * rate).exp() / 2
        b = ball(-(HALF + offset) * rate).exp() / 2
        q, one_less_q = ball(-rate).exp(), -ball(-rate).expm1()
        mean = (a - b) / one_less_q
        square = (a + b) * (1 + q) / one_less_q**2
        return (square - mean * mean) * ball(self.step) ** 2


# -- Gaussian noise --------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class RoundedGaussian(GridLaw):
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

    @property
    def unrounded(self) -> RealGaussian:
        """The law before rounding: the output is a function of it."""
        return RealGaussian(self.center, self.sigma**2)

    @property
    def variance(self) -> float:
        """Var(X), rounded up; near σ² + step²/12."""
        offset, spread = self._offset, self.sigma / self.step
        moments = _variance_by_cells if spread < HALF else _variance_by_waves
        return upper(sharp(lambda: moments(offset, spread) * ball(self.step) ** 2))

    def _tail(self, z: Fraction | int) -> arb:
        return upper_normal(z / self.sigma)


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
    """Var(R) for s ≥ ½, by the Fourier series of the rounding error D = U − R of U = d + sW.

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
