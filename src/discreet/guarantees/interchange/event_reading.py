"""From a dp_accounting event to what it promises, one function a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from discreet.balls import ball
from discreet.errors import InvalidArgument, Refused
from discreet.exact import integer, non_negative
from discreet.guarantees.approx import Approx
from discreet.guarantees.bounded_range import BoundedRange
from discreet.guarantees.compose import compose
from discreet.guarantees.composition import Composition
from discreet.guarantees.gdp import GDP
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.laplace import LaplacePair
from discreet.guarantees.profile import unit_interval
from discreet.guarantees.pure import Pure
from discreet.guarantees.response import ResponsePair
from discreet.guarantees.sampled import SampledPair
from discreet.guarantees.short import ball_up
from discreet.guarantees.total_variation import TotalVariation
from discreet.guarantees.zcdp import ZCDP
from discreet.laws.sharp import sharp

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


def read(classes: Any, event: Any) -> Guarantee:
    """The guarantee, for an event of one of the classes of dp_accounting's module `dp_event`."""
    return _Reader(classes, depth=0)(event)


@dataclass(frozen=True)
class _Reader:
    classes: Any
    depth: int

    def __call__(self, event: Any) -> Guarantee:
        if self.depth > _DEEPEST:
            raise InvalidArgument(
                name="event", expected=f"nested at most {_DEEPEST} deep", given="a deeper one"
            )
        if not isinstance(event, self.classes.DpEvent):
            raise InvalidArgument(
                name="event",
                expected="a DpEvent of dp_accounting",
                given=InvalidArgument.describe_data(event),
            )
        name = type(event).__name__
        # By name, as the classes of later versions are known here too; but theirs, not a
        # class of the same name with a meaning of its own.
        if name not in _READERS or getattr(self.classes, name, None) is not type(event):
            raise Refused(f"{name} has no guarantee here: {_INSTEAD.get(name, _OTHERWISE)}")
        return _READERS[name](event, _Reader(self.classes, self.depth + 1))


def _gaussian(event: Any, inner: _Reader) -> Guarantee:
    sigma = non_negative(event.noise_multiplier, name="GaussianDpEvent.noise_multiplier")
    return GDP(1 / sigma) if sigma else _EVERYTHING


def _laplace(event: Any, inner: _Reader) -> Guarantee:
    scale = non_negative(event.noise_multiplier, name="LaplaceDpEvent.noise_multiplier")
    return LaplacePair(1 / scale) if scale else _EVERYTHING


def _discrete_laplace(event: Any, inner: _Reader) -> Guarantee:
    rate = non_negative(event.noise_parameter, name="DiscreteLaplaceDpEvent.noise_parameter")
    steps = integer(event.sensitivity, name="DiscreteLaplaceDpEvent.sensitivity", minimum=0)
    if steps == 0:
        return _NOTHING
    # e^(−a·|x|) is no law at a = 0; dp_accounting takes it for no privacy, which is safe.
    return LaplacePair(rate * steps, steps) if rate else _EVERYTHING


def _response(event: Any, inner: _Reader) -> Guarantee:
    """With chance p a category out of all k at random, else the truth: e^ε = 1 + k·(1 − p)/p."""
    p = unit_interval(event.noise_parameter, name="RandomizedResponseDpEvent.noise_parameter")
    k = integer(event.num_buckets, name="RandomizedResponseDpEvent.num_buckets", minimum=1)
    if k == 1:
        return _NOTHING
    if p == 0:
        return _EVERYTHING
    return ResponsePair(ball_up(sharp(lambda: ball(k * (1 - p) / p).log1p())), k)


def _epsilon_delta(event: Any, inner: _Reader) -> Guarantee:
    guarantee = Approx(event.epsilon, event.delta)
    return guarantee if guarantee.delta0 else Pure(guarantee.epsilon0)


def _zcdp(event: Any, inner: _Reader) -> Guarantee:
    """ξ + ρ·α is at most (ξ + ρ)·α at every order α ≥ 1."""
    rho = non_negative(event.rho, name="ZCDpEvent.rho")
    return ZCDP(rho + non_negative(event.xi, name="ZCDpEvent.xi"))


def _sampled(event: Any, inner: _Reader) -> Guarantee:
    rate = unit_interval(
        event.sampling_probability, name="PoissonSampledDpEvent.sampling_probability"
    )
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


def _repeated(event: Any, inner: _Reader) -> Guarantee:
    count = integer(event.count, name="SelfComposedDpEvent.count", minimum=0)
    one = inner(event.event)
    if count == 0:
        return _NOTHING
    return one if one in (_NOTHING, _EVERYTHING) else one.repeat(count)


def _composed(event: Any, inner: _Reader) -> Guarantee:
    if not isinstance(event.events, list | tuple):
        given = InvalidArgument.describe_data(event.events)
        raise InvalidArgument(
            name="ComposedDpEvent.events", expected="a list of events", given=given
        )
    parts = [inner(each) for each in event.events]
    # Where one part hides nothing, all others are in vain.
    return _EVERYTHING if _EVERYTHING in parts else compose(g for g in parts if g != _NOTHING)


# The last three are not in dp-accounting 0.6, but on its main branch.
_READERS: dict[str, Callable[[Any, _Reader], Guarantee]] = {
    "NoOpDpEvent": lambda event, inner: _NOTHING,
    "NonPrivateDpEvent": lambda event, inner: _EVERYTHING,
    "GaussianDpEvent": _gaussian,
    "LaplaceDpEvent": _laplace,
    "DiscreteLaplaceDpEvent": _discrete_laplace,
    "RandomizedResponseDpEvent": _response,
    "ZCDpEvent": _zcdp,
    "PoissonSampledDpEvent": _sampled,
    "SelfComposedDpEvent": _repeated,
    "ComposedDpEvent": _composed,
    "EpsilonDeltaDpEvent": _epsilon_delta,
    "ExponentialMechanismDpEvent": lambda event, inner: BoundedRange(event.epsilon),
    "PermuteAndFlipDpEvent": lambda event, inner: Pure(event.epsilon),
}
