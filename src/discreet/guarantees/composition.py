"""Several guarantees together: of several mechanisms on the same people, or of one mechanism.

A fixed list of mechanisms, each of whose questions may depend on earlier answers, is dominated
by the product of their pairs (Zhu, Dong and Wang 2022, Theorem 10), so the privacy losses add
up as independent random numbers. For a list that is not fixed beforehand see `Filter`. Where
several facts hold for one mechanism, the best of them counts at each ε: see `Least`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial, reduce
from math import ceil
from typing import TypeAlias, TypeVar

import numpy as np

from discreet.errors import InvalidArgument, LooseBound, Refused
from discreet.guarantees import convolution
from discreet.guarantees.approx import Approx
from discreet.guarantees.convolution import Curve, GridPlan, Spectrum, grid_loss
from discreet.guarantees.document import GUARANTEE, GUARANTEES, WHOLE, Kind, named
from discreet.guarantees.guarantee import (
    Guarantee,
    HalfProfile,
    N,
    Profile,
    best_hit_rate,
    just_below,
    unit_interval,
)
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.notion import Notion
from discreet.guarantees.pure import MOST_RUNS, Pure, repeated_pure
from discreet.guarantees.randomized_response import ResponsePair
from discreet.guarantees.sampled import OneWay
from discreet.guarantees.total_variation import TotalVariation
from discreet.hints import spelled
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball
from discreet.numeric.bands import Band, FloatArray
from discreet.numeric.exact import Number, integer, number, positive_float, round_up
from discreet.numeric.short_fractions import bound_up

T = TypeVar("T")

_FARTHEST = Fraction(10**300)  # δ never increases, so reading it here is safe
_SHOWN = 5  # parts in a repr
_SMALL_LOSS = 1e-100
_LARGE_LOSS = 1e4  # a loss beyond which nothing is promised, and which no grid should hold
_FAINT_DELTA = Fraction(1, 10**9)  # searches need not look at a smaller δ


def _read_parts(value: object, name: str, depth: int) -> tuple[tuple[Guarantee, int], ...]:
    expected = "a list of pairs [guarantee, how often], one at least"
    if not isinstance(value, list) or not value:
        raise InvalidArgument.of(name, expected, value)
    parts = []
    for pair in value:
        if not isinstance(pair, list) or len(pair) != 2:
            raise InvalidArgument.of(name, expected, pair)
        part = GUARANTEE.read(pair[0], name, depth)
        if isinstance(part, Composition):
            raise InvalidArgument(name, "pairs of a single mechanism", "a composition in one")
        parts.append((part, WHOLE.read(pair[1], name, depth)))
    compose(part for part, _ in parts)  # refuses orders of the neighbours that do not go together
    return tuple(parts)


_PARTS = Kind(lambda parts: [[GUARANTEE.write(g), count] for g, count in parts], _read_parts)


@dataclass(frozen=True, repr=False)
class Composition(Guarantee):
    """Guarantees that hold together: pairs of a guarantee and how often it was used.

    Made by `dp.compose` and `g.repeat`, which check and merge these pairs, its ``parts``. Answers
    come with both bounds: `bracket` gives them; `epsilon` and `delta` are the upper ones. The grid
    is refined until the bracket is within ``tolerance`` (relative; 0.001 unless given) or
    ``memory`` bytes are in use (1 GiB unless given); where that is not reached, the answer is still
    an upper bound, and a `LooseBound` warning says how loose it is.

    >>> from discreet.guarantees import LaplacePair, compose
    >>> both = compose([LaplacePair(epsilon=1), LaplacePair(epsilon=0.5)])
    >>> lower, upper = both.bracket(0.01)
    >>> round(lower, 4), round(upper, 4)
    (1.46, 1.46)
    """

    kind = "composition"
    fields = named(parts=_PARTS)

    parts: tuple[tuple[Guarantee, int], ...]
    tolerance: float | None = field(default=None, compare=False)
    memory: int = field(default=2**30, compare=False)
    _starts: Mapping[bool, Start] = field(default_factory=dict, compare=False)
    _readings: dict[bool, ComposedProfile] = field(default_factory=dict, compare=False, init=False)

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
        bounded = sum((n * g._largest_loss for g, n in self.parts if g._bounded), Fraction(0))
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
        """Warn if the bracket is wider than asked for."""
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
        return _SMALL_LOSS < max(g._extent for g, _ in self.parts) < _LARGE_LOSS

    def _largest_delta(self, x: Fraction, sides: Sequence[bool]) -> float:
        found = 0.0
        for swapped in sides:
            found = max(found, self._reading(swapped).delta(x, enough=found))
        return found

    def tradeoff(self, false_alarm_rate: Number) -> float:
        """The best hit rate of any attacker with this ``false_alarm_rate``, rounded up."""
        return best_hit_rate(self.delta, false_alarm_rate, largest=self._most, search=self._search)

    @cached_property
    def _search(self) -> Profile:
        from discreet.guarantees.tabulated import Tabulated

        return Tabulated(self, tail=min(Fraction(1), self._failing + _FAINT_DELTA)).delta

    @property
    def _sides(self) -> tuple[bool, ...]:
        """The orders of the neighbours to look at; one, if they are alike."""
        return (False,) if len(self._orders) == 1 else (False, True)

    def _reading(self, swapped: bool) -> ComposedProfile:
        if self._symmetric:
            swapped = False
        if swapped not in self._readings:
            self._readings[swapped] = ComposedProfile(
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
        made.__dict__["counts"] = counts  # hashed once: thousands of fractions are slow to hash
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
        return sum((count * g._largest_loss for g, count in self.parts), Fraction(0))

    @property
    def _most(self) -> float:
        return math.inf if self._largest is None else round_up(self._largest)

    @cached_property
    def _orders(self) -> tuple[tuple[HalfProfile, HalfProfile], ...]:
        if any(type(g) is OneWay for g, _ in self.parts):
            return super()._orders[:1]
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
        return None if runs and epsilon else (safe, alone._over, partial(alone._over, swapped=True))

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        if self._closed is None:
            raise Refused("a composition is read through `delta` and `epsilon`")
        safe, over, under = self._closed
        return 1 - ball(safe) * (1 - (under if swapped else over)(x))

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        raise Refused("compose the parts, not their composition")

    def _above(self, x: FloatArray, *, swapped: bool) -> FloatArray:
        return np.array([self.delta(float(point)) for point in x])

    def _at_most(self, x: Fraction, delta: Fraction) -> bool:
        if self._closed is not None:
            return super()._at_most(x, delta)
        if delta == 0:
            return self._largest is not None and self._largest <= x
        return self.epsilon(delta) <= x

    def _allows(self, other: Guarantee) -> bool:
        raise Refused(
            "a composition is no limit: state one as Pure, Approx, ZCDP, GDP or TotalVariation"
        )

    # -- what follows ------------------------------------------------------------------------------

    def _to(self, notion: type[N]) -> N:
        amounts = (count * notion.of(g).amount for g, count in self.parts)
        return notion._of_total(sum(amounts, Fraction(0)))

    @property
    def _split(self) -> tuple[Guarantee, Fraction]:
        # All of them hold except with the sum of the probabilities, as in an account itself.
        pieces = [(*part._split, count) for part, count in self.parts]
        failing = sum((count * d for _, d, count in pieces), Fraction(0))
        if not failing:
            return self, failing
        return compose(g.repeat(count) for g, _, count in pieces), min(Fraction(1), failing)

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together: the composition of what each part promises."""
        groups = [g.group(k).repeat(count) for g, count in self.parts]
        return compose(groups, tolerance=self.tolerance, memory=self.memory)


