"""A promise that holds except with a small probability, in which anything may happen."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.guarantees.document import GUARANTEE, NUMBER, named
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import Guarantee, group_size, unit_interval
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import Band, FloatArray, ends, widen
from discreet.numeric.exact import Number


@dataclass(frozen=True, init=False, repr=False)
class Failing(Guarantee):
    """What `base` promises, but for a failure of probability `chance`: chance + (1 − chance)·δ.

    One mechanism, not two: for a group the failure counts as an (ε, δ) does, and grows with
    e^ε, unlike that of a mechanism of its own.

    >>> from discreet.guarantees import GDP
    >>> Failing(GDP(mu=1), chance=0.01).delta(100)
    0.01
    """

    kind = "failing"
    fields = named(base=GUARANTEE, chance=NUMBER)

    base: Guarantee
    chance: Fraction

    def __init__(self, base: Guarantee, chance: Number) -> None:
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "chance", unit_interval(chance, name="chance"))

    def __repr__(self) -> str:
        return f"Failing({self.base!r}, chance={self.chance!r})"

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together."""
        return self if group_size(k) == 1 else GroupPrivacy(self, k)

    @property
    def _symmetric(self) -> bool:
        return self.base._symmetric

    @property
    def _bounded(self) -> bool:
        return self.chance == 0 and self.base._bounded

    @property
    def _convex(self) -> bool:
        return self.base._convex

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return self.chance + (1 - self.chance) * self.base._escape(swapped=swapped)

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return self.base._reach(tail, swapped=swapped)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        return ball(self.chance) + ball(1 - self.chance) * self.base._over(x, swapped=swapped)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        base, (low, high) = self.base._band(x, swapped=swapped), ends(self.chance)
        return widen(low + (1 - low) * base.lower, high + (1 - high) * base.upper, units=8)
