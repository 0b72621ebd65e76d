"""Pure differential privacy: no event is more than e^ε times likelier on a neighbour."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.balls import ball, upper
from discreet.exact import Number, non_negative
from discreet.guarantees.profile import delta_at, epsilon_at, group_size, unit_interval
from discreet.laws.sharp import sharp

if TYPE_CHECKING:
    from flint import arb


@dataclass(frozen=True, init=False, repr=False)
class Pure:
    """ε-differential privacy.

    >>> promise = Pure(epsilon=1)
    >>> promise.tv                      # tanh(ε/2), reached by randomized response
    0.4621171572600098
    >>> promise.delta(1)
    0.0
    >>> promise.posterior(0.01)         # from 1 % to at most this, whatever is released
    0.026723630989395227
    >>> promise.group(3)
    Pure(epsilon=Fraction(3, 1))
    """

    epsilon0: Fraction  #: the promised ε, exact

    def __init__(self, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon0", non_negative(epsilon, name="epsilon"))

    def __repr__(self) -> str:
        return f"Pure(epsilon={self.epsilon0!r})"

    def delta(self, epsilon: Number) -> float:
        """(e^ε₀ − e^ε)/(1 + e^ε₀) up to ε₀, then 0 (Kairouz, Oh and Viswanath 2015)."""
        return delta_at(self._profile, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at this δ, rounded up."""
        return epsilon_at(self._profile, delta, reaches_zero=True)

    @property
    def tv(self) -> float:
        """tanh(ε₀/2), tighter than the lecture's (e^ε₀ − 1)/2 (`bounds.tv_from_epsilon`)."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """Hit rate minus false-alarm rate of the best attacker: the total variation."""
        return self.tv

    def posterior(self, prior: Number) -> float:
        """The most that a belief of `prior` in a fact about one person can become."""
        p = unit_interval(prior, name="prior")
        # The odds grow by at most e^ε₀: posterior = p/(p + (1 − p)·e^(−ε₀)).
        value = sharp(lambda: ball(p) / (ball(p) + ball(1 - p) * (-ball(self.epsilon0)).exp()))
        return min(1.0, upper(value))

    def group(self, k: int) -> Pure:
        """What is promised to k people together: k·ε₀."""
        return Pure(self.epsilon0 * group_size(k))

    def _profile(self, x: Fraction) -> arb:
        return pure_profile(self.epsilon0, x)


def pure_profile(epsilon: Fraction, x: Fraction) -> arb:
    """δ(x) of randomized response, the worst ε-private pair, for x ≥ 0.

    >>> print(pure_profile(Fraction(1), Fraction(0)).str(15, radius=False))
    0.462117157260010
    """
    if x >= epsilon:
        return ball(0)
    # (e^ε − e^x)/(1 + e^ε) = (1 − e^(x−ε))/(1 + e^(−ε)): nothing overflows.
    return -ball(x - epsilon).expm1() / (1 + (-ball(epsilon)).exp())
