"""What laws share: probabilities as floats, and points on the scale of the data.

Unlike a parameter, a datum is not something a person typed: a float is read as the binary number
that it is, not as the decimal that it prints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from math import ceil, floor
from numbers import Integral
from typing import Any, TypeAlias

from discreet.errors import InvalidArgument
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, least_half_width, sharp
from discreet.numeric.exact import Number, probability

Value: TypeAlias = int | float | Fraction


class DiscreteLaw(ABC):
    """A law with outcomes of positive probability."""

    @abstractmethod
    def mass(self, outcome: Any) -> arb:
        """P(outcome) as a ball; 0 for what cannot occur."""

    def pmf(self, outcome: Any) -> float:
        """P(outcome) as a float."""
        return float(self.mass(outcome))


def exact_value(value: Value, *, name: str) -> Fraction:
    """The value as a fraction of Python integers, NumPy's scalars included.

    >>> exact_value(0.1, name="center") == Fraction(1, 10)
    False
    """
    try:
        if isinstance(value, Integral):
            return Fraction(int(value))
        return Fraction(*value.as_integer_ratio())
    except (AttributeError, ValueError, OverflowError):
        raise InvalidArgument.of_data(name, "a finite number", value) from None


def at_place(formula: Callable[[arb], arb], y: Value | arb) -> arb:
    """The formula at a point, sharp; or over a ball of points, however wide the result."""
    if not isinstance(y, int | float | Fraction) and hasattr(y, "mid"):
        return formula(y)
    exact = exact_value(y, name="y")  # type: ignore[arg-type]
    return sharp(lambda: formula(ball(exact)))


def exact_scores(scores: Sequence[Value]) -> tuple[Fraction, ...]:
    """The scores of the candidates of a selection, at least one."""
    if len(scores) == 0:
        raise InvalidArgument("scores", "at least one score", "none")
    return tuple(exact_value(score, name="scores") for score in scores)


# -- noise around a centre, real or on a grid ------------------------------------------------------


HALF = Fraction(1, 2)


@dataclass(frozen=True)
class LocationLaw:
    """Noise around a centre; what it is like apart from that is its shape."""

    center: Fraction | int

    @cached_property
    def shape(self) -> tuple[Any, ...]:
        """All but the centre. Noise is log-concave, so laws of one shape are ordered."""
        return type(self).__name__, *(getattr(self, field.name) for field in fields(self)[1:])


class RealLaw(LocationLaw, ABC):
    """Symmetric noise Z with a density."""

    @abstractmethod
    def _beyond(self, z: Fraction) -> arb:
        """P(Z ≥ z)."""

    def cdf(self, y: Value) -> arb:
        """P(Y ≤ y) as a ball."""
        z = self.center - exact_value(y, name="y")
        return sharp(lambda: self._beyond(z))

    def above(self, y: Value) -> arb:
        """P(Y ≥ y) as a ball."""
        z = exact_value(y, name="y") - self.center
        return sharp(lambda: self._beyond(z))


class GridLaw(LocationLaw, DiscreteLaw):
    """Symmetric noise Z around a centre, rounded to the nearest multiple of a step.

    An output step·j stands for the cell step·[j − ½, j + ½). All follows from the grid, the centre
    and the tail of the noise.
    """

    step: Fraction | int

    @abstractmethod
    def _tail(self, z: Fraction | int) -> arb:
        """P(Z ≥ z) for z ≥ 0, where a cell begins."""

    def mass(self, outcome: Value) -> arb:
        """P(X = outcome) as a ball; 0 off the grid."""
        return self.interval_mass(outcome, outcome)

    def interval_mass(self, a: Value, b: Value) -> arb:
        """P(a ≤ X ≤ b) as a ball."""
        first, end = self._start(a, "a"), self._end(b, "b")
        return sharp(lambda: self._between(first, end))

    def cdf(self, x: Value) -> arb:
        """P(X ≤ x) as a ball."""
        end = self._end(x, "x")
        return sharp(lambda: self._beyond(-end))

    def above(self, x: Value) -> arb:
        """P(X ≥ x) as a ball."""
        start = self._start(x, "x")
        return sharp(lambda: self._beyond(start))

    def tail(self, confidence: Number) -> Any:
        """The least multiple w of the step with P(|X − centre| ≤ w) ≥ confidence."""
        sure = probability(confidence, name="confidence")
        position = Fraction(self.center) / self.step
        right = (floor(position) + HALF - position) * self.step
        left = (position - ceil(position) + HALF) * self.step

        def outside(w: int) -> arb:
            # The first grid points more than w steps away, and all beyond them.
            return self._beyond(right + w * self.step) + self._beyond(left + w * self.step)

        return least_half_width(outside, sure) * self.step

    @property
    def _offset(self) -> Fraction:
        """Where the centre lies in its cell, from −½ up to ½."""
        position = Fraction(self.center) / self.step
        return position - floor(position + HALF)

    def _start(self, x: Value, name: str) -> Fraction | int:
        """Where the first cell from x on begins, seen from the centre."""
        return (ceil(exact_value(x, name=name) / self.step) - HALF) * self.step - self.center

    def _end(self, x: Value, name: str) -> Fraction | int:
        """Where the last cell up to x ends."""
        return (floor(exact_value(x, name=name) / self.step) + HALF) * self.step - self.center

    def _beyond(self, z: Fraction | int) -> arb:
        """P(Z ≥ z) for z of either sign."""
        return self._tail(z) if z >= 0 else 1 - self._tail(-z)

    def _between(self, a: Fraction | int, b: Fraction | int) -> arb:
        """P(a ≤ Z < b), mirrored so that probabilities near 1 are not subtracted."""
        if a >= b:
            return ball(0)
        if b <= 0:
            a, b = -b, -a
        return self._tail(a) - self._tail(b) if a >= 0 else 1 - self._tail(-a) - self._tail(b)
