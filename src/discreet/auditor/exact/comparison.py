"""Two laws in both orders: by a partition, half-lines, intervals or coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

from discreet.auditor.exact.half_lines import HalfLines
from discreet.auditor.exact.known_laws import is_noise, is_ours
from discreet.auditor.exact.partitions import OutcomePart, Parts, of_outcomes, of_tails, of_window
from discreet.auditor.exact.sides import BITS, Event, Loss, ShownEvent, Side, TwoLaws
from discreet.errors import InvalidArgument
from discreet.laws.mixture import Mixture
from discreet.laws.noisy_argmax import NoisyLead
from discreet.laws.sparse_vector import SparseAnswers
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, precision

# -- densities about whose ratio nothing is known --------------------------------------------------
# Certified integration: the line is cut into intervals. Where the densities, enclosed as balls over
# a whole interval, say which law is ahead, the two distribution functions give its share exactly;
# the other intervals are halved. What is still open in the end, and the tails beyond the window,
# are bounded by their mass.


_OUTSIDE = Fraction(1, 10**30)
_FARTHEST = 1 << 200
_OPEN = Fraction(1, 10**22)  # what may stay open
_MOST = 1500

Interval = tuple[Fraction, Fraction]


class Intervals(TwoLaws):
    """P against Q, both with a `density` that accepts balls, and a `cdf`."""

    def hockey(self, x: Fraction) -> arb:
        """The mass of the intervals on which P is ahead, plus at most that of the open ones."""
        ahead, still_open = self._split(x)
        with precision(BITS):
            grown = ball(x).exp()
            gains = (_mass(self.first, cell) - grown * _mass(self.second, cell) for cell in ahead)
            sure = sum(gains, start=ball(0))
            rest = sum((_mass(self.first, cell).max(ball(0)) for cell in still_open), start=ball(0))
            low, high = self._window()
            rest += self.first.cdf(low) + (1 - self.first.cdf(high)).max(ball(0))
            return sure.union(sure + rest)

    def event(self, x: Fraction) -> ShownEvent | None:
        """The intervals on which P is ahead for certain."""
        ahead, _ = self._split(x)
        if not ahead:
            return None
        joined = _joined_intervals(ahead)
        with precision(BITS):
            first, second = (_mass(law, *joined) for law in (self.first, self.second))
        words = " or ".join(f"{float(a):.10g} to {float(b):.10g}" for a, b in joined[:4])
        more = f" or in {len(joined) - 4} further intervals" if len(joined) > 4 else ""
        event = Event(
            f"the output is in {words}{more}",
            lambda output: any(a < output <= b for a, b in joined),
        )
        return ShownEvent(event, first, second)

    def loss(self, above: Fraction) -> Loss:
        """What an event shows: a lower bound, since the tails are not looked at."""
        shown = self.event(above) or self.event(Fraction(0))
        if shown is None:
            whole = self._window()
            event = Event("any output", lambda _: True)
            shown = ShownEvent(event, _mass(self.first, whole), _mass(self.second, whole))
        if shown.second.is_zero():
            return Loss(None, None, shown)
        with precision(BITS):
            return Loss((shown.first / shown.second).log(), None, shown, complete=False)

    def _split(self, x: Fraction) -> tuple[list[Interval], list[Interval]]:
        """The intervals on which p > e^x·q for certain, and those that are still open."""
        ahead: list[Interval] = []
        with precision(BITS):
            grown = ball(x).exp()
            low, high = self._window()
            # The centres are where densities may have corners: intervals end there.
            known = [law.center for law in (self.first, self.second) if hasattr(law, "center")]
            centres = [center for center in map(Fraction, known) if low < center < high]
            ends = sorted({low, high, *centres})
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


def _mass(law: Any, *cells: Interval) -> arb:
    return sum((law.cdf(end) - law.cdf(start) for start, end in cells), start=ball(0))


def _joined_intervals(cells: list[Interval]) -> list[Interval]:
    """Neighbouring intervals as one."""
    joined: list[Interval] = []
    for start, end in sorted(cells):
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined


# -- answers that come with a gap ------------------------------------------------------------------
# They are seen through a few bins of the gap, which is a multiple of a fine step, so that there are
# infinitely many answers. Putting gaps into bins loses information: what is found this way is a
# lower bound on what the answers show.


_EDGES = (1, 3)  # of the bins above 0, in scales of the noise


@dataclass(frozen=True)
class Bin:
    """Gaps from `start` up to `end`, or without limit if that is None."""

    start: Fraction
    end: Fraction | None

    def __str__(self) -> str:
        end = "on" if self.end is None else f"to {float(self.end):.6g}"
        return f"gap from {float(self.start):.6g} {end}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        """A gap equals the bin that it lies in."""
        if isinstance(other, Bin):
            return (self.start, self.end) == (other.start, other.end)
        if not isinstance(other, int | float | Fraction) or isinstance(other, bool):
            return False
        return bool(self.start <= other and (self.end is None or other < self.end))

    def __hash__(self) -> int:
        return hash((self.start, self.end))


def in_bins(law: Any) -> Any:
    """The law with its gaps in bins, if it has gaps; else the law itself."""
    if isinstance(law, NoisyLead):
        return BinnedLead(law)
    return BinnedAnswers(law) if isinstance(law, SparseAnswers) and law.step is not None else law


def bins(scale: Fraction, step: Fraction) -> list[Bin]:
    """Bins whose edges lie halfway between multiples of the step, as rounding puts them."""
    edges = [Fraction(0), *((edge * scale // step) * step + step / 2 for edge in _EDGES)]
    return [Bin(a, b) for a, b in zip(edges, [*edges[1:], None], strict=True)]


@dataclass(frozen=True)
class BinnedLead:
    """`NoisyLead` with the lead in bins."""

    law: NoisyLead

    @property
    def outcomes(self) -> list[tuple[int, Bin]]:
        return list(product(range(len(self.law.scores)), bins(self.law.scale, self.law.step)))

    def mass(self, outcome: tuple[int, Bin]) -> arb:
        index, lead = outcome
        above = self.law.leads_by(index, lead.start)
        if lead.end is None:
            return above
        with precision(BITS):
            return above - self.law.leads_by(index, lead.end)


@dataclass(frozen=True)
class BinnedAnswers:
    """`SparseAnswers` with the leads in bins."""

    law: SparseAnswers

    @property
    def outcomes(self) -> list[tuple[Bin | None, ...]]:
        """Every run with which the answers can end."""
        assert self.law.step is not None
        answers = [None, *bins(self.law.query_scale, self.law.step)]
        return [
            run
            for size in range(1, len(self.law.scores) + 1)
            for run in product(answers, repeat=size)
            if self.law.can_end([answer is not None for answer in run])
        ]

    def mass(self, outcome: tuple[Bin | None, ...]) -> arb:
        return self.law.leads(
            [(None, Fraction(0)) if lead is None else (lead.start, lead.end) for lead in outcome]
        )


# -- independent outputs: several numbers, several keys --------------------------------------------


_MOST_WORK = 100_000

# Combinations are told apart by the sum of their exact log ratios, and by which parts without an
# exact one they hold, in any order.
Name = tuple[Fraction, tuple[int, ...]]


def of_product(factors: Sequence[Parts]) -> Parts | None:
    """The parts of independent outputs, merged where the ratio is the same; None if too many."""
    whole: dict[Name, tuple[arb, arb]] = {(Fraction(0), ()): (ball(1), ball(1))}
    work = 0
    with precision(BITS):
        for factor in factors:
            work += len(whole) * len(factor.parts)
            if work > _MOST_WORK:
                return None
            combined: dict[Name, tuple[arb, arb]] = {}
            for name, (p, q) in whole.items():
                for part in factor.parts:
                    key = _with_part(name, part)
                    a, b = combined.get(key, (ball(0), ball(0)))
                    combined[key] = (a + p * part.first, b + q * part.second)
            whole = combined
        hidden = [factor.missing for factor in factors if factor.missing is not None]
        missing = sum(hidden, start=ball(0)) if hidden else None
    parts = [
        OutcomePart(_event(name, factors), p, q, None if name[1] else name[0])
        for name, (p, q) in whole.items()
    ]
    return Parts(tuple(parts), missing=missing)


def _with_part(name: Name, part: OutcomePart) -> Name:
    if part.log_ratio is None:
        return name[0], tuple(sorted((*name[1], id(part))))
    return name[0] + part.log_ratio, name[1]


def _event(name: Name, factors: Sequence[Parts]) -> Event:
    """The outputs whose coordinates combine to this name."""

    def test(output: Any) -> bool:
        found: Name = (Fraction(0), ())
        for factor, value in zip(factors, output, strict=True):
            found = _with_part(found, next(part for part in factor.parts if part.event(value)))
        return found == name

    ratio = f"{float(name[0]):.6g}"
    rest = " and those of the others" if name[1] else ""
    return Event(f"the log ratios of the coordinates add up to {ratio}{rest}", test)


@dataclass(frozen=True)
class Together(Side):
    """P against Q, each a product, where the combinations are too many to list."""

    kinds: tuple[Side, ...]
    places: tuple[int, ...]  #: which of them each coordinate is

    @property
    def swapped(self) -> Together:
        return Together(tuple(kind.swapped for kind in self.kinds), self.places)

    def hockey(self, x: Fraction) -> arb:
        """At least that of any one coordinate; at most the sum of all, each at its share of x."""
        if self.ends is not None and x >= self.ends:
            return ball(0)
        with precision(BITS):
            most, least = ball(0), ball(0)
            for i, kind in enumerate(self.kinds):
                most += self.places.count(i) * kind.hockey(x / len(self.places))
                least = least.max(kind.hockey(x))
            return least.union(most.min(ball(1)))

    def event(self, x: Fraction) -> ShownEvent | None:
        """The best event of one coordinate."""
        for i, kind in enumerate(self.kinds):
            shown = kind.event(x)
            if shown is not None:
                place = self.places.index(i)
                event = Event(f"[{place}]: {shown.event.words}", _at(place, shown.event))
                return ShownEvent(event, shown.first, shown.second)
        return None

    def loss(self, above: Fraction) -> Loss:
        """Losses add up, and events of all coordinates together show it."""
        by_kind = [kind.loss(above / len(self.places)) for kind in self.kinds]
        losses = [by_kind[i] for i in self.places]
        with precision(BITS):
            first, second = ball(1), ball(1)
            for one in losses:
                first, second = first * one.shown.first, second * one.shown.second
            shown = ShownEvent(_all([one.shown.event for one in losses]), first, second)
            balls = [one.ball for one in losses if one.ball is not None]
            if len(balls) < len(losses):
                return Loss(None, None, shown)
            exact = [one.exact for one in losses if one.exact is not None]
            known = sum(exact, start=Fraction(0)) if len(exact) == len(losses) else None
            complete = all(one.complete for one in losses)
            return Loss(sum(balls, start=ball(0)), known, shown, complete)

    @cached_property
    def ends(self) -> Fraction | None:
        """The sum of the ends, if all coordinates have one and keep nothing beyond it."""
        total = Fraction(0)
        for i, kind in enumerate(self.kinds):
            if kind.ends is None or not kind.hockey(kind.ends).is_zero():
                return None
            total += self.places.count(i) * kind.ends
        return total


def _at(place: int, event: Event) -> Callable[[Any], bool]:
    return lambda output: event(output[place])


def _all(events: list[Event]) -> Event:
    shown = " and ".join(f"[{i}]: {event.words}" for i, event in enumerate(events[:3]))
    rest = f", and so on for {len(events) - 3} more" if len(events) > 3 else ""
    return Event(
        shown + rest,
        lambda output: all(event(one) for event, one in zip(events, output, strict=True)),
    )


# -- the route that fits two laws ------------------------------------------------------------------


def sides(first: Any, second: Any) -> tuple[Side, Side]:
    """P against Q and Q against P."""
    both = compare(first, second)
    return both, both.swapped


def compare(first: Any, second: Any) -> Parts | HalfLines | Intervals | Together:
    """P against Q, by a finite partition where there is one, else by half-lines.

    >>> from discreet.laws import Finite
    >>> print(compare(Finite("ab", (3, 1)), Finite("ab", (1, 3))).hockey(0).str(5, radius=False))
    0.50000
    """
    if isinstance(first, tuple) and isinstance(second, tuple):
        return _several(first, second)
    if is_ours(first) and first == second:
        return Parts(
            (OutcomePart(Event("any output", lambda _: True), ball(1), ball(1), Fraction(0)),)
        )
    first, second = in_bins(first), in_bins(second)
    if hasattr(first, "outcomes") and hasattr(second, "outcomes"):
        return of_outcomes(first, second)
    if hasattr(first, "tails") and hasattr(second, "tails"):
        parts_of_tails = of_tails(first, second)
        if parts_of_tails is not None:
            return parts_of_tails
    if _in_order(first, second):
        return HalfLines(first, second)
    if all(hasattr(law, "cdf") and hasattr(law, "density") for law in (first, second)):
        return Intervals(first, second)
    if all(hasattr(law, "cdf") and hasattr(law, "mass") for law in (first, second)):
        return of_window(first, second)
    raise InvalidArgument(
        "mechanism",
        "a mechanism whose laws have outcomes and mass, mass and cdf, or density and cdf",
        f"laws of type {type(first).__name__} and {type(second).__name__}",
    )


def _in_order(first: Any, second: Any) -> bool:
    """Whether the ratio is monotone: laws of one shape, or a mixture against a part of it."""
    if is_noise(first) and is_noise(second):
        return bool(first.shape == second.shape)
    for mixture, part in ((first, second), (second, first)):
        if type(mixture) is Mixture and part in (mixture.first, mixture.second):
            # (s·p + (1 − s)·q)/q = s·p/q + 1 − s
            return _in_order(mixture.first, mixture.second)
    return False


def _several(first: tuple[Any, ...], second: tuple[Any, ...]) -> Parts | Together:
    """Independent outputs, by all their combinations or, where those are too many, by bounds."""
    known: list[tuple[Any, Any]] = []
    kinds: list[Side] = []
    places: list[int] = []
    for p, q in zip(first, second, strict=True):
        # Coordinates that are alike are one object: their combinations are merged by that.
        ours = is_ours(p) and is_ours(q)
        place = known.index((p, q)) if ours and (p, q) in known else len(known)
        if place == len(known):
            known.append((p, q))
            kinds.append(compare(p, q))
        places.append(place)
    parts = [kind for i in places if isinstance(kind := kinds[i], Parts)]
    whole = of_product(parts) if len(parts) == len(places) else None
    return Together(tuple(kinds), tuple(places)) if whole is None else whole
