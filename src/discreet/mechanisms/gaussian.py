"""The Gaussian mechanism: noise for many numbers at once, where a small δ is allowed."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from numbers import Integral

from discreet import laws
from discreet.errors import InvalidArgument, Phrase
from discreet.guarantees import GDP, classic_sigma, gaussian_sigma
from discreet.hints import spelled
from discreet.inputs import Numbers
from discreet.lazy import cached_property
from discreet.mechanisms.mechanism import (
    NoisyNumbers,
    Step,
    check_noise,
    exactly_one,
    positive_sensitivity,
    read_step,
)
from discreet.noise import gaussian as noise
from discreet.numeric.exact import Number, positive, sqrt_up
from discreet.sensitivity import Sensitivity


@dataclass(frozen=True, init=False)
class Gaussian(NoisyNumbers):
    """Adds N(0, σ²) noise to each number: μ-Gaussian differential privacy, μ = sensitivity/σ.

    ``sensitivity`` is in the L2 norm, which for a vector is never larger than L1. Give one of
    ``epsilon`` with ``delta`` (the least σ for which (ε, δ) holds, for every ε > 0),
    ``rho`` (zero-concentrated), ``mu`` (Gaussian DP) or ``sigma`` (the noise). Integers in
    give integers out, floats in give floats on a fine grid: both are the exact rounding of
    the textbook mechanism, so its guarantee holds word for word.
    ``step`` fixes the grid: 1 for integers, "fine" for floats, or a power of two.

    Cost: ``guarantee``. Error: ``error(0.95)`` for a 95 % half-width, about 2·σ.

    >>> mechanism = Gaussian(sensitivity=1, epsilon=1, delta=1e-6)
    >>> round(float(mechanism.sigma), 6), mechanism.guarantee.delta(1) <= 1e-6
    (4.224679, True)
    >>> mechanism.release([10, 20, 30]).dtype
    dtype('int64')
    """

    _samplers = (noise.GaussianSampler, noise.GaussianSampler)

    sensitivity: Fraction
    sigma: Fraction
    step: Step

    @spelled
    def __init__(
        self,
        *,
        sensitivity: Number | Sensitivity,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        sigma: Number | None = None,
        step: Number | None = None,
    ) -> None:
        size = positive_sensitivity(sensitivity, norm="l2")
        chosen, given = exactly_one(epsilon=epsilon, rho=rho, mu=mu, sigma=sigma)
        if (chosen == "epsilon") != (delta is not None):
            raise InvalidArgument.of(
                "delta",
                "given together with epsilon, and only then",
                delta,
                hint=Phrase(
                    "a Gaussian has no finite epsilon at delta = 0; as in {epsilon=1}, {delta=1e-6}"
                ),
            )
        object.__setattr__(self, "sensitivity", size)
        exact = _sigma(size, chosen, given, delta)
        object.__setattr__(self, "sigma", check_noise(exact, name=chosen))
        object.__setattr__(self, "step", read_step(step, noise=self.sigma))

    @classmethod
    def classic(
        cls, *, sensitivity: Number | Sensitivity, epsilon: Number, delta: Number
    ) -> Gaussian:
        """Return the mechanism with the lecture's σ = sensitivity·√(2·ln(2/δ))/ε.

        It is proved for 0 < ε ≤ 1 and 0 < δ ≤ ½ and refused elsewhere, where it would be too
        small. The default calibration is valid everywhere and needs less noise.
        """
        size = positive_sensitivity(sensitivity, norm="l2")
        sigma = classic_sigma(sensitivity=size, epsilon=epsilon, delta=delta)
        return cls(sensitivity=size, sigma=sigma)

    @property
    def _size(self) -> Fraction:
        return self.sigma

    @property
    def mu(self) -> Fraction:
        """The μ of the Gaussian guarantee, exact."""
        return self.sensitivity / self.sigma

    @cached_property
    def guarantee(self) -> GDP:
        """μ-Gaussian differential privacy: δ at any ε, ε at any δ."""
        return GDP(self.mu)

    @property
    def inputs(self) -> Numbers:
        """What one person can do to the numbers."""
        return Numbers(
            total=self.sensitivity,
            largest=self.sensitivity,
            norm="l2",
            integers=self._keeps_integers,
        )

    def law(self, value: int | float | Fraction) -> laws.RoundedGaussian:
        """Return the exact law of ``release(value)`` for one number, far from int64's edges."""
        if isinstance(value, Integral) and self._keeps_integers:
            return laws.RoundedGaussian(center=int(value), sigma=self.sigma, step=1)
        return laws.RoundedGaussian(center=value, sigma=self.sigma, step=self._float_step)


def _sigma(size: Fraction, chosen: str, given: Number, delta: Number | None) -> Fraction:
    """Return σ, rounded up where it is irrational."""
    if chosen == "epsilon":
        assert delta is not None
        return gaussian_sigma(sensitivity=size, epsilon=given, delta=delta)
    exact = positive(given, name=chosen)
    if chosen == "rho":  # ρ = μ²/2
        return size * sqrt_up(1 / (2 * exact))
    return size / exact if chosen == "mu" else exact
