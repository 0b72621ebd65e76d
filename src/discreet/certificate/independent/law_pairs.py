"""The two laws that a mechanism's output has at worst, with one person and without.

For each pair: the largest loss, the ρ and the μ² that it takes from an account, and the tail of
its privacy loss L = log P/Q under P, from which compositions are computed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil, floor, isqrt
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from discreet.certificate.independent.reals import above, real, total
from discreet.lazy import cached_property
from discreet.numeric.balls import precision

if TYPE_CHECKING:
    from flint import arb


# -- pairs -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shift:
    """Discrete Laplace noise, P(k) ∝ r^|k| with r = e^(−ε/n), moved by n whole steps."""

    epsilon: Fraction
    steps: int

    @property
    def rate(self) -> Fraction:
        """1/scale, in steps."""
        return self.epsilon / self.steps

    def rho(self) -> arb:
        """The Kullback-Leibler divergence b·(E|K − n| − E|K|), by first moments.

        K is symmetric, so E|K − n| = n + 2·E(K − n)⁺, and P(K ≥ j) = r^j/(1 + r) makes
        E(K − n)⁺ = r^(n+1)/(1 − r²). That no order α has a larger D_α/α than α → 1 is a theorem
        (Harrison and Manurangsi 2026); the tests look at many.
        """
        b = real(self.rate)
        r = (-b).exp()
        return real(self.epsilon) - 2 * b * r * -(-real(self.epsilon)).expm1() / -(-2 * b).expm1()

    def mu(self) -> arb:
        """The largest z(a) + z(b) over corners of the trade-off curve (Dong, Roth and Su 2022).

        "Up to m" has the false-alarm rate P(K ≤ m − n) = r^(n−m)/(1 + r) and misses
        P(K > m) = r^(m+1)/(1 + r): a·b is the same for all m, and the middle decides.
        """
        n, b = self.steps, self.rate
        both = 1 + (-real(b)).exp()
        found = [
            _z((-real((n - m) * b)).exp() / both) + _z((-real((m + 1) * b)).exp() / both)
            for m in {(n - 1) // 2, n // 2}
        ]
        return max(found, key=float)

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """P(L ≥ x), or P(L > x): output k ≤ n loses (n − 2k)·b, and k < 0 as much as 0."""
        n, at = self.steps, (self.steps - x / self.rate) / 2
        m = ceil(at) - 1 if strict else floor(at)
        if m < 0:
            return real(0)
        if m >= n:
            return real(1)
        return 1 - (-real((m + 1) * self.rate)).exp() / (1 + (-real(self.rate)).exp())


@dataclass(frozen=True)
class Normal:
    """Gaussian noise moved by μ standard deviations; given by μ², which adds up."""

    square: Fraction

    def rho(self) -> Fraction:
        """D_α = α·μ²/2 between two normal laws."""
        return self.square / 2

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """L is normal with mean μ²/2 and variance μ²."""
        return ((real(x) - real(self.square / 2)) / real(2 * self.square).sqrt()).erfc() / 2

    def delta(self, x: Fraction) -> arb:
        """The profile itself: Φ(μ/2 − x/μ) − e^x·Φ(−μ/2 − x/μ) (Balle and Wang 2018)."""
        mean, width = real(self.square / 2), real(2 * self.square).sqrt()
        over = ((real(x) - mean) / width).erfc() / 2
        return over - real(x).exp() * ((real(x) + mean) / width).erfc() / 2


@dataclass(frozen=True)
class LossRange:
    """A choice whose losses lie in an interval of length ε: two losses, t and t − ε, at worst.

    With y = e^((x−ε)/2) the largest profile over all t is (1 − y)²/(1 − e^(−ε)), at t = (x + ε)/2.
    """

    epsilon: Fraction

    def rho(self) -> arb:
        """The largest Kullback-Leibler divergence t − ε·(e^t − 1)/(e^ε − 1), at e^t = (e^ε − 1)/ε;
        that no order α has more is a theorem (Cesar and Rogers 2021)."""
        e = real(self.epsilon)
        grown = e.expm1()
        return (grown / e).log() - 1 + e / grown

    def mu(self) -> arb:
        """The corner at t = ε/2 has a = b = 1/(1 + e^(ε/2))."""
        return 2 * _z(1 / (1 + real(self.epsilon / 2).exp()))

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """δ − δ′ of the profile: (1 − y)/(1 − e^(−ε)), from 1 at −ε to 0 at ε, without atoms."""
        if x >= self.epsilon:
            return real(0)
        if x <= -self.epsilon:
            return real(1)
        return real((x - self.epsilon) / 2).expm1() / (-real(self.epsilon)).expm1()


@dataclass(frozen=True)
class BinaryResponse:
    """Randomized response with odds e^ε, the worst of all that is ε-private; and with chance
    `failing` everything is revealed (Kairouz, Oh and Viswanath 2015)."""

    epsilon: Fraction
    failing: Fraction = Fraction(0)

    def rho(self) -> arb:
        """Its Kullback-Leibler divergence ε·tanh(ε/2); no order has more."""
        return real(self.epsilon) * real(self.epsilon / 2).tanh()

    def mu(self) -> arb:
        """One corner, a = b = 1/(1 + e^ε)."""
        return 2 * _z(1 / (1 + real(self.epsilon).exp()))

    def tail(self, x: Fraction, *, strict: bool) -> arb:
        """Losses ε and −ε, the first with probability 1/(1 + e^(−ε)); `failing` is kept apart."""
        e = self.epsilon
        if x > e or (strict and x == e):
            return real(0)
        if x < -e or (not strict and x == -e):
            return real(1)
        return 1 / (1 + (-real(e)).exp())


Pair: TypeAlias = Shift | Normal | LossRange | BinaryResponse
Counted: TypeAlias = tuple[Pair, int]  # and how often


def _z(p: arb) -> arb:
    """Φ⁻¹(1 − p)"""
    return real(2).sqrt() * (2 * p).erfcinv()


# -- composition: δ at an ε, from both sides -------------------------------------------------------
# The privacy losses of independent pairs add up. Each loss is rounded to a grid, up for an upper
# bound and down for a lower one, and its probability to an integer multiple of 2⁻¹²⁸, likewise.
# Sums of losses are then products of integer polynomials, which `flint` multiplies exactly. With
# masses m_j at the losses j·h,
#
#     δ(ε) = Σ_j m_j·(1 − e^(ε − j·h))⁺ + what is beyond the grid or fails outright,
#
# and as every term grows with the losses, rounding up and down gives bounds on both sides. (Meiser
# and Mohammadi 2018 compose this way.)


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


class ComposedLaws:
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

    failing = pair.failing if isinstance(pair, BinaryResponse) else Fraction(0)
    if isinstance(pair, BinaryResponse) and not up:
        # It stands for all that is ε-private. The least that is certain of these: a failure is
        # seen, and nothing otherwise. That loses log(1 − f) ≥ −f/(1 − f).
        rest = Fraction(1) - failing
        mass = floor(rest * 2**_BITS)
        return Masses(-ceil(failing / rest / h), flint.fmpz_poly([mass]), failing)
    low = floor(-_reach(pair) / h)
    atoms = not isinstance(pair, Normal | LossRange)
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
