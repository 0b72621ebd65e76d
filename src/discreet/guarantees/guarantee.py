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
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.exact import Number
from discreet.guarantees import attacker, profile
from discreet.guarantees.bands import Atoms, Band, FloatArray
from discreet.lazy import cached_property

if TYPE_CHECKING:
    from flint import arb

    from discreet.guarantees.profile import HalfProfile


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

    def __add__(self, other: object) -> NoReturn:
        raise TypeError("promises are composed, not added: write compose([first, second])")

    __radd__ = __add__

    # -- the pair, written down by each notion -------------------------------------------------

    @abstractmethod
    def _over(self, x: Fraction) -> arb:
        """The profile of P against Q at x ≥ 0, as a ball."""

    def _under(self, x: Fraction) -> arb:
        """The profile of Q against P at x ≥ 0; the same, unless a notion says otherwise."""
        return self._over(x)

    @abstractmethod
    def _band(self, x: FloatArray, *, swapped: bool = False) -> Band:
        """Both bounds of `_over` (of `_under` if swapped) at many x ≥ 0, in floats."""

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
        high = 1.0
        limit = float(self._escape(swapped=swapped)) * (1 + 2.0**-40) + tail
        while high < 2.0**40 and self._band(np.array([high]), swapped=swapped).upper[0] > limit:
            high *= 2
        low = 0.0
        for _ in range(20):
            middle = (low + high) / 2
            if self._band(np.array([middle]), swapped=swapped).upper[0] > limit:
                low = middle
            else:
                high = middle
        return high

    @property
    def _orders(self) -> tuple[tuple[HalfProfile, HalfProfile], ...]:
        """The orders of the two neighbours that count: (profile, profile of the swapped pair)."""
        if self._symmetric:
            return ((self._over, self._over),)
        return ((self._over, self._under), (self._under, self._over))

    # -- what it means ---------------------------------------------------------------------------

    def delta(self, epsilon: Number) -> float:
        """δ at ``epsilon`` (any real number), rounded up."""
        return profile.delta_at(self._orders, epsilon)

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 whose δ is at most ``delta``, rounded up; infinite if there is none.

        ``delta`` is from 0 to 1, and far below one over the number of people where it shall mean
        something: 1e-6, say. At 0 it is the multiplicative distance: the most that any log ratio
        can be.
        """
        return profile.epsilon_at(self._orders, delta, bounded=self._bounded)

    def bracket(self, delta: Number) -> tuple[float, float]:
        """Bounds (lower, upper) on the least ε ≥ 0 at ``delta``; `epsilon` is the upper one."""
        return profile.just_below(self.epsilon(delta)), self.epsilon(delta)

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
        return attacker.best_hit_rate(self.delta, false_alarm_rate, largest=self.epsilon(0))

    def posterior(self, prior: Number, event_probability: Number = 0) -> float:
        """The most that a belief of ``prior`` in a fact about one person can become.

        ``prior`` is how sure somebody is before the output, from 0 to 1. It holds for every single
        output if ``event_probability`` is 0, as it is if left out, which is 1 for certain where δ
        never reaches 0; else for every event of at least this probability.

        >>> from discreet.guarantees import GDP, Pure
        >>> Pure(epsilon=1).posterior(0.01)
        0.026723630989395227
        >>> GDP(mu=1).posterior(0.01), round(GDP(mu=1).posterior(0.01, event_probability=0.05), 4)
        (1.0, 0.11)
        """
        return attacker.posterior(self, prior, event_probability)

    # -- what follows from it ----------------------------------------------------------------------

    @abstractmethod
    def group(self, k: int) -> Guarantee:
        """What is promised to ``k`` people together: to one whose rows count k times, say."""

    def repeat(self, k: int) -> Guarantee:
        """What ``k`` runs promise, on the same people, each chosen knowing the answers before.

        >>> from discreet.guarantees import Pure
        >>> round(Pure(epsilon=0.1).repeat(100).delta(2), 9)
        0.020140178
        """
        from discreet.guarantees.compose import repeated

        return repeated(self, k)

    def within(self, limit: Guarantee) -> bool:
        """Whether the whole profile is certain to lie below that of `limit`.

        False means that it is not proved. For limits in ρ or μ, a composition is as good as
        what its parts add up to, and sampling does not help.

        >>> from discreet.guarantees import Approx, GDP
        >>> GDP(mu=1).within(Approx(epsilon=1, delta=0.127)), GDP(mu=1).within(GDP(mu=0.9))
        (True, False)
        """
        from discreet.guarantees.order import within

        return within(self, limit)

    def describe(self) -> str:
        """What this means for one person, in plain sentences."""
        from discreet.guarantees.showing.words import describe

        return describe(self)

    def plot(self) -> Any:
        """Draw profile and trade-off curve; save it with ``.save("g.svg")`` or ``("g.png")``."""
        from discreet.guarantees.showing.pictures import plot

        return plot(self)

    def __str__(self) -> str:
        from discreet.guarantees.showing.names import short_name

        return short_name(self)

    def to_json(self) -> str:
        """The guarantee as JSON with exact numbers; `from_json` reads it back."""
        from discreet.guarantees.interchange.documents import to_json

        return to_json(self)

    @staticmethod
    def from_json(text: str) -> Guarantee:
        """Read ``text``, as `to_json` wrote it; the guarantee may be of any class."""
        from discreet.guarantees.interchange.documents import from_json

        return from_json(text)
