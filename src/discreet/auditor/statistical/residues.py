"""Residues, digits and bits of whole numbers: what wide noise does not hide.

3k + x with wide noise k looks like any wide noise, but modulo 3 it is x. Which residues tell two
inputs apart is looked for among many; that is no test, which has outputs of its own. Numbers on a
grid, such as cents or multiples of 2⁻²⁰, are whole numbers in units of the grid.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet.auditor.region import FloatArray
from discreet.auditor.statistical.bits import lowest_bit

ALL: Final = range(2, 1025)
# Each number up to 64 divides one of these, and a difference modulo 3 is one modulo 33 too.
COARSE: Final = range(33, 65)

_FEW = 128  # values that are cells of their own show their residues anyway
_LONGEST = 2.0**62  # whole numbers that are looked at are below
_CERTAIN = 2.0**48  # steps that a grid of floats has and floats at random have not
_DECIMALS = 12
_DIGIT, _BITS = 10, 16  # moduli of what is left when digits or bits are dropped

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Residue:
    """⌊y·per/step⌋ modulo a number."""

    per: float  #: steps of the grid in 1
    modulus: int
    step: int = 1  #: digits or bits below are dropped

    def __call__(self, y: FloatArray) -> Integers:
        """The residue of each number; −1 for what has none."""
        whole, known = _whole(y, self.per)
        return np.where(known, whole // self.step % self.modulus, -1)

    def named(self, name: str) -> str:
        scaled = name if self.per == 1 else f"{_factor(self.per)} · {name}"
        dropped = scaled if self.step == 1 else f"⌊{scaled} / {self.step}⌋"
        return f"{dropped} modulo {self.modulus}"


def telling_residues(
    first: FloatArray, other: FloatArray, moduli: Sequence[int]
) -> list[tuple[float, Residue]]:
    """Residues by how far two samples differ in them, in standard errors, most first."""
    both = np.concatenate([first, other])
    per = _steps(both[np.isfinite(both)])
    if per is None:
        return []
    a, b = (whole[known] for whole, known in (_whole(side, per) for side in (first, other)))
    z = np.concatenate([a, b])
    if not (a.size and b.size) or len(np.unique(z)) <= _FEW:
        return []
    # In units of what all differences share; and beside the moduli, the step of each side by
    # itself, however large it is.
    own = [int(np.gcd.reduce(side - side[0])) for side in (a, b)]
    unit = math.gcd(*own, int(a[0]) - int(b[0]))
    steps = (z - z[0]) // unit
    most = int(np.abs(steps).max())
    tried = {*(m for m in moduli if m <= most), *(g // unit for g in own if g > unit)}
    found = [(_apart(steps % m, len(a)), Residue(per, unit * m)) for m in sorted(tried)]
    for base, modulus in ((10, _DIGIT), (2, _BITS)):
        dropped = base
        while dropped <= unit * most:
            residue = Residue(per, modulus, dropped)
            found.append((_apart(z // dropped % modulus, len(a)), residue))
            dropped *= base
    found.sort(key=lambda one: -one[0])
    return found


def lattices_apart(first: FloatArray, other: FloatArray) -> FloatArray:
    """For each column, how surprising it is that the outputs of one input all share a residue that
    those of both do not: minus the logarithm of the chance, or 0."""
    rows = np.vstack([first, other])
    looked_at = np.all((rows == np.rint(rows)) & (np.abs(rows) < _LONGEST), axis=0)
    z = np.where(looked_at, rows, 0.0).astype(np.int64)
    sides = z[: len(first)], z[len(first) :]
    own = [np.gcd.reduce(side - side[0], axis=0) for side in sides]
    shared = np.maximum(1, np.gcd(np.gcd(*own), sides[0][0] - sides[1][0]))
    surprise = [
        np.count_nonzero(side != side[0], axis=0) * np.log(np.maximum(1, step / shared))
        for side, step in zip(sides, own, strict=True)
    ]
    found: FloatArray = np.maximum(*surprise)
    return found


def _apart(cells: Integers, n: int) -> float:
    """χ² of the first n against the others beyond its mean, in units of its standard deviation."""
    size = int(cells.max()) + 1
    if size > len(cells):
        cells, size = np.unique(cells, return_inverse=True)[1], len(cells)
    p, q = np.bincount(cells[:n], minlength=size), np.bincount(cells[n:], minlength=size)
    share = math.sqrt((len(cells) - n) / n)
    together = p + q
    squares = (share * p - q / share) ** 2 / np.maximum(together, 1)
    free = max(1, int(np.count_nonzero(together)) - 1)
    return float(squares.sum() - free) / math.sqrt(2 * free)


def _whole(y: FloatArray, per: float) -> tuple[Integers, NDArray[np.bool_]]:
    """The nearest step of the grid, and whether it is one of those that are looked at."""
    with np.errstate(all="ignore"):
        steps = np.rint(y * per)
        known = np.abs(steps) < _LONGEST
    return np.where(known, steps, 0.0).astype(np.int64), known


def _steps(y: FloatArray) -> float | None:
    """How many steps of the grid that these lie on make 1; None if they lie on none."""
    if np.array_equal(y, np.rint(y)):
        return 1.0
    y = y[y != 0]
    largest = float(np.abs(y).max())
    lowest = int(lowest_bit(y).min())
    binary = math.ldexp(1.0, min(-lowest, 1023))
    if largest * binary < _CERTAIN:
        return binary
    for decimal in (10.0**digits for digits in range(1, _DECIMALS + 1)):
        if largest * decimal >= _CERTAIN:
            break
        scaled = y * decimal
        if np.all(np.abs(scaled - np.rint(scaled)) <= 2.0**-50 * np.abs(scaled)):
            return decimal
    return binary if largest * binary < _LONGEST else None


def _factor(per: float) -> str:
    return f"{per:.0f}" if per % 10 == 0 else f"2^{math.frexp(per)[1] - 1}"