# -- what several guarantees promise together ------------------------------------------------------


MOST = 10**9  # of one guarantee
_FINEST = 1e-9
_MANY = 64  # sums of more squares are rounded up to multiples of 2⁻¹⁶⁰


@spelled
def compose(
    guarantees: Iterable[Guarantee],
    *,
    tolerance: float | None = None,
    memory: int = 2**30,
) -> Guarantee:
    """What mechanisms promise that run on the same people, one after another.

    The list of ``guarantees`` is fixed beforehand; the questions may depend on earlier answers.
    Gaussians and zCDP have closed forms (μ² and ρ add up), as have equal pure guarantees;
    everything else is convolved. `tolerance` bounds upper/lower − 1 of the ε that are read: by
    default at most 1e-3, on a grid as fine as is cheap; a given one is reached as fast as
    possible. `memory` is a limit in bytes.

    Composing a composition with more goes on from what was computed for it.

    >>> from discreet.guarantees import GDP, Pure
    >>> compose([GDP(mu=3), GDP(mu=4)])
    GDP(mu=Fraction(5, 1))
    >>> round(compose([Pure(epsilon=1), GDP(mu=1)]).epsilon(1e-6), 3)
    5.82
    """
    tolerance, memory = _read_limits(tolerance, memory)
    longest, more = _read(guarantees)
    counts = {} if longest is None else longest.counts.copy()
    for g, count in more:
        counts[g] = counts.get(g, 0) + count
    starts = {} if longest is None else longest.followed_by(more)
    return simplest(counts, tolerance, memory, starts)


