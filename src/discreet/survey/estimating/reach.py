"""How wide intervals will be with n respondents, and how many make them narrow enough."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from discreet.errors import Refused
from discreet.survey.estimating.counting import Evidence
from discreet.survey.estimating.few_reports import enough, share_interval
from discreet.survey.estimating.intervals import About, Spread, normal_quantile, score_interval
from discreet.survey.estimating.means import as_if_more, half_step, student

_MOST: Final = 10**15  # more people than there ever were


def respondents_needed(
    randomizer: Any, half_width: float, confidence: Fraction, share: float | None, about: About
) -> int:
    """The least n whose interval is narrow enough, by bisection: widths fall as n grows."""
    reach = _mean_reach if randomizer.kind == "levels" else _share_reach
    reached = reach(randomizer, confidence, share, about)
    high = 1
    while reached(high) > half_width:
        high *= 2
        if high > _MOST:
            raise Refused(
                "more than 10^15 people would be needed for this half_width: ask for a "
                "wider one, or allow more epsilon"
            )
    low = high // 2  # not enough
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if reached(middle) > half_width else (low, middle)
    return high


def _share_reach(
    randomizer: Any, confidence: Fraction, share: float | None, about: About
) -> Callable[[int], float]:
    """Half the width of the interval of a share, for n respondents."""
    inside, outside = randomizer.inside, randomizer.outside
    gain, z = float(inside - outside), normal_quantile(confidence)
    # of all respondents, this part says something about one category
    part = randomizer.drawn / randomizer.categories if randomizer.kind == "items" else 1.0
    drawn = 1.0 if about == "population" else 1.0 - part
    spread = Spread.of_share(inside=inside, outside=outside, drawn=drawn)
    least = enough(confidence)
    at = spread.worst_share() if share is None else share

    def reach(n: int) -> float:
        if n * part * gain**2 * spread.at(at) >= least:
            low, high = score_interval(np.array([at]), n * part, spread, z)
            return float(high[0] - low[0]) / 2
        asked = max(round(n * part), 1)
        supports = round(asked * (float(outside) + gain * at))
        counts = np.array([supports]), np.array([asked])
        low, high = share_interval(Evidence(*counts, inside, outside, 1), spread, confidence)
        return float(max(high[0] - at, at - low[0]))  # one end may be that of all there is

    return reach


def _mean_reach(
    levels: Any, confidence: Fraction, share: float | None, about: About
) -> Callable[[int], float]:
    """Half the width of the interval of a mean, as a share of the range."""
    population = about == "population"
    variance = levels.variance(share) if population else levels.own_variance()
    more = as_if_more(0.5 if share is None else share) if population else 0.0

    def reach(n: int) -> float:
        every = variance + more / max(n - 1, 1)
        return float(half_step(levels, n) + student(confidence, max(n, 2)) * (every / n) ** 0.5)

    return reach
