"""The tail of the standard normal law."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball

if TYPE_CHECKING:
    from flint import arb


def upper_normal(z: Fraction) -> arb:
    """1 − Φ(z) = erfc(z/√2)/2, accurate however far out z is.

    >>> print(upper_normal(Fraction(40)).str(10, radius=False))
    3.655893541e-350
    """
    return (ball(z) / ball(2).sqrt()).erfc() / 2
