"""A whole profile against another: H(x) ≤ δ(x) for every x ≥ 0, from finitely many x.

Both are convex in K = e^x. Between two grid points the hockey stick H lies below its chord, and
the claim δ above the secants of the cells on either side, extended. Where the one lies below
the other the cell is decided; else it is halved.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from discreet.auditor.exactly.sides import BITS, Side
from discreet.balls import ball, lower, precision, upper
from discreet.guarantees import BoundedRange, Composition, LaplacePair, ResponsePair
from discreet.laws.sharp import sharp

if TYPE_CHECKING:
    from flint import arb

    from discreet.guarantees import Guarantee

FLOOR = 1e-12  # down to which claimed δ the profile is checked, where it never ends
_FARTHEST = 10_000
_FAR_OUT = 1 << 40
_FIRST = 16
_MOST = 600
_MOST_SLOW = 150  # where each hockey stick takes a search
_TIE = Fraction(1, 10**18)
_LEAST = Fraction(1, 1000)  # sizes below count as this one: balls have 80 bits of the whole
_ZERO = Fraction(1, 10**28)


@dataclass(frozen=True)
class Scan:
    """What a walk along the profile found, at the x where the claim is most used up."""

    holds: bool | None
    tied: bool
    claimed: float  #: δ at `at`
    found: tuple[float, float]  #: the hockey stick there
    at: Fraction
    note: str


class _Walk:
    """Values at the x asked for, each computed once."""

    def __init__(self, side: Side, claim: Guarantee) -> None:
        self.side, self.claim = side, claim
        self._stick: dict[Fraction, arb] = {}
        self._claim: dict[Fraction, arb] = {}

    def stick(self, x: Fraction) -> arb:
        if x not in self._stick:
            self._stick[x] = self.side.hockey(x)
        return self._stick[x]

    def promised(self, x: Fraction) -> arb:
        if x not in self._claim:
            self._claim[x] = promised(self.claim, x)
        return self._claim[x]


@lru_cache(maxsize=4096)
def promised(claim: Guarantee, x: Fraction) -> arb:
    """δ(x) of the claim as a ball, the larger of its two orders; for x < 0 by symmetry."""
    if isinstance(claim, Composition):  # it answers with floats, rounded up
        return ball(Fraction(claim.delta(x)))
    values = []
    for own, other in claim._orders:
        if x >= 0:
            values.append(sharp(lambda own=own: own(x)))  # type: ignore[misc]
        else:
            values.append(
                sharp(lambda other=other: -ball(x).expm1() + ball(x).exp() * other(-x))  # type: ignore[misc]
            )
    largest = values[0]
    with precision(BITS):
        for value in values:
            largest = largest.max(value)
        return largest.min(ball(1))


def scan(side: Side, claim: Guarantee) -> Scan:
    """Decide the whole profile for P against Q."""
    walk = _Walk(side, claim)
    points = _grid(side, claim)
    end = points[-1]
    tied = False
    with precision(BITS):
        cells = list(pairwise(points))
        budget = _MOST if side.kinks() is not None else _MOST_SLOW
        checked: set[Fraction] = set()
        undecided: list[tuple[Fraction, Fraction]] = []
        for x in points:
            verdict, tie = _point(walk, x)
            checked.add(x)
            tied |= tie
            if verdict is False:
                return _result(walk, False, tied, [x], "")
            if verdict is None:
                undecided.append((x, x))
        convex = claim._convex
        while cells:
            a, b = cells.pop()
            verdict, tie = _cell(walk, a, b, convex)
            tied |= tie and verdict is not False
            if verdict:
                continue
            budget -= 1
            if budget < 0 or b - a < Fraction(1, 10**7):
                undecided.append((a, b))
                break
            short = _short((a + b) / 2, a, b)
            point, tie = _point(walk, short)
            checked.add(short)
            tied |= tie
            if point is False:
                return _result(walk, False, tied, [short], "")
            cells += [(short, b), (a, short)]
        kept, tie = _ends(walk, claim, end)
        tied |= tie
        if kept is False:
            return _result(walk, False, tied, [end], "")
        note = "between grid points, to one part in 10⁶" if isinstance(claim, Composition) else ""
        if undecided:
            a, b = undecided[0]
            note = f"undecided between ε = {float(a):.6g} and {float(b):.6g}"
        elif kept is None:
            note = (
                f"kept up to ε = {float(end):.4g}, where the claimed δ is "
                f"{upper(walk.promised(end)):.2g}; undecided beyond"
            )
        holds = None if undecided or kept is None else True
        return _result(walk, holds, tied, sorted(checked), note)


def _grid(side: Side, claim: Guarantee) -> list[Fraction]:
    """From 0 to where the claim or the hockey stick ends, with the bends of either."""
    if isinstance(claim, Composition):
        last = claim.delta(_FARTHEST)
        reach = claim.epsilon(min(1.0, last * (1 + 1e-9) + FLOOR))
    else:
        reach = max(claim._reach(FLOOR), claim._reach(FLOOR, swapped=True))
    end = _short(Fraction(min(reach, _FARTHEST)))
    if claim._bounded:
        end += Fraction(1, 64)
    points = {end * i / _FIRST for i in range(_FIRST + 1)}
    kinks = side.kinks() or ()
    if side.ends is not None and side.ends > end:
        # The claim is looked at until no finite loss is left, however little it still allows.
        points |= {(end + side.ends) / 2, *(x for x in kinks if x > end)}
    if side.ends is not None:
        points |= {side.ends, *_far(side, claim, max(end, side.ends))}
    points |= {x for x in (*kinks, *_bends(claim)) if 0 <= x <= end}
    return sorted(points)


def _far(side: Side, claim: Guarantee, start: Fraction) -> list[Fraction]:
    """Where the claim falls below what the hockey stick keeps for ever, if that is too much."""
    left = side.hockey(start)
    if isinstance(claim, Composition) or not left > ball(_escape(claim)):
        return []
    x = max(start, Fraction(1))
    while x < _FAR_OUT and not left > promised(claim, x):
        x *= 2
    return [x]


def _bends(claim: Guarantee) -> list[Fraction]:
    """Where the claim itself bends, if that is known exactly and a short list."""
    if isinstance(claim, LaplacePair) and claim.steps is not None and claim.steps <= 64:
        return [claim.epsilon0 * (claim.steps - 2 * j) / claim.steps for j in range(claim.steps)]
    if isinstance(claim, LaplacePair | ResponsePair | BoundedRange):
        return [claim.epsilon0]
    if isinstance(claim, Composition) or not claim._bounded:
        return []
    # An end that is not rational is enclosed, so closely that the cell around it is a tie.
    high = Fraction(claim.epsilon(0))
    low = high * (1 - Fraction(1, 1 << 50))
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if promised(claim, middle) > ball(_ZERO) else (low, middle)
    return [low, high]


def _point(walk: _Walk, x: Fraction) -> tuple[bool | None, bool]:
    if walk.stick(x).is_zero():
        return True, False
    excess = walk.stick(x) - walk.promised(x)
    if excess > 0:
        return False, False
    return _sign(excess, walk.promised(x))


def _sign(
    excess: arb, size: arb, tolerance: Fraction = _TIE, least: Fraction = Fraction(0)
) -> tuple[bool | None, bool]:
    """Whether the excess is at most 0, and whether that is a tie, to the tolerance.

    What is for certain more than 0 is a tie only in proportion to the claimed δ (or up to the
    least that is given); what balls cannot tell from 0 may be one of their last bits.
    """
    if excess <= 0:
        return True, False
    if excess > 0:
        tied = bool(excess <= (size * ball(tolerance)).max(ball(least)))
        return tied, tied
    if excess <= size.max(ball(_LEAST)) * ball(tolerance):
        return True, True
    return None, False


def _tolerance(claim: Guarantee) -> Fraction:
    """A composition answers in floats, so between grid points no more than this is decided."""
    return Fraction(1, 10**6) if isinstance(claim, Composition) else _TIE


def _cell(walk: _Walk, a: Fraction, b: Fraction, convex: bool) -> tuple[bool, bool]:
    """Whether the claim is above the hockey stick between a and b, and whether by a tie."""
    h1, h2, d1, d2 = walk.stick(a), walk.stick(b), walk.promised(a), walk.promised(b)
    if h1.is_zero():
        return True, False
    # Around an end of the claim that is not rational, it is 0 on one side and not on the other.
    least = 4 * _ZERO if b - a < _TIE else Fraction(0)
    if isinstance(walk.claim, Composition):
        least = _LEAST * _tolerance(walk.claim)
    quick, tie = _sign(h1 - d2, d2, least=least)  # neither ever increases
    if quick:
        return True, tie
    if not convex:
        return False, False
    width = b - a
    k1, k2 = ball(a).exp(), ball(b).exp()
    before = _short(a - width / 2, a - width, a)
    after = _short(b + width / 2, b, b + width)
    k0, k3 = ball(before).exp(), ball(after).exp()
    left = (d1 - walk.promised(before)) / (k1 - k0)
    right = (walk.promised(after) - d2) / (k3 - k2)
    chord = (h2 - h1) / (k2 - k1)
    # Up to a point k the left secant is used, from there on the right one; any k will do, and
    # the best is where the two meet.
    if (left - right).contains(0):
        k = (k1 + k2) / 2
    else:
        k = (d2 - right * k2 - d1 + left * k1) / (left - right)
        k = _inside(k, k1, k2)
    own = h1 + chord * (k - k1)
    excesses = (h1 - d1, h2 - d2, own - d1 - left * (k - k1), own - d2 - right * (k - k2))
    verdicts = [_sign(excess, d2, _tolerance(walk.claim), least) for excess in excesses]
    return all(v is True for v, _ in verdicts), any(tie for _, tie in verdicts)


def _inside(k: arb, low: arb, high: arb) -> arb:
    """An exact point near k, or the end beyond which it lies."""
    middle = k.mid()
    if not middle > low:
        return low
    return middle if middle < high else high


def _ends(walk: _Walk, claim: Guarantee, end: Fraction) -> tuple[bool | None, bool]:
    """Whether the claim is kept from the last point on, for ever, and whether by a tie."""
    value = walk.stick(end)
    if isinstance(claim, Composition):
        limit = ball(Fraction(claim.delta(_FARTHEST)) if end < _FARTHEST else 0)
    else:
        limit = ball(_escape(claim))
    if value <= limit:
        return True, False
    if walk.side.ends is None or walk.side.ends > end:
        return None, False
    # What is left at the end is left for ever.
    kept, tie = _sign(value - limit, limit)
    if kept is False and isinstance(claim, Composition):
        return None, False  # its limit is only bounded from above
    return kept, tie


def _escape(claim: Guarantee) -> Fraction:
    return max(claim._escape(), claim._escape(swapped=True))


def _result(walk: _Walk, holds: bool | None, tied: bool, points: list[Fraction], note: str) -> Scan:
    """Report the x at which most of the claimed δ is used up."""

    def used(x: Fraction) -> float:
        claimed, found = float(walk.promised(x)), float(walk.stick(x))
        if claimed <= FLOOR:
            return math.inf if found > 1e-9 else 0.0
        return found / claimed

    at = max(points, key=used)
    value, claimed = walk.stick(at), float(walk.promised(at))
    return Scan(holds, tied, claimed, (max(0.0, lower(value)), upper(value)), at, note)


def _short(x: Fraction, low: Fraction | None = None, high: Fraction | None = None) -> Fraction:
    """x to 48 binary digits, if that stays between the bounds: short fractions are fast."""
    rounded = Fraction(round(x * (1 << 48)), 1 << 48)
    return x if low is not None and high is not None and not low < rounded < high else rounded
