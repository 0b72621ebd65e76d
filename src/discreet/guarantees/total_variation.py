"""Total variation stability: no event's probability moves by more than t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.guarantees.document import NUMBER, named
from discreet.guarantees.guarantee import Guarantee, group_size, unit_interval
from discreet.hints import spelled
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import Atoms, Band, FloatArray, atoms, ends
from discreet.numeric.exact import Number


@dataclass(frozen=True, init=False, repr=False)
class TotalVariation(Guarantee):
    """TV stability, the weakest notion here: it allows releasing one person in 1/t outright.

    ``tv`` is t, from 0 to 1: how much likelier any event can be made by one person. Its profile is
    t for every ε ≥ 0: nothing better holds when the mechanism may fail.

    >>> promise = TotalVariation(tv=0.25)
    >>> promise.delta(0), promise.delta(100)
    (0.25, 0.25)
    >>> promise.epsilon(0.25), promise.epsilon(0.2)
    (0.0, inf)
    >>> promise.group(8)
    TotalVariation(tv=Fraction(1, 1))
    """

    kind = "total variation"
    fields = named(tv=NUMBER)
    small = True

    tv0: Fraction  #: the promised distance, exact

    @spelled
    def __init__(self, tv: Number) -> None:
        object.__setattr__(self, "tv0", unit_interval(tv, name="tv"))

    def epsilon(self, delta: Number) -> float:
        """0 where ``delta`` is t or more, infinite below."""
        return 0.0 if unit_interval(delta, name="delta") >= self.tv0 else math.inf

    def group(self, k: int) -> TotalVariation:
        """What is promised to k people together: k·t by the triangle inequality."""
        return TotalVariation(min(Fraction(1), self.tv0 * group_size(k)))

    @property
    def _point(self) -> tuple[Fraction, Fraction]:
        return Fraction(0), self.tv0

    @property
    def _bounded(self) -> bool:
        return self.tv0 == 0

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return self.tv0

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return 0.0

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        return atoms([0.0], [ends(1 - self.tv0)[1]])

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        return ball(self.tv0)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        low, high = ends(self.tv0)
        return Band(np.full_like(x, low), np.full_like(x, high))
