"""What every guarantee can answer, whatever its notion.

A guarantee is an upper bound on the privacy profile of a mechanism, and it stands for a
*dominating pair*: two laws (P, Q), the output with and without one person, that are at least
as easy to tell apart as any two neighbours (Zhu, Dong and Wang 2022). A notion writes down the
profile of its pair, twice: as balls for one exact answer, and as arrays of floats with both
bounds for composition. All that a user can ask is read from that, here, once.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeAlias, TypeVar

import numpy as np

from discreet.errors import InternalError, InvalidArgument, Refused
from discreet.lazy import cached_property
from discreet.numeric.balls import arb, ball, certainly_at_most, least_float, sharp, upper
from discreet.numeric.bands import LARGEST, Atoms, Band, FloatArray
from discreet.numeric.exact import Number, integer, non_negative, number, round_up

if TYPE_CHECKING:
    from discreet.guarantees.document import Fields
    from discreet.guarantees.notion import Notion

N = TypeVar("N", bound="Notion")
KINDS: dict[str, type[Guarantee]] = {}  #: every class of guarantees, by its name in JSON
_DOTS = 4096  # at which two profiles are compared


class Guarantee(ABC):
    """An upper bound on the privacy profile of a mechanism.

    The profile is the hockey-stick divergence between the outputs on two neighbours,

        δ(ε) = sup over events E of  P(M(S) ∈ E) − e^ε·P(M(S′) ∈ E),

    taken over all neighbours in both orders and defined for every real ε. It never increases,
    it is convex in e^ε, and at ε = 0 it is the total variation distance. Whatever a guarantee
    answers is rounded outward: never below what it promises.

    >>> from discreet.guarantees import Pure
    >>> g = Pure(epsilon=1)
    >>> g.delta(0.5), g.epsilon(0.1), g.tv
    (0.28764913664496794, 0.852905101364322, 0.4621171572600098)
    """

    kind: ClassVar[str]  #: its name in JSON
    fields: ClassVar[Fields]  #: what JSON says of it, by the names of the arguments
    small: ClassVar[bool] = False  #: a few numbers, so that it may be remembered with its price

    def __init_subclass__(cls) -> None:
        if "kind" in vars(cls) and KINDS.setdefault(cls.kind, cls) is not cls:
            raise InternalError(f"two classes of guarantees are called {cls.kind!r} in JSON")

    @classmethod
    def _of_fields(cls, **values: Any) -> Guarantee:
        """The guarantee with these values, as they were read from JSON."""
        return cls(**values)

    def __repr__(self) -> str:
        values = (f"{key}={getattr(self, name)!r}" for key, (name, _) in self.fields.items())
        return f"{type(self).__name__}({', '.join(values)})"

    def __add__(self, other: object) -> NoReturn:
        raise TypeError("promises are composed, not added: write compose([first, second])")

    __radd__ = __add__

    # -- the pair, written down by each notion -------------------------------------------------

    @abstractmethod
    def _over(self, x: Fraction, *, swapped: bool = False) -> arb:
        """The profile of P against Q (of Q against P if swapped) at x ≥ 0, as a ball."""

    @abstractmethod
    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        """Both bounds of `_over` at many x ≥ 0, in floats."""

    @property
    def _symmetric(self) -> bool:
        """Whether P against Q and Q against P have the same profile."""
        return True

    @property
    def _bounded(self) -> bool:
        """Whether the profile is 0 from some ε on."""
        return True

    def _escape(self, *, swapped: bool = False) -> Fraction:
        """The limit of the profile at infinity: the chance of failing outright."""
        return Fraction(0)

    @cached_property
    def _extent(self) -> float:
        """About the largest loss, in either order, but for one in 10⁹."""
        return max(self._reach(1e-9), self._reach(1e-9, swapped=True))

    @cached_property
    def _log_safe(self) -> tuple[float, float]:
        """log of the chance that nothing fails outright, in both orders."""
        escapes = (self._escape(), self._escape(swapped=True))
        over, under = (math.log1p(-e) if e < 1 else -math.inf for e in escapes)
        return over, under

    def _atoms(self, *, swapped: bool = False) -> Atoms | None:
        """The finite losses of P against Q with their masses, if they are a finite list."""
        return None

    @property
    def _convex(self) -> bool:
        """Whether what is written down is itself a profile, or only an upper bound on one."""
        return True

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        """About the ε beyond which the profile is its limit, up to `tail`.

        It only decides how far a grid goes: any number keeps the bounds true.
        """
        limit = float(self._escape(swapped=swapped)) * (1 + 2.0**-40) + tail

        def above(x: float) -> bool:
            return bool(self._band(np.array([x]), swapped=swapped).upper[0] > limit)

        low, high = 0.0, 1.0
        while high < 2.0**40 and above(high):
            high *= 2
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) else (low, middle)
        return high

    @property
    def _orders(self) -> tuple[tuple[HalfProfile, HalfProfile], ...]:
        """The orders of the two neighbours that count: (profile, profile of the swapped pair)."""
        over, under = self._over, partial(self._over, swapped=True)
        return ((over, over),) if self._symmetric else ((over, under), (under, over))

    @property
    def _largest_loss(self) -> Fraction:
        """The multiplicative distance of a bounded guarantee: exact, or rounded up."""
        return Fraction(self.epsilon(0))

    @property
    def _point(self) -> tuple[Fraction, Fraction] | None:
        """(ε, δ), if the profile is the largest one through that point."""
        return None

    @property
    def _split(self) -> tuple[Guarantee, Fraction]:
        """A part that always holds, and the probability δ₀ that not even this holds."""
        if self._point is None:
            return self, Fraction(0)
        from discreet.guarantees.pure import Pure

        return Pure(self._point[0]), self._point[1]

    def _to(self, notion: type[N]) -> N:
        """The least promise of a notion that is proved to lie above the whole profile."""
        if self._point is not None:
            epsilon, delta = self._point
            if delta:
                raise notion._no_finite()
            return notion._of_pure(epsilon)
        raise Refused(
            f"no theorem is known here that gives a {type(self).__name__} a finite "
            f"{notion.adjective}{notion.parameter}",
            remedy="charge the parts it was made of one by one",
            code="notion-mismatch",
        )

    # -- what it means ---------------------------------------------------------------------------

    def delta(self, epsilon: Number) -> float:
        """δ at ``epsilon`` (any real number), rounded up."""
        return delta_at(self._orders, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 whose δ is at most ``delta``, rounded up; infinite if there is none.

        ``delta`` is from 0 to 1; to mean anything it should be far below one over the number of
        people: 1e-6, say. At 0, ε is the multiplicative distance: the most that any log ratio
        can be.
        """
        return epsilon_at(self._orders, delta, bounded=self._bounded)

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``; `epsilon` is the upper one."""
        return just_below(self.epsilon(delta)), self.epsilon(delta)

    @property
    def tv(self) -> float:
        """Total variation distance, δ(0), rounded up."""
        return self.delta(0)

    @property
    def advantage(self) -> float:
        """How much better than chance anyone can tell two neighbours apart: hit rate minus
        false-alarm rate of the best test, which is the total variation distance."""
        return self.tv

    def tradeoff(self, false_alarm_rate: Number) -> float:
        """The best hit rate of any attacker with this ``false_alarm_rate``, rounded up.

        An attacker says from the output whether a person's data is in it. The false-alarm rate,
        from 0 to 1, is how often that is said of a person whose data is not, and the hit rate how
        often it is said of one whose data is.

        >>> from discreet.guarantees import Pure
        >>> Pure(epsilon=1).tradeoff(0.01)          # at most e^ε times as often
        0.027182818284590453
        """
        return best_hit_rate(self.delta, false_alarm_rate, largest=self.epsilon(0))

    def posterior(self, prior: Number, event_probability: Number = 0) -> float:
        """The most that a belief of ``prior`` in a fact about one person can become.

        ``prior`` is how sure somebody is before seeing the output, from 0 to 1. The bound holds
        for every single output if ``event_probability`` is 0, the default, and is then 1 where δ
        never reaches 0; otherwise it holds for every event of at least this probability.

        >>> from discreet.guarantees import GDP, Pure
        >>> Pure(epsilon=1).posterior(0.01)
        0.026723630989395227
        >>> GDP(mu=1).posterior(0.01), round(GDP(mu=1).posterior(0.01, event_probability=0.05), 4)
        (1.0, 0.11)
        """
        return largest_posterior(self, prior, event_probability, search=self._search)

    @property
    def _search(self) -> Profile:
        """The profile, or bounds on it that are quicker to look at, for searches."""
        return self.delta

    # -- what follows from it ----------------------------------------------------------------------

    @abstractmethod
    def group(self, k: int) -> Guarantee:
        """What is promised to ``k`` people together: to one whose rows count k times, say."""

    def repeat(self, k: int) -> Guarantee:
        """What ``k`` runs on the same people promise, each chosen with earlier answers in view.

        >>> from discreet.guarantees import Pure
        >>> round(Pure(epsilon=0.1).repeat(100).delta(2), 9)
        0.020140178
        """
        from discreet.guarantees.composition import repeated

        return repeated(self, k)

    def within(self, limit: Guarantee) -> bool:
        """Whether the whole profile is certain to lie below that of `limit`.

        False means that it is not proved. For limits in ρ or μ, a composition is as good as
        what its parts add up to, and sampling does not help.

        >>> from discreet.guarantees import Approx, GDP
        >>> GDP(mu=1).within(Approx(epsilon=1, delta=0.127)), GDP(mu=1).within(GDP(mu=0.9))
        (True, False)
        """
        if not isinstance(limit, Guarantee):
            raise InvalidArgument.of(
                "limit", "a guarantee, such as Approx(epsilon=1, delta=1e-6)", limit
            )
        return self == limit or limit._allows(self)

    def _allows(self, other: Guarantee) -> bool:
        """Whether another profile is certain to lie below this one: an order, no subtraction."""
        if self._point is not None:
            return other._at_most(*self._point)
        # At many points, one profile at each with the other at the next: both decrease.
        reach = max(self._reach(1e-12, swapped=side) for side in (False, True))
        x = np.linspace(0.0, max(reach, 1e-12), _DOTS)
        for swapped in (False, True):
            low, high = self._band(x, swapped=swapped).lower, other._above(x, swapped=swapped)
            if not (np.all(high[:-1] <= low[1:]) and high[-1] <= 0):
                return False
        return math.isfinite(reach)

    def _at_most(self, x: Fraction, delta: Fraction) -> bool:
        """δ(x) ≤ delta for certain."""
        return all(certainly_at_most(partial(p, x), delta) for p, _ in self._orders)

    def _above(self, x: FloatArray, *, swapped: bool) -> FloatArray:
        """Upper bounds on δ at many x ≥ 0."""
        return self._band(x, swapped=swapped).upper

    def describe(self) -> str:
        """What this means for one person, in plain sentences."""
        from discreet.guarantees.description import describe

        return describe(self)

    def plot(self) -> Any:
        """Draw profile and trade-off curve; save it with ``.save("g.svg")`` or ``("g.png")``."""
        from discreet.guarantees.plot import plot

        return plot(self)

    def __str__(self) -> str:
        from discreet.guarantees.description import short_name

        return short_name(self)

    def to_json(self) -> str:
        """The guarantee as JSON with exact numbers; `from_json` reads it back."""
        from discreet.guarantees.document import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str) -> Guarantee:
        """Read ``text``, as `to_json` wrote it; the guarantee may be of any class."""
        from discreet.guarantees.document import from_json

        return from_json(text)


class LossBound(Guarantee):
    """A guarantee whose losses are at most ε₀, unless it fails outright."""

    small = True
    epsilon0: Fraction

    @property
    def _largest_loss(self) -> Fraction:
        return self.epsilon0

    def _reach(self, tail: float, *, swapped: bool = False) -> float:
        return float(min(self.epsilon0, LARGEST))


# -- reading a privacy profile ---------------------------------------------------------------------
# δ at any ε, and ε at any δ, never below the truth. Each notion writes its profile down for x ≥ 0
# only, as a ball that contains it (a `HalfProfile`), for both orders of the pair where they differ.
# The rest is done here, once.


HalfProfile: TypeAlias = Callable[[Fraction], arb]
Orders: TypeAlias = Sequence[tuple[HalfProfile, HalfProfile]]


def delta_at(orders: Orders, epsilon: Number) -> float:
    """δ(epsilon) for any real epsilon, the larger of the orders, rounded up and at most 1."""
    x = number(epsilon, name="epsilon")

    def at(profile: HalfProfile, swapped: HalfProfile) -> arb:
        # δ(−x) = 1 − e^(−x) + e^(−x)·δ′(x), where δ′ is the profile of the swapped pair.
        return profile(x) if x >= 0 else -ball(x).expm1() + ball(x).exp() * swapped(-x)

    return min(1.0, max(upper(sharp(partial(at, *order))) for order in orders))


def epsilon_at(orders: Orders, delta: Number, *, bounded: bool) -> float:
    """The least float ε ≥ 0 with δ(ε) ≤ delta for certain; infinite if there is none.

    `bounded` says whether the profile is 0 from some ε on; if not, no ε has δ = 0.
    """
    target = unit_interval(delta, name="delta")
    if target == 0 and not bounded:
        return math.inf
    return least_float(lambda x: all(certainly_at_most(partial(p, x), target) for p, _ in orders))


def just_below(epsilon: float) -> float:
    """The float below the least one that is certain, which an exact profile does not reach."""
    return epsilon if epsilon == 0 or math.isinf(epsilon) else math.nextafter(epsilon, 0)


def unit_interval(value: Number, *, name: str) -> Fraction:
    """Check a probability that is passed in; 0 and 1 are allowed."""
    exact = non_negative(value, name=name)
    if exact > 1:
        raise InvalidArgument.of(name, "from 0 to 1", value)
    return exact


def group_size(k: int) -> int:
    """Check a number of people that is passed in."""
    return integer(k, name="k", minimum=1)


# -- what an attacker can do who sees the output ---------------------------------------------------


Profile: TypeAlias = Callable[[Number], float]

_STEPS = 50  # of golden section: the interval shrinks to 2⁻³⁴ of its width
_GOLDEN = (math.sqrt(5) - 1) / 2
_WIDEST = 700.0  # e^x is still a float
_POWERS = [min(_WIDEST, 2.0**power) for power in range(-12, 11)]
_PLACES = [*(-x for x in reversed(_POWERS)), 0.0, *_POWERS]


def best_hit_rate(
    delta: Profile,
    false_alarm_rate: Number,
    *,
    largest: float = math.inf,
    search: Profile | None = None,
) -> float:
    """The least of e^x·f + δ(x) over all real x, an upper bound for each of them.

    P(E) − e^x·Q(E) ≤ δ(x) for every event E, so with Q(E) = f the hit rate P(E) is at most
    that. It is a convex function of e^x; we search for the best x in floating point and
    then evaluate it exactly: whichever x it is, the bound holds. `largest` is the largest
    loss, and `search` a profile that is quicker to look at.
    """
    f = unit_interval(false_alarm_rate, name="false_alarm_rate")
    rate = float(f)
    look = delta if search is None else search
    searched = _least(lambda x: math.exp(x) * rate + look(x))
    # Where losses end, the profile has a corner, which a search only comes near to.
    corners = (largest, -largest) if math.isfinite(largest) else ()
    found = min(_line(delta, f, Fraction(x)) for x in (searched, *corners))
    return min(1.0, max(found, round_up(f)))  # guessing achieves that much


def _line(delta: Profile, f: Fraction, x: Fraction) -> float:
    """e^x·f + δ(x), rounded up."""
    if x > _WIDEST:
        return 1.0
    return upper(sharp(lambda: ball(x).exp() * ball(f) + ball(Fraction(delta(x)))))


def largest_posterior(
    guarantee: Guarantee,
    prior: Number,
    event_probability: Number,
    *,
    search: Profile | None = None,
) -> float:
    """The belief after the worst output, or after the worst event that is likely enough.

    An event E of probability τ under P has Q(E) ≥ (τ − δ(x))·e^(−x), so the odds grow by at
    most τ·e^x/(τ − δ(x)), for each x with δ(x) < τ. Without a τ, they grow by at most e^ε
    where ε is the multiplicative distance.
    """
    p = unit_interval(prior, name="prior")
    tau = unit_interval(event_probability, name="event_probability")
    if p in (0, 1):
        return float(p)
    x, growth = guarantee.epsilon(0), Fraction(1)
    if tau > 0:
        look = guarantee.delta if search is None else search
        x = _least(lambda x: _growth(x, look(x), float(tau)))
        left = tau - Fraction(guarantee.delta(Fraction(x)))
        if left <= 0:
            return 1.0
        growth = tau / left
    if math.isinf(x):
        return 1.0
    # posterior = p·g/(p·g + 1 − p) with g = growth·e^x
    odds = p * growth / (1 - p)
    value = sharp(lambda: 1 / (1 + (-ball(Fraction(x))).exp() / ball(odds)))
    # An event may be no evidence at all; then the belief stays what it was.
    return min(1.0, max(upper(value), upper(ball(p))))


def _growth(x: float, delta: float, tau: float) -> float:
    """log of e^x·τ/(τ − δ), with a slope toward larger x where δ is τ or more."""
    return x - math.log1p(-delta / tau) if delta < tau else 1000.0 - x


def _least(f: Callable[[float], float]) -> float:
    """About where a function is least: near the best of a few places where it is tried.

    For a convex profile the function falls and then rises; the least of several facts may
    have more than one valley.
    """
    values = [f(x) for x in _PLACES]
    best = min(range(len(values)), key=values.__getitem__)
    low, high = _PLACES[max(best - 1, 0)], _PLACES[min(best + 1, len(values) - 1)]
    a, b = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_a, at_b = f(a), f(b)
    for _ in range(_STEPS):
        if at_a < at_b:
            high, b, at_b = b, a, at_a
            a = high - _GOLDEN * (high - low)
            at_a = f(a)
        else:
            low, a, at_a = a, b, at_b
            b = low + _GOLDEN * (high - low)
            at_b = f(b)
    return min((at_a, a), (at_b, b), (values[best], _PLACES[best]))[1]
