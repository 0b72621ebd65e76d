"""Which randomizer is best for k categories at this ε: the one with the least variance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Final

from discreet.numeric.exact import Number, integer, positive
from discreet.survey.randomizers.items import Items
from discreet.survey.randomizers.projective import Projective
from discreet.survey.randomizers.randomizer import Randomizer
from discreet.survey.randomizers.response import Response
from discreet.survey.randomizers.unary import Unary

LONGEST_ROW: Final = 1024  # bits that a report may have, where a number would do
_WORTH: Final = 0.95  # a row of bits has to be better than a number by 5 %
_TIE: Final = 1 + 1e-9  # more than what rounding to the grid may change
_Z95: Final = 1.959964

Candidate = tuple[str, float, str]


@dataclass(frozen=True)
class Choice:
    """The chosen randomizer, and what the others would have given.

    A candidate is (name, variance of one respondent's contribution to a share, why it was not
    taken), with an empty text for the one that was.
    """

    randomizer: Randomizer
    candidates: tuple[Candidate, ...]
    share: float  #: the true share that the variances are for
    respondents: int | None = None

    def __str__(self) -> str:
        lines = [f"{self.randomizer.name}, by its error at a share of {self.share:.3g}:"]
        for name, variance, why_not in self.candidates:
            lines.append(f"  {name}: {self._shown(variance)}, {why_not or 'chosen'}")
        return "\n".join(lines)

    def _shown(self, variance: float) -> str:
        if self.respondents is None:
            return f"variance {variance:.4g} a respondent"
        return f"±{100 * _Z95 * sqrt(variance / self.respondents):.3g} points at 95 %"


def best(categories: int, epsilon: Number, respondents: int | None = None) -> Choice:
    """Choose a randomizer for one of k categories, at the share 1/k.

    >>> print(best(2, 1, respondents=10_000))
    randomized response, by its error at a share of 0.5:
      randomized response: ±2.12 points at 95 %, chosen
      unary encoding: ±4.13 points at 95 %, 3.79 times the variance
      Hadamard response: ±2.63 points at 95 %, 1.54 times the variance
    >>> best(10_000, 1).randomizer.kind
    'projective'
    """
    k = integer(categories, name="categories", minimum=2)
    asked = positive(epsilon, name="epsilon")
    response = Response(categories=k, epsilon=asked)
    unary = Unary(categories=min(k, LONGEST_ROW), epsilon=asked)
    projective = Projective(categories=k, epsilon=asked)
    if k <= LONGEST_ROW:
        return _chosen([response, unary, projective], 1 / k, respondents)
    found = _chosen([response, projective], 1 / k, respondents)
    too_long: Candidate = (unary.name, unary.variance(1 / k), f"a report would take {k} bits")
    return replace(found, candidates=(*found.candidates, too_long))


def best_any(
    categories: int, epsilon: Number, most: int | None = None, respondents: int | None = None
) -> Choice:
    """Choose a randomizer for any of k items, or at most ``most`` of them.

    The share is half of what every item could have: ½, or most/2k if that is less.

    >>> best_any(10, 1).randomizer.kind, best_any(100, 1, most=1).randomizer.kind
    ('items', 'unary')
    """
    k = integer(categories, name="categories", minimum=2)
    asked = positive(epsilon, name="epsilon")
    limit = k if most is None else integer(most, name="most", minimum=1)
    items = Items(categories=k, epsilon=asked)
    unary = Unary(categories=k, epsilon=asked, most=limit)
    return _chosen([items, unary], limit / (2 * k), respondents)


def _chosen(options: Sequence[Randomizer], share: float, respondents: int | None) -> Choice:
    """Take the least variance; if others report a single number, bits have to be worth it."""
    n = None if respondents is None else integer(respondents, name="respondents", minimum=1)
    variances = [option.variance(share) for option in options]
    mixed = len({option.report for option in options}) == 2
    prices = [
        variance / _WORTH if mixed and option.report == "bits" else variance
        for option, variance in zip(options, variances, strict=True)
    ]
    won = next(i for i, price in enumerate(prices) if price <= min(prices) * _TIE)
    candidates = tuple(
        (option.name, variance, "" if i == won else _why(variance, variances[won]))
        for i, (option, variance) in enumerate(zip(options, variances, strict=True))
    )
    return Choice(options[won], candidates, share, n)


def _why(variance: float, least: float) -> str:
    if variance > least * _TIE:
        return f"{variance / least:.3g} times the variance"
    if variance < least / _TIE:
        return "not enough better to be worth its longer reports"
    return "no better, and less plain"
