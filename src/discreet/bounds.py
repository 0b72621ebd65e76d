"""The lectures' looser bounds, by name. The package itself uses exact values.

All are rounded up, and may exceed 1: that is where they stop saying anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from discreet.hints import unknown
from discreet.numeric.balls import ball, sharp, upper, upper_normal
from discreet.numeric.exact import Number, integer, non_negative, number, positive

__all__ = ["gaussian_loss_tail", "gaussian_tail", "gaussian_tv", "tv_from_epsilon"]


def gaussian_tv(m: int, sigma: Number) -> float:
    """TV stability of a mean of m values in [0, 1] plus N(0, σ²): at most 1/(√(2π)·m·σ).

    ``m`` is a whole number and ``sigma`` is σ, in the units of the mean.
    One scan of the lecture has lost a bracket and prints 1/√(2πmσ), which is not a bound.
    The exact value is 2Φ(1/(2mσ)) − 1, which is `GDP(mu=1/(m·σ)).tv`.

    >>> gaussian_tv(m=100, sigma=0.05)
    0.07978845608028655
    """
    spread = integer(m, name="m", minimum=1) * positive(sigma, name="sigma")
    return upper(sharp(lambda: 1 / ((2 * ball(0).pi()).sqrt() * ball(spread))))


def tv_from_epsilon(epsilon: Number) -> float:
    """Total variation under ε-differential privacy: at most (e^ε − 1)/2, vacuous from ln 3 on.

    The tight value is tanh(ε/2), which is `Pure(epsilon).tv`.

    >>> tv_from_epsilon(1)
    0.8591409142295227
    """
    exact = non_negative(epsilon, name="epsilon")
    return upper(sharp(lambda: ball(exact).expm1() / 2))


def gaussian_tail(t: Number) -> float:
    """P(|z − μ| > t·σ) for a Gaussian z: at most 2/(t·√(2π))·e^(−t²/2).

    >>> gaussian_tail(2)
    0.053990966513188056
    """
    exact = positive(t, name="t")
    return upper(
        sharp(
            lambda: 2 * ball(-exact * exact / 2).exp() / (ball(exact) * (2 * ball(0).pi()).sqrt())
        )
    )


def gaussian_loss_tail(mu: Number, epsilon: Number) -> float:
    """P(privacy loss > ε) for Gaussian noise with μ = Δ/σ: Φ(μ/2 − ε/μ).

    The loss is N(μ²/2, μ²), and (ε, δ)-differential privacy holds if it exceeds ε with
    probability at most δ. That is sufficient, not necessary: `GDP(mu).delta(epsilon)` is exact.

    >>> gaussian_loss_tail(mu=1, epsilon=1)
    0.30853753872598694
    """
    shift, loss = positive(mu, name="mu"), number(epsilon, name="epsilon")
    return upper(sharp(lambda: upper_normal(loss / shift - shift / 2)))


if not TYPE_CHECKING:  # a type checker would then accept every name

    def __getattr__(name: str) -> NoReturn:
        raise unknown("discreet.bounds", name, __all__)
