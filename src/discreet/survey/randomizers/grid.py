"""Probabilities in steps of 2⁻⁵³, rounded toward more noise, with the loss proven.

A browser computes exactly up to 2⁵³, so every probability that decides about an answer is
T/2⁵³ for a whole number T. Of the T that keep the promised ε the one with the least noise is
taken, and whether a T keeps it is decided in ball arithmetic. The law with this T is the law:
guarantees and estimates are computed from it, not from the ε that was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Final

from discreet.balls import ball, upper
from discreet.errors import InternalError, InvalidArgument
from discreet.guarantees import LossDistribution
from discreet.laws.sharp import certainly_at_most, sharp

if TYPE_CHECKING:
    from flint import arb

GRID: Final = 1 << 53

Loss = Callable[[int], "arb"]  # of the law with this T; falls as T grows


def least_noise(loss: Loss, epsilon: Fraction, *, none: int) -> int:
    """Return the least T ≥ 1 with a proven loss(T) ≤ ε; at T = ``none`` nothing would be lost.

    >>> T = least_noise(lambda T: ball(Fraction(GRID - T, T)).log(), Fraction(1), none=GRID // 2)
    >>> round(T / GRID, 12)                                     # 1/(e + 1)
    0.26894142137
    """
    too_little, enough = 0, none
    while enough - too_little > 1:
        middle = (too_little + enough) // 2
        if certainly_at_most(partial(loss, middle), epsilon):
            enough = middle
        else:
            too_little = middle
    if enough == none:
        raise InvalidArgument(
            name="epsilon",
            expected="large enough that some T/2^53 tells answers apart",
            given=InvalidArgument.describe_parameter(epsilon),
            hint="so little loss means that reports say nothing; take 1e-9 or more",
        )
    return enough


def true_loss(loss: Loss, step: int, asked: Fraction | None = None) -> Fraction:
    """The loss of the law with this T, rounded up to a float, and never above what was asked."""
    formula = partial(loss, step)
    rounded = Fraction(upper(sharp(formula)))
    if asked is None or rounded <= asked:
        return rounded
    if not certainly_at_most(formula, asked):
        raise InternalError("a rounded law loses more than was asked for")
    return asked


def ratio_loss(likelier: Fraction, rarer: Fraction) -> arb:
    """ln(likelier/rarer)."""
    return ball(likelier / rarer).log()


def exchanged(likelier: Fraction, rarer: Fraction) -> LossDistribution:
    """The guarantee where two truths exchange the probabilities of two events, and no others."""
    rest = 1 - likelier - rarer
    return LossDistribution.from_laws([likelier, rarer, rest], [rarer, likelier, rest])
