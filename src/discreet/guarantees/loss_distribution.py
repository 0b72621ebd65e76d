"""Any two laws, compared: multiplicative distance, hockey-stick divergence, total variation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from discreet.errors import InvalidArgument
from discreet.exact import Number, integer
from discreet.guarantees.bands import Atoms, Band, FloatArray
from discreet.guarantees.densities import LogDensity, cut
from discreet.guarantees.grouped import Grouped
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.outcomes import Outcomes, read_outcomes
from discreet.guarantees.profile import epsilon_at, group_size, just_below, unit_interval
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, repr=False)
class LossDistribution(Guarantee):
    """What it takes to tell two given laws apart, whichever of them comes first.

    Made by `from_laws`. For continuous laws there are two tables of outcomes: a ``pessimistic``
    one, which is a little too easy to tell apart, and an ``optimistic`` one, which is a little too
    hard; `bracket` reads both, everything else the first.

    >>> g = LossDistribution.from_laws([0.5, 0.5], [0.25, 0.75])
    >>> g.tv, g.delta(0.5)
    (0.25, 0.08781968232496797)
    >>> g.epsilon(0)                       # the multiplicative distance, log 2
    0.6931471805599454
    """

    pessimistic: Outcomes
    optimistic: Outcomes

    @staticmethod
    def from_laws(
        p: ArrayLike | Sequence[Number] | LogDensity,
        q: ArrayLike | Sequence[Number] | LogDensity,
        *,
        support: tuple[float, float] | None = None,
        cells: int = 4096,
    ) -> LossDistribution:
        """Compare two laws ``p`` and ``q`` of the output, one for each of two neighbours.

        Both are arrays, with the probabilities of the same outcomes in the same order, or both
        are log densities. Arrays are exact: the floats or fractions given are the probabilities,
        and what they lack to 1 beyond rounding counts as failure. Log densities are functions of
        an array of reals, over a ``support`` of two floats, infinite ones included. They are
        integrated numerically, over so many ``cells`` of the support: more cells make the bracket
        narrower and take longer in proportion. The answer is as good as that: it is meant for laws
        this package does not know.

        >>> import numpy as np
        >>> def laplace(shift):
        ...     return lambda x: -np.abs(x - shift) - np.log(2)
        >>> g = LossDistribution.from_laws(laplace(0), laplace(1), support=(-np.inf, np.inf))
        >>> round(g.tv, 5), round(g.epsilon(0), 9)         # 1 − e^(−1/2), and Δ/b
        (0.39347, 1.0)
        """
        if callable(p) and callable(q) and support is not None:
            count = integer(cells, name="cells", minimum=1)
            rough, smooth = cut(p, q, support=_interval(support), cells=count)
            return LossDistribution(rough, smooth)
        if callable(p) or callable(q) or support is not None:
            raise InvalidArgument(
                name="p and q",
                expected="two arrays, or two functions together with support=(lower, upper)",
                given="a mix of them",
            )
        outcomes = read_outcomes(p, q)
        return LossDistribution(outcomes, outcomes)

    def __repr__(self) -> str:
        return f"LossDistribution({len(self.pessimistic.pairs)} outcomes)"

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``, from the two tables."""
        upper = self.epsilon(delta)
        if self.optimistic is self.pessimistic:
            return just_below(upper), upper
        tables = (self.optimistic, self.optimistic.swapped)
        if unit_interval(delta, name="delta") == 0:
            lower = max(table.largest_loss for table in tables)
        else:
            orders = [(table.profile, table.profile) for table in tables]
            lower = epsilon_at(orders, delta, bounded=True)
        return min(just_below(lower), upper), upper

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at ``delta``, rounded up; at 0 the multiplicative distance."""
        if unit_interval(delta, name="delta") > 0:
            return super().epsilon(delta)
        largest = max(table.largest_loss for table in self._tables)
        return max(0.0, largest)

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together, if these laws are the worst neighbours."""
        return self if group_size(k) == 1 else Grouped(self, k)

    @cached_property
    def _mirrored(self) -> bool:
        """Whether exchanging the laws only renames the outcomes, so that both orders agree."""
        return Counter(self.pessimistic.pairs) == Counter(self.pessimistic.swapped.pairs)

    @property
    def _tables(self) -> tuple[Outcomes, Outcomes]:
        return self.pessimistic, self.pessimistic.swapped

    @property
    def _convex(self) -> bool:
        return self._mirrored or self.optimistic is not self.pessimistic

    @property
    def _bounded(self) -> bool:
        return all(table.failing == 0 for table in self._tables)

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return max(table.failing for table in self._tables)

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return max(table.largest_finite_loss for table in self._tables) * (1 + 2.0**-40)

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        exact = self.optimistic is self.pessimistic and self._mirrored
        return self.pessimistic.atoms if exact else None

    def _over(self, x: Fraction) -> arb:
        # Which law is the one with the person may change from run to run: take the larger.
        first, second = (table.profile(x) for table in self._tables)
        return first.max(second)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        above = [table.band(x) for table in self._tables]
        below = above
        if self.optimistic is not self.pessimistic:
            below = [self.optimistic.band(x), self.optimistic.swapped.band(x)]
        return Band(
            np.maximum(below[0].lower, below[1].lower), np.maximum(above[0].upper, above[1].upper)
        )


def _interval(support: tuple[float, float]) -> tuple[float, float]:
    lower, upper = (float(end) for end in support)
    if not lower < upper:
        raise InvalidArgument(
            name="support", expected="a pair (lower, upper), lower below upper", given=str(support)
        )
    return lower, upper
