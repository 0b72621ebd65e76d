"""Guarantees and the events of Google's dp_accounting, both ways.

An event says what was run, a guarantee what that promises. Reading takes the floats in an event
as the decimals they print, as everywhere here. Writing rounds to the side that claims more, so
no event claims less than the guarantee; where the installed dp_accounting has no event for a
notion, the tightest one above it is written, or none.

The noise of an event is relative to what one person adds. So what is read holds for adding or
removing a person, or replacing one by an empty record; for replacing one by another it holds as
`guarantee.group(2)`. Randomized response stands for replacing an answer by any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeAlias

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.composition import Composition, Least, compose, proved
from discreet.guarantees.failure import Failing
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee, unit_interval
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.pure import Pure
from discreet.guarantees.randomized_response import ResponsePair
from discreet.guarantees.sampled import OneWay, SampledPair
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.numeric.balls import ball, lower_fraction, sharp
from discreet.numeric.exact import integer, non_negative, number, round_down, round_up
from discreet.numeric.short_fractions import ball_up
from discreet.plot import extra


def from_dp_event(event: Any) -> Guarantee:
    """What a dp_accounting ``event`` promises; one without a known guarantee is refused.

    >>> from dp_accounting import dp_event
    >>> from_dp_event(dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(2.0), 16))
    GDP(mu=Fraction(2, 1))
    >>> from_dp_event(dp_event.PoissonSampledDpEvent(0.01, dp_event.LaplaceDpEvent(0.5)))
    SampledPair(LaplacePair(epsilon=Fraction(2, 1), steps=None), rate=Fraction(1, 100))
    """
    return read(_event_classes(), event)


def to_dp_event(guarantee: Guarantee) -> Any:
    """A dp_accounting event that claims no less privacy loss than the ``guarantee``.

    >>> from discreet.guarantees import GDP
    >>> to_dp_event(GDP(mu="1/10")), to_dp_event(GDP(mu=3))     # less noise claims more
    (GaussianDpEvent(noise_multiplier=10.0), GaussianDpEvent(noise_multiplier=0.3333333333333333))
    """
    return write(_event_classes(), guarantee)


def _event_classes() -> Any:
    told = "reading and writing DpEvents needs the package dp-accounting"
    remedy = "install it with `pip install dp-accounting`"
    missing = Refused(told, remedy=remedy, code="not-installed")
    return extra("dp_accounting.dp_event", missing)


# -- from an event to what it promises -------------------------------------------------------------


_DEEPEST = 100  # events inside events
_NOTHING, _EVERYTHING = Pure(0), TotalVariation(1)

_OTHERWISE = "put an event in its place that claims no less, such as a ZCDpEvent"
_INSTEAD = {
    "SampledWithReplacementDpEvent": "only Poisson sampling has a guarantee here",
    "SampledWithoutReplacementDpEvent": "only Poisson sampling has a guarantee here",
    "SingleEpochTreeAggregationDpEvent": "one person is in each level of a tree: write it as a "
    "GaussianDpEvent, with the noise divided by the square root of the number of levels",
    "MixtureOfGaussiansDpEvent": "the GaussianDpEvent of its largest sensitivity claims no less",
    "UnsupportedDpEvent": "say what was run, by another event",
}


Inner: TypeAlias = Callable[[Any], Guarantee]  # reads an event inside an event


def read(classes: Any, event: Any, depth: int = 0) -> Guarantee:
    """The guarantee, for an event of one of the classes of dp_accounting's module `dp_event`."""
    if depth > _DEEPEST:
        raise InvalidArgument("event", f"nested at most {_DEEPEST} deep", "a deeper one")
    if not isinstance(event, classes.DpEvent):
        raise InvalidArgument.of_data("event", "a DpEvent of dp_accounting", event)
    name = type(event).__name__
    # By name, as the classes of later versions are known here too; but theirs, not a class of the
    # same name with a meaning of its own.
    if name not in _READERS or getattr(classes, name, None) is not type(event):
        told = f"{name} has no guarantee here: {_INSTEAD.get(name, _OTHERWISE)}"
        raise Refused(told, code="unsupported")
    return _READERS[name](event, lambda inside: read(classes, inside, depth + 1))


