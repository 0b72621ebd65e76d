"""Normal laws on the real line, and cut to an interval."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.laws.value import LocationLaw, RealLaw, Value, at_place, exact_value
from discreet.numeric import exact
from discreet.numeric.balls import arb, ball, sharp
from discreet.numeric.exact import Number, positive


@dataclass(frozen=True, init=False)
class RealGaussian(RealLaw):
    """N(c, σ²), given by its variance, so that σ need not be rational.

    >>> law = RealGaussian(center=0, variance=1)
    >>> float(law.above(0)), float(law.density(0))
    (0.5, 0.3989422804014327)
    """

    center: Fraction
    variance: Fraction

    def __init__(self, center: Value, variance: Number) -> None:
        object.__setattr__(self, "center", exact_value(center, name="center"))
        object.__setattr__(self, "variance", positive(variance, name="variance"))

    def density(self, y: Value | arb) -> arb:
        """The density at y as a ball; over all of y where that is a ball itself."""
        return at_place(lambda y: _density(y - ball(self.center), self.variance), y)

    def _beyond(self, z: Fraction) -> arb:
        return _beyond(z, self.variance)


@dataclass(frozen=True, init=False)
class CutGaussian(LocationLaw):
    """The density ∝ e^(−(y − c)²/(2·variance)) on an interval, 0 outside.

    The log ratio of two laws of one shape is linear in y.

    >>> law = CutGaussian(center=0, variance=1, interval=(0, 1))
    >>> float(law.above(1)), round(float(law.above(0.5)), 6)
    (0.0, 0.439094)
    """

    center: Fraction
    variance: Fraction
    interval: tuple[Fraction, Fraction]

    def __init__(
        self, center: Value, variance: Number, interval: tuple[Number, Number] = (0, 1)
    ) -> None:
        object.__setattr__(self, "center", exact_value(center, name="center"))
        object.__setattr__(self, "variance", positive(variance, name="variance"))
        object.__setattr__(self, "interval", exact.interval(interval, name="interval"))

    def density(self, y: Value) -> arb:
        """The density at y as a ball."""
        place = exact_value(y, name="y")
        if not self.interval[0] <= place <= self.interval[1]:
            return ball(0)
        z = place - self.center
        return sharp(lambda: _density(ball(z), self.variance) / self._between(*self.interval))

    def cdf(self, y: Value) -> arb:
        """P(Y ≤ y) as a ball."""
        low, high = self.interval
        end = min(max(exact_value(y, name="y"), low), high)
        return sharp(lambda: self._between(low, end) / self._between(low, high))

    def above(self, y: Value) -> arb:
        """P(Y ≥ y) as a ball."""
        low, high = self.interval
        start = min(max(exact_value(y, name="y"), low), high)
        return sharp(lambda: self._between(start, high) / self._between(low, high))

    def _between(self, a: Fraction, b: Fraction) -> arb:
        """The normal law's share of [a, b], by tails on the side where they are small."""
        a, b = a - self.center, b - self.center
        if a + b < 0:
            a, b = -b, -a
        return _beyond(a, self.variance) - _beyond(b, self.variance)


def _density(z: arb, variance: Fraction) -> arb:
    """e^(−z²/(2·variance))/√(2π·variance)."""
    power = (-(z**2) / ball(2 * variance)).exp()
    return power / (2 * ball(0).pi() * ball(variance)).sqrt()


def _beyond(z: Fraction, variance: Fraction) -> arb:
    """P(Z ≥ z) for Z of N(0, variance) = erfc(z/√(2·variance))/2."""
    root = (ball(2 * variance)).sqrt()
    return (ball(z) / root).erfc() / 2
