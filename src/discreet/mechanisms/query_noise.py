"""How much noise a mean of n values in [0, 1] gets, as noise on their sum in whole steps."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from discreet.errors import InvalidArgument
from discreet.exact import Number, positive
from discreet.mechanisms.choice import exactly_one
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.query_values import UNIT

# In steps of 2^−32: sums stay below 2^62, and beyond that 60 times this noise is out of reach.
MOST_NOISE: Final = 1 << 56


def noise_on_sum(
    n: int, noise: Laplace | Gaussian | None, sigma: Number | None, epsilon: Number | None
) -> Laplace | Gaussian:
    """Return the mechanism for the sum, which one record moves by 2^32 steps at most.

    >>> noise_on_sum(n=100, noise=None, sigma=0.05, epsilon=None).guarantee
    GDP(mu=Fraction(1, 5))
    """
    if noise is not None and sigma is None and epsilon is None:
        return _checked(_rescaled(noise, n))
    named = None if noise is None else type(noise).__name__
    chosen, given = exactly_one(epsilon=epsilon, noise=named, sigma=sigma)
    if chosen == "sigma":
        spread = n * positive(given, name="sigma")
        return _checked(Gaussian(sensitivity=UNIT, sigma=spread * UNIT, step=1))
    return _checked(Laplace(sensitivity=UNIT, epsilon=given, step=1))


def _checked(mechanism: Laplace | Gaussian) -> Laplace | Gaussian:
    """Refuse noise that could reach the edge of an int64, where answers would pile up."""
    size = mechanism.scale if isinstance(mechanism, Laplace) else mechanism.sigma
    if size <= MOST_NOISE:
        return mechanism
    raise InvalidArgument(
        name="noise",
        expected="below 2^24 answers wide",
        given="more",
        hint="answers lie between 0 and 1: choose a smaller sigma or a larger epsilon",
    )


def _rescaled(noise: Laplace | Gaussian, n: int) -> Laplace | Gaussian:
    """The same promise, for a sum in steps of 2^−32 instead of a mean."""
    if not isinstance(noise, Laplace | Gaussian):
        given = InvalidArgument.describe_parameter(noise)
        raise InvalidArgument(name="noise", expected="a Laplace or a Gaussian", given=given)
    if noise.sensitivity != Fraction(1, n) or noise.step is not None:
        raise InvalidArgument(
            name="noise",
            expected=f"of sensitivity 1/{n}, by which one of {n} records moves a mean, and no step",
            given=f"sensitivity {noise.sensitivity} and step {noise.step}",
            hint=f'say sensitivity="1/{n}" or give sigma= or epsilon= instead',
        )
    if isinstance(noise, Laplace):
        return Laplace(sensitivity=UNIT, epsilon=noise.epsilon, step=1)
    return Gaussian(sensitivity=UNIT, mu=noise.mu, step=1)
