"""A mechanism on a random sample of the people: whoever was not drawn cannot be harmed."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees import Approx, Composition, Guarantee, SampledPair
from discreet.guarantees.guarantee import unit_interval
from discreet.guarantees.sampled import OneWay
from discreet.hints import spelled
from discreet.inputs import Sampled
from discreet.laws.mixture import Mixture
from discreet.mechanisms.key_threshold import KeyThreshold
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.statistical_queries import StatisticalQueries
from discreet.numeric.exact import Number, positive


class Mechanism(Protocol):
    """Anything that states its guarantee."""

    @property
    def guarantee(self) -> Guarantee: ...


@dataclass(frozen=True, init=False)
class PoissonSampled:
    """The promise of a ``mechanism`` that is run on a Poisson sample of the people.

    Each person is in the sample with probability ``rate``, independently of all others and anew
    in each run, and nobody is told who was drawn. Drawing a batch of fixed size, shuffling, or
    drawing once for several runs is something else, and is not covered.

    Neighbours differ by one person more or less (add-remove), so the sensitivity of the
    mechanism must be the one under add-remove, and sums are not divided by the size of the
    sample, which is private. The two directions differ: ``remove`` compares a person's presence
    with their absence, ``add`` the other way round, and ``guarantee`` covers both.

    Sampling, and running on the sample, is up to the caller: this class says what that promises.

    >>> from discreet.mechanisms.gaussian import Gaussian
    >>> step = PoissonSampled(Gaussian(sensitivity=1, sigma=1), rate=0.8)
    >>> step.remove.delta(1), step.add.delta(1)
    (0.08169517865853554, 0.02313621040908985)
    >>> step = PoissonSampled(Gaussian(sensitivity=1, sigma=1), rate=0.01)
    >>> round(step.guarantee.repeat(1000).epsilon(1e-6), 2)             # a thousand samples
    2.12
    """

    mechanism: Mechanism
    rate: Fraction
    _pair: SampledPair = field(repr=False, compare=False)

    @spelled
    def __init__(self, mechanism: Mechanism, *, rate: Number) -> None:
        q = unit_interval(positive(rate, name="rate"), name="rate")
        object.__setattr__(self, "mechanism", mechanism)
        object.__setattr__(self, "rate", q)
        object.__setattr__(self, "_pair", SampledPair(_base(mechanism), rate=q))

    @property
    def guarantee(self) -> SampledPair:
        """What one run on a new sample promises, in both directions."""
        return self._pair

    @property
    def remove(self) -> OneWay:
        """The direction in which a person is removed: presence against absence."""
        return self.guarantee.remove

    @property
    def add(self) -> OneWay:
        """The direction in which a person is added: absence against presence."""
        return self.guarantee.add

    @property
    def inputs(self) -> Sampled:
        """The inputs of the mechanism, with and without the person."""
        return Sampled(getattr(self.mechanism, "inputs", None))

    def law(self, value: tuple[Any, Any]) -> Any:
        """Return the law of one run on ``value = (without, with_person)``.

        These are the mechanism's inputs from the same sample, without the person and with them.
        ``(without, None)`` stands for a person who is not there at all.

        >>> from discreet.mechanisms.laplace import Laplace
        >>> halves = PoissonSampled(Laplace(sensitivity=1, epsilon=1), rate=0.5)
        >>> round(halves.law((0, 1)).pmf(0), 6), round(halves.law((0, None)).pmf(0), 6)
        (0.31606, 0.462117)
        """
        without, person = value
        law = getattr(self.mechanism, "law", None)
        if law is None:
            raise Refused("the mechanism has no law, so neither does its run on a sample")
        if person is None:
            return law(without)
        return Mixture(law(person), law(without), share=self.rate)


def _base(mechanism: Mechanism) -> Guarantee:
    """The promise of the mechanism for one person more or less, as one pair."""
    match mechanism:
        case RandomizedResponse() | StatisticalQueries():
            raise Refused(
                f"{type(mechanism).__name__} hides what a person's record says, not whether there "
                "is one, so sampling people does not fit it: sample for a mechanism whose "
                "sensitivity is under add-remove"
            )
        case PoissonSampled():
            raise Refused("sample once, with the product of the rates")
        case Laplace():
            # All of the move in one number is at least as easy to see as any other split.
            plain = Laplace(
                sensitivity=mechanism.sensitivity, scale=mechanism.scale, step=mechanism.step
            )
            return plain.guarantee
        case KeyThreshold(max_groups=many) if many > 1:
            return Approx(mechanism.epsilon, mechanism.delta)
    guarantee = getattr(mechanism, "guarantee", None)
    if isinstance(guarantee, Composition):
        raise Refused(
            "sampling is known for one mechanism at a time: sample each of its parts on its own "
            "and compose what they promise"
        )
    if isinstance(guarantee, Guarantee):
        return guarantee
    raise InvalidArgument.of(
        "mechanism",
        "a mechanism with a guarantee, such as Gaussian(sensitivity=1, sigma=2)",
        mechanism,
    )
