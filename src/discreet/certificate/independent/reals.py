"""Exact numbers as balls, and balls as exact bounds."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.exact import number

if TYPE_CHECKING:
    from flint import arb


def real(x: Fraction | int) -> arb:
    """A ball that holds x."""
    import flint

    return flint.arb(flint.fmpq(x.numerator, x.denominator))


def above(ball: arb) -> Fraction:
    """A fraction at or above every point of a finite ball."""
    mantissa, exponent = (int(part) for part in ball.upper().man_exp())
    return mantissa * Fraction(2) ** exponent


def below(ball: arb) -> Fraction:
    """A fraction at or below every point of a finite ball."""
    mantissa, exponent = (int(part) for part in ball.lower().man_exp())
    return mantissa * Fraction(2) ** exponent


def read(value: object, name: str) -> Fraction:
    """An exact number of a document, which is text; 0 or above."""
    if not isinstance(value, str):
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected='a number as text, as in "1/2"', given=given)
    exact = number(value, name=name)
    if exact < 0:
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected="0 or above", given=given)
    return exact


def read_count(value: object, name: str) -> int:
    """A whole number of a document, 1 or above."""
    if type(value) is not int or value < 1:
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected="a whole number, 1 or above", given=given)
    return value
