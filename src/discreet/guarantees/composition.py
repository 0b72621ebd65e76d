"""Several mechanisms on the same people, accounted together.

A fixed list of mechanisms, each of whose questions may depend on the answers before, is
dominated by the product of their pairs (Zhu, Dong and Wang 2022, Theorem 10), so the privacy
losses add up as independent random numbers. For a list that is not fixed beforehand see
`Filter`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from discreet.balls import ball
from discreet.errors import LooseBound, Refused
from discreet.exact import Number, number, round_up
from discreet.guarantees import attacker
from discreet.guarantees.approx import Approx
from discreet.guarantees.bands import Band, FloatArray
from discreet.guarantees.binomial import MOST_RUNS, repeated_pure
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.convolution.reading import DEFAULT_TOLERANCE, Parts, Reading, Start
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.profile import HalfProfile, just_below, unit_interval
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import OneWay
from discreet.guarantees.total_variation import TotalVariation
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

    from discreet.guarantees.near import Near

_FARTHEST = Fraction(10**300)  # δ never increases, so reading it here is safe
_SHOWN = 5  # parts in a repr
_SMALL = 1e-100
_LARGE = 1e4  # a loss beyond which nothing is promised, and which no grid should hold
_FAINT = Fraction(1, 10**9)  # searches need not look at a smaller δ


@dataclass(frozen=True, repr=False)
class Composition(Guarantee):
    """Guarantees that hold together: pairs of a guarantee and how often it was used.

    Made by `dp.compose` and `g.repeat`, which check and merge its ``parts``, those pairs. Answers
    come with both bounds: `bracket` gives them, `epsilon` and `delta` are the upper ones. The grid
    is refined until the bracket is within ``tolerance`` (relative; 0.001 unless given) or
    ``memory`` bytes are in use (1 GiB unless given); where that is not reached, the answer is still
    an upper bound, and a `LooseBound` warning says how loose it is.

    >>> from discreet.guarantees import LaplacePair, compose
    >>> both = compose([LaplacePair(epsilon=1), LaplacePair(epsilon=0.5)])
    >>> lower, upper = both.bracket(0.01)
    >>> round(lower, 4), round(upper, 4)
    (1.46, 1.46)
    """

    parts: tuple[tuple[Guarantee, int], ...]
    tolerance: float | None = field(default=None, compare=False)
    memory: int = field(default=2**30, compare=False)
    _starts: Mapping[bool, Start] = field(default_factory=dict, compare=False)
    _readings: dict[bool, Reading] = field(default_factory=dict, compare=False, init=False)

    def __repr__(self) -> str:
        shown = [f"{count} × {g!r}" for g, count in self.parts[:_SHOWN]]
        more = len(self.parts) - len(shown)
        return f"Composition({', '.join(shown)}{f', and {more} more' if more else ''})"

    # -- reading ---------------------------------------------------------------------------------

    def delta(self, epsilon: Number) -> float:
        """δ at ``epsilon`` (any real number), rounded up."""
        if self._closed is not None:
            return super().delta(epsilon)
        x = min(number(epsilon, name="epsilon"), _FARTHEST)
        if self._largest is not None and x >= self._largest:
            return 0.0
        if self._failing > Fraction(999_999, 10**6):
            return 1.0
        if not self._moderate:
            return self._added_delta(x)
        if x >= 0:
            return self._largest_delta(x, self._sides)
        # δ(x) = 1 − e^x + e^x·δ′(−x)
        other = self._largest_delta(-x, [not swapped for swapped in self._sides])
        return min(1.0, math.nextafter(-math.expm1(x) + math.exp(x) * other, 2) * (1 + 2**-50))

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 found for ``delta``, rounded up; infinite if there is none."""
        return self.bracket(delta)[1]

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``."""
        target = unit_interval(delta, name="delta")
        if self._closed is not None:
            upper = super().epsilon(target)
            return just_below(upper), upper
        if target == 0:
            # Largest losses that are not exact were rounded up, by an ulp each.
            whole = self._most * (1 - 2.0**-48)
            least = max(g.bracket(0)[0] for g, _ in self.parts)
            return (whole if self._symmetric else least), self._most
        if target < self._failing:
            return math.inf, math.inf
        lower, upper = 0.0, 0.0
        for swapped in self._sides if self._moderate else ():
            low, high = self._reading(swapped).bracket(target, enough=lower)
            lower, upper = max(lower, low), max(upper, high)
        if math.isinf(upper) or not self._moderate or lower == 0 < upper:
            least, most = self._added_up(target)
            lower, upper = max(lower, least), min(most, upper if self._moderate else most)
        upper = min(self._most, upper)
        self._check_gap(min(lower, upper), upper)
        return min(lower, upper), upper

    def _added_up(self, target: Fraction) -> tuple[float, float]:
        """The plain bounds: at least the ε of each part, at most their sum with δ divided among
        them (Dwork and Lei 2009)."""
        share, total = target / len(self.parts), 0.0
        for g, count in self.parts:
            total += count * g.epsilon(share / count)
        least = max(g.bracket(target)[0] for g, _ in self.parts)
        return least, total * (1 + len(self.parts) * 2.0**-51)

    def _added_delta(self, x: Fraction) -> float:
        """δ at x by adding up: bounded parts get their largest loss, the others equal shares."""
        bounded = sum((n * largest_loss(g) for g, n in self.parts if g._bounded), Fraction(0))
        others = [(g, n) for g, n in self.parts if not g._bounded]
        runs = sum(n for _, n in others)
        if x <= bounded:  # no event gains more than the total variations add up to
            total = min(Fraction(1), sum((Fraction(g.tv) * n for g, n in self.parts), Fraction(0)))
            # For x < 0, 1 − e^x·(1 − δ(0)) is above the profile.
            kept = math.exp(min(x, Fraction(0))) * float(1 - total) * (1 - 2**-50)
            return min(1.0, round_up(1 - Fraction(kept)))
        added = sum((Fraction(g.delta((x - bounded) / runs)) * n for g, n in others), Fraction(0))
        return min(1.0, round_up(added))

    def _check_gap(self, lower: float, upper: float) -> None:
        """Say so where the bracket is wider than asked for."""
        tolerance = DEFAULT_TOLERANCE if self.tolerance is None else self.tolerance
        if upper > lower * (1 + tolerance):
            helps = (
                f"give a delta above {round_up(self._failing):.6g}, the probability with which "
                "parts fail outright"
                if self._failing and math.isinf(upper)
                else f"compose(..., memory=) above {self.memory / 2**20:.0f} MiB may help"
            )
            warnings.warn(
                f"epsilon is at most {upper:.6g}, but the lower bound is {lower:.6g}, "
                f"{upper - lower:.1g} less: the tolerance of {tolerance:g} was not reached; "
                f"{helps}",
                LooseBound,
                stacklevel=4,
            )

    @cached_property
    def _moderate(self) -> bool:
        """Whether the losses are of a size that floats can convolve."""
        return _SMALL < max(g._extent for g, _ in self.parts) < _LARGE

    def _largest_delta(self, x: Fraction, sides: Sequence[bool]) -> float:
        found = 0.0
        for swapped in sides:
            found = max(found, self._reading(swapped).delta(x, enough=found))
        return found

    def tradeoff(self, false_alarm_rate: Number) -> float:
        """The best hit rate of any attacker with this ``false_alarm_rate``, rounded up."""
        return attacker.best_hit_rate(
            self.delta, false_alarm_rate, largest=self._most, search=self._near.delta
        )

    def posterior(self, prior: Number, event_probability: Number = 0) -> float:
        """The most that a belief of ``prior`` in a fact about one person can become.

        For every single output if ``event_probability`` is 0, as it is if left out; else for every
        event of at least this probability.
        """
        return attacker.posterior(self, prior, event_probability, search=self._near.delta)

    @cached_property
    def _near(self) -> Near:
        """The profile as a table, to search in."""
        from discreet.guarantees.near import Near

        return Near(self, tail=min(Fraction(1), self._failing + _FAINT))

    @property
    def _sides(self) -> tuple[bool, ...]:
        """The orders of the neighbours to look at; one, if they are alike."""
        return (False,) if len(self._orders) == 1 else (False, True)

    def _reading(self, swapped: bool) -> Reading:
        if self._symmetric:
            swapped = False
        if swapped not in self._readings:
            self._readings[swapped] = Reading(
                self.parts, swapped, self.tolerance, self.memory, self._starts.get(swapped)
            )
        return self._readings[swapped]

    @staticmethod
    def of(
        counts: dict[Guarantee, int],
        tolerance: float | None,
        memory: int,
        starts: Mapping[bool, Start],
    ) -> Composition:
        """Compose guarantees by how often each is used: `dp.compose`, without its checks.

        ``counts`` is that number for each guarantee. ``starts`` are grids of a shorter composition
        to go on from (`followed_by`); an empty dict for none.
        """
        made = Composition(tuple(counts.items()), tolerance, memory, starts)
        made.__dict__["counts"] = counts  # hashed once; thousands of fractions take their time
        return made

    @cached_property
    def counts(self) -> dict[Guarantee, int]:
        """How often each guarantee was used; copied, not changed, by a longer composition."""
        return dict(self.parts)

    def followed_by(self, more: Parts) -> Mapping[bool, Start]:
        """What a composition with more parts can start from."""
        starts = {side: (held, between + more) for side, (held, between) in self._starts.items()}
        return {**starts, **{side: (held, more) for side, held in self._readings.items()}}

    # -- the pair ----------------------------------------------------------------------------------

    @cached_property
    def _symmetric(self) -> bool:
        return all(g._symmetric for g, _ in self.parts)

    @property
    def _bounded(self) -> bool:
        return all(g._bounded for g, _ in self.parts)

    @cached_property
    def _failing(self) -> Fraction:
        """The chance that some part fails outright, rounded down: no ε has a smaller δ."""
        safe = min(
            sum(count * g._log_safe[side] for g, count in self.parts) for side in self._sides
        )
        return Fraction(max(0.0, -math.expm1(safe) * (1 - 1e-9)))

    @cached_property
    def _largest(self) -> Fraction | None:
        """The sum of the largest losses; None if one of them is infinite."""
        if not self._bounded:
            return None
        return sum((count * largest_loss(g) for g, count in self.parts), Fraction(0))

    @property
    def _most(self) -> float:
        return math.inf if self._largest is None else round_up(self._largest)

    @cached_property
    def _orders(self) -> tuple[tuple[HalfProfile, HalfProfile], ...]:
        if any(type(g) is OneWay for g, _ in self.parts):
            return ((self._over, self._under),)
        return super()._orders

    @cached_property
    def _closed(self) -> tuple[Fraction, HalfProfile, HalfProfile] | None:
        """The chance that nothing fails outright, and the profiles of the rest, where there is
        a formula for them: runs under one pure ε, or a single guarantee."""
        epsilon, runs, safe, alone = Fraction(0), 0, Fraction(1), None
        for g, count in self.parts:
            match g:
                case TotalVariation(t):
                    safe *= (1 - t) ** count if count <= MOST_RUNS else 1
                    e = epsilon
                case Approx(e, d):
                    safe, runs = safe * (1 - d) ** min(count, MOST_RUNS), runs + count
                case Pure(e) | ResponsePair(e, 2) | LaplacePair(e, 1):
                    runs += count
                case _ if alone is None and count == 1:
                    alone, e = g, epsilon
                case _:
                    return None
            if count > MOST_RUNS or runs > MOST_RUNS or epsilon not in (0, e):
                return None
            epsilon = e
        if alone is None:
            profile = partial(repeated_pure, epsilon, runs)
            return safe, profile, profile
        return None if runs and epsilon else (safe, alone._over, alone._under)

    def _over(self, x: Fraction) -> arb:
        return self._formula(x, swapped=False)

    def _under(self, x: Fraction) -> arb:
        return self._formula(x, swapped=True)

    def _formula(self, x: Fraction, *, swapped: bool) -> arb:
        if self._closed is None:
            raise Refused("a composition is read through `delta` and `epsilon`")
        safe, over, under = self._closed
        return 1 - ball(safe) * (1 - (under if swapped else over)(x))

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        raise Refused("compose the parts, not their composition")

    # -- what follows ------------------------------------------------------------------------------

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together: the composition of what each part promises."""
        from discreet.guarantees.compose import compose

        groups = [g.group(k).repeat(count) for g, count in self.parts]
        return compose(groups, tolerance=self.tolerance, memory=self.memory)


def largest_loss(guarantee: Guarantee) -> Fraction:
    """The multiplicative distance of a bounded guarantee: exact, or rounded up."""
    match guarantee:
        case Pure(e) | LaplacePair(e, _) | ResponsePair(e, _) | BoundedRange(e) | Approx(e, _):
            return e
        case _:
            return Fraction(guarantee.epsilon(0))
