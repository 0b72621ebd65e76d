"""Laws whose ratio is monotone: the best events are half-lines, read from the two tails.

Shifts of a log-concave noise have a monotone ratio, rounding to a common grid keeps it monotone
(a cell's ratio is an average of ratios), and so has the exponential family of cut normal laws.
Positions are whole: outcome = position·step on a grid; on the reals, cells of 2⁻⁵⁶ of the shift.
"""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

from discreet.auditor.exact.known_laws import is_noise
from discreet.auditor.exact.sides import BITS, Loss, ShownEvent, TwoLaws, at_least, at_most
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, precision, upper_fraction

_FARTHEST = 1 << 40  # in units of the shift or of the noise: nothing is left there
_NEGLIGIBLE = Fraction(1, 1 << 60_000)


class HalfLines(TwoLaws):
    """P against Q, laws of one shape with the ratio P/Q falling away from P's side."""

    @property
    def kind(self) -> str:
        """The name of the noise, if both laws are of one shape; "mixture" otherwise."""
        both = is_noise(self.first) and is_noise(self.second)
        return str(self.first.shape[0]) if both else "mixture"

    @property
    def _real(self) -> bool:
        return not hasattr(self.first, "step")

    @property
    def _low(self) -> bool:
        """Whether P is the law on the low side: then its events are {output ≤ cut}."""
        return bool(self.first.center < self.second.center)

    @property
    def _step(self) -> Fraction:
        if not self._real:
            return Fraction(self.first.step)
        return Fraction(abs(self.first.center - self.second.center)) / (1 << 56)

    def _outcome(self, position: int) -> Fraction:
        """The outcome this many steps from P's centre towards Q, on the grid."""
        start, step = Fraction(self.first.center), self._step
        if not self._real:
            start = floor(start / step) * step
        y = start + position * step if self._low else start - position * step
        low, high = getattr(self.first, "interval", (y, y))
        return min(max(y, low), high)

    def _up_to(self, law: Any, position: int) -> arb:
        """The probability of all outcomes from P's far side up to this position."""
        y = self._outcome(position)
        share: arb = law.cdf(y) if self._low else law.above(y)
        return share

    def _ratio(self, position: int) -> tuple[arb, arb]:
        y = self._outcome(position)
        if self._real:
            return self.first.density(y), self.second.density(y)
        return self.first.mass(y), self.second.mass(y)

    def _ends(self) -> tuple[int, int]:
        """Positions between which everything is decided."""
        interval = getattr(self.first, "interval", None)
        if interval is not None:
            towards = self._step if self._low else -self._step
            places = [floor((end - self._outcome(0)) / towards) for end in interval]
            return min(places), max(places)
        spread = abs(self.second.center - self.first.center) + self._size
        reach = int(_FARTHEST * spread / self._step) + 1
        return -reach, reach

    @property
    def _size(self) -> Fraction:
        for name in ("scale", "sigma"):
            if hasattr(self.first, name):
                return Fraction(getattr(self.first, name))
        return Fraction(float(self.first.variance) ** 0.5)

    def _cut(self, x: Fraction) -> int | None:
        """The last position at which p > e^x·q for certain; None if there is none worth a look."""
        with precision(BITS):
            grown = ball(x).exp()

            def favours(position: int) -> bool:
                p, q = self._ratio(position)
                return bool(p > grown * q)

            bottom, top = self._ends()
            width = max(1, int(self._size / self._step))
            if not favours(0 if bottom <= 0 <= top else bottom):
                low, high = 0, 0
                while not favours(low):
                    if low <= bottom or self._up_to(self.first, low) < ball(_NEGLIGIBLE):
                        return None
                    high, low = low, max(bottom, low - width)
                    width *= 2
            else:
                low = max(bottom, 0)
                high = min(top, low + width)
                while favours(high):
                    if high >= top:
                        return high
                    low, high = high, min(top, high + width)
                    width *= 2
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (middle, high) if favours(middle) else (low, middle)
            return low

    def hockey(self, x: Fraction) -> arb:
        """P(E) − e^x·Q(E) for the best half-line E, and what ties beyond the cut may add."""
        if self.ends is not None and x >= self.ends:
            return ball(0)
        cut = self._cut(x)
        with precision(BITS):
            if cut is None:  # no outcome is favoured before the law is all but exhausted
                left = self._up_to(self.first, self._ends()[0])
                return ball(0).union(left.max(ball(_NEGLIGIBLE)))
            grown = ball(x).exp()
            value = self._up_to(self.first, cut) - grown * self._up_to(self.second, cut)
            # Beyond the cut the ratio is at most that of the next position (on the reals, of the
            # cut for one more cell), so Σ (p − e^x·q)⁺ ≤ (1 − e^x·q/p)⁺ · P(beyond).
            y = self._outcome(cut + 1)
            beyond = self.first.above(y) if self._low else self.first.cdf(y)
            extra = self._tie(cut + 1, grown) * beyond
            if self._real:
                inside = self._up_to(self.first, cut + 1) - self._up_to(self.first, cut)
                extra += self._tie(cut, grown) * inside
            return value.union(value + extra.max(ball(0)))

    def _tie(self, position: int, grown: arb) -> arb:
        p, q = self._ratio(position)
        if not p > 0:
            return ball(0)
        return (1 - grown * q / p).max(ball(0)).union(ball(0))

    def event(self, x: Fraction) -> ShownEvent | None:
        """The half-line up to the cut."""
        cut = self._cut(x)
        return None if cut is None else self._shown(cut)

    def _shown(self, position: int) -> ShownEvent:
        y = self._outcome(position)
        event = at_most(y) if self._low else at_least(y)
        return ShownEvent(
            event, self._up_to(self.first, position), self._up_to(self.second, position)
        )

    @property
    def limit(self) -> Fraction | None:
        """The exact supremum of the log ratio, where the shape has one: shift/scale."""
        # From half a step outside both centres on, the ratio is that of the tails.
        if self.kind in ("DiscreteLaplace", "RealLaplace", "RoundedLaplace"):
            shift: Fraction = abs(self.first.center - self.second.center) / self.first.scale
            return shift
        return None

    @cached_property
    def ends(self) -> Fraction | None:
        """That supremum, or a little more; None where there is none."""
        if hasattr(self.first, "interval"):
            with precision(BITS):
                p, q = self._ratio(self._ends()[0])
                return max(Fraction(0), upper_fraction((p / q).log()))
        return self.limit

    def loss(self, above: Fraction) -> Loss:
        """The log ratio at P's end: exact for Laplace noise, unbounded for normal noise."""
        if (limit := self.limit) is not None:
            return Loss(ball(limit), limit, self._shown(-int(2 * self._size / self._step)))
        bottom = self._ends()[0]
        if hasattr(self.first, "interval"):
            with precision(BITS):
                p, q = self._ratio(bottom)
                # A half-line that starts at the end, short enough to have nearly its ratio.
                short = bottom + (self._ends()[1] - bottom >> 20)
                return Loss((p / q).log(), None, self._shown(short))
        shown = self.event(above)
        if self.kind in ("RealGaussian", "RoundedGaussian"):
            return Loss(None, None, shown or self._shown(bottom))
        # The tails of other noise say nothing: what an event shows is a lower bound.
        shown = shown or self._shown(0)
        with precision(BITS):
            return Loss((shown.first / shown.second).log(), None, shown, complete=False)

    def renyi(self, order: Fraction) -> arb | None:
        """log Σ p^order·q^(1 − order) for normal and Laplace laws on the reals; None for others.

        With α the order and s = shift/σ or shift/scale it is α(α − 1)s²/2 for normal laws, and
        log((α·e^((α−1)s) + (α − 1)·e^(−αs))/(2α − 1)) for Laplace laws (Mironov 2017).
        """
        with precision(BITS):
            if self.kind == "RealGaussian":
                shift = self.first.center - self.second.center
                return ball(order * (order - 1) * shift**2 / (2 * self.first.variance))
            if self.kind != "RealLaplace" or self.limit is None:
                return None
            grows, falls = ball((order - 1) * self.limit).exp(), ball(-order * self.limit).exp()
            whole: arb = ball(order) * grows + ball(order - 1) * falls
            return (whole / ball(2 * order - 1)).log()

    def divergence(self) -> arb:
        """The Kullback-Leibler divergence of Laplace laws on the reals: s − 1 + e^(−s)."""
        assert self.limit is not None
        with precision(BITS):
            return ball(self.limit - 1) + ball(-self.limit).exp()
