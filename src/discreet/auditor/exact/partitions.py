"""Finite partitions of the outputs, on whose parts the ratio of the two laws is constant.

Finite laws are partitioned into their outcomes; for laws on a grid a tail may be a part. Whatever
probability is not accounted for counts as an outcome that reveals its input.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial, reduce
from math import gcd
from typing import Any

from discreet.auditor.exact.known_laws import is_ours
from discreet.auditor.exact.sides import (
    BITS,
    Event,
    Loss,
    ShownEvent,
    any_of,
    at_least,
    at_most,
    is_one_of,
    name_of,
)
from discreet.errors import InvalidArgument, Phrase
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, lower_fraction, precision, upper_fraction

# -- parts -----------------------------------------------------------------------------------------


MOST_PARTS = 4096
_KINKS = 96
_MISSING = Fraction(1, 10**12)  # more is a mistake in the law
_SHARP = Fraction(1, 10**18)  # balls around 1 that are wider may hide an outcome


@dataclass(frozen=True)
class OutcomePart:
    """An event on which P/Q is constant, with its probabilities, and log P/Q where it is exact."""

    event: Event
    first: arb
    second: arb
    log_ratio: Fraction | None = None

    @property
    def swapped(self) -> OutcomePart:
        log_ratio = None if self.log_ratio is None else -self.log_ratio
        return OutcomePart(self.event, self.second, self.first, log_ratio)


@dataclass(frozen=True)
class Parts:
    """All parts of a partition: a `Side` computed by exact sums."""

    parts: tuple[OutcomePart, ...]
    laws: tuple[Any, Any] | None = None  #: where the parts come from, if from two single laws
    places: tuple[Any, ...] | None = None  #: on a grid: the outcomes, of which the ends are tails
    missing: arb | None = None  #: bounds what the parts may hide, of either law; None is nothing

    @property
    def swapped(self) -> Parts:
        parts = tuple(part.swapped for part in self.parts)
        laws = None if self.laws is None else (self.laws[1], self.laws[0])
        return replace(self, parts=parts, laws=laws)

    def hockey(self, x: Fraction) -> arb:
        """Σ max(0, p − e^x·q), plus at most what is missing."""
        with precision(BITS):
            grown, zero = ball(x).exp(), ball(0)
            past = self.ends is not None and x >= self.ends  # then only what Q lacks is left
            kept = [p for p in self.parts if not past or p.second.is_zero()]
            value = sum((_excess(p, x, grown).max(zero) for p in kept), start=zero)
            return value if self.missing is None else value.union(value + self.missing)

    def event(self, x: Fraction) -> ShownEvent | None:
        """The parts with p > e^x·q for certain, together."""
        with precision(BITS):
            grown, zero = ball(x).exp(), ball(0)
            kept = [p for p in self.parts if _excess(p, x, grown) > zero]
            if not kept:
                return None
            first = sum((p.first for p in kept), start=zero)
            second = sum((p.second for p in kept), start=zero)
            return ShownEvent(self._together(kept), first, second)

    def _together(self, kept: list[OutcomePart]) -> Event:
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
            largest = reduce(lambda a, b: a.max(b), [value for value, _ in values])
            # Exact if all parts that may be the largest are.
            top = [part for value, part in values if not value < largest]
            exact = [part.log_ratio for part in top if part.log_ratio is not None]
            best = top[0] if len(exact) < len(top) else max(top, key=lambda p: p.log_ratio or 0)
            known = max(exact) if complete and len(exact) == len(top) else None
            return Loss(largest, known, _shown(best), complete)

    @cached_property
    def _losses(self) -> list[tuple[arb, OutcomePart]]:
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
    """The outcomes of two finite laws as parts: all that either of them has."""
    # Each law is asked about its own outcomes where it has them: two NaN are not equal.
    own, others = ({name_of(o): o for o in law.outcomes} for law in (first, second))
    names = list({**own, **others})
    if len(names) > 16 * MOST_PARTS:
        raise InvalidArgument(
            "mechanism",
            f"with laws of at most {16 * MOST_PARTS} outcomes",
            f"{len(names)} outcomes",
            hint=Phrase("choose smaller inputs in {pairs=}"),
        )
    pairs = [(own.get(n, others.get(n)), others.get(n, own.get(n))) for n in names]
    parts = tuple(
        OutcomePart(
            is_one_of([a]), first.mass(a), second.mass(b), exact_log_ratio(first, second, a)
        )
        for a, b in pairs
    )
    return whole(Parts(parts, (first, second)))


def whole(parts: Parts) -> Parts:
    """Refuse what is not a law; what the probabilities lack to 1 is missing."""
    with precision(BITS):
        missing = parts.missing
        for masses in ([p.first for p in parts.parts], [p.second for p in parts.parts]):
            if not all(hasattr(m, "is_finite") and m.is_finite() and not m < 0 for m in masses):
                raise InvalidArgument(
                    "law",
                    "probabilities as finite balls (discreet.numeric.balls.ball), none below 0",
                    "a law with others",
                )
            gap = sum(masses, start=ball(0)) - 1
            if abs(gap) > ball(_MISSING):  # for certain
                raise InvalidArgument(
                    "law",
                    "probabilities of all outcomes that sum to 1",
                    "a law for which they do not",
                    hint="an outcome may be missing, or counted twice; outcomes without a list "
                    "are the multiples of law.step, which is 1 unless it is given",
                )
            if not (gap.contains(0) and gap.rad() < ball(_SHARP)):
                missing = abs(gap) + (ball(0) if missing is None else missing)
    return replace(parts, missing=missing)


def exact_log_ratio(first: Any, second: Any, outcome: Any) -> Fraction | None:
    """log P/Q of an outcome, where both laws give their logarithms up to a common constant."""
    weigh, other = getattr(first, "log_weight", None), getattr(second, "log_weight", None)
    if weigh is None or other is None:
        return None
    left, right = weigh(outcome), other(outcome)
    if left is None or right is None or left[1] != right[1]:
        return None
    exact: Fraction = left[0] - right[0]
    if not (is_ours(first) and is_ours(second)):
        p, q = first.mass(outcome), second.mass(outcome)
        with precision(BITS):
            agree = p.overlaps(ball(exact).exp() * q)
        if not agree:
            raise InvalidArgument(
                "law.log_weight",
                "log P(outcome) up to a constant that both laws share",
                "a law whose probabilities say otherwise",
            )
    return exact


def _excess(part: OutcomePart, x: Fraction, grown: arb) -> arb:
    """p − e^x·q; exactly 0 where the log ratio is exactly x."""
    if part.log_ratio is not None and part.log_ratio == x:
        return ball(0)
    return part.first - grown * part.second


def _shown(part: OutcomePart) -> ShownEvent:
    return ShownEvent(part.event, part.first, part.second)


# -- laws on a grid with geometric tails of one rate -----------------------------------------------
# Two tails and the outcomes in between. On each tail the ratio of the two laws is constant, so this
# is a finite partition, exactly.


def of_tails(first: Any, second: Any) -> Parts | None:
    """Two tails and the outcomes between; None unless both laws have tails of one rate."""
    step = Fraction(first.step)
    (a, b, rate), (c, d, other) = first.tails, second.tails
    if rate != other or step != Fraction(second.step):
        return None
    low, high = min(a, c), max(b, d)
    count = (high - low) / step - 1
    if count > MOST_PARTS or ((c - a) / step).denominator > 1:
        return None
    if high <= low:  # one outcome is the end of both tails: it belongs to the lower one
        high = low + step
    for law in (first, second):
        if not is_ours(law):
            _check(law, low, high, step, rate)
    inner = [low + step * i for i in range(1, int((high - low) / step))]
    beyond = above(first, high, step), above(second, high, step)
    ratio = partial(exact_log_ratio, first, second)
    parts = (
        OutcomePart(at_most(plain(low)), first.cdf(low), second.cdf(low), ratio(low)),
        *(_at(first, second, o) for o in inner),
        OutcomePart(at_least(plain(high)), *beyond, ratio(high)),
    )
    return whole(Parts(parts, (first, second), tuple(map(plain, (low, *inner, high)))))


def _at(first: Any, second: Any, outcome: Fraction) -> OutcomePart:
    """An outcome on the grid as a part."""
    exact = exact_log_ratio(first, second, outcome)
    return OutcomePart(
        is_one_of([plain(outcome)]), first.mass(outcome), second.mass(outcome), exact
    )


def above(law: Any, x: Fraction, step: Fraction) -> arb:
    """P(X ≥ x) for an x on the grid, never below 0."""
    share: arb = law.above(x) if hasattr(law, "above") else _above(law, x - step)
    return share


def _above(law: Any, x: Fraction) -> arb:
    """P(X > x), never below 0."""
    with precision(BITS):
        share: arb = (1 - law.cdf(x)).max(ball(0))
        return share


def _check(law: Any, low: Fraction, high: Fraction, step: Fraction, rate: Fraction) -> None:
    """A law that contradicts what it says about its tails is refused.

    All of a tail must have the probability of its first outcome over 1 − e^(−rate): anything else
    that lies out there, on the grid or off it, would be more.
    """
    with precision(BITS):
        ratio = ball(-rate).exp()
        tails = (
            (law.mass(low), law.mass(low - step), law.cdf(low)),
            (law.mass(high), law.mass(high + step), above(law, high, step)),
        )
        for near, next_one, all_of_it in tails:
            if not next_one.overlaps(near * ratio) or not all_of_it.overlaps(near / (1 - ratio)):
                raise InvalidArgument(
                    "law.tails",
                    "(low, high, rate) with each step outward e^(-rate) times as likely",
                    "a law whose probabilities say otherwise",
                )


def plain(x: Fraction) -> int | Fraction:
    """A whole number as an int; any other number as it is."""
    return x.numerator if x.denominator == 1 else x


# -- laws on a grid that say nothing about their tails ---------------------------------------------
# A window of outcomes, and what lies beyond. The tails are two parts of the partition. On them the
# ratio is not known to be constant, so sums over the parts are lower bounds, and the mass of the
# tails bounds what is missing.


_OUTSIDE = Fraction(1, 10**25)


def of_window(first: Any, second: Any) -> Parts:
    """The outcomes that hold all but 10⁻²⁵ of both laws, up to some thousands, and two tails."""
    step = _common(*(Fraction(getattr(law, "step", 1)) for law in (first, second)))
    start, end = _quantile(first, second, step)
    if end - start > MOST_PARTS:
        middle = (start + end) // 2
        start, end = middle - MOST_PARTS // 2, middle + MOST_PARTS // 2
    below, beyond = (start - 1) * step, (end + 1) * step
    inside = [step * i for i in range(start, end + 1)]
    with precision(BITS):
        low = OutcomePart(at_most(plain(below)), first.cdf(below), second.cdf(below))
        high = OutcomePart(
            at_least(plain(beyond)), _above(first, end * step), _above(second, end * step)
        )
        missing = low.first.max(low.second) + high.first.max(high.second)
    parts = (low, *(_at(first, second, o) for o in inside), high)
    places = tuple(map(plain, (below, *inside, beyond)))
    return whole(Parts(parts, (first, second), places, missing))


def _common(a: Fraction, b: Fraction) -> Fraction:
    """The largest step of which both are multiples."""
    return Fraction(
        gcd(a.numerator * b.denominator, b.numerator * a.denominator), a.denominator * b.denominator
    )


def _quantile(first: Any, second: Any, step: Fraction) -> tuple[int, int]:
    """Positions between which all but 10⁻²⁵ of both laws lie."""
    with precision(BITS):

        def inside(position: int, *, upper: bool) -> bool:
            masses = (law.cdf(position * step) for law in (first, second))
            return all((1 - m if upper else m) < ball(_OUTSIDE) for m in masses)

        start, end = -1, 1
        while not inside(start, upper=False) and start > -(1 << 60):
            start *= 2
        while not inside(end, upper=True) and end < 1 << 60:
            end *= 2
        while end - start > 1 and inside((start + end) // 2, upper=False):
            start = (start + end) // 2
        while end - start > 1 and inside((start + end) // 2, upper=True):
            end = (start + end) // 2
        return start, end
