"""How many submissions a ladder can ever be asked to judge, and what follows for its rungs.

A ladder of m rungs answers each of k submissions by the rung that the best so far has reached.
The answers never fall, so a history of t answers is decided by the times at which the best rose
and the rungs it rose to: with j rises there are C(t, j)·C(m, j) of them, C(t + m, m) in all. A
submission is decided by the history before it. So the number of submissions that can ever be
made is, with j rises before them,

    N(j) = Σ over t < k of C(t, j)·C(m, j) = C(k, j + 1)·C(m, j),      in all C(k + m, m + 1),

by Vandermonde's and the hockey-stick identity. Blum and Hardt ("The Ladder", 2015, Theorem 3.1)
bound the same number by e·(4k/η)^(1/η + 2) for rungs η apart.

The failure allowed is split evenly over j, so a ladder of which few rungs were used is sure of
them. All submissions after j rises have a sample mean within KL(p̂‖p) ≤ L(j)/n of their true
mean, L(j) = ln(2·(number of j's)·N(j)/β), on both sides: see `counting`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from discreet.adaptive import counting
from discreet.exact import round_down, round_up
from discreet.lazy import cached_property

MOST_RUNGS: Final = 1000
_STEP: Final = 2.0**-32  # by which values are rounded


@dataclass(frozen=True)
class Rungs:
    """Scores baseline, baseline + step, …, up to 1, for n records and k submissions.

    >>> rungs = Rungs(n=10**4, submissions=1000, failure=Fraction(1, 20), step=Fraction(1, 10))
    >>> rungs.count, rungs.transcripts == sum(rungs.questions(j) for j in range(11))
    (10, True)
    >>> low, high = rungs.interval(rung=7, rises=3)        # the best so far has reached 0.7
    >>> round(low, 3), round(high, 3)
    (0.664, 0.832)
    """

    n: int
    submissions: int
    failure: Fraction
    step: Fraction
    baseline: Fraction = Fraction(0)

    @property
    def count(self) -> int:
        """m: how many rungs lie above the baseline."""
        return math.floor((1 - self.baseline) / self.step)

    @property
    def _classes(self) -> int:
        return min(self.count, self.submissions - 1) + 1

    def questions(self, rises: int) -> int:
        """N(j): how many different submissions there are after j rises."""
        return math.comb(self.submissions, rises + 1) * math.comb(self.count, rises)

    @property
    def transcripts(self) -> int:
        """How many different submissions there are in all."""
        return math.comb(self.submissions + self.count, self.count + 1)

    @cached_property
    def _exponents(self) -> list[float]:
        """The largest L(i) over i ≤ j, for each j."""
        most, exponents = 0, []
        for j in range(self._classes):
            most = max(most, self.questions(j))
            exponents.append(counting.exponent(2 * self._classes * most, failure=self.failure))
        return exponents

    def height(self, rung: int) -> Fraction:
        """The score at a rung."""
        return self.baseline + rung * self.step

    def interval(self, *, rung: int, rises: int) -> tuple[float, float]:
        """Where the true score of the best so far lies, when it rose to this rung in j rises.

        The leader was submitted after j − 1 rises and reached the rung; every submission so far
        came after j rises at most, and did not reach the next rung.
        """
        low = 0.0
        if rises:
            height, exponent = round_down(self.height(rung)), self._exponents[rises - 1]
            low = max(0.0, counting.lower_end(height, self.n, exponent) - _STEP)
        next_up = min(1.0, round_up(self.height(rung + 1)))
        exponent = self._exponents[min(rises, self._classes - 1)]
        return low, min(1.0, counting.upper_end(next_up, self.n, exponent) + _STEP)

    @cached_property
    def radius(self) -> float:
        """How far any submission's score can be from its true score, whatever happens."""
        # N(j) grows as long as (k − j − 1)·(m − j) > (j + 2)·(j + 1), so up to one j and no more.
        k, m, j = self.submissions, self.count, 0
        while j + 1 < self._classes and (k - j - 1) * (m - j) > (j + 2) * (j + 1):
            j += 1
        most = counting.exponent(2 * self._classes * self.questions(j), failure=self.failure)
        return min(1.0, counting.radius(self.n, most) + _STEP)

    @property
    def width(self) -> float:
        """Half the length of the widest interval: step/2 + radius."""
        return min(1.0, round_up(self.step / 2) + self.radius)


def best_rungs(*, n: int, submissions: int, failure: Fraction, baseline: Fraction) -> Rungs:
    """The step of least width: more rungs tell more, and could be used to tell more apart."""
    # The width falls to one minimum and rises from there on, but for the rounding of logarithms.
    best: Rungs | None = None
    for count in range(1, MOST_RUNGS + 1):
        rungs = Rungs(n, submissions, failure, (1 - baseline) / count, baseline)
        if best is not None and rungs.width > best.width * 1.05:
            break
        if best is None or rungs.width < best.width:
            best = rungs
        if rungs.radius >= 1:  # as it is with more rungs
            break
    assert best is not None
    return best


def classic_error(*, n: int, submissions: int, failure: float, step: float) -> float:
    """Blum and Hardt's own bound, η + √(((1/η + 2)·ln(4k/η) + 1 + ln(1/β))/(2n)), by name.

    >>> round(classic_error(n=10**4, submissions=1000, failure=0.05, step=0.1), 4)
    0.181
    """
    exponent = (1 / step + 2) * math.log(4 * submissions / step) + 1 + math.log(1 / failure)
    return step + math.sqrt(exponent / (2 * n))
