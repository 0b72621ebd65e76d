"""The profile of a composition as a table, for when it is read many times.

A search for an attacker's best test and a picture read δ at hundreds of places. A composition
is convolved anew where its grid is not fine enough for one, which costs most where δ is 1e-40
or next to 1 and of no interest. So it is read at some places, down to `tail`; in between, chords
are upper bounds, for every profile is convex in e^ε.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from discreet.guarantees.composition import Composition
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.sampled import OneWay
from discreet.numeric.exact import Number, number, round_up

_PLACES = 128
_WIDE = 100.0  # a profile that extends beyond this stays near 1 for long
_NEARLY_ONE = Fraction(999, 1000)

Table = tuple[list[float], list[float]]


@dataclass(frozen=True)
class Tabulated:
    """Upper bounds on the profile of a guarantee, exact for all but compositions.

    `tail` is a δ that the profile gets below, so it is above the chance of failing outright.

    >>> from discreet.guarantees import GDP, LaplacePair, compose
    >>> both = compose([LaplacePair(epsilon=1), GDP(mu=1)])
    >>> near = Tabulated(both, tail=Fraction(1, 10**6))
    >>> 1 <= near.delta(1) / both.delta(1) < 1.001, round(near.delta(100), 9)
    (True, 1e-06)
    """

    guarantee: Guarantee
    tail: Fraction
    _tables: dict[bool, Table] = field(default_factory=dict, init=False, repr=False)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at this δ."""
        return self.guarantee.epsilon(delta)

    def delta(self, epsilon: Number) -> float:
        """δ at this ε (any real number), or a bound on it."""
        x, g = number(epsilon, name="epsilon"), self._tabled
        if g is None:
            return self.guarantee.delta(x)
        if x >= 0:
            return max(_chord(self._table(g, side), float(x)) for side in g._sides)
        # δ(x) = 1 − e^x·(1 − δ′(−x)), with δ′ the profile of the swapped pair
        other = max(_chord(self._table(g, not side), float(-x)) for side in g._sides)
        return min(1.0, 1 - math.exp(x) * (1 - other) + 2**-50)

    @property
    def places(self) -> list[float]:
        """Where a composition was read, in the order that goes farther; nothing for others."""
        g = self._tabled
        return [] if g is None else max((self._table(g, s)[0] for s in g._sides), key=max)

    @property
    def _tabled(self) -> Composition | None:
        g = self.guarantee
        return g if isinstance(g, Composition) and g._closed is None else None

    def _table(self, composition: Composition, swapped: bool) -> Table:
        swapped = swapped and not composition._symmetric
        if swapped not in self._tables:
            self._tables[swapped] = self._read(composition, swapped)
        return self._tables[swapped]

    def _read(self, composition: Composition, swapped: bool) -> Table:
        reading = composition._reading(swapped)
        far = reading.bracket(self.tail)[1]
        if far == 0 or math.isinf(far):  # it never increases, so δ(0) bounds it everywhere
            return [0.0], [reading.delta(Fraction(0))]
        start = reading.bracket(_NEARLY_ONE)[0] if far > _WIDE else 0.0
        places = np.linspace(start, far, _PLACES)[:-1].tolist()
        deltas = [reading.delta(Fraction(x)) for x in places]
        if start > 0:
            places, deltas = [0.0, *places], [1.0, *deltas]
        return [*places, far], [*deltas, round_up(self.tail)]


def _chord(table: Table, x: float) -> float:
    """The bound at x ≥ 0: linear in e^x between places, constant after the last."""
    places, deltas = table
    after = bisect_right(places, x)
    if after == len(places):
        return deltas[-1]
    left, right = places[after - 1], places[after]
    share = math.expm1(x - right) / math.expm1(left - right)
    # The float x may be a little off, and the share with it.
    bound = (share * deltas[after - 1] + (1 - share) * deltas[after]) * (1 + 2**-40)
    return min(bound, deltas[after - 1])


def failing(guarantee: Guarantee) -> Fraction:
    """The chance of failing outright, in the worse order; parts fail independently.

    >>> from discreet.guarantees import Approx
    >>> failing(Approx(epsilon=1, delta="1/10").repeat(2))
    Fraction(19, 100)
    """
    if isinstance(guarantee, GroupPrivacy):
        return Fraction(failing(guarantee.single) > 0)  # for a group it grows beyond any bound
    if not isinstance(guarantee, Composition):
        sides = (False,) if isinstance(guarantee, OneWay) else (False, True)
        return max(guarantee._escape(swapped=side) for side in sides)
    safe = Fraction(1)
    for part, count in guarantee.parts:
        one = failing(part)
        # An exact power is long, and (1 − p)^k ≥ 1 − k·p: beyond some length that must do.
        long = count * max(1, one.denominator.bit_length()) > 10**5
        safe *= max(Fraction(0), 1 - count * one) if long else (1 - one) ** count
    return 1 - safe
