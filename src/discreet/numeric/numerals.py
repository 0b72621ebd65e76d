"""Numbers and lists in sentences: three digits, thousands separated, large as powers of ten."""

from __future__ import annotations

import math
from typing import Final

#: A note on answers about values that have bounds.
CLAMPED: Final = "values beyond their bounds count as the nearer bound"

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def short(x: float) -> str:
    """A number to three digits.

    >>> short(20.39), short(4080651.6), short(0.0001234), short(1500)
    ('20.4', '4.08·10⁶', '1.23·10⁻⁴', '1,500')
    """
    if x == 0 or not math.isfinite(x):
        return "0" if x == 0 else str(x)
    text = f"{x:.2e}"
    mantissa, exponent = text.split("e")
    power = int(exponent)
    if -3 <= power < 6:
        plain = f"{float(text):,.{max(2 - power, 0)}f}"
        return plain.rstrip("0").rstrip(".") if "." in plain else plain
    return f"{mantissa}·10{str(power).translate(_SUPERSCRIPTS)}"


def listed(words: list[str]) -> str:
    """Words with commas, and "and" before the last.

    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', '')
    """
    *others, last = words or [""]
    return f"{', '.join(others)} and {last}" if others else last
