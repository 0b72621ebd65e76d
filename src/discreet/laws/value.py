"""Points on the scale of the data: what goes into a law as a centre and comes out of it.

Unlike a parameter, a datum is not something a person typed: a float is read as the binary number
that it is, not as the decimal that it prints.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral
from typing import TypeAlias

from discreet.errors import InvalidArgument

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
        given = InvalidArgument.describe_data(value)
        raise InvalidArgument(name=name, expected="a finite number", given=given) from None


def exact_scores(scores: Sequence[Value]) -> tuple[Fraction, ...]:
    """The scores of the candidates of a selection, at least one."""
    if len(scores) == 0:
        raise InvalidArgument(name="scores", expected="at least one score", given="none")
    return tuple(exact_value(score, name="scores") for score in scores)
