"""From a guarantee to a dp_accounting event that claims no less."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from discreet.balls import ball, lower_fraction
from discreet.errors import InvalidArgument, Refused
from discreet.exact import number, round_down, round_up
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.composition import Composition
from discreet.guarantees.failing import Failing
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.least import Least
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import OneWay, SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.laws.sharp import sharp

_MOST_COPIES = 1000


def write(classes: Any, guarantee: Guarantee) -> Any:
    """The event, of one of the classes of dp_accounting's module `dp_event`."""
    match guarantee:
        case TotalVariation(1) | Approx(_, 1):
            return classes.NonPrivateDpEvent()
        case Guarantee() if guarantee.epsilon(0) == 0:
            return classes.NoOpDpEvent()
        case Pure(epsilon) | Approx(epsilon, 0):
            return _pure(classes, epsilon)
        case Approx(epsilon, delta):
            return _make(classes, "EpsilonDeltaDpEvent", float_up(epsilon), float_up(delta))
        case TotalVariation(tv):
            return _make(classes, "EpsilonDeltaDpEvent", 0.0, float_up(tv))
        case BoundedRange(epsilon) if hasattr(classes, "ExponentialMechanismDpEvent"):
            return _make(classes, "ExponentialMechanismDpEvent", float_up(epsilon))
        case BoundedRange(epsilon):
            return _pure(classes, epsilon)
        case GDP(mu):
            return _make(classes, "GaussianDpEvent", float_down(1 / mu))
        case ZCDP(rho):
            return _make(classes, "ZCDpEvent", float_up(rho))
        case LaplacePair(epsilon, None):
            return _make(classes, "LaplaceDpEvent", float_down(1 / epsilon))
        case LaplacePair(epsilon, int(steps)):
            return _make(classes, "DiscreteLaplaceDpEvent", float_up(epsilon / steps), steps)
        case ResponsePair(epsilon, categories):
            noise = float_down(_noise_parameter(epsilon, categories))
            return _make(classes, "RandomizedResponseDpEvent", noise, categories)
        case SampledPair(base, rate):
            return _make(classes, "PoissonSampledDpEvent", float_up(rate), _sampled(classes, base))
        case OneWay(pair):
            return write(classes, pair)  # both orders of the neighbours claim more than one
        case Failing(base, chance):  # as a mechanism of its own that may fail: the same profile
            return _composed(classes, ((base, 1), (TotalVariation(chance), 1)))
        case Least(facts):
            return _any(classes, facts)
        case Composition(parts):
            return _composed(classes, parts)
        case Guarantee():
            raise Refused(
                f"there is no DpEvent for {type(guarantee).__name__}: write the event of the "
                "mechanism it comes from, or a GDP or ZCDP guarantee that lies above it"
            )
    raise InvalidArgument(
        name="guarantee",
        expected="a guarantee, such as mechanism.guarantee or Pure(1)",
        given=InvalidArgument.describe_parameter(guarantee),
    )


def _make(classes: Any, name: str, *values: Any) -> Any:
    if not hasattr(classes, name):
        raise Refused(
            f"the installed dp-accounting has no {name}, and no other event of it claims as "
            "much: upgrade it"
        )
    if math.inf in values:  # beyond all floats: no privacy to speak of
        return classes.NonPrivateDpEvent()
    return getattr(classes, name)(*values)


def _pure(classes: Any, epsilon: Fraction) -> Any:
    """(ε, 0), or discrete Laplace noise under one step, whose profile is exactly that of pure ε."""
    if hasattr(classes, "EpsilonDeltaDpEvent"):
        return _make(classes, "EpsilonDeltaDpEvent", float_up(epsilon), 0.0)
    return _make(classes, "DiscreteLaplaceDpEvent", float_up(epsilon), 1)


def _noise_parameter(epsilon: Fraction, categories: int) -> Fraction:
    """k/(e^ε + k − 1), the chance of a random category instead of the truth, rounded down."""

    def formula() -> Any:
        small = (-ball(epsilon)).exp()
        return categories * small / (1 + (categories - 1) * small)

    return max(Fraction(0), lower_fraction(sharp(formula)))


def _sampled(classes: Any, base: Guarantee) -> Any:
    # Randomized response is about replaced answers, sampling about people who come or go: there
    # the event would claim an amplification that does not hold. Pure ε claims no less.
    return _pure(classes, base.epsilon0) if isinstance(base, ResponsePair) else write(classes, base)


def _any(classes: Any, facts: tuple[Guarantee, ...]) -> Any:
    """The event of the fact that says most at δ = 1e-6, or of another if it has none."""
    refused: Refused | None = None
    for fact in sorted(facts, key=lambda g: g.epsilon(Fraction(1, 10**6))):
        try:
            return write(classes, fact)
        except Refused as error:
            refused = error
    assert refused is not None
    raise refused


def _composed(classes: Any, parts: tuple[tuple[Guarantee, int], ...]) -> Any:
    events: list[Any] = []
    for part, count in parts:
        # The PLD accountant forgets how often randomized response is in a SelfComposedDpEvent
        # (dp-accounting 0.6), so it gets copies; too many would stall it, and pure ε is counted.
        if isinstance(part, ResponsePair) and count <= _MOST_COPIES:
            events += [write(classes, part)] * count
            continue
        event = (
            _pure(classes, part.epsilon0)
            if isinstance(part, ResponsePair)
            else write(classes, part)
        )
        events.append(event if count == 1 else classes.SelfComposedDpEvent(event, count))
    return events[0] if len(events) == 1 else classes.ComposedDpEvent(events)


def float_up(x: Fraction) -> float:
    """The float that prints x, or else the least that is at least x in binary and in print."""
    found = round_up(x)
    if math.isinf(found) or number(float(x), name="x") == x:
        return found if math.isinf(found) else float(x)
    while number(found, name="x") < x:
        found = math.nextafter(found, math.inf)
    return found


def float_down(x: Fraction) -> float:
    """The same, from below; at least 0.

    >>> float_down(Fraction(1, 10)), float_down(Fraction(1, 3))
    (0.1, 0.3333333333333333)
    """
    found = max(0.0, round_down(x))
    if found < 1e308 and number(float(x), name="x") == x:
        return float(x)
    while number(found, name="x") > x:
        found = math.nextafter(found, 0.0)
    return found
