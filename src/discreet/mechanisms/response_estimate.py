"""From randomized answers back to shares: an unbiased estimate and how sure it is.

With q the probability of keeping an answer, a category that a share s of the answers hold is
reported by an expected share

    p = (1 − q)/k + q·s,        so        s = (p − (1 − q)/k)/q,

and both the estimate and its interval are those of p, sent through this line.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InvalidArgument

_AT_ONCE = 1 << 18  # responses counted at a time: np.bincount works on a copy of 8 bytes each

Interval = tuple[float, float]


@dataclass(frozen=True)
class Estimate:
    """Shares estimated from randomized responses: one number for two categories, else k.

    ``value`` is unbiased, so with few responses it may lie outside 0 … 1. ``interval`` holds
    the true share with at least the stated ``confidence``, for each category by itself. It is
    the interval of Clopper and Pearson (1934) for the share of responses, sent through the
    same line and cut to 0 … 1. It is exact, not an approximation, for respondents sampled at
    random. For the share among these very respondents it is on the safe side, because a sum
    of unequal coins strays less than one of equal coins (Hoeffding 1956).

    >>> import discreet as dp
    >>> found = dp.RandomizedResponse(truth=0.5).estimate([1] * 400 + [0] * 600)
    >>> found.value, found.respondents, [round(end, 3) for end in found.interval]
    (0.3, 1000, [0.239, 0.362])
    """

    value: float | tuple[float, ...]
    standard_error: float | tuple[float, ...]
    interval: Interval | tuple[Interval, ...]
    confidence: float
    respondents: int


@dataclass(frozen=True)
class Channel:
    """What becomes of a share on its way through randomized response."""

    kept: Fraction  #: q
    categories: int  #: k

    @property
    def noise(self) -> Fraction:
        """The probability that a false category is reported: (1 − q)/k."""
        return (1 - self.kept) / self.categories

    def estimate(self, responses: NDArray[Any], confidence: Fraction) -> Estimate:
        """Estimate the share of each category; for two of them, of category 1 alone."""
        counts, n = _count(responses, self.categories), responses.size
        if self.categories == 2:
            parts = [self._one(counts[1], n, confidence)]
        else:
            parts = [self._one(count, n, confidence) for count in counts]
        values, errors, intervals = zip(*parts, strict=True)
        if self.categories == 2:
            return Estimate(values[0], errors[0], intervals[0], float(confidence), n)
        return Estimate(values, errors, intervals, float(confidence), n)

    def _one(self, count: int, n: int, confidence: Fraction) -> tuple[float, float, Interval]:
        value = self._share(Fraction(count, n))
        error = sqrt(count * (n - count) / n**3) / self.kept
        low, high = (self._share(Fraction(p)) for p in _clopper_pearson(count, n, confidence))
        return float(value), float(error), (_cut(low), _cut(high))

    def _share(self, p: Fraction) -> Fraction:
        return (p - self.noise) / self.kept

    def half_width(self, confidence: Fraction, n: int) -> float:
        """z·√(p(1 − p)/n)/q for the p between (1 − q)/k and that plus q which is nearest ½."""
        from scipy.special import ndtri

        p = min(max(Fraction(1, 2), self.noise), self.noise + self.kept)
        z = float(-ndtri(float((1 - confidence) / 2)))
        return z * sqrt(p * (1 - p) / n) / float(self.kept)

    @property
    def variance(self) -> float:
        """p(1 − p)/q² of one report, for those in the category or out of it, the larger."""
        inside, outside = self.noise + self.kept, self.noise
        return float(max(inside * (1 - inside), outside * (1 - outside)) / self.kept**2)


def _count(responses: NDArray[Any], categories: int) -> list[int]:
    # Responses are public: one that cannot be a release of this mechanism is a mistake to report.
    if responses.dtype.kind != "b" and not 0 <= responses.min() <= responses.max() < categories:
        raise InvalidArgument(
            name="responses",
            expected=f"released by this mechanism, from 0 to {categories - 1}",
            given="others too",
            hint="pass what release() returned, or state the same categories=",
        )
    total = np.zeros(categories, np.int64)
    for start in range(0, responses.size, _AT_ONCE):
        part = responses[start : start + _AT_ONCE].astype(np.int64)
        total += np.bincount(part, minlength=categories)
    return [int(count) for count in total]


def _clopper_pearson(count: int, n: int, confidence: Fraction) -> Interval:
    """The shares p for which neither tail of Bin(n, p) at ``count`` is below (1 − confidence)/2."""
    from scipy.special import betaincinv

    outside = float((1 - confidence) / 2)
    low = 0.0 if count == 0 else float(betaincinv(count, n - count + 1, outside))
    high = 1.0 if count == n else 1.0 - float(betaincinv(n - count, count + 1, outside))
    return low, high


def _cut(share: Fraction) -> float:
    return float(min(max(share, Fraction(0)), Fraction(1)))
