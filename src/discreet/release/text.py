"""How numbers are written: with as many digits as are meaningful, given their error.

A 95 % error is written with two digits, rounded up, that of a whole number in full; the value
stops at the same decimal. Nothing is rounded to the left of the decimal point.
"""

from __future__ import annotations

import math
from datetime import date, time
from decimal import ROUND_CEILING, Decimal
from typing import Final

from discreet.errors import one_line

INFINITE: Final = "∞"
UNKNOWN: Final = "unknown"
_MOST_DECIMALS = 9  # with more decimals, powers of ten are easier to read
_LARGEST = 10.0**15  # and from this size on
_LEAST = 1e-300  # the smallest error whose digits are counted
_DUST = 1e-9  # relative: 6.000000000001 is 6, not 7


def value_and_error(value: object, error: float) -> tuple[str, str]:
    """Both parts of "value ± error".

    >>> value_and_error(1234, 6.0), value_and_error(5.3211, 0.1372)
    (('1234', '6'), ('5.32', '0.14'))
    >>> value_and_error(5.3211, math.inf), value_and_error(math.nan, math.inf)
    (('5.3211', '∞'), ('unknown', '∞'))
    """
    if isinstance(value, Decimal):
        value = int(value) if value == value.to_integral_value() else float(value)
    if not isinstance(value, int | float) or not math.isfinite(value):
        return text(value), number(error)
    if error < _LEAST or not math.isfinite(error):
        return number(value), number(error)
    whole = isinstance(value, int) and error >= 1
    decimals = 0 if whole else max(1 - math.floor(math.log10(error)), 0)
    if decimals > _MOST_DECIMALS or max(abs(value), error) >= _LARGEST:
        return _scientific(float(value), error)
    return _fixed(value, decimals), _up(error, decimals)


def with_error(value: object, error: float) -> str:
    """A value with its error, in one piece.

    >>> with_error(-3, 6.0), with_error(0.000123, 0.0000045), with_error(2e18, 3e15)
    ('-3 ± 6', '0.0001230 ± 0.0000045', '2.0000e+18 ± 3.0e+15')
    """
    left, right = value_and_error(value, error)
    return f"{left} ± {right}"


def number(value: float) -> str:
    """A number without an error: all whole digits, six digits where there are decimals.

    >>> number(3), number(3.0), number(2 / 3), number(1e20), number(math.inf)
    ('3', '3', '0.666667', '1e+20', '∞')
    """
    if math.isnan(value):
        return UNKNOWN
    if math.isinf(value):
        return INFINITE if value > 0 else f"-{INFINITE}"
    if 10**5 <= abs(value) < _LARGEST or (value == int(value) and abs(value) < _LARGEST):
        return f"{value:.0f}"
    return f"{value:.6g}"


def text(value: object) -> str:
    """Any cell for reading; characters that a terminal would obey instead of showing are replaced.

    >>> text(None), text("A\\x1b[2J"), text(True), text(date(2024, 2, 29))
    ('none', 'A�[2J', 'true', '2024-02-29')
    """
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case int() | float():
            return number(value)
        case Decimal():
            return f"{value:f}"
        case date() | time():
            return value.isoformat()
    return one_line(str(value))


def exact(value: object) -> object:
    """A cell for a file: every number written so that reading it gives the same number back.

    >>> [exact(x) for x in (0.1, 1e300, Decimal("1E+3"), True, None, math.inf)]
    ['0.1', '1e+300', '1000', 'true', '', 'inf']
    """
    match value:
        case None:
            return ""
        case float():
            return repr(value)
        case bool() | Decimal() | date() | time():
            return text(value)
    return value


def _fixed(value: float, decimals: int) -> str:
    written = f"{value:.{decimals}f}"
    return written.removeprefix("-") if not float(written) else written  # not "-0.0"


def _up(error: float, decimals: int) -> str:
    exact_error = Decimal(error * (1 - _DUST))
    return f"{exact_error.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_CEILING):f}"


def _scientific(value: float, error: float) -> tuple[str, str]:
    power = math.floor(math.log10(error))
    rounded = math.ceil(error * (1 - _DUST) / 10.0 ** (power - 1)) * 10.0 ** (power - 1)
    digits = 1 + max(math.floor(math.log10(abs(value))) - power, 0) if value else 1
    return f"{value:.{min(digits, 16)}e}", f"{rounded:.1e}"
