"""Outputs that are drawn independently of each other: several numbers, several keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.event import Event
from discreet.auditor.exactly.parts import Part, Parts
from discreet.auditor.exactly.sides import BITS, Loss, Shown, Side
from discreet.balls import ball, precision
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

_MOST_WORK = 100_000

# Combinations are told apart by what their exact log ratios add up to, and by which of the parts
# without an exact one they hold, in whatever order.
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
                    key = _joined(name, part)
                    a, b = combined.get(key, (ball(0), ball(0)))
                    combined[key] = (a + p * part.first, b + q * part.second)
            whole = combined
        hidden = [factor.missing for factor in factors if factor.missing is not None]
        missing = sum(hidden, start=ball(0)) if hidden else None
    parts = [
        Part(_event(name, factors), p, q, None if name[1] else name[0])
        for name, (p, q) in whole.items()
    ]
    return Parts(tuple(parts), missing=missing)


def _joined(name: Name, part: Part) -> Name:
    if part.log_ratio is None:
        return name[0], tuple(sorted((*name[1], id(part))))
    return name[0] + part.log_ratio, name[1]


def _event(name: Name, factors: Sequence[Parts]) -> Event:
    """The outputs whose coordinates combine to this name; in words, one way to do so."""

    def test(output: Any) -> bool:
        found: Name = (Fraction(0), ())
        for factor, value in zip(factors, output, strict=True):
            found = _joined(found, next(part for part in factor.parts if part.event(value)))
        return found == name

    ratio = f"{float(name[0]):.6g}"
    rest = " and those of the others" if name[1] else ""
    return Event(f"the log ratios of the coordinates add up to {ratio}{rest}", test)


@dataclass(frozen=True)
class Together:
    """P against Q, each a product, where the combinations are too many to list."""

    kinds: tuple[Side, ...]
    places: tuple[int, ...]  #: which of them each coordinate is

    @property
    def swapped(self) -> Together:
        """Q against P."""
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

    def event(self, x: Fraction) -> Shown | None:
        """The best event of one coordinate."""
        for i, kind in enumerate(self.kinds):
            shown = kind.event(x)
            if shown is not None:
                place = self.places.index(i)
                event = Event(f"[{place}]: {shown.event.words}", _at(place, shown.event))
                return Shown(event, shown.first, shown.second)
        return None

    def loss(self, above: Fraction) -> Loss:
        """Losses add up, and events of all coordinates together show it."""
        by_kind = [kind.loss(above / len(self.places)) for kind in self.kinds]
        losses = [by_kind[i] for i in self.places]
        with precision(BITS):
            first, second = ball(1), ball(1)
            for one in losses:
                first, second = first * one.shown.first, second * one.shown.second
            shown = Shown(_all([one.shown.event for one in losses]), first, second)
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

    def kinks(self) -> list[Fraction] | None:
        """None: there are too many."""
        return None

    def renyi(self, order: Fraction) -> arb | None:
        """None: not computed here."""
        return None


def _at(place: int, event: Event) -> Callable[[Any], bool]:
    return lambda output: event(output[place])


def _all(events: list[Event]) -> Event:
    shown = " and ".join(f"[{i}]: {event.words}" for i, event in enumerate(events[:3]))
    rest = f", and so on for {len(events) - 3} more" if len(events) > 3 else ""
    return Event(
        shown + rest,
        lambda output: all(event(one) for event, one in zip(events, output, strict=True)),
    )
