"""Families of mechanisms that differ in nothing but their noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Generic, TypeVar

from discreet.errors import InvalidArgument
from discreet.mechanisms.above_threshold import AboveThreshold
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.poisson_sampled import Mechanism
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.sparse_vector import SparseVector

M = TypeVar("M", bound=Mechanism)

# By which parameter the noise of a family is chosen, and what its `error` asks for besides.
_FAMILIES: Final[dict[type, tuple[str, str | None]]] = {
    Laplace: ("scale", None),
    Gaussian: ("sigma", None),
    RandomizedResponse: ("epsilon", "respondents"),
    Exponential: ("epsilon", "candidates"),
    NoisyMax: ("epsilon", "candidates"),
    AboveThreshold: ("epsilon", "queries"),
    SparseVector: ("epsilon", "queries"),
}
_NOISE: Final = ("epsilon", "delta", "scale", "sigma", "rho", "mu", "truth")


@dataclass(frozen=True)
class Family(Generic[M]):
    """A class of mechanisms with all of its parameters but the noise."""

    mechanism: type[M]
    parameters: dict[str, Any]
    noise: str  #: the parameter that is left open
    asks: dict[str, Any]  #: what `error` is asked for besides a confidence

    @staticmethod
    def read(mechanism: type[M], parameters: dict[str, Any]) -> Family[M]:
        """A family at the door.

        >>> Family.read(Laplace, {"sensitivity": 1}).make(2).epsilon
        Fraction(1, 2)
        """
        if not isinstance(mechanism, type) or mechanism not in _FAMILIES:
            given = getattr(mechanism, "__name__", None)
            raise InvalidArgument(
                name="family",
                expected=f"one of {', '.join(sorted(known.__name__ for known in _FAMILIES))}",
                given=given or InvalidArgument.describe_parameter(mechanism),
                hint="pass the class, as in dp.calibrate(dp.Laplace, sensitivity=1, error=5)",
            )
        for name in _NOISE:
            if name in parameters:
                raise InvalidArgument(
                    name=name,
                    expected="left out",
                    given=InvalidArgument.describe_parameter(parameters[name]),
                    hint="the noise is what is looked for",
                )
        noise, extra = _FAMILIES[mechanism]
        asks = {name: value for name, value in parameters.items() if name == extra}
        own = {name: value for name, value in parameters.items() if name != extra}
        return Family(mechanism, own, noise, asks)

    @property
    def name(self) -> str:
        """The name of the class."""
        return self.mechanism.__name__

    def make(self, size: float | Fraction) -> M:
        """The mechanism with noise of this size, exact: its scale, its σ, or 1/ε."""
        exact = Fraction(size)
        noise = 1 / exact if self.noise == "epsilon" else exact
        return self.mechanism(**self.parameters, **{self.noise: noise})

    def error(self, size: Fraction, confidence: Fraction) -> float:
        """How far off the mechanism with noise of this size may be."""
        mechanism: Any = self.make(size)
        width: float = mechanism.error(confidence, **self.asks)
        return width

    @property
    def unit(self) -> Fraction:
        """The size of noise that goes with a privacy loss of 1."""
        if self.noise == "epsilon":
            return Fraction(1)
        mechanism: Any = self.make(1)
        sensitivity: Fraction = mechanism.sensitivity
        return sensitivity
