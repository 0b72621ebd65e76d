"""The arguments of every part of adaptive analysis, checked before a record is looked at."""

from __future__ import annotations

import os
from fractions import Fraction
from typing import Final

from discreet.errors import InvalidArgument, Refused
from discreet.numeric.exact import Number, integer, number, positive, probability

MOST_QUERIES: Final = 10**9
# Beyond these limits a bound says nothing useful, and searches take long.
LEAST_CONFIDENCE: Final = Fraction(1, 100)
MOST_CONFIDENCE: Final = 1 - Fraction(1, 10**9)
_SIGMA = Fraction(1, 10**12), Fraction(10)
_EPSILON = Fraction(1, 10**9), Fraction(1000)


def read_count(value: object, *, name: str, most: int = MOST_QUERIES) -> int:
    """Read a number of questions, submissions or the like: 1 or more.

    >>> read_count(11, name="queries", most=10)
    Traceback (most recent call last):
    discreet.errors.InvalidArgument: queries must be from 1 to 10, got 11 (int)
    """
    count = integer(value, name=name)
    if not 1 <= count <= most:
        raise InvalidArgument.of(name, f"from 1 to {most:,}", value)
    return count


def read_confidence(value: Number) -> Fraction:
    """Read a confidence."""
    exact = probability(value, name="confidence")
    if not LEAST_CONFIDENCE <= exact <= MOST_CONFIDENCE:
        raise InvalidArgument.of("confidence", "from 0.01 to 1 − 10⁻⁹ (95 % is 0.95)", value)
    return exact


def read_error(value: Number) -> Fraction:
    """Read a distance between two shares."""
    exact = positive(value, name="error")
    if exact >= 1:
        raise InvalidArgument.of(
            "error", "above 0 and below 1, as any two shares are within 1", value
        )
    return exact


def read_sigma(value: Number) -> Fraction:
    """Read the standard deviation of noise on a share."""
    return _between(value, "sigma", *_SIGMA, "from 10⁻¹² to 10: answers lie between 0 and 1")


def read_epsilon(value: Number) -> Fraction:
    """Read a privacy loss."""
    return _between(value, "epsilon", *_EPSILON, "from 10⁻⁹ to 1,000")


def percent(confidence: Fraction | float) -> str:
    """A confidence in words, never rounded up to 100 %.

    >>> percent(Fraction(95, 100)), percent(1 - Fraction(1, 10**9))
    ('95 %', '99.9999999 %')
    """
    return f"{100 * float(confidence):.12g} %"


def upward(width: float) -> str:
    """A width to four decimals, rounded up, so that an error said to be enough is enough.

    >>> upward(0.10001)
    '0.1001'
    """
    return f"{float(-(-Fraction(width) * 10**4 // 1) / 10**4):g}"


def same_process(process: int, *, hint: str) -> None:
    """Refuse to go on in a forked copy, whose count no other process would see."""
    if os.getpid() != process:
        raise Refused(
            "what is asked is counted in the memory of another process, which cannot see what is "
            "asked here",
            remedy=hint,
            code="not-shared",
        )


def _between(value: object, name: str, low: Fraction, high: Fraction, expected: str) -> Fraction:
    exact = number(value, name=name)
    if low <= exact <= high:
        return exact
    raise InvalidArgument.of(name, expected, value)
