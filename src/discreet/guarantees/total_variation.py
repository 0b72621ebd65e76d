"""Total variation stability: no event's probability moves by more than t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.exact import Number
from discreet.guarantees.profile import delta_at, group_size, unit_interval

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class TotalVariation:
    """TV stability, the weakest notion here: it allows releasing one person in 1/t outright.

    >>> promise = TotalVariation(tv=0.25)
    >>> promise.delta(0), promise.delta(100)
    (0.25, 0.25)
    >>> promise.epsilon(0.25), promise.epsilon(0.2)
    (0.0, inf)
    >>> promise.group(8)
    TotalVariation(tv=Fraction(1, 1))
    """

    tv0: Fraction  #: the promised distance, exact

    def __init__(self, tv: Number) -> None:
        object.__setattr__(self, "tv0", unit_interval(tv, name="tv"))

    def __repr__(self) -> str:
        return f"TotalVariation(tv={self.tv0!r})"

    def delta(self, epsilon: Number) -> float:
        """t for every ε ≥ 0, rounded up: nothing better holds when the mechanism may fail."""
        return delta_at(self._profile, epsilon)

    def epsilon(self, delta: Number) -> float:
        """0 from δ = t on, infinite below."""
        return 0.0 if unit_interval(delta, name="delta") >= self.tv0 else math.inf

    @property
    def tv(self) -> float:
        """t, rounded up."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """Hit rate minus false-alarm rate of the best attacker: the total variation."""
        return self.tv

    def group(self, k: int) -> TotalVariation:
        """What is promised to k people together: k·t by the triangle inequality."""
        return TotalVariation(min(Fraction(1), self.tv0 * group_size(k)))

    def _profile(self, x: Fraction) -> arb:
        return ball(self.tv0)
