"""The interval of a share, exact where few reports are expected.

The score test (see intervals.py) trusts a normal curve, and the number N of supporting reports is
whole. Where its variance V(s) = m·d²·c(s) is small that matters: at V = 10 a 95 % test covers 93.4
to 96.7 %, at V = 50 and more 94.2 to 95.8 %, by enumeration. So each s is tested by its score if
V(s) ≥ 50 and by exact binomial tails if not. Which of the two depends on s and m alone, never on
the reports, so each s is kept as often as its own test says: at least 95 % of the time by an
exact one. The interval reaches from the first s that is kept to the last.

About these respondents, all of whom were asked, s is H/m with a whole H, and N is the sum of
Bin(H, i) and Bin(m − H, o), whose tails are added up. Otherwise the tails are those of Bin(m, p).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

import numpy as np

from discreet.survey.estimating.counting import Evidence, at_least
from discreet.survey.estimating.intervals import FloatArray, Spread, normal_quantile, score_interval
from discreet.survey.randomizers.randomizer import Counts

ENOUGH: Final = 50.0  # variance of N from which on a normal curve will do at 95 %
_USUAL: Final = Fraction(95, 100)
_SLACK: Final = 1e-6  # of a person, for rounding
_REACH: Final = 12  # standard deviations


class Ends(NamedTuple):
    """Low and high; none where low > high."""

    low: FloatArray
    high: FloatArray


def share_interval(evidence: Evidence, spread: Spread, confidence: Fraction) -> Ends:
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
        below, above = (
            _of_respondents(evidence, part, float(doubt) / 2) for part in (below, above)
        )
    within = Ends(np.maximum(score.low, first), np.minimum(score.high, last))
    low, high = _hull(below, within, above)
    none = ~(low <= high)  # impossible for the respondents there are: wholly outside 0 … 1
    ends = Ends(np.where(none, exact.low, low), np.where(none, exact.high, high))
    return Ends(*(np.where(asked > 0, a, b) for a, b in zip(ends, score, strict=True)))


def enough(confidence: Fraction) -> float:
    """The variance from which on a normal curve will do: 50 at 95 %, more further out.

    Far out a normal tail is wrong by a factor of about exp(z³/6√V).
    """
    return ENOUGH * max(normal_quantile(confidence) / normal_quantile(_USUAL), 1.0) ** 6


def _enough(evidence: Evidence, spread: Spread, least: float) -> tuple[FloatArray, FloatArray]:
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
    """The first and last H/m from ``part`` that tails of two binomials keep.

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
    single = found[0] == found[1]  # one number of people: no interval should claim so much
    found[0, single] = np.maximum(found[0, single] - 1, 0)
    found[1, single] = np.minimum(found[1, single] + 1, m)
    return Ends(*(ends[places] / m for ends in found))


def _holders(evidence: Evidence, n: Counts, low: Counts, high: Counts, tail: float) -> Counts:
    """The least H with P(≥ N) > tail and the largest with P(≤ N) > tail: both are monotone."""
    i, o = float(evidence.inside), float(evidence.outside)
    m = int(evidence.asked[0])
    before, first = low - 1, high + 1
    while (first - before > 1).any():
        middle = np.clip((before + first) // 2, low, high)
        kept = _sum_at_least(n, middle, m, i, o) > tail
        before, first = np.where(kept, before, middle), np.where(kept, middle, first)
    last, after = low - 1, high + 1
    while (after - last > 1).any():
        middle = np.clip((last + after) // 2, low, high)
        kept = 1 - _sum_at_least(n + 1, middle, m, i, o) > tail
        last, after = np.where(kept, middle, last), np.where(kept, after, middle)
    return np.stack([first, last])


def _sum_at_least(count: Counts, holders: Counts, m: int, i: float, o: float) -> FloatArray:
    """P(Bin(H, i) + Bin(m − H, o) ≥ count), summed over all that matters of the first."""
    from scipy.special import gammaln, xlog1py, xlogy

    h = holders[:, None]
    reach = int(_REACH * (holders.max() * i * (1 - i)) ** 0.5) + _REACH
    a = np.floor(h * i).astype(np.int64) + np.arange(-reach, reach + 1)
    possible = (a >= 0) & (a <= h)
    a = np.where(possible, a, 0)
    ways = gammaln(h + 1) - gammaln(a + 1) - gammaln(h - a + 1)
    weights = np.where(possible, np.exp(ways + xlogy(a, i) + xlog1py(h - a, -i)), 0.0)
    return np.asarray((weights * at_least(count[:, None] - a, m - h, o)).sum(axis=1))