def _read_limits(tolerance: float | None, memory: int) -> tuple[float | None, int]:
    """Check that the tolerance is at least 1e-9, and the memory at least a MiB."""
    if tolerance is not None:
        tolerance = positive_float(tolerance, name="tolerance")
        if not _FINEST <= tolerance <= 1:
            raise InvalidArgument(
                "tolerance",
                f"from {_FINEST:g} to 1: upper/lower − 1 of the epsilon that is read",
                f"{tolerance:g}",
            )
    return tolerance, integer(memory, name="memory", minimum=2**20)


def _read(guarantees: Iterable[Guarantee]) -> tuple[Composition | None, Parts]:
    """The longest composition among them, and the parts of all others."""
    if isinstance(guarantees, Guarantee) or not isinstance(guarantees, Iterable):
        raise InvalidArgument.of(
            "guarantees",
            "a list of guarantees",
            guarantees,
            hint="write compose([g1, g2]); for k runs of one, g.repeat(k)",
        )
    listed = [getattr(g, "guarantee", g) for g in guarantees]  # mechanisms are accepted too
    for place, g in enumerate(listed):
        if not isinstance(g, Guarantee):
            raise InvalidArgument.of(
                f"guarantees[{place}]",
                "a guarantee or a mechanism, such as Pure(1) or Laplace(...).guarantee",
                g,
                hint="write compose([dp.Pure(1), dp.Pure(1)]); for k runs of one, g.repeat(k)",
            )
    compositions = [g for g in listed if isinstance(g, Composition)]
    longest = max(compositions, key=lambda g: len(g.parts), default=None)
    if longest is not None:
        listed.remove(longest)
    return longest, tuple(
        part for g in listed for part in (g.parts if isinstance(g, Composition) else ((g, 1),))
    )


def repeated(guarantee: Guarantee, k: int) -> Guarantee:
    """`guarantee.repeat(k)`."""
    times = integer(k, name="k", minimum=0)
    if times > MOST:
        raise InvalidArgument("k", f"at most {MOST}", str(times))
    if times == 0:
        return Pure(0)
    if isinstance(guarantee, Composition):
        counts = {g: count * times for g, count in guarantee.parts}
        return simplest(counts, guarantee.tolerance, guarantee.memory)
    return simplest({guarantee: times})


def simplest(
    counts: dict[Guarantee, int],
    tolerance: float | None = None,
    memory: int = 2**30,
    starts: Mapping[bool, Start] | None = None,
) -> Guarantee:
    """A single notion if that is possible, else a composition; an empty list gives Pure(0)."""
    for notion in sorted({type(g) for g in counts}, key=lambda kind: kind.__name__):
        if not (issubclass(notion, Notion) and notion.closed):
            continue
        alike = [g for g in counts if type(g) is notion]
        if len(alike) > 1 or counts[alike[0]] > 1:
            amount = _sum_up([g.amount * counts.pop(g) for g in alike])
            counts[notion(bound_up(notion.of_amount(amount).value))] = 1
    _check_orders(counts)
    if not counts:
        return Pure(0)
    if len(counts) == 1 and 1 in counts.values():
        return next(iter(counts))
    return Composition.of(counts, tolerance, memory, starts or {})


