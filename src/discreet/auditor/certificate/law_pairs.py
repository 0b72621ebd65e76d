"""The two laws that a mechanism's output has at worst, with one person and without.

For each pair: the largest loss, the ρ and the μ that it takes from an account, and the tail of its
privacy loss L = log P/Q under P, from which compositions are computed. Closed forms, since a
certificate may hold thousands of them; the tests hold them against the laws themselves.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, isqrt
from typing import Any, Final, TypeAlias

from discreet.errors import Refused
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, lower_fraction, precision, upper_fraction

_LONGEST: Final = 2**19  # bits of a common denominator


def total(terms: Iterable[Fraction]) -> Fraction:
    """The exact sum; refused if its denominator grows too long, as that of forged numbers may."""
    found = Fraction(0)
    for term in terms:
        found += term
        if found.denominator.bit_length() > _LONGEST:
            raise Refused("numbers that have too long a common denominator to add them up")
    return found


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
        b = ball(self.rate)
        r = (-b).exp()
        return ball(self.epsilon) - 2 * b * r * -(-ball(self.epsilon)).expm1() / -(-2 * b).expm1()

    def mu(self) -> arb:
        """The largest z(a) + z(b) over corners of the trade-off curve (Dong, Roth and Su 2022).

        "Up to m" has the false-alarm rate P(K ≤ m − n) = r^(n−m)/(1 + r) and misses
        P(K > m) = r^(m+1)/(1 + r): a·b is the same for all m, and the middle decides.
        """
        n, b = self.steps, self.rate
        both = 1 + (-ball(b)).exp()
        found = [
            _z((-ball((n - m) * b)).exp() / both) + _z((-ball((m + 1) * b)).exp() / both)
            for m in {(n - 1) // 2, n // 2}
        ]
        return max(found, key=float)

    def tail(self, x: Fraction) -> arb:
        """P(L ≥ x): output k ≤ n loses (n − 2k)·b, and k < 0 as much as 0."""
        m = floor((self.steps - x / self.rate) / 2)
        if not 0 <= m < self.steps:
            return ball(int(m >= 0))
        return 1 - (-ball((m + 1) * self.rate)).exp() / (1 + (-ball(self.rate)).exp())


@dataclass(frozen=True)
class Normal:
    """Gaussian noise moved by μ standard deviations; given by μ², which adds up."""

    square: Fraction

    def tail(self, x: Fraction) -> arb:
        """L is normal with mean μ²/2 and variance μ²."""
        return ((ball(x) - ball(self.square / 2)) / ball(2 * self.square).sqrt()).erfc() / 2


@dataclass(frozen=True)
class LossRange:
    """A choice whose losses lie in an interval of length ε: two losses, t and t − ε, at worst.

    With y = e^((x−ε)/2) the largest profile over all t is (1 − y)²/(1 − e^(−ε)), at t = (x + ε)/2.
    """

    epsilon: Fraction

    def rho(self) -> arb:
        """The largest Kullback-Leibler divergence t − ε·(e^t − 1)/(e^ε − 1), at e^t = (e^ε − 1)/ε;
        that no order α has more is a theorem (Cesar and Rogers 2021)."""
        e = ball(self.epsilon)
        grown = e.expm1()
        return (grown / e).log() - 1 + e / grown

    def mu(self) -> arb:
        """The corner at t = ε/2 has a = b = 1/(1 + e^(ε/2))."""
        return 2 * _z(1 / (1 + ball(self.epsilon / 2).exp()))

    def tail(self, x: Fraction) -> arb:
        """δ − δ′ of the profile: (1 − y)/(1 − e^(−ε)), from 1 at −ε to 0 at ε, without atoms."""
        if abs(x) >= self.epsilon:
            return ball(int(x < 0))
        return ball((x - self.epsilon) / 2).expm1() / (-ball(self.epsilon)).expm1()


@dataclass(frozen=True)
class BinaryResponse:
    """Randomized response with odds e^ε, the worst of all that is ε-private; and with chance
    `failing` everything is revealed (Kairouz, Oh and Viswanath 2015)."""

    epsilon: Fraction
    failing: Fraction = Fraction(0)
    #: of discovered keys: the chances of being shown without and with one more person
    coins: tuple[tuple[Fraction, Fraction], ...] = field(default=(), compare=False)

    def rho(self) -> arb:
        """Its Kullback-Leibler divergence ε·tanh(ε/2); no order has more."""
        return ball(self.epsilon) * ball(self.epsilon / 2).tanh()

    def mu(self) -> arb:
        """One corner, a = b = 1/(1 + e^ε)."""
        return 2 * _z(1 / (1 + ball(self.epsilon).exp()))

    def tail(self, x: Fraction) -> arb:
        """Losses ε and −ε, the first with probability 1/(1 + e^(−ε)); `failing` is kept apart."""
        if abs(x) > self.epsilon or x == -self.epsilon:
            return ball(int(x < 0))
        return 1 / (1 + (-ball(self.epsilon)).exp())


Pair: TypeAlias = Shift | Normal | LossRange | BinaryResponse
Pairs: TypeAlias = Counter[Pair]  # and how often


def _z(p: arb) -> arb:
    """Φ⁻¹(1 − p)"""
    return ball(2).sqrt() * (2 * p).erfcinv()


def largest_loss(pairs: Pairs) -> Fraction | None:
    """The sum of the largest losses; None where one is unbounded."""
    if any(isinstance(pair, Normal) for pair in pairs):
        return None
    return total(pair.epsilon * n for pair, n in pairs.items())  # type: ignore[union-attr]


def chance_to_fail(pairs: Pairs) -> Fraction:
    """The sum of the chances to reveal everything."""
    return total(pair.failing * n for pair, n in pairs.items() if isinstance(pair, BinaryResponse))


def square_sum(pairs: Pairs) -> Fraction:
    """The sum of μ² over Gaussian pairs, which is what they compose to."""
    return total(pair.square * n for pair, n in pairs.items() if isinstance(pair, Normal))


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

    def times(self, other: Masses, *, up: bool) -> Masses:
        """Two independent losses, added."""
        import flint

        more = (1 << _BITS) - 1 if up else 0
        whole = (self.poly * other.poly).coeffs()
        # Either may lie beyond the grid: at most the sum, and at least 1 − (1 − a)(1 − b).
        both = self.beyond + other.beyond - (0 if up else self.beyond * other.beyond)
        poly = flint.fmpz_poly([(int(c) + more) >> _BITS for c in whole])
        return Masses(self.start + other.start, poly, both)


class ComposedLaws:
    """All pairs of a release, as one."""

    def __init__(self, pairs: Pairs) -> None:
        self.counts = Counter[Pair]({p: n for p, n in pairs.items() if not isinstance(p, Normal)})
        if squares := square_sum(pairs):
            self.counts[Normal(squares)] = 1
        self.pieces = self.counts.total()

    def bounds(self, epsilon: Fraction) -> tuple[Fraction, Fraction]:
        """At most and at least δ at this ε, where neighbours are as far apart as they may be."""
        down, up = (self._delta(masses, epsilon) for masses in self._masses)
        return lower_fraction(down), upper_fraction(up)

    @cached_property
    def step(self) -> Fraction:
        """h, so that all sums of losses fit on the grid: a short number, rounded up."""
        needed = 2 * total(_reach(p) * n for p, n in self.counts.items()) / _CELLS
        fine = Fraction(2) ** (64 - needed.numerator.bit_length() + needed.denominator.bit_length())
        return Fraction(ceil(needed * fine)) / fine

    @cached_property
    def _masses(self) -> tuple[Masses, Masses]:
        """The losses of all pairs together, rounded down and rounded up."""
        import flint

        nothing = Masses(0, flint.fmpz_poly([1 << _BITS]), Fraction(0))
        whole = [nothing, nothing]
        for pair, count in self.counts.items():
            for place, one in enumerate(_on_grid(pair, self.step)):
                left = count
                while left:  # by repeated squaring
                    if left & 1:
                        whole[place] = whole[place].times(one, up=bool(place))
                    left >>= 1
                    one = one.times(one, up=bool(place)) if left else one
        return whole[0], whole[1]

    def _delta(self, masses: Masses, epsilon: Fraction) -> arb:
        held = masses.poly.coeffs()
        first = max(0, floor(epsilon / self.step) + 1 - masses.start)

        with precision(_BITS + 64):
            found, unit = ball(masses.beyond), ball(Fraction(1, 1 << _BITS))
            ratio = (-ball(self.step)).exp()
            left = ball(epsilon - (masses.start + first) * self.step).exp()  # e^(ε − loss)
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


def _on_grid(pair: Pair, h: Fraction) -> tuple[Masses, Masses]:
    """The loss of one pair, rounded down and up to multiples of h."""
    import flint

    failing = pair.failing if isinstance(pair, BinaryResponse) else Fraction(0)
    low, high = floor(-_reach(pair) / h), ceil(_reach(pair) / h)
    with precision(_BITS + 64):
        # P(loss at least j·h): a cell is what lies between two of them.
        tails = [pair.tail(j * h) for j in range(low, high + 1)]
        weight = ball((1 - failing) * 2**_BITS)
        cells = [(a - b) * weight for a, b in pairwise(tails)]
        beyond = max(upper_fraction(tails[-1]), Fraction(0))
        rounded_up = [_units(cell.upper(), up=True) for cell in ((1 - tails[0]) * weight, *cells)]
        up = Masses(low, flint.fmpz_poly(rounded_up), failing + (1 - failing) * beyond)
        if isinstance(pair, BinaryResponse):
            # It stands for all that is ε-private. The least that is certain of these: a failure is
            # seen, and nothing otherwise. That loses log(1 − f) ≥ −f/(1 − f).
            mass = flint.fmpz_poly([floor((1 - failing) * 2**_BITS)])
            return Masses(-ceil(failing / (1 - failing) / h), mass, failing), up
        rounded_down = [_units(cell.lower(), up=False) for cell in (*cells, tails[-1] * weight)]
        return Masses(low, flint.fmpz_poly(rounded_down), failing), up


def _units(end: arb, *, up: bool) -> int:
    """An exact ball rounded to an integer, 0 or above."""
    mantissa, exponent = (int(part) for part in end.man_exp())
    if exponent >= 0:
        return max(0, mantissa << exponent)
    return max(0, -(-mantissa >> -exponent) if up else mantissa >> -exponent)
