"""How sure an estimated share is: score intervals (Wilson 1927) for randomized answers.

A report supports a category with probability i if the truth is that category and o if it is
another one. N of m reports support it, so with d = i − o

    ŝ = (N/m − o)/d

is an unbiased estimate of the share s. The variance of one report's part in it is

    c(s) = (s·a + (1 − s)·b)/d² + g·s(1 − s),        a = i(1 − i),  b = o(1 − o).

The first part is the randomization. The second is the sampling of the people, and g says how much
of it counts. About the population g = 1: then c is p(1 − p)/d² at p = o + d·s. About these very
respondents g = 0 if each of the n was asked, and g = (n − m)/(n − 1) if chance chose the m of them
who were, as in every sample without replacement.

The interval holds all s that a test would not reject: (ŝ − s)² ≤ z²·c(s)/m. As c is quadratic
the ends are the two roots of a quadratic. The variance is the one at the share in question, not
at the estimate, so the interval covers as stated for rare answers too, as long as there are enough
reports for a normal curve; the last section treats the other cases.

**Few reports.** The score test relies on a normal curve, but the number N of supporting reports is
whole. Where its variance V(s) = m·d²·c(s) is small that matters: at V = 10 a 95 % test covers 93.4
to 96.7 %, at V = 50 and more 94.2 to 95.8 %, by enumeration. So each s is tested by its score if
V(s) ≥ 50 and by exact binomial tails if not. Which of the two depends on s and m alone, never on
the reports, so each s is kept as often as its own test says: at least 95 % of the time by an
exact one. The interval reaches from the first s that is kept to the last.

About these respondents, all of whom were asked, s is H/m with a whole H, and N is the sum of
Bin(H, i) and Bin(m − H, o), whose tails are added up. Otherwise the tails are those of Bin(m, p).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument
from discreet.numeric.exact import Number, probability
from discreet.survey.randomizers.randomizer import Counts, Randomizer

About: TypeAlias = Literal["population", "respondents"]
FloatArray: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class VarianceFunction:
    """The variance of one report's part in an estimate, as it depends on the truth s.

    c(s) = constant + linear·s + square·s², with square ≤ 0.
    """

    constant: FloatArray
    linear: FloatArray
    square: FloatArray

    @classmethod
    def of_share(cls, *, inside: Fraction, outside: Fraction, drawn: Any = 1.0) -> VarianceFunction:
        """That of a share; ``drawn`` is the g above: 1 for the population, 0 for these people."""
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
    value: FloatArray, size: Any, spread: VarianceFunction, z: float
) -> tuple[FloatArray, FloatArray]:
    """The ends of {s : (value − s)² ≤ z²·c(s)/size}; from −∞ to ∞ where ``size`` is 0.

    >>> half = VarianceFunction.of_share(inside=Fraction(1), outside=Fraction(0))  # all is told
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
    """Intervals, one per row, cut to what is possible; those wholly outside are left as they are.

    Cutting never excludes the truth. An interval wholly outside is one of the few that miss, and
    cutting it would leave one point and claim certainty.
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
    """Read what the intervals are about."""
    if about not in get_args(About):
        raise InvalidArgument.of(
            "about",
            '"population" or "respondents"',
            about,
            hint="population: those the respondents were drawn from; respondents: these people",
        )
    return about  # type: ignore[return-value]  # one of the two, as just checked


# -- what counts of reports prove by themselves: exact binomial tails, without a normal curve ------
# An answer that nobody gave is supported by N ~ Bin(m, o) of m reports. In general N is a sum of m
# independent coins whose mean is m·p, p = o + d·s, and its tails are no heavier than those of
# Bin(m, p) (Hoeffding 1956). That holds for these very respondents, with H coins of probability i
# and m − H of o, and also where chance chose who was asked: a hypergeometric number of holders is a
# sum of independent coins too (Vatutin and Mikhailov 1982). So the ends of Clopper and Pearson
# (1934) cover at least as stated, whatever m and s are, and for many answers at once (Bonferroni),
# where normal tails would be far off.


@dataclass(frozen=True, eq=False)
class Evidence:
    """N of m reports support each answer; ``answers`` is how many answers there are in all."""

    supports: Counts
    asked: Counts
    inside: Fraction
    outside: Fraction
    answers: int

    @classmethod
    def of(cls, randomizer: Randomizer, supports: Counts, asked: Counts) -> Evidence:
        """The evidence of reports that this randomizer made."""
        return cls(supports, asked, randomizer.inside, randomizer.outside, len(supports))

    def some(self, chosen: NDArray[np.intp]) -> Evidence:
        """The evidence about some of the answers, which were chosen from all of them."""
        return replace(self, supports=self.supports[chosen], asked=self.asked[chosen])

    def estimated(self, supports: Any) -> FloatArray:
        """ŝ = (N/m − o)/d"""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = supports / self.asked
        return self.shares(parts)

    def shares(self, parts: FloatArray) -> FloatArray:
        """s = (p − o)/d"""
        return np.asarray((parts - float(self.outside)) / float(self.inside - self.outside))

    def exact_interval(self, doubt: Fraction) -> tuple[FloatArray, FloatArray]:
        """Clopper and Pearson's ends: each is exceeded with a probability of at most doubt/2."""
        keys = self.supports * (int(self.asked.max(initial=0)) + 1) + self.asked
        _, firsts, places = np.unique(keys, return_index=True, return_inverse=True)
        counts = self.supports[firsts], self.asked[firsts]  # of a million, most are equal
        low, high = clopper_pearson(*counts, float(doubt) / 2)
        return self.shares(low[places]), self.shares(high[places])

    def noise(self, doubt: Fraction) -> FloatArray:
        """A bound that the estimates of all answers that nobody gave stay below, except with
        probability ``doubt``."""
        sizes, places = np.unique(self.asked, return_inverse=True)
        most = largest_by_chance(sizes, float(self.outside), float(doubt) / self.answers)
        return np.where(self.asked > 0, self.estimated(most[places]), np.inf)


