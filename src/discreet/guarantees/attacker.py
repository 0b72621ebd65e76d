"""What somebody can do who sees the output and wants to know about one person."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from discreet.balls import ball, upper
from discreet.exact import Number, round_up
from discreet.guarantees.profile import unit_interval
from discreet.laws.sharp import sharp

if TYPE_CHECKING:
    from discreet.guarantees.guarantee import Guarantee

Profile: TypeAlias = Callable[[Number], float]

_STEPS = 50  # of golden section: the interval shrinks to 2⁻³⁴ of its width
_GOLDEN = (math.sqrt(5) - 1) / 2
_WIDEST = 700.0  # e^x is still a float
_POWERS = [min(_WIDEST, 2.0**power) for power in range(-12, 11)]
_PLACES = [*(-x for x in reversed(_POWERS)), 0.0, *_POWERS]


def best_hit_rate(
    delta: Profile,
    false_alarm_rate: Number,
    *,
    largest: float = math.inf,
    search: Profile | None = None,
) -> float:
    """The least of e^x·f + δ(x) over all real x, an upper bound for each of them.

    P(E) − e^x·Q(E) ≤ δ(x) for every event E, so with Q(E) = f the hit rate P(E) is at most
    that. It is a convex function of e^x; we search for the best x in floating point and
    then evaluate it exactly: whichever x it is, the bound holds. `largest` is the largest
    loss, and `search` a profile that is quicker to look at.
    """
    f = unit_interval(false_alarm_rate, name="false_alarm_rate")
    rate = float(f)
    look = delta if search is None else search
    searched = _least(lambda x: math.exp(x) * rate + look(x))
    # Where losses end, the profile has a corner, which a search only comes near to.
    corners = (largest, -largest) if math.isfinite(largest) else ()
    found = min(_line(delta, f, Fraction(x)) for x in (searched, *corners))
    return min(1.0, max(found, round_up(f)))  # guessing reaches that much


def _line(delta: Profile, f: Fraction, x: Fraction) -> float:
    """e^x·f + δ(x), rounded up."""
    if x > _WIDEST:
        return 1.0
    return upper(sharp(lambda: ball(x).exp() * ball(f) + ball(Fraction(delta(x)))))


def posterior(
    guarantee: Guarantee,
    prior: Number,
    event_probability: Number,
    *,
    search: Profile | None = None,
) -> float:
    """The belief after the worst output, or after the worst event that is likely enough.

    An event E of probability τ under P has Q(E) ≥ (τ − δ(x))·e^(−x), so the odds grow by at
    most τ·e^x/(τ − δ(x)), for each x with δ(x) < τ. Without a τ, they grow by at most e^ε
    where ε is the multiplicative distance.
    """
    p = unit_interval(prior, name="prior")
    tau = unit_interval(event_probability, name="event_probability")
    if p in (0, 1):
        return float(p)
    x, growth = guarantee.epsilon(0), Fraction(1)
    if tau > 0:
        look = guarantee.delta if search is None else search
        x = _least(lambda x: _growth(x, look(x), float(tau)))
        left = tau - Fraction(guarantee.delta(Fraction(x)))
        if left <= 0:
            return 1.0
        growth = tau / left
    if math.isinf(x):
        return 1.0
    # posterior = p·g/(p·g + 1 − p) with g = growth·e^x
    odds = p * growth / (1 - p)
    value = sharp(lambda: 1 / (1 + (-ball(Fraction(x))).exp() / ball(odds)))
    # An event may be no evidence at all; then the belief stays what it was.
    return min(1.0, max(upper(value), upper(ball(p))))


def _growth(x: float, delta: float, tau: float) -> float:
    """log of e^x·τ/(τ − δ), with a slope toward larger x where δ is τ or more."""
    return x - math.log1p(-delta / tau) if delta < tau else 1000.0 - x


def _least(f: Callable[[float], float]) -> float:
    """Nearly the place of the least value of a function: around the best of some places.

    For a convex profile the function falls and then rises; the least of several facts may
    have more than one valley.
    """
    values = [f(x) for x in _PLACES]
    best = min(range(len(values)), key=values.__getitem__)
    low, high = _PLACES[max(best - 1, 0)], _PLACES[min(best + 1, len(values) - 1)]
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = f(a), f(b)
    for _ in range(_STEPS):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = f(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = f(b)
    return min((at_a, a), (at_b, b), (values[best], _PLACES[best]))[1]
