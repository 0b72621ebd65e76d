"""Laplace laws: on the real line, where rounding to a grid starts from, and on the integers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

from discreet.laws.value import GridLaw, RealLaw, Value, at_place, exact_value
from discreet.numeric.balls import arb, ball, least_half_width, sharp, upper
from discreet.numeric.exact import Number, integer, positive, probability


@dataclass(frozen=True, init=False)
class RealLaplace(RealLaw):
    """The density e^(−|y − c|/t)/(2t) around the centre c.

    >>> law = RealLaplace(center=1, scale=2)
    >>> float(law.cdf(1)), float(law.density(1))
    (0.5, 0.25)
    """

    center: Fraction
    scale: Fraction  #: t

    def __init__(self, center: Value, scale: Number) -> None:
        object.__setattr__(self, "center", exact_value(center, name="center"))
        object.__setattr__(self, "scale", positive(scale, name="scale"))

    def density(self, y: Value | arb) -> arb:
        """The density at y as a ball; over all of y where that is a ball itself."""
        return at_place(
            lambda y: (-abs(y - ball(self.center)) / ball(self.scale)).exp() / ball(2 * self.scale),
            y,
        )

    def _beyond(self, z: Fraction) -> arb:
        half = ball(-abs(z) / self.scale).exp() / 2
        return half if z >= 0 else 1 - half


# -- on the integers -------------------------------------------------------------------------------


@dataclass(frozen=True, init=False)
class DiscreteLaplace(GridLaw):
    """P(k) = tanh(1/(2t))·e^(−|k − c|/t) on the integers, around the centre c.

    >>> law = DiscreteLaplace(center=10, scale=2)
    >>> law.pmf(10)
    0.24491866240370913
    >>> law.tail(0.95)              # |X − 10| ≤ 6 with probability at least 95 %
    6
    """

    center: int
    scale: Fraction  #: t, in steps
    step = 1

    def __init__(self, center: int, scale: Number) -> None:
        object.__setattr__(self, "center", integer(center, name="center"))
        object.__setattr__(self, "scale", positive(scale, name="scale"))

    def mass(self, outcome: Value) -> arb:
        """P(X = outcome) as a ball; 0 off the integers."""
        distance = abs(exact_value(outcome, name="outcome") - self.center)
        if distance.denominator != 1:
            return ball(0)
        # (1 − r)/(1 + r) = tanh(1/(2t)) normalises r^|k| with r = e^(−1/t).
        return sharp(lambda: ball(1 / (2 * self.scale)).tanh() * ball(-distance / self.scale).exp())

    @property
    def tails(self) -> tuple[Fraction, Fraction, Fraction]:
        """(low, high, rate): up to low and from high on, each step outward is e^(−rate) times
        as likely, exactly."""
        return Fraction(self.center), Fraction(self.center), 1 / self.scale

    def log_weight(self, outcome: Value) -> tuple[Fraction, Hashable]:
        """log P(outcome), less a term shared by all laws of this shape."""
        distance = abs(exact_value(outcome, name="outcome") - self.center)
        return -distance / self.scale, self.shape

    @property
    def variance(self) -> float:
        """2r/(1 − r)² = 1/(2·sinh²(1/(2t))), rounded up."""
        return upper(sharp(lambda: 1 / (2 * ball(1 / (2 * self.scale)).sinh() ** 2)))

    # Places are counted in half steps here: whole numbers are quicker than fractions.

    def tail(self, confidence: Number) -> int:
        """The least w with P(|X − c| ≤ w) ≥ confidence."""
        sure = probability(confidence, name="confidence")
        return least_half_width(lambda w: 2 * self._tail(2 * w + 1), sure)

    def _start(self, x: Value, name: str) -> int:
        return 2 * (ceil(exact_value(x, name=name)) - self.center) - 1

    def _end(self, x: Value, name: str) -> int:
        return 2 * (floor(exact_value(x, name=name)) - self.center) + 1

    def _tail(self, z: Fraction | int) -> arb:
        """P(X − c ≥ d) = r^d/(1 + r) for d = (z + 1)/2 ≥ 1, a geometric sum."""
        return ball(-(z + 1) / (2 * self.scale)).exp() / (1 + ball(-1 / self.scale).exp())
