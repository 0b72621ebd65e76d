"""Exact numbers on the way in, and outward rounding on the way out.

Parameters enter as exact rationals, so that a proof about ε = 1/10 is about the number the
caller typed and not about the binary fraction nearest to it. Where a float has to leave again,
the function that makes it names its direction.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from discreet.errors import Argument, Idiom, InvalidArgument, Phrase

Number: TypeAlias = int | float | Fraction | Decimal | str
"""What a caller may pass where a number is expected; NumPy's integers and floats work too."""

# Every float fits four times over, and no accepted number can stall the arithmetic after it.
_MAX_BITS = 4096
_MAX_DIGITS = 1233  # 10**1233 is the largest power of ten below 2**4096
_MAX_TEXT = 2 * _MAX_DIGITS + 3  # two signed integers and the slash between them

_SQRT_BITS = 100

_SPELLINGS = Phrase("write it as {}", Idiom.NUMBERS)


def number(value: object, *, name: str) -> Fraction:
    """Read a parameter exactly; a float is the shortest decimal that prints it.

    >>> number(0.1, name="epsilon")
    Fraction(1, 10)
    >>> number("1/3", name="epsilon")
    Fraction(1, 3)
    >>> number(float("nan"), name="epsilon")
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: epsilon must be a finite number, got nan (float)
    """
    match value:
        case bool():  # an int to Python, but never a quantity
            raise _not_a_number(value, name)
        case int() | np.integer():
            exact = Fraction(int(value))
        case Fraction():
            exact = value
        case float():
            exact = _from_decimal(Decimal(float.__repr__(value)), value, name)
        case np.floating():  # its own shortest decimal, whatever the print options say
            text = np.format_float_scientific(value, trim="0")
            exact = _from_decimal(Decimal(text), value, name)
        case Decimal():
            exact = _from_decimal(value, value, name)
        case str():
            exact = _from_text(value, name)
        case _:
            raise _not_a_number(value, name)
    if max(exact.numerator.bit_length(), exact.denominator.bit_length()) > _MAX_BITS:
        raise _too_long(value, name)
    return exact


def positive(value: object, *, name: str) -> Fraction:
    """Read a number above zero."""
    exact = number(value, name=name)
    if exact <= 0:
        raise InvalidArgument.of(name, "above 0", value)
    return exact


def non_negative(value: object, *, name: str) -> Fraction:
    """Read a number that is zero or above."""
    exact = number(value, name=name)
    if exact < 0:
        raise InvalidArgument.of(name, "0 or above", value)
    return exact


def positive_float(value: object, *, name: str) -> float:
    """Read a number above zero that a float holds, for what is computed in floats."""
    exact = positive(value, name=name)
    if not sys.float_info.min <= exact <= sys.float_info.max:
        raise InvalidArgument.of(name, "from 1e-307 to 1e308", value)
    return float(exact)


def probability(value: object, *, name: str) -> Fraction:
    """Read a probability strictly between zero and one."""
    exact = number(value, name=name)
    if not 0 < exact < 1:
        example = "a small one, such as 1e-6" if name == "delta" else "95 % is 0.95"
        raise InvalidArgument.of(name, f"strictly between 0 and 1 ({example})", value)
    return exact


def integer(
    value: object, *, name: str, minimum: int | None = None, maximum: int | None = None
) -> int:
    """Read a whole number, at least `minimum` and at most `maximum` where they are given.

    >>> integer(1e6, name="rows", minimum=1)
    1000000
    """
    exact = number(value, name=name)
    if exact.denominator != 1:
        raise InvalidArgument.of(name, "a whole number", value)
    if minimum is not None and exact < minimum:
        raise InvalidArgument.of(name, f"a whole number, {minimum} or above", value)
    if maximum is not None and exact > maximum:
        raise InvalidArgument.of(name, f"at most {maximum}", value)
    return exact.numerator