def clopper_pearson(supports: Counts, asked: Counts, tail: float) -> tuple[FloatArray, FloatArray]:
    """The p with P(Bin(m, p) ≥ N) = tail, and those with P(Bin(m, p) ≤ N) = tail.

    >>> low, high = clopper_pearson(np.array([0, 3]), np.array([10, 10]), 0.025)
    >>> [f"{a:.3f} to {b:.3f}" for a, b in zip(low, high)]
    ['0.000 to 0.308', '0.067 to 0.652']
    """
    from scipy.special import betaincinv

    n, m = np.asarray(supports, float), np.asarray(asked, float)
    # P(Bin(m, p) ≥ N) = I_p(N, m − N + 1)
    low = np.where(n > 0, betaincinv(np.maximum(n, 1), m - n + 1, tail), 0.0)
    high = np.where(n < m, betaincinv(n + 1, np.maximum(m - n, 1), 1 - tail), 1.0)
    return low, high


def largest_by_chance(sizes: Counts, p: float, tail: float) -> Counts:
    """The least x with P(Bin(m, p) > x) ≤ tail, for each m, by bisection.

    >>> largest_by_chance(np.array([10, 1000]), 0.5, 1e-6).tolist()
    [10, 575]
    """
    certain = np.full(sizes.shape, -1, np.int64)  # that there are more than −1
    return _least(certain, sizes.astype(np.int64), lambda x: at_least(x + 1, sizes, p) <= tail)


def _least(below: Counts, above: Counts, fits: Callable[[Counts], NDArray[np.bool_]]) -> Counts:
    """The least whole numbers that fit, as all larger ones do: not ``below``, and at most
    ``above``."""
    while (above - below > 1).any():
        middle = (below + above + 1) // 2  # which is ``above`` where it is found already
        fine = fits(middle)
        below, above = np.where(fine, below, middle), np.where(fine, middle, above)
    return above


def at_least(count: Any, size: Any, p: float) -> FloatArray:
    """P(Bin(size, p) ≥ count), for any whole count."""
    from scipy.special import betainc

    inner = (count >= 1) & (count <= size)
    x, m = np.where(inner, count, 1), np.where(inner, size, 1)
    return np.where(inner, betainc(x, m - x + 1, p), np.where(count < 1, 1.0, 0.0))


# -- the interval of a share, exact where reports are few ------------------------------------------


ENOUGH: Final = 50.0  # variance of N above which a normal curve is good enough at 95 %
_USUAL: Final = Fraction(95, 100)
_SLACK: Final = 1e-6  # of a person, for rounding
_REACH: Final = 12  # standard deviations


class Ends(NamedTuple):
    """Low and high; the interval is empty where low > high."""

    low: FloatArray
    high: FloatArray


def share_interval(evidence: Evidence, spread: VarianceFunction, confidence: Fraction) -> Ends:
    """The ends for each answer (see above)."""
    asked, doubt = evidence.asked, 1 - confidence
    values = evidence.estimated(evidence.supports)
    score = Ends(*score_interval(values, asked, spread, normal_quantile(confidence)))
    if not asked.any():
        return score
    first, last = _enough(evidence, spread, enough(confidence))
    exact = Ends(*evidence.exact_interval(doubt))
    below = Ends(exact.low, np.minimum(exact.high, first))
    above = Ends(np.maximum(exact.low, last), exact.high)
    if not np.any(spread.square):
        tail = float(doubt) / 2
        below, above = (_of_respondents(evidence, part, tail) for part in (below, above))
    within = Ends(np.maximum(score.low, first), np.minimum(score.high, last))
    low, high = _hull(below, within, above)
    none = ~(low <= high)  # impossible for the respondents there are: wholly outside 0 … 1
    ends = Ends(np.where(none, exact.low, low), np.where(none, exact.high, high))
    return Ends(*(np.where(asked > 0, a, b) for a, b in zip(ends, score, strict=True)))


