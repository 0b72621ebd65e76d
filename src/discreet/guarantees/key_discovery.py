"""Discovering keys: the worst of many coins, each tossed for a key with one unit more or less."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.errors import InvalidArgument
from discreet.guarantees.approx import Approx
from discreet.guarantees.document import FLAG, GUARANTEE, NUMBER, PAIRS, named
from discreet.guarantees.gdp import GDP
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import Guarantee, group_size, unit_interval
from discreet.guarantees.pure import Pure
from discreet.numeric.balls import arb, ball, upper_normal
from discreet.numeric.bands import UNIT, Band, FloatArray, band, ends, widen
from discreet.numeric.exact import Number
from discreet.numeric.short_fractions import short_up

Coin = tuple[Fraction, Fraction]
_FARTHEST = 700.0  # e^x is a float up to here
_LARGEST_EXPONENT = Fraction(10**25)  # and a ball; reading a falling profile earlier is safe


@dataclass(frozen=True, init=False, repr=False)
class KeyPair(Guarantee):
    """Whether keys are shown, where one more unit makes a key a little likelier to be shown.

    A coin (p, q) stands for a key that is shown with probability p, and q ≥ p with one unit
    more. Which of the coins it is depends on the data, so the profile is the largest of theirs
    and of `base`, what is promised for all other keys. The supremum of profiles is a profile.
    With `stepwise`, the base is Gaussian noise on a count, seen through a threshold only. On top,
    everything fails outright with probability `failing`. The first law is the one with the unit.

    >>> lone = KeyPair(coins=[(0, 0.01)], base=Pure(epsilon=1))    # nobody else has the key: 1 %
    >>> lone.tv, lone.delta(1)
    (0.4621171572600098, 0.01)
    """

    kind = "keys"
    fields = named(base=GUARANTEE, coins=PAIRS, failing=NUMBER, stepwise=FLAG)

    base: Guarantee
    coins: tuple[Coin, ...]
    failing: Fraction
    stepwise: bool

    def __init__(
        self,
        *,
        coins: Iterable[tuple[Number, Number]] = (),
        base: Guarantee | None = None,
        failing: Number = 0,
        stepwise: bool = False,
    ) -> None:
        pairs = tuple(
            (unit_interval(p, name="coins"), unit_interval(q, name="coins")) for p, q in coins
        )
        if any(p > q for p, q in pairs):
            raise InvalidArgument(
                "coins",
                "pairs (p, q) with p at most q, without and with the unit",
                "a pair the other way round",
            )
        if any(p > 0 for p, _ in pairs) and not isinstance(base, Pure | None):
            raise InvalidArgument.of_data(
                "base", "Pure, or left out, where a coin has p above 0", base
            )
        object.__setattr__(self, "base", Pure(0) if base is None else base)
        object.__setattr__(self, "coins", pairs)
        object.__setattr__(self, "failing", unit_interval(failing, name="failing"))
        object.__setattr__(self, "stepwise", stepwise and isinstance(base, GDP) and base.mu > 0)

    def __repr__(self) -> str:
        return (
            f"KeyPair({len(self.coins)} coins, base={self.base!r}, failing={self.failing!r}, "
            f"stepwise={self.stepwise!r})"
        )

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 at this δ, rounded up; infinite below the chance of failing outright."""
        target = unit_interval(delta, name="delta")
        if target < max(self._escape(), self._escape(swapped=True)):
            return math.inf
        if self.failing == 0 or target == 1:
            return super().epsilon(target)
        # f + (1 − f)·p(ε) ≤ δ, solved exactly for the profile p of the rest.
        rest = KeyPair(coins=self.coins, base=self.base, stepwise=self.stepwise)
        return rest.epsilon((target - self.failing) / (1 - self.failing))

    @property
    def _split(self) -> tuple[Guarantee, Fraction]:
        """As for every guarantee.

        >>> KeyPair(coins=[(0, 0.01)], base=Pure(epsilon=1))._split
        (Pure(epsilon=Fraction(1, 1)), Fraction(1, 100))
        """
        outright = max(self._escape(), self._escape(swapped=True))
        if all(p == 0 for p, _ in self.coins):
            return self.base, outright
        return Pure(short_up(Fraction(self.epsilon(outright)))), outright

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together: as for any (ε, δ), with about the least δ.

        The parts cannot be taken one by one: a key of k people is shown far more often than k
        times as often as a key of one.
        """
        if group_size(k) == 1:
            return self
        outright = max(self._escape(), self._escape(swapped=True))
        for delta in (outright, min(2 * outright, Fraction(1))):
            if math.isfinite(epsilon := self.epsilon(delta)):
                return Approx(Fraction(epsilon), delta).group(k)
        return GroupPrivacy(self, k)

    @property
    def _symmetric(self) -> bool:
        return not self.coins and self.base._symmetric

    @property
    def _bounded(self) -> bool:
        return self.base._bounded and self._escape() == self._escape(swapped=True) == 0

    @property
    def _convex(self) -> bool:
        return self.base._convex

    def _sides(self, swapped: bool) -> tuple[Coin, ...]:
        """The event that decides, without and with the unit first: shown, or not shown."""
        return tuple((1 - q, 1 - p) for p, q in self.coins) if swapped else self.coins

    def _escape(self, *, swapped: bool = False) -> Fraction:
        alone = [high for low, high in self._sides(swapped) if low == 0]
        worst = max([self.base._escape(swapped=swapped), *alone])
        return self.failing + (1 - self.failing) * worst

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        if self.stepwise and isinstance(self.base, GDP):
            worst = whole_gaussian_profile(self.base.mu, x)
        else:
            worst = self.base._over(x, swapped=swapped)
        # With the unit, "shown" is the best event: q − e^x·p. Without it, "not shown" is.
        factor = ball(min(x, _LARGEST_EXPONENT)).exp()
        for low, high in self._sides(swapped):
            worst = worst.max(ball(high) - factor * ball(low) if low else ball(high))
        return ball(self.failing) + ball(1 - self.failing) * worst

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        if self.stepwise and isinstance(self.base, GDP):
            lower, upper = whole_gaussian_band(self.base.mu, x)
        else:
            lower, upper = self.base._band(x, swapped=swapped)
        factor = np.exp(np.minimum(x, _FARTHEST))
        for low, high in self._sides(swapped):
            (p, p_up), (q, q_up) = ends(low), ends(high)
            # Beyond e^700 the factor is too small, which a lower bound may not be.
            known = q - factor * (1 + 8 * UNIT) * p_up
            lower = np.maximum(lower, np.where((x <= _FARTHEST) | (low == 0), known, 0.0))
            upper = np.maximum(upper, q_up - factor * (1 - 8 * UNIT) * p)
        (fails, fails_up) = ends(self.failing)
        return widen(fails + (1 - fails) * lower, fails_up + (1 - fails_up) * upper, units=8)


# -- Gaussian noise on a count that is only compared with a threshold ------------------------------
# With noise Z of σ = 1/μ steps, rounded, the coin P(n + Z ≥ T) moves with n to n + 1. In
# c = T − n − 1, a whole number, its profile in either order is
#
#     h(c) = Φ(−(c − ½)·μ) − e^x·Φ(−(c + ½)·μ).
#
# Over all real c, h rises up to c = x/μ² and falls from there on, since h′ has the sign of
# e^(x − c·μ²) − 1; its value there is the profile of μ-GDP. So over whole c it is largest at one
# of the two next to x/μ².


_HALF = Fraction(1, 2)


def whole_gaussian_profile(mu: Fraction, x: Fraction) -> arb:
    """δ(x) of the worst coin, for x ≥ 0 and μ > 0.

    >>> print(whole_gaussian_profile(Fraction(1, 4), Fraction(0)).str(10, radius=False))
    0.09947644966
    >>> print(whole_gaussian_profile(Fraction(1, 4), Fraction(1, 32)).str(10, radius=False))
    0.08519976456
    """
    x = min(x, _LARGEST_EXPONENT)
    best, factor = ball(0), ball(x).exp()
    below = math.floor(x / mu**2)
    for c in (below, below + 1):
        coin = upper_normal((c - _HALF) * mu) - factor * upper_normal((c + _HALF) * mu)
        best = best.max(coin)
    return best


def whole_gaussian_band(mu: Fraction, x: FloatArray) -> Band:
    """`whole_gaussian_profile` in floats, at many x; see `gaussian_band`.

    Where x/μ² rounds to the other side of a whole number, that number is the best one, and it
    is tried from both sides.
    """
    from scipy.special import erfcx, ndtr

    m, root = float(mu), np.sqrt(0.5)
    lower, upper = np.zeros_like(x), np.zeros_like(x)
    below = np.floor(x / m / m)
    for c in (below, below + 1):
        a, b = (c - 0.5) * m, (c + 0.5) * m
        inside = np.maximum(a, 0.0)
        first = np.where(a > 0, np.exp(-inside * inside / 2) / 2 * erfcx(inside * root), ndtr(-a))
        second = np.exp(x - b * b / 2) / 2 * erfcx(b * root)
        # x − b²/2 is off by some units of x and b².
        coin = band(first - second, error=(80 + 8 * (b * b + x)) * UNIT * (first + second))
        lower, upper = np.maximum(lower, coin.lower), np.maximum(upper, coin.upper)
    return Band(lower, upper)
