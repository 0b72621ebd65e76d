"""The Laplace law on the real line: what rounding to a grid starts from."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number, positive
from discreet.laws.sharp import sharp
from discreet.laws.value import Value, at_place, exact_value

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False)
class RealLaplace:
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

    def cdf(self, y: Value) -> arb:
        """P(Y ≤ y) as a ball."""
        return self._beyond(self.center - exact_value(y, name="y"))

    def above(self, y: Value) -> arb:
        """P(Y ≥ y) as a ball."""
        return self._beyond(exact_value(y, name="y") - self.center)

    @property
    def shape(self) -> tuple[str, Fraction]:
        """The noise without its centre: log-concave, so laws of one shape are in order."""
        return "RealLaplace", self.scale

    def _beyond(self, z: Fraction) -> arb:
        """P(Z ≥ z) of the noise alone."""
        half = sharp(lambda: ball(-abs(z) / self.scale).exp() / 2)
        return half if z >= 0 else sharp(lambda: 1 - ball(z / self.scale).exp() / 2)