def _read_noise(event: Any, inner: Inner) -> Guarantee:
    name = type(event).__name__
    size = non_negative(event.noise_multiplier, name=f"{name}.noise_multiplier")
    if size == 0:
        return _EVERYTHING
    return GDP(1 / size) if name == "GaussianDpEvent" else LaplacePair(1 / size)


def _read_discrete_laplace(event: Any, inner: Inner) -> Guarantee:
    rate = non_negative(event.noise_parameter, name="DiscreteLaplaceDpEvent.noise_parameter")
    steps = integer(event.sensitivity, name="DiscreteLaplaceDpEvent.sensitivity", minimum=0)
    if steps == 0:
        return _NOTHING
    # e^(−a·|x|) is no law at a = 0; dp_accounting takes it for no privacy, which is safe.
    return LaplacePair(rate * steps, steps) if rate else _EVERYTHING


def _read_response(event: Any, inner: Inner) -> Guarantee:
    """With chance p a category out of all k at random, else the truth: e^ε = 1 + k·(1 − p)/p."""
    p = unit_interval(event.noise_parameter, name="RandomizedResponseDpEvent.noise_parameter")
    k = integer(event.num_buckets, name="RandomizedResponseDpEvent.num_buckets", minimum=1)
    if k == 1:
        return _NOTHING
    if p == 0:
        return _EVERYTHING
    return ResponsePair(ball_up(sharp(lambda: ball(k * (1 - p) / p).log1p())), k)


def _read_epsilon_delta(event: Any, inner: Inner) -> Guarantee:
    guarantee = Approx(event.epsilon, event.delta)
    return guarantee if guarantee.delta0 else Pure(guarantee.epsilon0)


def _read_zcdp(event: Any, inner: Inner) -> Guarantee:
    """ξ + ρ·α is at most (ξ + ρ)·α at every order α ≥ 1."""
    rho = non_negative(event.rho, name="ZCDpEvent.rho")
    return ZCDP(rho + non_negative(event.xi, name="ZCDpEvent.xi"))


def _read_sampled(event: Any, inner: Inner) -> Guarantee:
    name = "PoissonSampledDpEvent.sampling_probability"
    rate = unit_interval(event.sampling_probability, name=name)
    base = inner(event.event)
    match base:
        case SampledPair(first, before):  # a sample of a sample
            return SampledPair(first, before * rate)
        case ResponsePair():
            raise Refused(
                "randomized response on a Poisson sample is not amplified when an answer is "
                "replaced: read the RandomizedResponseDpEvent alone"
            )
        case Composition():
            raise Refused(
                "several mechanisms on one Poisson sample have no guarantee here, unless all are "
                "Gaussian: draw a sample for each, or read the events without the sampling"
            )
    return SampledPair(base, rate)


def _read_repeated(event: Any, inner: Inner) -> Guarantee:
    count = integer(event.count, name="SelfComposedDpEvent.count", minimum=0)
    one = inner(event.event)
    if count == 0:
        return _NOTHING
    return one if one in (_NOTHING, _EVERYTHING) else one.repeat(count)


def _read_composed(event: Any, inner: Inner) -> Guarantee:
    if not isinstance(event.events, list | tuple):
        raise InvalidArgument.of_data("ComposedDpEvent.events", "a list of events", event.events)
    parts = [inner(each) for each in event.events]
    # Where one part hides nothing, the others cannot help.
    return _EVERYTHING if _EVERYTHING in parts else compose(g for g in parts if g != _NOTHING)


# The last three are not in dp-accounting 0.6, but on its main branch.
_READERS: dict[str, Callable[[Any, Inner], Guarantee]] = {
    "NoOpDpEvent": lambda event, inner: _NOTHING,
    "NonPrivateDpEvent": lambda event, inner: _EVERYTHING,
    "GaussianDpEvent": _read_noise,
    "LaplaceDpEvent": _read_noise,
    "DiscreteLaplaceDpEvent": _read_discrete_laplace,
    "RandomizedResponseDpEvent": _read_response,
    "ZCDpEvent": _read_zcdp,
    "PoissonSampledDpEvent": _read_sampled,
    "SelfComposedDpEvent": _read_repeated,
    "ComposedDpEvent": _read_composed,
    "EpsilonDeltaDpEvent": _read_epsilon_delta,
    "ExponentialMechanismDpEvent": lambda event, inner: BoundedRange(event.epsilon),
    "PermuteAndFlipDpEvent": lambda event, inner: Pure(event.epsilon),
}


