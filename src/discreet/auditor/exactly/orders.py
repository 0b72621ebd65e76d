"""Rényi divergences of every order: (α − 1)·D_α is convex in α, so a grid of orders will do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.auditor.exactly.halflines import HalfLines
from discreet.auditor.exactly.parts import Parts
from discreet.auditor.exactly.sides import BITS, Side
from discreet.balls import ball, lower, precision, upper

if TYPE_CHECKING:
    from flint import arb

_MOST_CELLS = 400


@dataclass(frozen=True)
class OrdersVerdict:
    """Whether D_α ≤ ρ·α for all α > 1, and the largest D_α/α seen."""

    holds: bool | None
    tied: bool
    found: tuple[float, float]
    at: Fraction  #: an ε at which an event shows the most
    note: str = ""


def judge_orders(side: Side, rho: Fraction) -> OrdersVerdict | None:
    """Decide ρ-zCDP for P against Q; None where divergences are not computed."""
    if isinstance(side, HalfLines) and side.kind not in ("RealGaussian", "RealLaplace"):
        return None
    if isinstance(side, HalfLines) and side.kind == "RealGaussian":
        exact = (side.first.center - side.second.center) ** 2 / (2 * side.first.variance)
        value = ball(exact)
        return OrdersVerdict(exact <= rho, False, (lower(value), upper(value)), exact)
    if not isinstance(side, HalfLines | Parts):
        return None
    loss = side.loss(rho)
    if loss.ball is None or not loss.complete:
        infinite = loss.ball is None
        found = (math.inf, math.inf) if infinite else (0.0, math.inf)
        return OrdersVerdict(False if infinite else None, False, found, rho)
    # From α = loss/ρ on, D_α ≤ D_∞ ≤ ρ·α. Below, L(α) = (α − 1)·D_α = log Σ p^α·q^(1−α) is
    # convex with L(1) = 0; on each cell its chord must stay below ρ·α·(α − 1).
    last = Fraction(upper(loss.ball)) / rho if rho else Fraction(10**6)
    if last <= 1:
        return OrdersVerdict(True, False, (0.0, upper(loss.ball)), rho, "the largest loss is below")
    return _cells(side, rho, last)


def _cells(side: HalfLines | Parts, rho: Fraction, last: Fraction) -> OrdersVerdict:
    """Refine the cells until each is decided."""
    known: dict[Fraction, arb] = {Fraction(1): ball(0)}

    def grown(order: Fraction) -> arb:
        if order not in known:
            value = side.renyi(order)
            assert value is not None
            known[order] = value
        return known[order]

    slope = _divergence(side)  # L′(1), the Kullback-Leibler divergence
    best, best_at = slope, Fraction(1)
    cells = [(Fraction(1), last)]
    holds: bool | None = not slope > ball(rho)
    steps = 0
    with precision(BITS):
        while cells and holds:
            a, b = cells.pop()
            steps += 1
            for order in (a, b):
                if order > 1:
                    ratio = grown(order) / ball(order * (order - 1))
                    if float(ratio) > float(best):
                        best, best_at = ratio, order
                    if ratio > ball(rho):
                        holds = False
            if not _below(a, b, grown(a), grown(b), rho, slope if a == 1 else None):
                if steps > _MOST_CELLS or b - a < Fraction(1, 10**6):
                    holds = None if holds else holds
                    break
                middle = (a + b) / 2
                cells += [(middle, b), (a, middle)]
    high = upper(ball(rho)) if holds else math.inf
    found = (lower(best), max(high, upper(best)) if holds is None else upper(best))
    at = Fraction(float(best)) * (2 * best_at - 1)
    note = f"the divergence of order {float(best_at):.4g} is the largest for its order"
    return OrdersVerdict(holds, False, found, at, note)


def _below(
    a: Fraction, b: Fraction, at_a: arb, at_b: arb, rho: Fraction, slope: arb | None
) -> bool:
    """Whether the chord from a to b stays below ρ·α·(α − 1).

    The chord less the parabola is concave, largest at α* = (m + ρ)/(2ρ) for a slope m. In the
    first cell the chord starts where the parabola does, with the slope m of the chord, and
    α·(α − 1)·ρ ≥ (α − 1)·ρ there: m ≤ ρ is enough.
    """
    m = (at_b - at_a) / ball(b - a)
    if slope is not None:
        return bool(m <= ball(rho))
    top = Fraction(float((m + ball(rho)) / ball(2 * rho)))
    top = min(max(top, a), b)
    # Any point bounds a concave function with its slope there: check both ends and the top.
    value = at_a + m * ball(top - a) - ball(rho * top * (top - 1))
    tilt = abs(m + ball(rho - 2 * rho * top)) * ball(b - a) if a < top < b else ball(0)
    ends = (at_a - ball(rho * a * (a - 1)), at_b - ball(rho * b * (b - 1)))
    return bool(value + tilt <= 0) and all(bool(end <= 0) for end in ends)


def _divergence(side: HalfLines | Parts) -> arb:
    """Σ p·log(p/q)."""
    if isinstance(side, HalfLines):
        return side.divergence()
    total = ball(0)
    with precision(BITS):
        for part in side.parts:
            if not part.first.is_zero():
                total += part.first * (part.first / part.second).log()
    return total
