"""Numbers for reading, rounded up: what is printed is never below the number itself."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

_DIGITS = 3
_WIDEST = 10**6  # no number that is printed has an exponent near this

_ULP = Fraction(1, 2**48)


def decimal_up(x: Fraction, digits: int = _DIGITS) -> Fraction:
    """The least decimal with this many digits at or above x ≥ 0.

    >>> decimal_up(Fraction(2, 3)), decimal_down(Fraction(2, 3))
    (Fraction(667, 1000), Fraction(333, 500))
    """
    return Fraction(_decimal(x, digits, ROUND_CEILING))


def decimal_down(x: Fraction, digits: int = _DIGITS) -> Fraction:
    """The greatest decimal with this many digits at or below x ≥ 0."""
    return Fraction(_decimal(x, digits, ROUND_FLOOR))


def text(x: Fraction) -> str:
    """A number for reading, to three digits.

    >>> text(Fraction(1, 10)), text(Fraction(200_001)), text(Fraction(1, 3) / 10**9)
    ('0.1', '201,000', '3.34 × 10^-10')
    """
    decimal = _decimal(x, _DIGITS, ROUND_CEILING)
    rounded, power = Fraction(decimal), decimal.adjusted()
    if rounded == 0 or Fraction(1, 10**4) <= rounded < 10**7:
        return _plain(rounded)
    mantissa = _plain(rounded / Fraction(10) ** power)
    return f"10^{power}" if mantissa == "1" else f"{mantissa} × 10^{power}"


def percent(x: Fraction) -> str:
    """A probability for reading.

    >>> percent(Fraction(1, 3)), percent(Fraction(9996, 10**4)), percent(Fraction(2))
    ('33.4 %', '100 %', '100 %')
    """
    return f"{text(100 * min(x, Fraction(1)))} %"


def chance(x: Fraction) -> str:
    """A probability for reading; a small one reads as 1 in n.

    >>> chance(Fraction(1, 4)), chance(Fraction(1, 10**6)), chance(Fraction(1, 129_999))
    ('25 %', '1 in 1,000,000', '1 in 120,000')
    >>> chance(Fraction(0)), chance(Fraction(1, 10**20))
    ('0 %', '1 in 10^20')
    """
    if x == 0 or x >= Fraction(1, 100):
        return percent(x)
    # Floats come rounded up: an ulp too much would make it 1 in 500,000 instead of 1,000,000.
    many = decimal_down(1 / x * (1 + _ULP), digits=2)
    return f"1 in {_plain(many) if many < 10**13 else text(many)}"


def times(x: Fraction) -> str:
    """A factor for reading.

    >>> times(Fraction(5, 2)), times(Fraction(1))
    ('at most 2.5 times as likely', 'at most as likely')
    """
    return "at most as likely" if x <= 1 else f"at most {text(x)} times as likely"


def _decimal(x: Fraction, digits: int, rounding: str) -> Decimal:
    # The quotient of two exact integers is rounded once, in this direction.
    context = Context(prec=digits, rounding=rounding, Emin=-_WIDEST, Emax=_WIDEST)
    return context.divide(Decimal(x.numerator), Decimal(x.denominator))


def _plain(x: Fraction) -> str:
    """A short decimal with commas between thousands and no zeros at the end."""
    whole = f"{Decimal(x.numerator) / Decimal(x.denominator):,f}"
    return whole.rstrip("0").rstrip(".") if "." in whole else whole