def _check_orders(counts: Mapping[Guarantee, int]) -> None:
    """Refuse mixed orders: the neighbours have the same order for all mechanisms."""
    ways = {g.swapped for g in counts if type(g) is OneWay}
    if ways and (len(ways) > 1 or not all(isinstance(g, OneWay) or g._symmetric for g in counts)):
        raise InvalidArgument(
            "guarantees",
            "one order of the neighbours: all .add, all .remove, or whole guarantees",
            "a mix of them",
        )


def _sum_up(terms: list[Fraction]) -> Fraction:
    """The sum, exact for a few terms; each of many is rounded up, so that it stays short."""
    if len(terms) <= _MANY:
        return sum(terms, Fraction(0))
    return Fraction(sum(ceil(term * 2**160) for term in terms), 2**160)


# -- one order of a composition, read at the ε or δ asked for --------------------------------------


_BYTES = 120  # at the peak, for each point of the circle or of one loss
_REFINEMENTS = 8
_LARGE_GRID = 2**20  # from here on a refinement must prove useful
_CUT = 1e-10  # the share of δ that tails beyond the grid may have
_TINY = 1e-60  # what these tails may have in any case
_FAINT = 1e-30  # a δ below which nobody needs digits
DEFAULT_TOLERANCE = 1e-3

Parts: TypeAlias = tuple[tuple[Guarantee, int], ...]
Start: TypeAlias = tuple["ComposedProfile", Parts]  # an earlier profile, and the parts added since


