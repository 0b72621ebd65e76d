"""Exact numbers as balls, and balls as exact bounds."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from discreet.errors import InvalidArgument, Refused
from discreet.numeric.exact import number

if TYPE_CHECKING:
    from flint import arb

_LONGEST: Final = 2**19  # bits of a common denominator


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


def total(terms: Iterable[Fraction]) -> Fraction:
    """The exact sum; refused if its denominator grows too long, as that of forged numbers may."""
    found = Fraction(0)
    for term in terms:
        found += term
        if found.denominator.bit_length() > _LONGEST:
            raise Refused("numbers that have too long a common denominator to add them up")
    return found


def read(value: object, name: str) -> Fraction:
    """An exact number, 0 or above, which a document holds as text."""
    if not isinstance(value, str):
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected='a number as text, as in "1/2"', given=given)
    exact = number(value, name=name)
    if exact < 0:
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected="0 or above", given=given)
    return exact


def read_count(value: object, name: str) -> int:
    """A whole number, 1 or above, from a document."""
    if type(value) is not int or value < 1:
        given = InvalidArgument.describe_parameter(value)
        raise InvalidArgument(name=name, expected="a whole number, 1 or above", given=given)
    return value