# -- from a guarantee to an event that claims no less ----------------------------------------------


_MOST_COPIES = 1000


def write(classes: Any, guarantee: Guarantee) -> Any:
    """The event, of one of the classes of dp_accounting's module `dp_event`."""
    match guarantee:
        case TotalVariation(1) | Approx(_, 1):
            return classes.NonPrivateDpEvent()
        case Guarantee() if guarantee.epsilon(0) == 0:
            return classes.NoOpDpEvent()
        case Pure(epsilon) | Approx(epsilon, 0):
            return _write_pure(classes, epsilon)
        case Approx(epsilon, delta):
            return _make(classes, "EpsilonDeltaDpEvent", float_up(epsilon), float_up(delta))
        case TotalVariation(tv):
            return _make(classes, "EpsilonDeltaDpEvent", 0.0, float_up(tv))
        case BoundedRange(epsilon) if hasattr(classes, "ExponentialMechanismDpEvent"):
            return _make(classes, "ExponentialMechanismDpEvent", float_up(epsilon))
        case BoundedRange(epsilon):
            return _write_pure(classes, epsilon)
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
            # Randomized response is about replaced answers, sampling about people who come or go:
            # there the event would claim an amplification that does not hold.
            event = _write_without_response(classes, base)
            return _make(classes, "PoissonSampledDpEvent", float_up(rate), event)
        case OneWay(pair):
            return write(classes, pair)  # both orders of the neighbours claim more than one
        case Failing(base, chance):  # as a mechanism of its own that may fail: the same profile
            return _write_composed(classes, ((base, 1), (TotalVariation(chance), 1)))
        case Least(facts):
            return _write_any(classes, facts)
        case Composition(parts):
            return _write_composed(classes, parts)
        case Guarantee():
            raise Refused(
                f"there is no DpEvent for {type(guarantee).__name__}: write the event of the "
                "mechanism it comes from, or a GDP or ZCDP guarantee that lies above it",
                code="unsupported",
            )
    raise InvalidArgument.of(
        "guarantee", "a guarantee, such as mechanism.guarantee or Pure(1)", guarantee
    )


def _make(classes: Any, name: str, *values: Any) -> Any:
    if not hasattr(classes, name):
        raise Refused(
            f"the installed dp-accounting has no {name}, and no other event of it claims as much",
            remedy="upgrade it",
            code="unsupported",
        )
    if math.inf in values:  # beyond all floats: no privacy to speak of
        return classes.NonPrivateDpEvent()
    return getattr(classes, name)(*values)


def _write_pure(classes: Any, epsilon: Fraction) -> Any:
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


def _write_without_response(classes: Any, base: Guarantee) -> Any:
    """As any guarantee, but randomized response as pure ε, which claims no less."""
    if isinstance(base, ResponsePair):
        return _write_pure(classes, base.epsilon0)
    return write(classes, base)


def _write_any(classes: Any, facts: tuple[Guarantee, ...]) -> Any:
    """The event of the fact that says most at δ = 1e-6, or of another if it has none."""
    best_first = sorted(facts, key=lambda g: g.epsilon(Fraction(1, 10**6)))
    return proved(lambda fact: write(classes, fact), best_first)[0]


def _write_composed(classes: Any, parts: tuple[tuple[Guarantee, int], ...]) -> Any:
    events: list[Any] = []
    for part, count in parts:
        # The PLD accountant forgets how often randomized response is in a SelfComposedDpEvent
        # (dp-accounting 0.6), so it gets copies; too many would stall it, and pure ε is counted.
        if isinstance(part, ResponsePair) and count <= _MOST_COPIES:
            events += [write(classes, part)] * count
            continue
        event = _write_without_response(classes, part)
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
    """The float that prints x, or else the greatest at most x in binary and in print; 0 or above.

    >>> float_down(Fraction(1, 10)), float_down(Fraction(1, 3))
    (0.1, 0.3333333333333333)
    """
    found = max(0.0, round_down(x))
    if found < 1e308 and number(float(x), name="x") == x:
        return float(x)
    while number(found, name="x") > x:
        found = math.nextafter(found, 0.0)
    return found
