"""Privacy by Poisson sampling: each person takes part with a small probability only."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from discreet.errors import Refused
from discreet.guarantees.document import FLAG, GUARANTEE, NUMBER, named
from discreet.guarantees.grouped import GroupPrivacy
from discreet.guarantees.guarantee import Guarantee, HalfProfile, N, group_size, unit_interval
from discreet.guarantees.pure import Pure
from discreet.numeric.balls import arb, ball, lower_fraction, sharp, upper_fraction
from discreet.numeric.bands import UNIT, Atoms, Band, FloatArray, ends, widen
from discreet.numeric.exact import Number
from discreet.numeric.short_fractions import ball_up

_FAR = 10**6
_RAREST = Fraction(1, 10**300)


@dataclass(frozen=True, init=False, repr=False)
class SampledPair(Guarantee):
    """A mechanism on a Poisson sample of rate q, for neighbours that add or remove a person.

    With (P, Q) the pair of the mechanism, present and absent, the sampled pair is
    ((1−q)·Q + q·P, Q): it dominates for every mechanism (Zhu, Dong and Wang 2022, Theorem 11).
    Its two orders differ; `remove` is the first against the second, `add` the other way round.

    >>> from discreet.guarantees import GDP
    >>> g = SampledPair(GDP(mu=1), rate=0.8)
    >>> g.remove.delta(1), g.add.delta(1), g.delta(1)
    (0.08169517865853554, 0.02313621040908985, 0.08169517865853554)
    """

    kind = "sampled"
    fields = named(base=GUARANTEE, rate=NUMBER)
    small = True
    _symmetric = False

    base: Guarantee
    rate: Fraction

    def __init__(self, base: Guarantee, rate: Number) -> None:
        if isinstance(base, SampledPair | OneWay):
            raise Refused("sample once, with the product of the rates, then guarantee that")
        object.__setattr__(self, "base", base)
        object.__setattr__(self, "rate", unit_interval(rate, name="rate"))

    def __repr__(self) -> str:
        return f"SampledPair({self.base!r}, rate={self.rate!r})"

    def _to(self, notion: type[N]) -> N:
        if self.rate == 0:
            return notion(0)
        if issubclass(notion, Pure):
            return notion(epsilon_of_sampled(Pure.of(self.base).epsilon0, rate=self.rate))
        # Sampling only helps, so what holds for the base holds for the sample too; and for
        # Gaussian noise it is the least: D_α/α tends to μ²/2 at any rate above 0.
        unsampled = notion.of(self.base)
        if not self.base._bounded:
            return unsampled
        return min(unsampled, notion.of(Pure.of(self)), key=lambda g: g.value)

    @property
    def remove(self) -> OneWay:
        """The order in which the person is there first: telling presence from absence."""
        return OneWay(self, swapped=False)

    @property
    def add(self) -> OneWay:
        """The order in which the person comes second."""
        return OneWay(self, swapped=True)

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together: that of any profile, and that of a group
        without sampling; the better one at each ε."""
        if group_size(k) == 1:
            return self
        from discreet.guarantees.composition import Least

        return Least([self.base.group(k), GroupPrivacy(self, k)])

    @property
    def _bounded(self) -> bool:
        return self.rate == 0 or self.base._bounded

    @property
    def _convex(self) -> bool:
        return self.base._convex

    def _escape(self, *, swapped: bool = False) -> Fraction:
        if not swapped:
            return self.rate * self.base._escape()
        return self.base._escape(swapped=True) if self.rate == 1 else Fraction(0)

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        q, far = float(self.rate), self.base._reach(tail, swapped=swapped)
        if not swapped:
            return min(far, math.log1p(q * math.expm1(min(far, 700.0))))
        return min(far, -math.log1p(q * math.expm1(-far))) if q < 1 else far

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        if self.rate == 0:
            return ball(0)
        if self.rate == 1:
            return self.base._over(x, swapped=swapped)
        return self._added(x) if swapped else self._removed(x)

    def _removed(self, x: Fraction) -> arb:
        """q·δ(ln(1 + (e^x − 1)/q)), for the mixture against Q (Balle, Barthe, Gaboardi 2018)."""
        q = self.rate
        if x > _FAR:  # the inner argument is above x, and e^x has no ball
            return ball(q) * self.base._over(x).union(ball(0))
        inner = (ball(x).expm1() / ball(q)).log1p()
        return ball(q) * _at(self.base._over, inner)

    def _added(self, x: Fraction) -> arb:
        """e^x·q·β·δ′(−ln β) with β = 1 − (1 − e^(−x))/q, and 0 from β = 0 on.

        The call of Q against the mixture is e^x times the put of the mixture against Q at
        e^(−x), and a put of the mixture is q times a put of P against Q at β.
        """
        q = self.rate
        beta = 1 + (-ball(x)).expm1() / ball(q)
        if not beta > 0:
            # Where the sign is not decided, β is as small as the balls are: bound by its top.
            if beta <= 0:
                return ball(0)
            return ball(x).exp() * ball(q) * beta.abs_upper() * ball(1).union(ball(0))
        profile = partial(self.base._over, swapped=True)
        return ball(x).exp() * ball(q) * beta * _at(profile, -beta.log())

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        if self.rate < _RAREST:  # a profile is at most the rate
            return Band(np.zeros_like(x), np.full_like(x, ends(self.rate)[1]))
        return self._band_under(x) if swapped else self._band_over(x)

    def _band_over(self, x: FloatArray) -> Band:
        q_low, q_high = ends(self.rate)
        # The profile falls, so the upper bound is read a little to the left.
        near, far = (
            _inner(x, q) * (1 + sign * 16 * UNIT) for q, sign in ((q_high, -1), (q_low, 1))
        )
        return widen(
            q_low * self.base._band(far).lower, q_high * self.base._band(near).upper, units=4
        )

    def _band_under(self, x: FloatArray) -> Band:
        def side(q: float, sign: int) -> tuple[FloatArray, FloatArray]:
            """e^x·q·β and −ln β = −ln(1 + y), with y rounded to the side of the sign."""
            y = np.expm1(-x) / q * (1 + sign * 16 * UNIT)
            inside = np.clip(y, -1 + 2.0**-52, 0.0)
            beta = np.where(y > -1, 1 + inside, 0.0)
            return np.exp(np.minimum(x, 700.0)) * q * beta, -np.log1p(inside)

        q_low, q_high = ends(self.rate)
        (low, far), (high, near) = side(q_low, 1), side(q_high, -1)
        slack = 1 + 16 * UNIT
        return widen(
            low * self.base._band(far * slack, swapped=True).lower,
            high * self.base._band(near / slack, swapped=True).upper,
            units=32,
        )


