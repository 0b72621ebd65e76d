"""What local privacy becomes when reports are shuffled: a much smaller ε, at some δ.

Each respondent randomizes with ε₀, and somebody removes the names and mixes the reports before
anybody looks. Then a report could be anyone's, and each person is hidden by the noise of all the
others (Erlingsson et al. 2019; Cheu et al. 2019).

**Theorem** (Feldman, McMillan and Talwar 2021, Theorem 3.2). *If every person's randomizer is
ε₀-private, no two surveys that differ in one person's answers are easier to tell apart by their
shuffled reports than the pair of `shuffle_pair`.*

**Proof.** Let f₀ and f₁ be the laws of the report for the two answers of the person, and fᵢ that of
another person's. Let Q₀ = (e^ε₀·f₀ − f₁)/(e^ε₀ − 1) and Q₁ = (e^ε₀·f₁ − f₀)/(e^ε₀ − 1). Both are
laws: f₁ ≤ e^ε₀·f₀ and f₀ ≤ e^ε₀·f₁, and each adds up to 1.

1. f₀ = (e^ε₀·Q₀ + Q₁)/(e^ε₀ + 1) and f₁ = (Q₀ + e^ε₀·Q₁)/(e^ε₀ + 1).
2. fᵢ is at least e^−ε₀·f₀ and e^−ε₀·f₁, so at least e^−ε₀·(f₀ + f₁)/2, which is
   e^−ε₀·(Q₀ + Q₁)/2.
3. So each report can be drawn in two steps: a digit, 0 or 1 (or none, for the others), with the
   chances of the pair; then a report from Q₀, from Q₁, or from what is left of that person's own
   law. Given how many of the others have a digit, who they are is independent of everything else.
   So whoever is told the numbers of zeros and ones, and knows all answers but the one that
   differs, can draw who of the others has a digit, take the second step and shuffle: the reports
   are a post-processing of the pair. ∎

It takes a digit for the person in every case. A sharper form in terms of total variation lets the
person go without one, with the law that f₀ and f₁ have in common, and counts digits all the same;
but then step 3 fails, since what fills in for the person is not what fills in for the others. With
three categories and two respondents that form is too small by a factor of three at e^ε = 5/2, which
a test shows.

More respondents only help, as those beyond could be simulated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import InvalidArgument
from discreet.exact import Number, integer, non_negative, number
from discreet.guarantees.approx import Approx
from discreet.guarantees.guarantee import Guarantee
from discreet.guarantees.profile import unit_interval
from discreet.lazy import cached_property
from discreet.spelling import spelled
from discreet.survey.shuffle_pair import Pair, divergence, pair, sketch

_MOST_RESPONDENTS = 10**8  # beyond, the bound for as many is used: more only hide better
_LARGEST_EPSILON = 500  # beyond, nothing is hidden and the local guarantee is all there is
_NOTHING = 1e-12  # an ε that is as good as none
_CLOSE = 1e-7  # how near to the least ε the search goes, relatively


@dataclass(frozen=True)
class Shuffled:
    """The guarantee for each respondent against whoever sees the shuffled reports only.

    ``guarantee`` is the local one, of what a respondent sends, such as ``questionnaire.guarantee``
    of one wave; ``respondents`` is how many of them are shuffled together.

    It holds under *replace*: what one person answered is hidden, not that they answered. It takes
    for granted that

    - the number of respondents is public, and they are not known to the attacker: those who tell
      on themselves, or who send made-up reports, do not hide anybody, so do not count them;
    - all of their reports, of one wave, are shuffled together, by somebody who is trusted to do it;
    - names, addresses, times and the ids of reports are removed.

    Whatever becomes of these, the local guarantee still stands.

    >>> from discreet.guarantees import Pure
    >>> local = Pure(epsilon=1)
    >>> central = Shuffled(local, respondents=10_000)
    >>> round(central.epsilon(delta=1e-6), 4)
    0.053
    >>> central.delta(1), round(central.delta(0), 5)          # never above the local ε
    (0.0, 0.00608)
    """

    guarantee: Guarantee  #: what each respondent's own randomization promises
    respondents: int

    @spelled
    def __init__(self, guarantee: Guarantee, *, respondents: int) -> None:
        if not isinstance(guarantee, Guarantee):
            raise InvalidArgument(
                name="guarantee",
                expected="the local guarantee of one respondent",
                given=InvalidArgument.describe_parameter(guarantee),
                hint="take questionnaire.guarantee, or dp.Pure(epsilon)",
            )
        count = integer(respondents, name="respondents", minimum=1)
        object.__setattr__(self, "guarantee", guarantee)
        object.__setattr__(self, "respondents", count)
        if math.isinf(self.local):
            raise InvalidArgument(
                name="guarantee",
                expected="a local guarantee with a finite ε at δ = 0",
                given=str(guarantee),
                hint="shuffling amplifies pure ε; randomized response and the other randomizers "
                "of this package have one",
            )

    @cached_property
    def local(self) -> float:
        """ε₀: the most that one report's log ratio can be, rounded up."""
        return self.guarantee.epsilon(0)

    @cached_property
    def _pair(self) -> Pair:
        count = min(self.respondents, _MOST_RESPONDENTS)
        return pair(Fraction(self.local), count)

    def delta(self, epsilon: Number) -> float:
        """δ at ``epsilon``, 0 or above, rounded up; 0 from the local ε on."""
        x = non_negative(epsilon, name="epsilon")
        if x >= self.local:
            return 0.0
        alone = self.guarantee.delta(x)
        if self.local > _LARGEST_EPSILON:
            return alone
        return min(alone, divergence(self._pair, x))

    def epsilon(self, delta: Number) -> float:
        """The least ε ≥ 0 whose δ is at most ``delta``, rounded up; never above the local ε."""
        target = unit_interval(delta, name="delta")
        alone = self.guarantee.epsilon(target)
        if alone == 0 or self.local > _LARGEST_EPSILON:
            return alone
        # Find about where it is, then step up until it is certain.
        low, high = 0.0, alone
        if self._certain(low, target):
            return low
        while high - low > _CLOSE * high + _NOTHING:
            middle = (low + high) / 2
            fits = sketch(self._pair, Fraction(middle)) <= target
            low, high = (low, middle) if fits else (middle, high)
        step = _CLOSE
        while high < alone and not self._certain(high, target):
            high, step = high * (1 + step), step * 4
        return min(high, alone)

    def _certain(self, epsilon: float, target: Fraction) -> bool:
        # A float may be read as a binary number or as the decimal it prints: satisfy both.
        at = min(Fraction(epsilon), number(epsilon, name="epsilon"))
        return divergence(self._pair, at) <= target

    def approx(self, delta: Number) -> Approx:
        """The (ε, δ) promise at ``delta``, to be composed and compared like any other.

        >>> from discreet.guarantees import Pure
        >>> Shuffled(Pure(epsilon=1), respondents=10_000).approx(1e-6).within(Pure(0.1))
        False
        """
        return Approx(self.epsilon(delta), delta)

    def __str__(self) -> str:
        return (
            f"local ε = {self.local:.6g}, shuffled among {self.respondents:,} honest respondents "
            "(what one person answered is hidden; one wave, ids and times removed)"
        )