def interval(value: object, *, name: str) -> tuple[Fraction, Fraction]:
    """Read a pair (lower, upper), the first below the second: a point would need no noise.

    >>> interval((0, 0.5), name="bounds")
    (Fraction(0, 1), Fraction(1, 2))
    """
    expected = Phrase("{} with lower below upper", Idiom.PAIR)
    if not isinstance(value, tuple | list) or len(value) != 2:
        raise InvalidArgument.of(
            name, expected, value, hint=Phrase("as in {}", Argument(name, (0, 30)))
        )
    lower, upper = (number(end, name=name) for end in value)
    if lower >= upper:
        ends = [InvalidArgument.describe_parameter(end) for end in value]
        raise InvalidArgument(
            name,
            expected,
            Phrase("{} and {}", ends[0], ends[1]),
            hint="put the lower one first"
            if lower > upper
            else "give the least and the largest value that can occur, whatever the data are",
        )
    return lower, upper


def round_up(x: Fraction) -> float:
    """The least float that is at least x; infinity where no finite one is.

    >>> round_up(Fraction(1, 10)), round_down(Fraction(1, 10))
    (0.1, 0.09999999999999999)
    """
    try:
        nearest = float(x)
    except OverflowError:
        return math.inf if x > 0 else -sys.float_info.max
    if nearest < x:  # an exact comparison: Python compares the two as rationals
        nearest = math.nextafter(nearest, math.inf)
    return nearest + 0.0  # -0.0 becomes 0.0


def round_down(x: Fraction) -> float:
    """The greatest float that is at most x; minus infinity where no finite one is."""
    return 0.0 - round_up(-x)


def sqrt_up(x: Fraction) -> Fraction:
    """A rational at or above √x: exact for the square of a rational, else within 2⁻¹⁰⁰ of √x.

    >>> sqrt_up(Fraction(4, 9))
    Fraction(2, 3)
    >>> sqrt_up(Fraction(2)) ** 2 > 2
    True
    """
    # √(n/d) = √(nd)/d, and as n and d share no factor it is rational exactly when nd is a square.
    product = x.numerator * x.denominator
    root = math.isqrt(product)
    if root * root == product:
        return Fraction(root, x.denominator)
    # With √(nd)·2ˢ at least 2¹⁰⁰, going up to the next integer adds at most one part in 2¹⁰⁰.
    shift = max(0, _SQRT_BITS + 1 - product.bit_length() // 2)
    return Fraction(math.isqrt(product << 2 * shift) + 1, x.denominator << shift)


def root_down(x: Fraction) -> Fraction:
    """√x, rounded down to a multiple of 2⁻⁴⁰.

    >>> root_down(Fraction(1, 4))
    Fraction(1, 2)
    """
    return Fraction(math.isqrt(int(x * 2**80)), 2**40)


def _from_text(text: str, name: str) -> Fraction:
    if len(text) > _MAX_TEXT:
        raise _too_long(text, name)
    try:
        if "/" in text:
            return Fraction(text)
        decimal = Decimal(text)
    except (ValueError, ArithmeticError):
        raise _not_a_number(text, name) from None
    return _from_decimal(decimal, text, name)


def _from_decimal(decimal: Decimal, value: object, name: str) -> Fraction:
    """The decimal as a fraction; its exponent is checked first, as 1e999999999 would never end."""
    digits, exponent = decimal.as_tuple()[1:]
    if not isinstance(exponent, int):  # "n", "N" or "F": NaN or infinity
        raise InvalidArgument.of(name, "a finite number", value)
    if max(len(digits), abs(exponent)) > _MAX_DIGITS:
        raise _too_long(value, name)
    return Fraction(decimal)


def _not_a_number(value: object, name: str) -> InvalidArgument:
    return InvalidArgument.of(name, "a number", value, hint=_SPELLINGS)


def _too_long(value: object, name: str) -> InvalidArgument:
    expected = f"a number whose exact form fits in {_MAX_BITS} bits"
    return InvalidArgument.of(name, expected, value)
