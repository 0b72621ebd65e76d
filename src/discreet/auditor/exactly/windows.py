"""Laws on a grid about whose tails nothing is said: a window of outcomes, and what lies beyond.

The tails are two parts of the partition. On them the ratio is not known to be constant, so sums
over the parts are lower bounds, and the mass of the tails bounds what is missing.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor, gcd
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.event import at_least, at_most, is_one_of
from discreet.auditor.exactly.parts import MOST_PARTS, Part, Parts, exact_log_ratio, whole
from discreet.auditor.exactly.sides import BITS
from discreet.auditor.exactly.tails import plain
from discreet.balls import ball, precision

if TYPE_CHECKING:
    from flint import arb

_OUTSIDE = Fraction(1, 10**25)


def of_window(first: Any, second: Any) -> Parts:
    """The outcomes that hold all but 10⁻²⁵ of both laws, up to some thousands, and two tails."""
    step = _common(*(Fraction(getattr(law, "step", 1)) for law in (first, second)))
    start, end = _quantile(first, second, step)
    if end - start > MOST_PARTS:
        middle = (start + end) // 2
        start, end = middle - MOST_PARTS // 2, middle + MOST_PARTS // 2
    below, beyond = (start - 1) * step, (end + 1) * step
    inside = [step * i for i in range(start, end + 1)]
    with precision(BITS):
        low = Part(at_most(plain(below)), first.cdf(below), second.cdf(below))
        high = Part(at_least(plain(beyond)), _above(first, end * step), _above(second, end * step))
        missing = low.first.max(low.second) + high.first.max(high.second)
    parts = [
        Part(
            is_one_of([plain(o)]), first.mass(o), second.mass(o), exact_log_ratio(first, second, o)
        )
        for o in inside
    ]
    places = (plain(below), *map(plain, inside), plain(beyond))
    return whole(Parts((low, *parts, high), (first, second), places, missing))


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The largest step of which both are multiples."""
    return Fraction(
        gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
    )


def _above(law: Any, x: Fraction) -> arb:
    """P(X > x), never below 0."""
    share: arb = (1 - law.cdf(x)).max(ball(0))
    return share


def _quantile(first: Any, second: Any, step: Fraction) -> tuple[int, int]:
    """Positions between which all but 10⁻²⁵ of both laws lie."""
    with precision(BITS):

        def inside(position: int, *, upper: bool) -> bool:
            masses = (law.cdf(position * step) for law in (first, second))
            return all((1 - m if upper else m) < ball(_OUTSIDE) for m in masses)

        start, end = -1, 1
        while not inside(start, upper=False) and start > -(1 << 60):
            start *= 2
        while not inside(end, upper=True) and end < 1 << 60:
            end *= 2
        low, high = start, end
        while high - low > 1 and inside((low + high) // 2, upper=False):
            low = (low + high) // 2
        left = low
        low, high = left, end
        while high - low > 1 and inside((low + high) // 2, upper=True):
            high = (low + high) // 2
        return floor(left), floor(high)
