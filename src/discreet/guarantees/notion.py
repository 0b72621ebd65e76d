"""Notions of privacy: promises of one number, in which accounts are kept.

A notion owns its symbol, what of it adds up, what other guarantees come to in it, its name in JSON
and its words; everybody else asks it. Each is a file: `pure`, `zcdp`, `gdp`.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, Self

from discreet.errors import InvalidArgument, Refused
from discreet.guarantees.guarantee import Guarantee
from discreet.numeric.balls import certainly_at_most
from discreet.numeric.exact import Number, non_negative, number, probability, round_up
from discreet.numeric.short_fractions import bound_up, is_short, short_down

if TYPE_CHECKING:
    from discreet.guarantees.loss_distribution import Outcomes

_LEAST, _GREATEST = 2.0**-63, 2.0**63


class Budget(Guarantee):
    """A promise that can be the cap of an account."""

    small = True

    @property
    @abstractmethod
    def words(self) -> str:
        """The promise as its owner stated it, for reading."""

    @abstractmethod
    def kept(self, slack: Fraction | None) -> tuple[Notion, Fraction]:
        """The notion in which an account of this cap is kept, and its slack for δ₀."""


class Notion(Budget):
    """A promise of one number, whose sum bounds a session even where budgets depend on answers.

    That is a theorem for each notion (see `filters`), and the reason why it can be a budget.
    """

    parameter: ClassVar[str]  #: the number, by its name
    symbol: ClassVar[str]  #: and by its letter
    sum_symbol: ClassVar[str]  #: of what adds up
    adjective: ClassVar[str] = ""  #: before the number, in sentences
    closed: ClassVar[bool] = False  #: whether promises together are one of the summed amount
    gaussian: ClassVar[bool] = False  #: whether Gaussian noise has a finite cost
    typed_exactly: ClassVar[bool] = True  #: whether what is charged is refused rather than rounded

    def __init__(self, value: Number) -> None:
        name, (attribute, _) = next(iter(self.fields.items()))
        object.__setattr__(self, attribute, non_negative(value, name=name))

    @property
    def value(self) -> Fraction:
        """The number: ε, ρ or μ."""
        exact: Fraction = getattr(self, self.fields[self.parameter][0])
        return exact

    # -- what adds up ------------------------------------------------------------------------------

    @property
    def amount(self) -> Fraction:
        """What adds up: ε, ρ or μ²."""
        return self.value

    @classmethod
    def of_amount(cls, amount: Fraction, *, down: bool = False) -> Self:
        """The promise whose ``amount`` this is, rounded up (or ``down``) if it is irrational."""
        return cls(amount)

    @classmethod
    def _of_total(cls, amount: Fraction) -> Self:
        """The promise of a sum, rounded up to a number that stays short."""
        return cls(bound_up(cls.of_amount(bound_up(amount)).value))

    @property
    def words(self) -> str:
        """The number with its letter, for reading."""
        return f"{self.symbol} = {plain(self.value)}"

    def kept(self, slack: Fraction | None) -> tuple[Notion, Fraction]:
        """The notion itself, and no ``slack`` unless one is given."""
        if not self.value or not is_short(self.value):
            raise InvalidArgument.of(
                "budget",
                "above 0, and a fraction of at most 64 bits above and below the stroke",
                self.value,
            )
        return self, slack or Fraction(0)

    def failing(self, chance: Fraction) -> Guarantee:
        """This promise, but for a failure of probability ``chance``."""
        from discreet.guarantees.failure import Failing

        return Failing(self, chance) if chance else self

    # -- from other guarantees ---------------------------------------------------------------------
    # How a charge enters an account, and how a guarantee is compared with a limit: the least number
    # whose whole profile lies above. `_of_pure` holds for whatever is bounded; a notion overrides
    # the others where it has a tighter theorem. What has none is refused: above all a single (ε, δ)
    # point, which says nothing about what happens with probability δ.

    @classmethod
    def of(cls, guarantee: Guarantee) -> Self:
        """The least promise of this notion that is proved for ``guarantee``.

        >>> from discreet.guarantees import GDP, ZCDP, LaplacePair, Pure
        >>> Pure.of(LaplacePair(epsilon=1)), ZCDP.of(GDP(mu=1))
        (Pure(epsilon=Fraction(1, 1)), ZCDP(rho=Fraction(1, 2)))
        """
        return guarantee if isinstance(guarantee, cls) else guarantee._to(cls)

    @classmethod
    @abstractmethod
    def _of_pure(cls, epsilon: Fraction) -> Self:
        """What pure ``epsilon``-differential privacy comes to."""

    @classmethod
    def _of_laplace(cls, epsilon: Fraction, steps: int | None) -> Self:
        """What Laplace noise under a shift of ``epsilon`` scales comes to: real noise, or discrete
        noise under a shift of ``steps``."""
        return cls._of_pure(epsilon)

    @classmethod
    def _of_bounded_range(cls, epsilon: Fraction) -> Self:
        """What losses in an interval of length ``epsilon`` come to."""
        return cls._of_pure(epsilon)

    @classmethod
    def _of_response(cls, epsilon: Fraction, categories: int) -> Self:
        """What randomized response over so many ``categories`` comes to."""
        return cls._of_pure(epsilon)

    @classmethod
    def _of_outcomes(cls, outcomes: Outcomes) -> Self:
        """What two laws over the same finite ``outcomes`` come to."""
        losses = (outcomes.largest_loss, outcomes.swapped.largest_loss)
        return cls._of_pure(bound_up(Fraction(max(0.0, *losses))))

    @classmethod
    def _of_gaussian(cls, mu: Fraction) -> Self:
        """What Gaussian noise under a shift of ``mu`` > 0 deviations comes to."""
        raise Refused(
            f"Gaussian-like noise has no finite {cls.parameter} at delta = 0, so it is no "
            f"{cls.adjective}promise",
            remedy="use Laplace noise, or an account in zCDP or GDP",
            code="notion-mismatch",
        )

    @classmethod
    def _of_zcdp(cls, rho: Fraction) -> Self:
        """What ``rho``-zCDP, above 0, comes to."""
        raise Refused(
            f"no theorem is known here that turns rho into a finite {cls.parameter}",
            remedy="ask the mechanism for its own guarantee, or use an account in zCDP",
            code="notion-mismatch",
        )

    @classmethod
    def _no_finite(cls) -> Refused:
        """The error for a single (ε, δ) point."""
        return Refused(
            f"a single (epsilon, delta) point gives no finite {cls.parameter}, since with "
            "probability delta anything may come out",
            remedy="ask the mechanism for its own guarantee, or charge its delta to the slack of "
            "the account",
            code="notion-mismatch",
        )

    def _allows(self, other: Guarantee) -> bool:
        if self._point is not None:
            return super()._allows(other)
        try:
            return self.of(other).value <= self.value
        except Refused:
            return False

    # -- from an (ε, δ) cap ------------------------------------------------------------------------

    @classmethod
    def greatest(cls, *, epsilon: Number, delta: Number) -> Self:
        """The greatest promise that is certain to give (``epsilon``, ``delta``), by its profile.

        A filter adds up ρ or μ², not (ε, δ). So a cap in (ε, δ) is turned, once, into this; a
        *charge* cannot go this way. It is a short fraction (so that all of it can be charged)
        within an ulp of the greatest float.

        >>> from discreet.guarantees import GDP, ZCDP
        >>> cap = ZCDP.greatest(epsilon=1, delta="1e-6")
        >>> round(float(cap.rho), 9), cap.epsilon("1e-6")
        (0.02435597, 1.0)
        >>> cap = GDP.greatest(epsilon=1, delta="1e-6")            # 1/σ of the exact calibration
        >>> round(float(1 / cap.mu), 9), cap.delta(1) <= 1e-6
        (4.224678889, True)
        """
        limit, target = non_negative(epsilon, name="epsilon"), probability(delta, name="delta")
        x = _readable(limit)

        def keeps(candidate: float) -> bool:
            # A float may be read as a binary number or as the decimal it prints: satisfy both.
            one = cls(max(Fraction(candidate), number(candidate, name=cls.parameter)))
            return certainly_at_most(lambda: one._over(x), target)

        greatest = _greatest_float(keeps)
        if greatest == 0:
            raise InvalidArgument.of(
                "epsilon",
                f"large enough, with this delta, for a {cls.parameter} of at least 2⁻⁶³",
                epsilon,
            )
        return cls(short_down(Fraction(greatest)))


def plain(x: Fraction) -> str:
    """A number for reading, to 12 digits."""
    return f"{round_up(x):.12g}"


def _readable(epsilon: Fraction) -> Fraction:
    """The most that is at most epsilon however a float of that size is read, so that asking the
    cap for its ε gives a float that is not above the one asked for."""
    nearest = float(min(epsilon, Fraction(2**1000)))
    while number(nearest, name="epsilon") > epsilon:
        nearest = math.nextafter(nearest, 0.0)
    return min(Fraction(nearest), number(nearest, name="epsilon"))


def _greatest_float(keeps: Callable[[float], bool]) -> float:
    """The greatest float from 2⁻⁶³ to 2⁶⁴ that keeps the promise, as all below it do; else 0."""
    low = 1.0
    while not keeps(low):
        if low == _LEAST:
            return 0.0
        low /= 2
    while low < _GREATEST and keeps(2 * low):
        low *= 2
    high = 2 * low  # from here on low keeps it and high does not, or is too large
    while math.nextafter(low, high) < high:
        middle = (low + high) / 2
        low, high = (middle, high) if keeps(middle) else (low, middle)
    return low
