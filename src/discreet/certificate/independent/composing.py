"""What pairs of laws tell together: δ at an ε, from both sides.

The privacy losses of independent pairs add up. Each loss is rounded to a grid, up for an upper
bound and down for a lower one, and its probability to an integer multiple of 2⁻¹²⁸, likewise. Sums
of losses are then products of integer polynomials, which `flint` multiplies exactly. With masses
m_j at the losses j·h,

    δ(ε) = Σ_j m_j·(1 − e^(ε − j·h))⁺ + what is beyond the grid or fails outright,

and as every term grows with the losses, rounding up and down gives bounds on both sides.
(Meiser and Mohammadi 2018 compose so.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, isqrt
from typing import TYPE_CHECKING, Any, Final

from discreet.balls import precision
from discreet.certificate.independent.pairs import Counted, Normal, Pair, Range, Response
from discreet.certificate.independent.reals import above, real, total
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

_CELLS: Final = 4096
_BITS: Final = 128
_FAR: Final = 10  # standard deviations of a normal loss: beyond lies less than 1e-23
MOST_PIECES: Final = 1000  # beyond, rounding to this grid says too little


@dataclass(frozen=True)
class Masses:
    """Integer masses at losses (start + j)·h, and what lies above all of them."""

    start: int
    poly: Any  # fmpz_poly
    beyond: Fraction


class Together:
    """All pairs of a release, as one."""

    def __init__(self, pairs: Sequence[Counted]) -> None:
        counts: Counter[Pair] = Counter()
        for pair, count in pairs:
            if not isinstance(pair, Normal):
                counts[pair] += count
        # normal losses compose to a normal loss
        squares = total(pair.square * n for pair, n in pairs if isinstance(pair, Normal))
        self.normal = Normal(squares) if squares else None
        if self.normal:
            counts[self.normal] = 1
        self.counts = counts
        self.pieces = sum(counts.values())

    def upper(self, epsilon: Fraction) -> arb:
        """At least δ at this ε."""
        return self._delta(self._up, epsilon)

    def lower(self, epsilon: Fraction) -> arb:
        """At most δ at this ε, where neighbours are as far apart as they may be."""
        return self._delta(self._down, epsilon)

    @cached_property
    def step(self) -> Fraction:
        """h, so that all sums of losses fit on the grid: a short number, rounded up."""
        needed = 2 * total(_reach(p) * n for p, n in self.counts.items()) / _CELLS
        fine = Fraction(2) ** (64 - needed.numerator.bit_length() + needed.denominator.bit_length())
        return Fraction(ceil(needed * fine)) / fine

    @cached_property
    def _up(self) -> Masses:
        return self._composed(up=True)

    @cached_property
    def _down(self) -> Masses:
        return self._composed(up=False)

    def _composed(self, *, up: bool) -> Masses:
        import flint

        whole = Masses(0, flint.fmpz_poly([1 << _BITS]), Fraction(0))
        for pair, count in self.counts.items():
            one = _on_grid(pair, self.step, up=up)
            while count:  # by repeated squaring
                if count & 1:
                    whole = _product(whole, one, up=up)
                count >>= 1
                one = _product(one, one, up=up) if count else one
        return whole

    def _delta(self, masses: Masses, epsilon: Fraction) -> arb:
        held = masses.poly.coeffs()
        first = max(0, floor(epsilon / self.step) + 1 - masses.start)

        with precision(_BITS + 64):
            found, unit = real(masses.beyond), real(Fraction(1, 1 << _BITS))
            ratio = (-real(self.step)).exp()
            left = real(epsilon - (masses.start + first) * self.step).exp()  # e^(ε − loss)
            for mass in held[first:]:
                found += mass * unit * (1 - left)
                left *= ratio
            return found


def _reach(pair: Pair) -> Fraction:
    """How large a loss is put on the grid."""
    if isinstance(pair, Normal):
        fine = 2**20
        return pair.square / 2 + _FAR * Fraction(isqrt(ceil(pair.square * fine**2)) + 1, fine)
    return pair.epsilon


def _on_grid(pair: Pair, h: Fraction, *, up: bool) -> Masses:
    """The loss of one pair, rounded up or down to multiples of h."""
    import flint

    failing = pair.failing if isinstance(pair, Response) else Fraction(0)
    if isinstance(pair, Response) and not up:
        # It stands for all that is ε-private, of which the least that is certain: what fails
        # outright is seen, and else nothing is. That loses log(1 − f) ≥ −f/(1 − f).
        rest = Fraction(1) - failing
        mass = floor(rest * 2**_BITS)
        return Masses(-ceil(failing / rest / h), flint.fmpz_poly([mass]), failing)
    low = floor(-_reach(pair) / h)
    atoms = not isinstance(pair, Normal | Range)
    with precision(_BITS + 64):
        # P(loss above j·h), or at least j·h: a cell is what lies between two of them.
        tails = _tails(pair, h, strict=up and atoms)
        weight = real((1 - failing) * 2**_BITS)
        between = [a - b for a, b in pairwise(tails)]
        if up:
            cells = [((1 - tails[0]) * weight), *(cell * weight for cell in between)]
            masses = [_units(cell.upper(), up=True) for cell in cells]
            beyond = failing + (1 - failing) * max(above(tails[-1]), Fraction(0))
        else:
            cells = [*(cell * weight for cell in between), tails[-1] * weight]
            masses = [_units(cell.lower(), up=False) for cell in cells]
            beyond = failing
    return Masses(low, flint.fmpz_poly([max(mass, 0) for mass in masses]), beyond)


@lru_cache(maxsize=4)
def _tails(pair: Pair, h: Fraction, *, strict: bool) -> list[arb]:
    reach = _reach(pair)
    cells = range(floor(-reach / h), ceil(reach / h) + 1)
    return [pair.tail(j * h, strict=strict) for j in cells]


def _units(end: arb, *, up: bool) -> int:
    """An exact ball rounded to an integer."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    if exponent >= 0:
        return mantissa << exponent
    return -(-mantissa >> -exponent) if up else mantissa >> -exponent


def _product(a: Masses, b: Masses, *, up: bool) -> Masses:
    """Two independent losses, added."""
    import flint

    more = (1 << _BITS) - 1 if up else 0
    poly = flint.fmpz_poly([(int(c) + more) >> _BITS for c in (a.poly * b.poly).coeffs()])
    # Either may lie beyond the grid: at most the sum, and at least 1 − (1 − a)(1 − b).
    both = a.beyond + b.beyond - (0 if up else a.beyond * b.beyond)
    return Masses(a.start + b.start, poly, both)
