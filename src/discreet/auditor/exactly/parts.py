"""A finite partition of the outputs on whose parts the ratio of the two laws is constant.

Finite laws are partitioned into their outcomes; of laws on a grid a tail may be a part. Whatever
probability is not accounted for counts as an outcome that gives its input away.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.auditor.exactly.event import Event, any_of, at_least, at_most, is_one_of, name_of
from discreet.auditor.exactly.families import is_ours
from discreet.auditor.exactly.sides import BITS, Loss, Shown
from discreet.balls import ball, lower_fraction, precision, upper_fraction
from discreet.errors import InvalidArgument
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

MOST_PARTS = 4096
_KINKS = 96
_MISSING = Fraction(1, 10**12)  # more is a mistake in the law
_SHARP = Fraction(1, 10**18)  # balls around 1 that are wider may hide an outcome


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
    missing: arb | None = None  #: bounds what the parts may hide, of either law; None is nothing

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
        """Σ max(0, p − e^x·q), and at most what is missing more."""
        with precision(BITS):
            grown, zero = ball(x).exp(), ball(0)
            past = self.ends is not None and x >= self.ends  # then only what Q lacks is left
            kept = [p for p in self.parts if not past or p.second.is_zero()]
            value = sum((_excess(p, x, grown).max(zero) for p in kept), start=zero)
            return value if self.missing is None else value.union(value + self.missing)

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
        """The largest log p/q over the parts with p > 0; incomplete where something is missing."""
        complete = self.missing is None
        for part in self.parts:
            if part.second.is_zero() and not part.first.is_zero():
                if part.first > 0:
                    return Loss(None, None, _shown(part))
                complete = False
        values = [(value, part) for value, part in self._losses if value.is_finite()]
        complete = complete and len(values) == len(self._losses)
        with precision(BITS):
            largest = values[0][0]
            for value, _ in values:
                largest = largest.max(value)
            # Exact if all parts that may be the largest are.
            top = [part for value, part in values if not value < largest]
            exact = [part.log_ratio for part in top if part.log_ratio is not None]
            best = top[0] if len(exact) < len(top) else max(top, key=lambda p: p.log_ratio or 0)
            known = max(exact) if complete and len(exact) == len(top) else None
            return Loss(largest, known, _shown(best), complete)

    @cached_property
    def _losses(self) -> list[tuple[arb, Part]]:
        """log p/q of the parts that both laws have."""
        with precision(BITS):
            return [
                ((p.first / p.second).log() if p.log_ratio is None else ball(p.log_ratio), p)
                for p in self.parts
                if not p.first.is_zero() and not p.second.is_zero()
            ]

    @cached_property
    def ends(self) -> Fraction | None:
        """The largest finite log ratio, or a little more; None if it is not known."""
        if self.missing is not None or not all(loss.is_finite() for loss, _ in self._losses):
            return None
        ends = (
            upper_fraction(loss) if part.log_ratio is None else part.log_ratio
            for loss, part in self._losses
        )
        return max([Fraction(0), *ends])

    def kinks(self) -> list[Fraction] | None:
        """The log ratios of the parts: exact, or bounds on both sides of them."""
        places: set[Fraction] = set()
        for bend, part in self._losses:
            if part.log_ratio is not None:
                places.add(part.log_ratio)
            elif bend.is_finite() and bend > 0:
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
    # Each law is asked about its own outcomes where it has them: two NaN are not equal.
    own, others = ({name_of(o): o for o in law.outcomes} for law in (first, second))
    names = list({**own, **others})
    if len(names) > 16 * MOST_PARTS:
        raise InvalidArgument(
            name="mechanism",
            expected=f"with laws of at most {16 * MOST_PARTS} outcomes",
            given=f"{len(names)} outcomes",
            hint="choose smaller inputs in pairs=",
        )
    pairs = [(own.get(n, others.get(n)), others.get(n, own.get(n))) for n in names]
    parts = tuple(
        Part(is_one_of([a]), first.mass(a), second.mass(b), exact_log_ratio(first, second, a))
        for a, b in pairs
    )
    return whole(Parts(parts, (first, second)))


def whole(parts: Parts) -> Parts:
    """Refuse what is no law; what the probabilities leave of 1 is missing."""
    with precision(BITS):
        missing = parts.missing
        for masses in ([p.first for p in parts.parts], [p.second for p in parts.parts]):
            if not all(hasattr(m, "is_finite") and m.is_finite() and not m < 0 for m in masses):
                raise InvalidArgument(
                    name="law",
                    expected="probabilities as finite balls (discreet.balls.ball), none below 0",
                    given="a law with others",
                )
            gap = sum(masses, start=ball(0)) - 1
            if abs(gap) > ball(_MISSING):  # for certain
                raise InvalidArgument(
                    name="law",
                    expected="probabilities of all outcomes that sum to 1",
                    given="a law for which they do not",
                    hint="an outcome may be missing, or counted twice; outcomes without a list "
                    "are the multiples of law.step, which is 1 unless it is given",
                )
            if not (gap.contains(0) and gap.rad() < ball(_SHARP)):
                missing = abs(gap) + (ball(0) if missing is None else missing)
    return replace(parts, missing=missing)


def exact_log_ratio(first: Any, second: Any, outcome: Any) -> Fraction | None:
    """log P/Q of an outcome, where both laws say their logarithms up to a common constant."""
    weigh, other = getattr(first, "log_weight", None), getattr(second, "log_weight", None)
    if weigh is None or other is None:
        return None
    left, right = weigh(outcome), other(outcome)
    if left is None or right is None or left[1] != right[1]:
        return None
    exact: Fraction = left[0] - right[0]
    if not (is_ours(first) and is_ours(second)):
        _check_ratio(first.mass(outcome), second.mass(outcome), exact)
    return exact


def _check_ratio(p: arb, q: arb, log_ratio: Fraction) -> None:
    """A law that contradicts its own logarithms is refused."""
    with precision(BITS):
        if not p.overlaps(ball(log_ratio).exp() * q):
            raise InvalidArgument(
                name="law.log_weight",
                expected="log P(outcome) up to a constant that both laws share",
                given="a law whose probabilities say otherwise",
            )


def _excess(part: Part, x: Fraction, grown: arb) -> arb:
    """p − e^x·q; exactly 0 where the log ratio is exactly x."""
    if part.log_ratio is not None and part.log_ratio == x:
        return ball(0)
    return part.first - grown * part.second


def _shown(part: Part) -> Shown:
    return Shown(part.event, part.first, part.second)
