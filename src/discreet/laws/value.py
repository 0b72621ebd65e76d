"""Points on the scale of the data: the centres of laws, and their outcomes.

Unlike a parameter, a datum is not something a person typed: a float is read as the binary number
that it is, not as the decimal that it prints.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from numbers import Integral
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import InvalidArgument
from discreet.numeric.balls import ball, sharp

if TYPE_CHECKING:
    from flint import arb

Value: TypeAlias = int | float | Fraction


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
