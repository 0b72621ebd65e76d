"""A finite partition of the outputs on whose parts the ratio of the two laws is constant.

Finite laws are partitioned into their outcomes. Laws on a grid with geometric tails of one rate
have a constant ratio on each tail, so two tails and the outcomes in between will do, exactly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.event import Event, any_of, at_least, at_most, is_one_of
from discreet.auditor.exactly.sides import BITS, Loss, Shown
from discreet.balls import ball, lower_fraction, precision, upper_fraction
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from flint import arb

MOST_PARTS = 4096
_KINKS = 96
_MISSING = Fraction(1, 10**12)


@dataclass(frozen=True)
class Part:
    """An event on which P/Q is constant, with its probabilities, and log P/Q where it is exact."""

    event: Event
    first: arb
    second: arb
    log_ratio: Fraction | None = None


@dataclass(frozen=True)
class Parts:
    """All parts: `Side` by exact sums."""

    parts: tuple[Part, ...]
    laws: tuple[Any, Any] | None = None  #: where the parts come from, if from two single laws
    places: tuple[Any, ...] | None = None  #: on a grid: the outcomes, of which the ends are tails

    @property
    def swapped(self) -> Parts:
        """Q against P."""
        return replace(
            self,
            parts=tuple(
                Part(p.event, p.second, p.first, None if p.log_ratio is None else -p.log_ratio)
                for p in self.parts
            ),
            laws=None if self.laws is None else (self.laws[1], self.laws[0]),
        )

    def hockey(self, x: Fraction) -> arb:
        """Σ max(0, p − e^x·q)."""
        with precision(BITS):
            grown, zero = ball(x).exp(), ball(0)
            return sum((_excess(p, x, grown).max(zero) for p in self.parts), start=zero)

    def event(self, x: Fraction) -> Shown | None:
        """The parts with p > e^x·q for certain, together."""
        with precision(BITS):
            grown, zero = ball(x).exp(), ball(0)
            kept = [p for p in self.parts if _excess(p, x, grown) > zero]
            if not kept:
                return None
            first = sum((p.first for p in kept), start=zero)
            second = sum((p.second for p in kept), start=zero)
            return Shown(self._together(kept), first, second)

    def _together(self, kept: list[Part]) -> Event:
        """The union of the parts; of parts in order that begin or end with a tail, a half-line."""
        size, places = len(kept), self.places
        if places is not None and kept == list(self.parts[:size]):
            return at_most(places[size - 1])
        if places is not None and kept == list(self.parts[-size:]):
            return at_least(places[-size])
        return any_of([p.event for p in kept])

    def loss(self, above: Fraction) -> Loss:
        """The largest log p/q over the parts with p > 0."""
        values: list[tuple[arb, Part]] = []
        with precision(BITS):
            for part in self.parts:
                if part.first.is_zero():
                    continue
                if part.second.is_zero():
                    return Loss(None, None, _shown(part))
                if part.log_ratio is None:
                    values.append(((part.first / part.second).log(), part))
                else:
                    values.append((ball(part.log_ratio), part))
            largest = values[0][0]
            for value, _ in values:
                largest = largest.max(value)
            # Exact if all parts that may be the largest are.
            top = [part for value, part in values if not value < largest]
            exact = [part.log_ratio for part in top if part.log_ratio is not None]
            best = top[0] if len(exact) < len(top) else max(top, key=lambda p: p.log_ratio or 0)
            return Loss(largest, max(exact) if len(exact) == len(top) else None, _shown(best))

    def kinks(self) -> list[Fraction] | None:
        """The log ratios of the parts: exact, or bounds on both sides of them."""
        places: set[Fraction] = set()
        with precision(BITS):
            for part in self.parts:
                if part.first.is_zero() or part.second.is_zero():
                    continue
                if part.log_ratio is not None:
                    places.add(part.log_ratio)
                elif part.first > part.second:
                    bend = (part.first / part.second).log()
                    places |= {lower_fraction(bend), upper_fraction(bend)}
        return sorted(x for x in places if x > 0) if len(places) <= _KINKS else None

    def renyi(self, order: Fraction) -> arb | None:
        """log Σ p·(p/q)^(order − 1)."""
        with precision(BITS):
            total = ball(0)
            for part in self.parts:
                if part.first.is_zero():
                    continue
                if part.second.is_zero():
                    return None
                total += part.first * (ball(order - 1) * (part.first / part.second).log()).exp()
            return total.log()


def of_outcomes(first: Any, second: Any) -> Parts:
    """The outcomes of two finite laws, those of both."""
    outcomes = list(dict.fromkeys([*first.outcomes, *second.outcomes]))
    if len(outcomes) > 16 * MOST_PARTS:
        raise InvalidArgument(
            name="mechanism",
            expected=f"with laws of at most {16 * MOST_PARTS} outcomes",
            given=f"{len(outcomes)} outcomes",
            hint="choose smaller inputs in pairs=",
        )
    parts = tuple(
        Part(is_one_of([o]), first.mass(o), second.mass(o), exact_log_ratio(first, second, o))
        for o in outcomes
    )
    return _checked(Parts(parts, (first, second)))


def of_tails(first: Any, second: Any) -> Parts | None:
    """Two tails and the outcomes between; None unless both laws have tails of one rate."""
    step = Fraction(first.step)
    (a, b, rate), (c, d, other) = first.tails, second.tails
    if rate != other or step != Fraction(second.step):
        return None
    low, high = min(a, c), max(b, d)
    count = (high - low) / step - 1
    if count > MOST_PARTS:
        return None
    for law in (first, second):
        _check_tails(law, low, high, step, rate)
    if high <= low:  # one outcome is the end of both tails: it belongs to the lower one
        high = low + step
    inner = [low + step * i for i in range(1, int((high - low) / step))]
    parts = [
        Part(at_most(_plain(low)), first.cdf(low), second.cdf(low)),
        *(Part(is_one_of([_plain(o)]), first.mass(o), second.mass(o)) for o in inner),
        Part(at_least(_plain(high)), first.above(high), second.above(high)),
    ]
    places = [low, *inner, high]
    exact = [
        replace(part, log_ratio=exact_log_ratio(first, second, place))
        for part, place in zip(parts, places, strict=True)
    ]
    return _checked(Parts(tuple(exact), (first, second), tuple(map(_plain, places))))


def _checked(parts: Parts) -> Parts:
    """Refuse a law whose probabilities do not sum to 1."""
    with precision(BITS):
        for masses in ([p.first for p in parts.parts], [p.second for p in parts.parts]):
            if abs(sum(masses, start=ball(0)) - 1) > ball(_MISSING):  # for certain
                raise InvalidArgument(
                    name="law",
                    expected="probabilities of all outcomes that sum to 1",
                    given="a law for which they do not",
                    hint="an outcome may be missing, or counted twice",
                )
    return parts


def exact_log_ratio(first: Any, second: Any, outcome: Any) -> Fraction | None:
    """log P/Q of an outcome, where both laws say their logarithms up to a common constant."""
    weigh, other = getattr(first, "log_weight", None), getattr(second, "log_weight", None)
    if weigh is None or other is None:
        return None
    left, right = weigh(outcome), other(outcome)
    if left is None or right is None or left[1] != right[1]:
        return None
    exact: Fraction = left[0] - right[0]
    return exact


def of_product(factors: Sequence[Parts]) -> Parts:
    """The parts of independent outputs: every combination, merged where the ratio is exact."""
    merged: dict[Any, tuple[Part, list[list[Event]]]] = {
        Fraction(0): (Part(Event("", bool), ball(1), ball(1), Fraction(0)), [[]])
    }
    with precision(BITS):
        for factor in factors:
            combined: dict[Any, tuple[Part, list[list[Event]]]] = {}
            for (left, ways), right in product(merged.values(), factor.parts):
                ratio = _sum(left.log_ratio, right.log_ratio)
                first, second = left.first * right.first, left.second * right.second
                name = len(combined) + 0.5 if ratio is None else ratio
                more = [[*way, right.event] for way in ways]
                if name in combined:
                    other, others = combined[name]
                    first, second, more = first + other.first, second + other.second, others + more
                combined[name] = Part(_jointly(more), first, second, ratio), more
            merged = combined
    return Parts(tuple(part for part, _ in merged.values()))


def _sum(a: Fraction | None, b: Fraction | None) -> Fraction | None:
    return None if a is None or b is None else a + b


def _jointly(ways: list[list[Event]]) -> Event:
    """Coordinate by coordinate, in one of the ways."""
    shown = "; ".join(
        " and ".join(f"[{i}] {event.words}" for i, event in enumerate(way)) for way in ways[:2]
    )
    more = f"; or one of {len(ways) - 2} further combinations" if len(ways) > 2 else ""
    return Event(
        shown + more,
        lambda output: any(
            all(event(value) for event, value in zip(way, output, strict=True)) for way in ways
        ),
    )


def _check_tails(law: Any, low: Fraction, high: Fraction, step: Fraction, rate: Fraction) -> None:
    """A law that contradicts what it says about its tails is refused."""
    with precision(BITS):
        for near, far in ((low, low - step), (high, high + step)):
            if not law.mass(far).overlaps(law.mass(near) * ball(-rate).exp()):
                raise InvalidArgument(
                    name="law.tails",
                    expected="(low, high, rate) with each step outward e^(-rate) times as likely",
                    given="a law whose masses say otherwise",
                )


def _excess(part: Part, x: Fraction, grown: arb) -> arb:
    """p − e^x·q; exactly 0 where the log ratio is exactly x."""
    if part.log_ratio is not None and part.log_ratio == x:
        return ball(0)
    return part.first - grown * part.second


def _shown(part: Part) -> Shown:
    return Shown(part.event, part.first, part.second)


def _plain(x: Fraction) -> int | float | Fraction:
    return x.numerator if x.denominator == 1 else x