@dataclass(frozen=True, repr=False)
class OneWay(Guarantee):
    """One order of the two neighbours of another guarantee, such as adding a person."""

    kind = "one way"
    fields = named(pair=GUARANTEE, swapped=FLAG)
    _symmetric = False

    pair: Guarantee
    swapped: bool

    def __repr__(self) -> str:
        return f"{self.pair!r}.{'add' if self.swapped else 'remove'}"

    def group(self, k: int) -> Guarantee:
        """What is promised to k people together."""
        return self if group_size(k) == 1 else self.pair.group(k)

    @property
    def _bounded(self) -> bool:
        return self.pair._bounded

    @property
    def _orders(self) -> tuple[tuple[HalfProfile, HalfProfile], ...]:
        return super()._orders[:1]

    @property
    def _convex(self) -> bool:
        return self.pair._convex

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return self.pair._reach(tail, swapped=swapped != self.swapped)

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        return self.pair._atoms(swapped=swapped != self.swapped)

    def _escape(self, *, swapped: bool = False) -> Fraction:
        return self.pair._escape(swapped=swapped != self.swapped)

    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        return self.pair._over(x, swapped=swapped != self.swapped)

    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        return self.pair._band(x, swapped=swapped != self.swapped)


def epsilon_of_sampled(epsilon: Fraction, *, rate: Fraction) -> Fraction:
    """log(1 + q·(e^ε − 1)), rounded up: pure ε on a sample of rate q (Li, Qardaji and Su 2012).

    >>> round(float(epsilon_of_sampled(Fraction(1), rate=Fraction(1, 100))), 12)
    0.017036863236
    """
    if epsilon == 0 or rate in (0, 1):
        return epsilon * rate
    # ε + log(q + (1 − q)·e^(−ε)): nothing overflows.
    value = sharp(
        lambda: ball(epsilon) + (ball(rate) + ball(1 - rate) * (-ball(epsilon)).exp()).log()
    )
    return min(epsilon, ball_up(value))


def _at(profile: HalfProfile, inner: arb) -> arb:
    """A profile that never increases, at an argument known as a ball."""
    left, right = max(Fraction(0), lower_fraction(inner)), max(Fraction(0), upper_fraction(inner))
    return profile(left).union(profile(right))


def _inner(x: FloatArray, q: float) -> FloatArray:
    """log(1 + (e^x − 1)/q), which is x − log q + log(1 − (1 − q)·e^(−x)) for large x."""
    small = np.minimum(x, 30.0)
    far = x - math.log(q) + np.log1p((q - 1) * np.exp(-x))
    return np.where(x < 30, np.log1p(np.expm1(small) / q), far)
