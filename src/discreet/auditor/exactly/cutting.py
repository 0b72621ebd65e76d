"""Normal laws cut to an interval: the largest log ratio over all centres and shifts.

The density is ∝ e^(−(y − c)²/(2v)) on an interval. The log ratio of the laws at c and c + s is
linear in y, so it is largest at an end of the interval; call it F(c, s) there. With m(u) the mean
of the law at u, in units of the interval's width w from that end,

    ∂F/∂s = ±m(c + s)·w/v, at most w/v in size, and
    ∂F/∂c = ±(m(c + s) − m(c))·w/v, at most s/v,    since m′ = (variance of the law)/v ≤ 1

(a normal law cut to an interval has at most its own variance; Brascamp and Lieb 1976). So in a
box of half-widths h and k around (c, s) no log ratio exceeds F(c, s) + (s + k)·h/v + w·k/v, and
branch and bound over boxes decides a claim for all neighbours.
"""

from __future__ import annotations

import heapq
from fractions import Fraction

from discreet.auditor.exactly.sides import BITS
from discreet.balls import lower_fraction, precision, upper_fraction
from discreet.laws import CutGaussian

_MOST_BOXES = 4000
_MARGIN = Fraction(1, 4)  # of the margin that the bound may give away


def largest_log_ratio(
    one: CutGaussian, shift: Fraction, claimed: Fraction
) -> tuple[Fraction, Fraction] | None:
    """Bounds on the log ratio over all c and c + s in the interval, 0 ≤ s ≤ shift, both orders.

    `one` stands for the law at every centre. None where the claim is not decided in time.
    """
    low, high = one.interval
    rate = 1 / one.variance
    # A heap of boxes, the one with the largest bound first: (−bound, c, s, h, k).
    c, s = (low + high - shift) / 2, shift / 2
    h, k = (high - low - shift) / 2 + shift / 2, shift / 2
    best = Fraction(0)
    heap: list[tuple[Fraction, Fraction, Fraction, Fraction, Fraction]] = []

    def push(c: Fraction, s: Fraction, h: Fraction, k: Fraction) -> None:
        nonlocal best
        at_least, at_most = _value(one, c, s)
        if low <= c and c + s <= high:  # only what neighbours can be counts as found
            best = max(best, at_least)
        bound = at_most + (s + k) * h * rate + (high - low) * k * rate
        heapq.heappush(heap, (-bound, c, s, h, k))

    push(c, s, h, k)
    for _ in range(_MOST_BOXES):
        bound, c, s, h, k = heap[0]
        if best > claimed or -bound <= best + (claimed - best) * _MARGIN:
            return best, -bound
        heapq.heappop(heap)
        if (s + k) * h >= (high - low) * k:
            push(c - h / 2, s, h / 2, k)
            push(c + h / 2, s, h / 2, k)
        else:
            push(c, s - k / 2, h, k / 2)
            push(c, s + k / 2, h, k / 2)
    return (best, -heap[0][0]) if -heap[0][0] <= claimed else None


def _value(one: CutGaussian, c: Fraction, s: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds on the larger of the two extreme log ratios at (c, s)."""
    low, high = one.interval
    first, second = (CutGaussian(center, one.variance, one.interval) for center in (c, c + s))
    with precision(BITS):
        over = (first.density(low) / second.density(low)).log()
        under = (second.density(high) / first.density(high)).log()
        largest = over.max(under)
        return lower_fraction(largest), upper_fraction(largest)
