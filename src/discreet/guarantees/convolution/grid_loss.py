"""The privacy loss of one pair, moved onto a grid so that nothing is understated.

The profile of a pair is a convex function of e^ε. Reading it at the points of a grid and
connecting the dots by straight lines gives a convex function above it, hence the profile of a
dominating pair whose losses lie on the grid: the tightest one on that grid (Doroshenko, Ghazi,
Kamath, Kumar and Manurangsi 2022). Its masses are the bends at the dots.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.exact import round_down, round_up
from discreet.guarantees.bands import UNIT, Atoms, FloatArray
from discreet.guarantees.convolution.hull import lower_hull
from discreet.guarantees.guarantee import Guarantee

# Extended precision where the machine has it; its unit is what the arithmetic can lose.
_WIDE = np.longdouble
_HULL_DOTS = 8192
_NOISE = 8 * np.finfo(_WIDE).eps  # of a slope


@dataclass(frozen=True, eq=False)
class GridLoss:
    """Masses of the loss under P at the grid points first·h, (first + 1)·h, …, rounded up."""

    first: int
    masses: FloatArray
    noise: FloatArray  #: how much of each mass is there for rounding only
    widths: FloatArray  #: how far the profile may lie below the dots, at the same points
    infinite: float  #: mass of an infinite loss: failures, and the tail beyond the last point
    failing: float  #: how much of that is certain failure, rounded down

    @property
    def points(self) -> FloatArray:
        """The indices of the grid points, as floats."""
        return np.arange(self.first, self.first + self.masses.size, dtype=np.float64)


def grid_loss(pair: Guarantee, step: float, *, tail: float, swapped: bool = False) -> GridLoss:
    """Connect the dots of the profile of P against Q (of Q against P if swapped), step by step.

    `step` is a float with few digits, so that its multiples are exact. What is more likely than
    `tail` is represented on the grid, the rest counts as an infinite loss.
    """
    atoms = pair._atoms(swapped=swapped)
    if atoms is not None:
        return _split(atoms, step, failing=pair._escape(swapped=swapped))

    def dots(side: bool) -> FloatArray:
        points = max(1, math.ceil(pair._reach(tail, swapped=side) / step))
        return np.arange(points + 1, dtype=np.float64) * step

    right, left = dots(swapped), dots(not swapped)
    if pair._convex:
        return connect(pair, right, left, swapped=swapped)
    # Only the corners of the hull carry mass: connect those, then put them back on the grid.
    right, left = _thinned(right), _thinned(left)
    corners = (
        right[lower_hull(right, pair._band(right, swapped=swapped).upper)],
        left[lower_hull(left, pair._band(left, swapped=not swapped).upper)],
    )
    return _spread(connect(pair, *corners, swapped=swapped), *corners, step)


def _thinned(dots: FloatArray) -> FloatArray:
    """Some thousand of the dots, for a hull that is looked for one by one; fewer are safe too."""
    every = -(-dots.size // _HULL_DOTS)
    return np.append(dots[:-1:every], dots[-1])


def _split(atoms: Atoms, step: float, *, failing: Fraction) -> GridLoss:
    """Move each atom to the two grid points around it, keeping its mass under P and under Q.

    With a mass m at loss l between the points g and g + h, the right one gets
    m·(1 − e^(g−l))/(1 − e^(−h)) and the left one the rest.
    """
    place = np.floor(atoms.losses / step).astype(np.intp)
    right = np.clip(np.expm1(place * step - atoms.losses) / math.expm1(-step), 0.0, 1.0)
    first = int(place.min(initial=0)) - 1
    size = int(place.max(initial=0)) + 3 - first
    masses, noise = np.zeros(size), np.zeros(size)
    # A loss that is off by a little moves mass from the left point to the right one.
    moved = (atoms.rounding + 4 * UNIT * np.abs(atoms.losses)) / step
    for shift, share in ((0, 1 - right), (1, right)):
        np.add.at(masses, place + shift - first, atoms.masses * share * (1 + 8 * UNIT))
        doubt = share * (16 + atoms.units) * UNIT + moved
        np.add.at(noise, place + shift - first, atoms.masses * doubt)
    infinite = round_up(failing)
    return GridLoss(first, masses, noise, np.zeros(size), infinite, round_down(failing))


def _spread(loss: GridLoss, right: FloatArray, left: FloatArray, step: float) -> GridLoss:
    """The same loss with its points among those of the grid."""
    place = np.rint(np.concatenate((-left[:0:-1], right)) / step).astype(np.intp)
    arrays = []
    for values in (loss.masses, loss.noise, loss.widths):
        row = np.zeros(int(place[-1] - place[0]) + 1)
        row[place - place[0]] = values
        arrays.append(row)
    masses, noise, widths = arrays
    return GridLoss(int(place[0]), masses, noise, widths, loss.infinite, loss.failing)


def connect(pair: Guarantee, right: FloatArray, left: FloatArray, *, swapped: bool) -> GridLoss:
    """Connect the dots at the losses `right` and at minus the losses `left`, both from 0 up."""
    over, under = pair._band(right, swapped=swapped), pair._band(left, swapped=not swapped)
    up, down = over.upper.astype(_WIDE), under.upper.astype(_WIDE)
    center = left.size - 1
    masses, noise = np.empty(center + right.size, _WIDE), np.empty(center + right.size, _WIDE)
    # To the right, the profile C falls by C(j) − C(j+1) over a cell of width h; as a slope in
    # e^ε, times the e^ε at the cell's left end, that is s(j). The mass at a point is the change
    # of slope there: e^h·s(j−1) − s(j).
    growth = np.expm1(np.diff(right).astype(_WIDE))
    s = np.append((up[:-1] - up[1:]) / growth, _WIDE(0))
    before = s[:-1] * (1 + growth)
    masses[center + 1 :] = before - s[1:]
    noise[center + 1 :] = before + s[1:]
    # To the left, C(−x) = 1 − e^(−x) + e^(−x)·D(x), with D the profile of the swapped pair: the
    # slope of the last part over a cell is t(i) = (e^h·D(i) − D(i+1))/(e^h − 1). Beyond the
    # last point it is the line to (0, 1).
    growth = np.expm1(np.diff(left).astype(_WIDE))
    t = np.append((down[:-1] - down[1:]) / growth + down[:-1], down[-1])
    below = np.exp(-left[1:].astype(_WIDE))
    masses[:center] = (below * (t[:-1] - t[1:]))[::-1]
    noise[:center] = (below * (t[:-1] + t[1:]))[::-1]
    masses[center] = 1 - s[0] - t[0]
    noise[center] = 1 + s[0] + t[0]
    # Neighbouring slopes are close, so their difference loses digits: the reason for the wide
    # floats. Adding mass only adds to the profile.
    rounding = (_NOISE * noise + 4 * UNIT * np.abs(masses)).astype(np.float64)
    held = np.maximum(masses, 0).astype(np.float64)
    below = np.exp(-left[1:])
    widths = np.concatenate(
        ((below * (under.upper[1:] - under.lower[1:]))[::-1], over.upper - over.lower)
    )
    # Beyond the last point the line is no part of a cell.
    widths[0] += below[-1] * under.upper[-1]
    return GridLoss(
        first=-center,
        masses=held + rounding,
        noise=2 * rounding + np.maximum(-masses, 0).astype(np.float64),
        widths=widths,
        infinite=float(over.upper[-1]),
        failing=round_down(pair._escape(swapped=swapped)),
    )