@dataclass(eq=False)
class ComposedProfile:
    """Bounds on one profile of a composition; what was computed is kept for the next question."""

    parts: Parts
    swapped: bool
    tolerance: float | None
    memory: int
    start: Start | None
    spectrum: Spectrum | None = field(default=None, init=False)
    curve: Curve | None = field(default=None, init=False)
    plan: GridPlan | None = field(default=None, init=False)
    _answers: dict[Fraction, tuple[float, float]] = field(default_factory=dict, init=False)

    @property
    def _aim(self) -> float:
        return DEFAULT_TOLERANCE if self.tolerance is None else self.tolerance

    # -- ε at δ ----------------------------------------------------------------------------------

    def bracket(self, delta: Fraction, *, enough: float = 0.0) -> tuple[float, float]:
        """Bounds on the least ε ≥ 0 whose δ is at most `delta`, which is above 0.

        An upper bound below `enough` need not be refined: another order has more.
        """
        if delta not in self._answers:
            found = self._bracket(delta, enough)
            if found[1] <= enough:
                return found
            self._answers[delta] = found
        return self._answers[delta]

    def _bracket(self, delta: Fraction, enough: float) -> tuple[float, float]:
        target = float(delta) * (1 - 2**-52)
        if target == 0.0:
            return 0.0, math.inf
        if self._extend():
            lower, upper = self._epsilons(target)
            if _close(lower, upper, self._aim) or upper <= enough:
                return lower, upper
        best = (0.0, math.inf)
        tail = max(_CUT * target / self._count, 1e-300)
        sketch = convolution.sketch(self.parts, tail=tail, swapped=self.swapped)
        tilt = convolution.tilt_for_delta(sketch, target)
        plan = self._first_plan(sketch, tilt, tail)
        for _ in range(_REFINEMENTS):
            self._compute(plan)
            lower, upper = self._epsilons(target)
            before, best = best, (max(best[0], lower), min(best[1], upper))
            if _close(*best, self._aim) or best[1] <= enough:
                return best
            if plan.size > _LARGE_GRID and _gap(*best) >= 0.7 * _gap(*before):
                break  # a finer grid does not help
            if (finer := self._finer(plan, *best)) is None:
                break
            plan = finer
        return best

    def _epsilons(self, target: float) -> tuple[float, float]:
        curve, plan = self._computed()
        top = round(plan.middle / plan.step) + curve.size // 2
        upper = curve.epsilon_above(target, top)
        return curve.epsilon_below(target, upper), upper

    # -- δ at ε ----------------------------------------------------------------------------------

    def delta(self, epsilon: Fraction, *, enough: float = 0.0) -> float:
        """An upper bound on δ at this ε ≥ 0; one below `enough` need not be refined."""
        x = float(epsilon)
        x = math.nextafter(x, 0) if x > epsilon else x  # reading further left is safe
        if self.curve is not None:
            found = self.curve.delta_above(x)
            if found <= max(enough, _FAINT) or self._good(x):
                return found
        sketch = convolution.sketch(self.parts, tail=_TINY / self._count, swapped=self.swapped)
        _, mean, variance = sketch.cumulants(0.0)
        if x < mean - 40 - 8 * math.sqrt(variance):
            return 1.0  # where hardly any loss is below, δ is next to 1
        tilt = convolution.tilt_for_epsilon(sketch, x)
        log_moment = sketch.cumulants(tilt)[0]
        # Chernoff's bound says roughly how small δ is here, and so how large a tail may be.
        expected = math.exp(max(min(0.0, log_moment - tilt * x), -600.0))
        tail = max(_CUT * expected, _TINY) / self._count
        plan = self._first_plan(sketch, tilt, tail)
        best, doubt = 1.0, 1.0
        for _ in range(_REFINEMENTS):
            self._compute(plan)
            best = min(best, self._computed()[0].delta_above(x))
            before, doubt = doubt, self._doubt(x)
            if (
                self._good(x)
                or best <= max(enough, _FAINT)
                or (plan.size > _LARGE_GRID and doubt >= 0.7 * before)
            ):
                break  # or a finer grid does not help
            if (finer := self._finer(plan, 1.0, 1 + 4 * self._aim)) is None:
                break
            plan = finer
        return best

    def _good(self, x: float) -> bool:
        """Whether both bounds on δ at x agree to about what the tolerance on ε allows.

        A step of tolerance·ε changes δ by about θ times as much of itself.
        """
        curve, _ = self._computed()
        return self._doubt(x) <= max(10 * self._aim, min(0.5, self._aim * x * curve.tilt))

    def _doubt(self, x: float) -> float:
        """The share of the upper bound on δ at x that the lower one does not reach."""
        curve, _ = self._computed()
        j = math.floor(x / curve.step)
        upper = curve.upper(j)
        return 1 - curve.lower(j) / upper if upper > 0 else 0.0

    # -- computing ---------------------------------------------------------------------------------

    @property
    def _count(self) -> int:
        return sum(count for _, count in self.parts)

    def _computed(self) -> tuple[Curve, GridPlan]:
        assert self.curve is not None and self.plan is not None
        return self.curve, self.plan

    def _first_plan(self, sketch: convolution.Sketch, tilt: float, tail: float) -> GridPlan:
        plan = convolution.make_plan(
            sketch, tilt, tail=tail, tolerance=self.tolerance, lattice=lattice_of(self.parts)
        )
        return self._affordable(plan)

    def _affordable(self, plan: GridPlan) -> GridPlan:
        """The same circle, with fewer points if memory would not suffice."""
        most = max(4096, self.memory // _BYTES)
        circle = plan.step * plan.size
        coarsest = max(circle, 2 * plan.reach) / most * 1.01
        if plan.step >= coarsest:
            return plan
        return convolution.sized(replace(plan, step=convolution.short_step(coarsest)), circle)

    def _finer(self, plan: GridPlan, lower: float, upper: float) -> GridPlan | None:
        """A plan that should close the gap, which shrinks with the square of the step."""
        gap = _gap(lower, upper)
        factor = min(0.5, 0.8 * math.sqrt(self._aim / gap)) if gap > 0 else 0.5
        factor = max(factor, 1 / 16)
        step = convolution.short_step(plan.step * factor)
        affordable = self._affordable(
            convolution.sized(replace(plan, step=step), plan.step * plan.size)
        )
        return affordable if affordable.step < plan.step else None

    def _compute(self, plan: GridPlan) -> None:
        self._add(Spectrum.empty(plan), plan, self.parts)
        self.plan = plan

    def _add(self, spectrum: Spectrum, plan: GridPlan, parts: Parts) -> float:
        """Add the losses of these parts, and return the mean of all of them, tilted."""
        for pair, count in parts:
            loss = grid_loss(pair, plan.step, tail=plan.tail, swapped=self.swapped)
            spectrum = spectrum.times(loss, count)
        self.spectrum, self.curve = spectrum, Curve(spectrum)
        return spectrum.mean

    def _extend(self) -> bool:
        """Start from what was computed for all parts but the newest, if the grid still serves."""
        if self.curve is not None:
            return True
        if self.start is None:
            return False
        (before, more), self.start = self.start, None
        if before.spectrum is None or before.plan is None:
            return False
        plan = before.plan
        reach = max(
            (pair._reach(plan.tail, swapped=side) for pair, _ in more for side in (False, True)),
            default=0.0,
        )
        if reach * (plan.tilt + max(plan.rates)) > convolution.STEEPEST:
            return False  # the tilt was made for smaller losses
        self.plan = replace(plan, middle=self._add(before.spectrum, plan, more))
        return True


def _gap(lower: float, upper: float) -> float:
    return upper / lower - 1 if lower > 0 and math.isfinite(upper) else math.inf


def _close(lower: float, upper: float, tolerance: float) -> bool:
    return upper <= lower * (1 + tolerance)


# -- grids on which the losses of a mechanism lie already ------------------------------------------


def lattice_of(parts: Sequence[tuple[Guarantee, int]]) -> float | None:
    """The spacing that suits the most frequent part with losses of positive probability.

    Moving a loss to its two neighbours on the grid makes the sum of many a little wider. A
    grid that holds the loss avoids it; with several such parts, the most frequent counts.
    """
    best, spacing = 0, None
    for pair, count in parts:
        match pair:
            case Pure(epsilon0) | Approx(epsilon0, _) | ResponsePair(epsilon0, _):
                own = float(epsilon0)
            case LaplacePair(epsilon0, steps):
                own = float(epsilon0 / (steps or 1))
            case _:
                continue
        if count > best and own > 0:
            best, spacing = count, own
    return spacing


# -- several true facts about one mechanism --------------------------------------------------------


@dataclass(frozen=True, init=False, repr=False)
class Least(Guarantee):
    """Several guarantees, its ``facts``, of the same mechanism: at each ε the best one counts.

    Composed, it stands for the lower convex envelope of that in e^ε, below which the true
    profile must lie.

    >>> from discreet.guarantees import Approx, Pure
    >>> g = Least([Pure(epsilon=2), Approx(epsilon=0.5, delta=0.01)])
    >>> round(g.delta(0.5), 6), g.delta(2), g.epsilon(0)
    (0.01, 0.0, 2.0)
    """

    kind = "least"
    fields = named(facts=GUARANTEES)

    facts: tuple[Guarantee, ...]

    def __init__(self, facts: Iterable[Guarantee]) -> None:
        held = tuple(dict.fromkeys(facts))
        if not held or not all(isinstance(g, Guarantee) for g in held):
            raise InvalidArgument.of("facts", "one or more guarantees of the same mechanism", facts)
        if any(isinstance(g, Composition | OneWay) for g in held):
            raise InvalidArgument(
                "facts",
                "guarantees of a single run, in both orders of the neighbours",
                "a composition or one order",
                hint="combine the facts of each run first, then compose",
            )
        object.__setattr__(self, "facts", held)

    def __repr__(self) -> str:
        return f"Least([{', '.join(map(repr, self.facts))}])"

    def _to(self, notion: type[N]) -> N:
        return min(proved(notion.of, self.facts), key=lambda g: g.value)

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

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        return reduce(lambda a, b: a.min(b), (g._over(x, swapped=swapped) for g in self.facts))

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        bands = [g._band(x, swapped=swapped) for g in self.facts]
        return Band(*np.min(bands, axis=0))


def proved(convert: Callable[[Guarantee], T], facts: Iterable[Guarantee]) -> list[T]:
    """What the facts convert to, except those refused; if all are, the last refusal is raised."""
    found: list[T] = []
    reason: Refused | None = None
    for fact in facts:
        try:
            found.append(convert(fact))
        except Refused as error:
            reason = error
    if reason and not found:
        raise reason
    return found
