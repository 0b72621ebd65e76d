"""The exponential mechanism: better candidates are exponentially likelier to be chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InvalidArgument
from discreet.guarantees import ZCDP, BoundedRange
from discreet.hints import spelled
from discreet.inputs import Scores
from discreet.mechanisms.mechanism import (
    EXACT_FLOAT,
    check_noise,
    exactly_one,
    positive_sensitivity,
    read_flag,
    read_scores,
)
from discreet.noise.argmax import argmax
from discreet.numeric import exact
from discreet.numeric.balls import ball, sharp, upper
from discreet.numeric.exact import Number, integer, positive, probability, round_down, sqrt_up
from discreet.sensitivity import Sensitivity

MOST_POINTS: Final = 10**7


@dataclass(frozen=True, init=False)
class Exponential:
    """Chooses candidate i with probability ∝ e^(u_i/scale), scale = 2·sensitivity/ε.

    That is ε-differential privacy (McSherry and Talwar 2007), and ε-bounded range, about half as
    revealing (Durfee and Rogers 2019), for utilities u of which one person can move each by at
    most ``sensitivity``, as computed, rounding included. If one person moves them all up or all
    down, as with counts when a row is added or removed, say ``monotone=True``: then
    scale = sensitivity/ε will do. A histogram of which a row is *replaced* is not monotone.

    The choice is the argmax of utilities plus exact Gumbel noise: no weights are formed, so
    nothing under- or overflows.

    Cost: ``guarantee``, however many candidates. Error: ``error(0.95, candidates=K)``, the
    utility that is lost relative to the best candidate, in proportion to ln K.

    >>> mechanism = Exponential(sensitivity=1, epsilon=1)
    >>> mechanism.release([10, 500, 20])
    1
    >>> mechanism.error(0.95, candidates=3)
    8.188689124444203
    """

    sensitivity: Fraction
    epsilon: Fraction
    monotone: bool

    @spelled
    def __init__(
        self, *, sensitivity: Number | Sensitivity, epsilon: Number, monotone: bool = False
    ) -> None:
        object.__setattr__(self, "sensitivity", positive_sensitivity(sensitivity, norm="linf"))
        object.__setattr__(self, "epsilon", positive(epsilon, name="epsilon"))
        object.__setattr__(self, "monotone", read_flag(monotone, name="monotone"))
        check_noise(self.scale, name="epsilon")

    @property
    def scale(self) -> Fraction:
        """How much utility makes a candidate e times likelier."""
        return (1 if self.monotone else 2) * self.sensitivity / self.epsilon

    def release(self, utilities: ArrayLike) -> int:
        """Return the index of the chosen candidate. Each call spends ``guarantee``.

        ``utilities`` is a flat list or array of integers or finite floats; 10⁷ or more are fine.
        """
        return argmax(read_scores(utilities, name="utilities"), self.scale, "gumbel").index

    def release_on(
        self,
        *,
        interval: tuple[Number, Number],
        step: Number,
        utility: Callable[[NDArray[np.float64]], ArrayLike],
    ) -> float:
        """Return the chosen point of lower, lower + step, ... up to upper.

        ``utility`` is called once with all points (``grid_points``) as a float64 array and
        returns one utility for each. ``interval``, (lower, upper), and ``step`` are public: they
        may not be taken from the data. Each call spends ``guarantee``.

        >>> ages = np.array([31, 44, 45, 52, 60])
        >>> def balance(point):                       # a private median
        ...     return -abs(np.searchsorted(ages, point) - ages.size / 2)
        >>> median = Exponential(sensitivity=1, epsilon=200)
        >>> 44 < median.release_on(interval=(0, 120), step=0.5, utility=balance) <= 52
        True
        """
        points = grid_points(interval, step)
        utilities = read_scores(utility(points), name="what utility returns")
        if utilities.size != points.size:
            raise InvalidArgument(
                "what utility returns",
                f"one number for each of the {points.size} points",
                f"{utilities.size} numbers",
            )
        return float(points[argmax(utilities, self.scale, "gumbel").index])

    @property
    def guarantee(self) -> BoundedRange:
        """ε-bounded range, which is more than ε-differential privacy."""
        # log P(i)/P'(i) = (u_i − u'_i)/scale − log(Z/Z'), and the last term is the same for all
        # i. So the losses lie in an interval as long as the differences (u_i − u'_i)/scale do:
        # from −Δ to Δ over 2Δ/ε, or, if all have one sign, from 0 to Δ over Δ/ε. That is ε.
        return BoundedRange(self.epsilon)

    def error(self, confidence: Number = Fraction(95, 100), *, candidates: int) -> float:
        """Return w such that the chosen utility is within w of the best, with this probability.

        ``confidence`` is between 0 and 1; 0.95 if left out. ``candidates`` is K, how many there
        are to choose from.

        It is scale·(ln K + ln(1/(1 − confidence))), rounded up: whatever the utilities, those
        that are worse by more have weights of at most (1 − confidence)/K of the best one's.
        """
        sure = probability(confidence, name="confidence")
        k = integer(candidates, name="candidates", minimum=1)
        return upper(sharp(lambda: ball(self.scale) * ball(k / (1 - sure)).log()))

    @property
    def inputs(self) -> Scores:
        """What one person can do to the utilities."""
        return Scores(self.sensitivity, self.monotone)

    def law(self, utilities: ArrayLike) -> laws.Gibbs:
        """Return the exact law of ``release(utilities)``."""
        exact = read_scores(utilities, name="utilities").tolist()
        return laws.Gibbs(scores=exact, rate=1 / self.scale)


def grid_points(interval: tuple[Number, Number], step: Number) -> NDArray[np.float64]:
    """Return lower, lower + step, ... up to upper, each rounded once to the nearest double.

    >>> grid_points((0, 1), 0.3).tolist()
    [0.0, 0.3, 0.6, 0.9]
    """
    lower, upper = exact.interval(interval, name="interval")
    exact_step = positive(step, name="step")
    count = (upper - lower) // exact_step + 1
    if count > MOST_POINTS:
        raise InvalidArgument.of(
            "step", f"large enough for at most {MOST_POINTS} points in the interval", step
        )
    # Over a common denominator the points are integers, which doubles hold exactly below 2^53,
    # so that the division is the only rounding.
    denominator = lcm(lower.denominator, exact_step.denominator)
    first, stride = int(lower * denominator), int(exact_step * denominator)
    if max(abs(first), abs(first + stride * (count - 1)), denominator) > EXACT_FLOAT:
        raise InvalidArgument(
            "interval and step",
            "numbers with at most about 15 digits together",
            "longer ones",
            hint="round lower and step: a grid need not be finer than the noise",
        )
    numerators: NDArray[Any] = first + stride * np.arange(count, dtype=np.int64)
    return numerators / float(denominator)


# -- equal steps of several selections in a row ----------------------------------------------------


_ROUNDS: Final = 6
_BELOW: Final = 1 - Fraction(1, 2**48)  # room for the upward rounding of ρ


def step_epsilon(*, epsilon: Number | None, rho: Number | None, steps: int) -> Fraction:
    """Return ε₁ such that ``steps`` runs of ε₁-bounded range spend at most ε, or at most ρ.

    >>> step_epsilon(epsilon=1, rho=None, steps=3)
    Fraction(1, 3)
    >>> one = step_epsilon(epsilon=None, rho=0.5, steps=2)       # √(8·0.5/2) would be 1.414
    >>> round(float(one), 4), 0.499 < 2 * ZCDP.of(BoundedRange(one)).rho <= 0.5
    (1.4339, True)
    """
    chosen, given = exactly_one(epsilon=epsilon, rho=rho)
    share = positive(given, name=chosen) / steps
    return share if chosen == "epsilon" else _largest_epsilon(share)


def _largest_epsilon(rho: Fraction) -> Fraction:
    """Return an ε₁, about as large as can be, for which bounded range is ρ-zCDP."""
    # ρ(ε) ≤ ε²/8, so √(8ρ) will do. As ρ(ε) is a concave function of ε² that starts at 0, it
    # grows at most like ε²: going from ε to ε·√(ρ/ρ(ε)) never passes the target.
    found = _root_down(8 * rho)
    for _ in range(_ROUNDS):
        larger = _root_down(rho / ZCDP.of(BoundedRange(found)).rho) * found
        larger = Fraction(round_down(larger))
        if larger <= found or ZCDP.of(BoundedRange(larger)).rho > rho * _BELOW:
            break
        found = larger
    return found


def _root_down(x: Fraction) -> Fraction:
    return Fraction(round_down(_BELOW / sqrt_up(1 / x)))
