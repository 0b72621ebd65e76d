"""Laws with densities on the reals, about whose ratio nothing is known: certified integration.

The line is cut into intervals. Where the densities, enclosed as balls over a whole interval, say
which law is ahead, the two distribution functions give its share exactly; the other intervals are
halved. What is still open in the end, and the tails beyond the window, is bounded by its mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.event import Event
from discreet.auditor.exactly.sides import BITS, Loss, Shown
from discreet.balls import ball, precision

if TYPE_CHECKING:
    from flint import arb

_OUTSIDE = Fraction(1, 10**30)
_FARTHEST = 1 << 200
_OPEN = Fraction(1, 10**22)  # what may stay open
_MOST = 1500

Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Intervals:
    """P against Q, both with `density` (of balls, too) and `cdf`."""

    first: Any
    second: Any

    @property
    def swapped(self) -> Intervals:
        """Q against P."""
        return Intervals(self.second, self.first)

    def hockey(self, x: Fraction) -> arb:
        """The mass of the intervals on which P is ahead, and at most that of the open ones."""
        ahead, still_open = self._split(x)
        with precision(BITS):
            grown, sure, rest = ball(x).exp(), ball(0), ball(0)
            for cell in ahead:
                sure += _mass(self.first, cell) - grown * _mass(self.second, cell)
            for cell in still_open:
                rest += _mass(self.first, cell).max(ball(0))
            low, high = self._window()
            rest += self.first.cdf(low) + (1 - self.first.cdf(high)).max(ball(0))
            return sure.union(sure + rest)

    def event(self, x: Fraction) -> Shown | None:
        """The intervals on which P is ahead for certain."""
        ahead, _ = self._split(x)
        if not ahead:
            return None
        joined = _joined(ahead)
        with precision(BITS):
            first = sum((_mass(self.first, cell) for cell in joined), start=ball(0))
            second = sum((_mass(self.second, cell) for cell in joined), start=ball(0))
        words = " or ".join(f"{float(a):.10g} to {float(b):.10g}" for a, b in joined[:4])
        more = f" or in {len(joined) - 4} further intervals" if len(joined) > 4 else ""
        event = Event(
            f"the output is in {words}{more}",
            lambda output: any(a < output <= b for a, b in joined),
        )
        return Shown(event, first, second)

    def loss(self, above: Fraction) -> Loss:
        """What an event shows: a lower bound, since the tails are not looked at."""
        shown = self.event(above) or self.event(Fraction(0))
        if shown is None:
            whole = self._window()
            event = Event("any output", lambda _: True)
            shown = Shown(event, _mass(self.first, whole), _mass(self.second, whole))
        if shown.second.is_zero():
            return Loss(None, None, shown)
        with precision(BITS):
            return Loss((shown.first / shown.second).log(), None, shown, complete=False)

    @property
    def ends(self) -> Fraction | None:
        """None: of the tails nothing is known."""
        return None

    def kinks(self) -> list[Fraction] | None:
        """None: the hockey stick is smooth."""
        return None

    def renyi(self, order: Fraction) -> arb | None:
        """None: not computed here."""
        return None

    def _split(self, x: Fraction) -> tuple[list[Interval], list[Interval]]:
        """The intervals on which p > e^x·q for certain, and those that are still open."""
        ahead: list[Interval] = []
        with precision(BITS):
            grown = ball(x).exp()
            low, high = self._window()
            # The centres are where densities may have corners: intervals end there.
            ends = sorted({low, high, *(c for c in self._centres() if low < c < high)})
            pending = list(pairwise(ends))
            still_open: list[Interval] = []
            for _ in range(_MOST):
                if not pending:
                    break
                cell = pending.pop()
                place = ball(cell[0]).union(ball(cell[1]))
                p, q = self.first.density(place), self.second.density(place)
                if p > grown * q:
                    ahead.append(cell)
                elif not p <= grown * q:
                    if _mass(self.first, cell) < ball(_OPEN):
                        still_open.append(cell)
                    else:
                        middle = (cell[0] + cell[1]) / 2
                        pending = [(middle, cell[1]), (cell[0], middle), *pending]
        return ahead, still_open + pending

    def _centres(self) -> list[Fraction]:
        return [Fraction(law.center) for law in (self.first, self.second) if hasattr(law, "center")]

    def _window(self) -> Interval:
        """Where all but 10⁻³⁰ of both laws lies."""
        with precision(BITS):
            low, high = Fraction(-1), Fraction(1)
            for law in (self.first, self.second):
                while low > -_FARTHEST and not law.cdf(low) < ball(_OUTSIDE):
                    low *= 2
                while high < _FARTHEST and not 1 - law.cdf(high) < ball(_OUTSIDE):
                    high *= 2
            return low, high


def _mass(law: Any, cell: Interval) -> arb:
    mass: arb = law.cdf(cell[1]) - law.cdf(cell[0])
    return mass


def _joined(cells: list[Interval]) -> list[Interval]:
    """Neighbouring intervals as one."""
    joined: list[Interval] = []
    for start, end in sorted(cells):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
