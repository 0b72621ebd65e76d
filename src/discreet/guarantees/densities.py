"""Two continuous laws, cut into cells: a table that is too easy to tell apart, and one that is
too hard."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.guarantees.bands import FloatArray
from discreet.guarantees.outcomes import Outcomes

LogDensity: TypeAlias = Callable[[FloatArray], FloatArray]

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(8)
_NEAR_ONE = 1e-4
_LEAST = Fraction(1, 2**1074)


def cut(
    log_p: LogDensity, log_q: LogDensity, *, support: tuple[float, float], cells: int
) -> tuple[Outcomes, Outcomes]:
    """The pessimistic and the optimistic table of two laws over `cells` pieces of the support.

    In a cell with probabilities P and Q and losses from a to b, the pair that is easiest to
    tell apart has two outcomes, one of loss a and one of loss b; the hardest has one, of loss
    log(P/Q). The extremes of the loss are looked for at the ends and at 8 points between.
    """
    edges, places, widths = _points(*support, cells)
    losses_p, losses_q = _evaluate(log_p, places, "p"), _evaluate(log_q, places, "q")
    mass_p, mass_q = (
        (np.exp(values) * widths * _WEIGHTS).sum(axis=1) / 2 for values in (losses_p, losses_q)
    )
    for name, mass in (("p", mass_p), ("q", mass_q)):
        if abs(mass.sum() - 1) > _NEAR_ONE:
            raise InvalidArgument(
                name=name,
                expected="the log of a density that integrates to 1 over the support",
                given=f"an integral of about {mass.sum():.6g}",
                hint="give the whole support, or more cells",
            )
    with np.errstate(invalid="ignore"):  # −∞ − (−∞) at an infinite end: no loss to look at
        at_edges = _evaluate(log_p, edges, "p") - _evaluate(log_q, edges, "q")
    inside = losses_p - losses_q
    lows = np.nanmin(np.column_stack((inside, at_edges[:-1], at_edges[1:])), axis=1)
    highs = np.nanmax(np.column_stack((inside, at_edges[:-1], at_edges[1:])), axis=1)
    rough, smooth = [], []
    for p, q, low, high in zip(mass_p, mass_q, lows, highs, strict=True):
        if p > 0 or q > 0:
            smooth.append((Fraction(p), Fraction(q)))
            rough.extend(_split(float(p), float(q), float(low), float(high)))
    at_infinity = np.isnan(at_edges[:-1]) | np.isnan(at_edges[1:])
    rough.extend(_far(lows, highs, (mass_p == 0) & (mass_q == 0), at_infinity))
    return Outcomes(tuple(rough)), Outcomes(tuple(smooth))


def _far(
    lows: FloatArray, highs: FloatArray, unseen: NDArray[np.bool_], at_infinity: NDArray[np.bool_]
) -> list[tuple[Fraction, Fraction]]:
    """Where densities are too small for floats, losses still count: with next to no mass.

    A loss that still changes in a cell that reaches to infinity is taken to have no bound.
    """
    changing = at_infinity & (highs - lows > 1e-9 * (1 + np.abs(highs)))
    if changing.any():
        return [(_LEAST, Fraction(0)), (Fraction(0), _LEAST)]
    if not unseen.any():
        return []
    high, low = min(highs[unseen].max(), 700.0), max(lows[unseen].min(), -700.0)
    return [
        (_LEAST, _LEAST * Fraction(math.exp(-high))),
        (_LEAST * Fraction(math.exp(low)), _LEAST),
    ]


def _split(p: float, q: float, low: float, high: float) -> list[tuple[Fraction, Fraction]]:
    """One cell as two outcomes with losses low and high, or as it is if it has one loss.

    From a + b = P and a·e^(−low) + b·e^(−high) = Q.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or p == 0 or q == 0:
        return [(Fraction(p), Fraction(q))]
    gap = -math.expm1(low - high)
    if gap < 1e-12:
        return [(Fraction(p), Fraction(p * math.exp(-high)))]
    b = min(max((p - q * math.exp(low)) / gap, 0.0), p)
    a = p - b
    return [
        (Fraction(mass), Fraction(mass * math.exp(-loss)))
        for mass, loss in ((a, low), (b, high))
        if mass > 0
    ]


def _points(lower: float, upper: float, cells: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Edges of the cells, quadrature points in them, and dx times the width at each.

    Infinite ends are brought near by x = t/(1 − t²), or x = lower + t/(1 − t), on t.
    """
    low, high = math.isinf(lower), math.isinf(upper)
    ends = np.linspace(-1.0 if low else 0.0, 0.0 if low and not high else 1.0, cells + 1)
    width = np.diff(ends)[:, None]
    t = ends[:-1, None] + width / 2 * (1 + _NODES)

    def place(s: FloatArray) -> tuple[FloatArray, FloatArray]:
        """x and dx/dt at t = s."""
        if low and high:
            return s / (1 - s**2), (1 + s**2) / (1 - s**2) ** 2
        if high:
            return lower + s / (1 - s), 1 / (1 - s) ** 2
        if low:
            return upper + s / (1 + s), 1 / (1 + s) ** 2
        return lower + (upper - lower) * s, np.full_like(s, upper - lower)

    with np.errstate(divide="ignore", invalid="ignore"):
        edges, (inside, slope) = place(ends)[0], place(t)
    return edges, inside, slope * width


def _evaluate(log_density: LogDensity, places: FloatArray, name: str) -> FloatArray:
    with np.errstate(all="ignore"):
        values = np.asarray(log_density(places.ravel()), dtype=np.float64)
    if values.shape != (places.size,):
        raise InvalidArgument(
            name=name,
            expected="a function that returns one log density for each number of an array",
            given=f"an array of shape {values.shape} for {places.size} numbers",
        )
    return values.reshape(places.shape)
