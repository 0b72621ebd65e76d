"""Several true facts about one mechanism: the least of their profiles, point by point."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import InvalidArgument
from discreet.guarantees.bands import Band, FloatArray
from discreet.guarantees.composition import Composition
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.sampled import OneWay

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class Least(Guarantee):
    """All of the ``facts``, guarantees, hold for the same mechanism, so at each ε the best does.

    Composed, it stands for the lower convex envelope of that in e^ε, below which the true
    profile must lie.

    >>> from discreet.guarantees import Approx, Pure
    >>> g = Least([Pure(epsilon=2), Approx(epsilon=0.5, delta=0.01)])
    >>> round(g.delta(0.5), 6), g.delta(2), g.epsilon(0)
    (0.01, 0.0, 2.0)
    """

    facts: tuple[Guarantee, ...]

    def __init__(self, facts: Iterable[Guarantee]) -> None:
        held = tuple(dict.fromkeys(facts))
        if not held or not all(isinstance(g, Guarantee) for g in held):
            raise InvalidArgument(
                name="facts",
                expected="one or more guarantees of the same mechanism",
                given=InvalidArgument.describe_parameter(facts),
            )
        if any(isinstance(g, Composition | OneWay) for g in held):
            raise InvalidArgument(
                name="facts",
                expected="guarantees of a single run, in both orders of the neighbours",
                given="a composition or one order",
                hint="combine the facts of each run first, then compose",
            )
        object.__setattr__(self, "facts", held)

    def __repr__(self) -> str:
        return f"Least([{', '.join(map(repr, self.facts))}])"

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together: the least of what each fact promises."""
        return Least(g.group(k) for g in self.facts)

    @property
    def _symmetric(self) -> bool:
        return all(g._symmetric for g in self.facts)

    @property
    def _bounded(self) -> bool:
        return any(g._bounded for g in self.facts)

    @property
    def _convex(self) -> bool:
        return len(self.facts) == 1 and self.facts[0]._convex

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return min(g._escape(swapped=swapped) for g in self.facts)

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        # The fact that gets down to the least limit, and of those the first to do so.
        least = float(self._escape(swapped=swapped)) + tail
        return min(
            g._reach(tail, swapped=swapped)
            for g in self.facts
            if float(g._escape(swapped=swapped)) <= least
        )

    def _over(self, x: Fraction) -> arb:
        return reduce(lambda a, b: a.min(b), (g._over(x) for g in self.facts))

    def _under(self, x: Fraction) -> arb:
        return reduce(lambda a, b: a.min(b), (g._under(x) for g in self.facts))

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        bands = [g._band(x, swapped=swapped) for g in self.facts]
        return Band(
            np.min([band.lower for band in bands], axis=0),
            np.min([band.upper for band in bands], axis=0),
        )
