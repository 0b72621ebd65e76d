"""How sure an estimated share is: score intervals (Wilson 1927) behind randomized answers.

A report supports a category with probability i where the truth is that category and o where it
is another one. Of m reports N do, so with d = i − o

    ŝ = (N/m − o)/d

is an unbiased estimate of the share s. One report adds to it the variance

    c(s) = (s·a + (1 − s)·b)/d² + g·s(1 − s),        a = i(1 − i),  b = o(1 − o).

The first part is the randomization. The second is the draw of the people, and g says how much
of it counts. About the population g = 1: then c is p(1 − p)/d² at p = o + d·s. About these very
respondents g = 0 where each of the n was asked, and g = (n − m)/(n − 1) where chance chose the m
of them who were, as in every sample without replacement.

The interval holds all s that a test would not reject: (ŝ − s)² ≤ z²·c(s)/m. As c is quadratic
the ends are the two roots of a quadratic. The variance is the one at the share in question, not
at the estimate, so it covers as it says for rare answers too, as long as there are reports enough
for a normal curve; few_reports.py has the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.exact import Number, probability

About: TypeAlias = Literal["population", "respondents"]
FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """The variance of one report's part in an estimate, as it depends on the truth s.

    c(s) = constant + linear·s + square·s², with square ≤ 0.
    """

    constant: FloatArray
    linear: FloatArray
    square: FloatArray

    @classmethod
    def of_share(cls, *, inside: Fraction, outside: Fraction, drawn: Any = 1.0) -> Spread:
        """That of a share; ``drawn`` is g above: 1 for the population, 0 for these people."""
        d = float(inside - outside)
        a, b = float(inside * (1 - inside)), float(outside * (1 - outside))
        g = np.asarray(drawn, dtype=float)
        return cls(np.asarray(b / d**2), (a - b) / d**2 + g, -g)

    def at(self, truth: Any) -> FloatArray:
        """c(s)"""
        return np.asarray(self.constant + truth * (self.linear + truth * self.square))

    def worst_share(self) -> float:
        """The s from 0 to 1 where c(s) is largest: at the top of the parabola, or at an end."""
        shares = [0.0, 1.0]
        if float(self.square) < 0:
            shares.append(min(max(-float(self.linear) / (2 * float(self.square)), 0.0), 1.0))
        return max(shares, key=lambda share: float(self.at(share)))


def score_interval(
    value: FloatArray, size: Any, spread: Spread, z: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of {s : (value − s)² ≤ z²·c(s)/size}; from −∞ to ∞ where ``size`` is 0.

    >>> half = Spread.of_share(inside=Fraction(1), outside=Fraction(0))     # nothing is hidden
    >>> low, high = score_interval(np.array([0.0]), 10, half, 1.96)         # none of ten: Wilson
    >>> print(f"{low[0]:.3f} to {high[0]:.3f}")
    0.000 to 0.278
    """
    size = np.asarray(size, dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        r = z * z / size
        # (1 − r·square)·s² − 2·half·s + (value² − r·constant) ≤ 0
        lead = 1 - r * spread.square
        half = value + r * spread.linear / 2
        root = np.sqrt(np.maximum(half**2 - lead * (value**2 - r * spread.constant), 0.0))
        low, high = (half - root) / lead, (half + root) / lead
    unknown = size <= 0
    return np.where(unknown, -np.inf, low), np.where(unknown, np.inf, high)


def cut(low: FloatArray, high: FloatArray, ends: tuple[float, float] = (0.0, 1.0)) -> FloatArray:
    """Intervals cut to what is possible, one a row; those wholly outside are left as they are.

    Cutting loses no truth. An interval wholly outside is one of the few that miss: to cut it
    would leave one point and claim to know everything.
    """
    first, last = ends
    outside = (high < first) | (low > last)
    low, high = (np.where(outside, end, np.clip(end, first, last)) for end in (low, high))
    return np.stack([low, high], axis=-1)


def normal_quantile(confidence: Fraction) -> float:
    """z with P(|Z| ≤ z) = confidence for a standard normal Z."""
    from scipy.special import ndtri

    return float(-ndtri(float((1 - confidence) / 2)))


def read_confidence(confidence: Number) -> Fraction:
    """A confidence strictly between 0 and 1."""
    return probability(confidence, name="confidence")


def read_about(about: object) -> About:
    """What the intervals are about."""
    if about not in get_args(About):
        raise InvalidArgument(
            name="about",
            expected='"population" or "respondents"',
            given=InvalidArgument.describe_parameter(about),
            hint="population: those the respondents were drawn from; respondents: these people",
        )
    return about  # type: ignore[return-value]  # one of the two, as just checked
