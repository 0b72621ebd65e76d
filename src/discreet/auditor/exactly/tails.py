"""Laws on a grid with geometric tails of one rate: two tails and the outcomes in between.

On each tail the ratio of the two laws is constant, so this is a finite partition, exactly.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.event import at_least, at_most, is_one_of
from discreet.auditor.exactly.families import is_ours
from discreet.auditor.exactly.parts import MOST_PARTS, Part, Parts, exact_log_ratio, whole
from discreet.auditor.exactly.sides import BITS
from discreet.balls import ball, precision
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from flint import arb


def of_tails(first: Any, second: Any) -> Parts | None:
    """Two tails and the outcomes between; None unless both laws have tails of one rate."""
    step = Fraction(first.step)
    (a, b, rate), (c, d, other) = first.tails, second.tails
    if rate != other or step != Fraction(second.step):
        return None
    low, high = min(a, c), max(b, d)
    count = (high - low) / step - 1
    if count > MOST_PARTS or ((c - a) / step).denominator > 1:
        return None
    if high <= low:  # one outcome is the end of both tails: it belongs to the lower one
        high = low + step
    for law in (first, second):
        if not is_ours(law):
            _check(law, low, high, step, rate)
    inner = [low + step * i for i in range(1, int((high - low) / step))]
    parts = [
        Part(at_most(plain(low)), first.cdf(low), second.cdf(low)),
        *(Part(is_one_of([plain(o)]), first.mass(o), second.mass(o)) for o in inner),
        Part(at_least(plain(high)), above(first, high, step), above(second, high, step)),
    ]
    places = [low, *inner, high]
    exact = [
        replace(part, log_ratio=exact_log_ratio(first, second, place))
        for part, place in zip(parts, places, strict=True)
    ]
    return whole(Parts(tuple(exact), (first, second), tuple(map(plain, places))))


def above(law: Any, x: Fraction, step: Fraction) -> arb:
    """P(X ≥ x) for an x on the grid, never below 0."""
    if hasattr(law, "above"):
        share: arb = law.above(x)
        return share
    with precision(BITS):
        rest: arb = (1 - law.cdf(x - step)).max(ball(0))
        return rest


def _check(law: Any, low: Fraction, high: Fraction, step: Fraction, rate: Fraction) -> None:
    """A law that contradicts what it says about its tails is refused.

    All of a tail must have the probability of its first outcome over 1 − e^(−rate): anything else
    that lies out there, on the grid or off it, would be more.
    """
    with precision(BITS):
        ratio = ball(-rate).exp()
        tails = (
            (law.mass(low), law.mass(low - step), law.cdf(low)),
            (law.mass(high), law.mass(high + step), above(law, high, step)),
        )
        for near, next_one, all_of_it in tails:
            if not next_one.overlaps(near * ratio) or not all_of_it.overlaps(near / (1 - ratio)):
                raise InvalidArgument(
                    name="law.tails",
                    expected="(low, high, rate) with each step outward e^(-rate) times as likely",
                    given="a law whose probabilities say otherwise",
                )


def plain(x: Fraction) -> int | Fraction:
    """Whole numbers as such."""
    return x.numerator if x.denominator == 1 else x