def enough(confidence: Fraction) -> float:
    """The variance above which a normal curve is good enough: 50 at 95 %, more further out.

    Far out a normal tail is wrong by a factor of about exp(z³/6√V).
    """
    return ENOUGH * max(normal_quantile(confidence) / normal_quantile(_USUAL), 1.0) ** 6


def _enough(
    evidence: Evidence, spread: VarianceFunction, least: float
) -> tuple[FloatArray, FloatArray]:
    """The first and last s with V(s) ≥ least; from ∞ to −∞ if there is none."""
    d = float(evidence.inside - evidence.outside)
    with np.errstate(divide="ignore", invalid="ignore"):
        # square·s² + linear·s + rest ≥ 0
        rest = spread.constant - least / (d * d * evidence.asked)
        square, linear = (np.broadcast_to(x, rest.shape) for x in (spread.square, spread.linear))
        root = np.sqrt(linear**2 - 4 * square * rest)
        curved = (-linear + root) / (2 * square), (-linear - root) / (2 * square)
        cross = -rest / linear
    straight = (
        np.where(linear > 0, cross, np.where((linear < 0) | (rest >= 0), -np.inf, np.inf)),
        np.where(linear < 0, cross, np.where((linear > 0) | (rest >= 0), np.inf, -np.inf)),
    )
    first, last = (np.where(square < 0, a, b) for a, b in zip(curved, straight, strict=True))
    never = np.isnan(first) | np.isnan(last)
    return np.where(never, np.inf, first), np.where(never, -np.inf, last)


def _hull(*parts: Ends) -> Ends:
    low = [np.where(part.low <= part.high, part.low, np.inf) for part in parts]
    high = [np.where(part.low <= part.high, part.high, -np.inf) for part in parts]
    return Ends(np.min(low, axis=0), np.max(high, axis=0))


# -- these very respondents ------------------------------------------------------------------------


def _of_respondents(evidence: Evidence, part: Ends, tail: float) -> Ends:
    """The first and last H/m in ``part`` that the tails of two binomials keep.

    ``part`` is what the wider binomial keeps, so nothing is lost.
    """
    m = int(evidence.asked[0])
    _, firsts, places = np.unique(evidence.supports, return_index=True, return_inverse=True)
    low = np.clip(np.ceil(part.low[firsts] * m - _SLACK), 0, m + 1).astype(np.int64)
    high = np.clip(np.floor(part.high[firsts] * m + _SLACK), -1, m).astype(np.int64)
    some = low <= high
    found = np.stack([low, high]).astype(float)
    if some.any():
        counts = evidence.supports[firsts[some]]
        found[:, some] = _holders(evidence, counts, low[some], high[some], tail)
    single = found[0] == found[1]  # one number of people: no interval should be that exact
    found[0, single] = np.maximum(found[0, single] - 1, 0)
    found[1, single] = np.minimum(found[1, single] + 1, m)
    return Ends(*(ends[places] / m for ends in found))


def _holders(evidence: Evidence, n: Counts, low: Counts, high: Counts, tail: float) -> Counts:
    """The least H with P(≥ N) > tail and the largest with P(≤ N) > tail: both are monotone."""
    i, o = float(evidence.inside), float(evidence.outside)
    m = int(evidence.asked[0])

    def reached(count: Counts, holders: Counts) -> FloatArray:
        return _sum_at_least(count, np.clip(holders, low, high), m, i, o)

    first = _least(low - 1, high + 1, lambda holders: reached(n, holders) > tail)
    after = _least(low - 1, high + 1, lambda holders: 1 - reached(n + 1, holders) <= tail)
    return np.stack([first, after - 1])


def _sum_at_least(count: Counts, holders: Counts, m: int, i: float, o: float) -> FloatArray:
    """P(Bin(H, i) + Bin(m − H, o) ≥ count), summed over the values of the first that matter."""
    from scipy.special import gammaln, xlog1py, xlogy

    h = holders[:, None]
    reach = int(_REACH * (holders.max() * i * (1 - i)) ** 0.5) + _REACH
    a = np.floor(h * i).astype(np.int64) + np.arange(-reach, reach + 1)
    possible = (a >= 0) & (a <= h)
    a = np.where(possible, a, 0)
    ways = gammaln(h + 1) - gammaln(a + 1) - gammaln(h - a + 1)
    weights = np.where(possible, np.exp(ways + xlogy(a, i) + xlog1py(h - a, -i)), 0.0)
    return np.asarray((weights * at_least(count[:, None] - a, m - h, o)).sum(axis=1))
