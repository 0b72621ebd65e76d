"""Which score is largest after adding noise to each, and by how much it leads.

With gᵢ = scoreᵢ/scale and noise of density f and distribution function F, candidate i wins with

    P(i) = ∫ f(y − gᵢ)·Π_{j≠i} F(y − gⱼ) dy,

where, piece by piece, the integrand is a sum of terms c·e^(ky). Such sums are kept as a map from
k to c and integrated term by term: exact except for the balls' rounding, in time quadratic in the
number of candidates (a hundred are fine).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import Literal, TypeAlias

from discreet.errors import InvalidArgument
from discreet.laws.value import DiscreteLaw, Value, exact_scores, exact_value
from discreet.numeric.balls import arb, ball, precision, sharp
from discreet.numeric.exact import Number, positive

Terms: TypeAlias = Mapping[Fraction | int, arb]
Factor: TypeAlias = Callable[[Fraction, bool], Terms]


@dataclass(frozen=True, init=False)
class NoisyArgmax(DiscreteLaw):
    """The law of the index whose score plus independent noise of the given scale is largest.

    >>> NoisyArgmax(scores=(0, 1), scale=1, noise="laplace").pmf(1)
    0.7240904191214182
    >>> NoisyArgmax(scores=(0, 1), scale=1, noise="exponential").pmf(1)   # permute-and-flip
    0.8160602794142788
    """

    scores: tuple[Fraction, ...]
    scale: Fraction
    noise: Literal["laplace", "exponential"]

    def __init__(
        self,
        scores: Sequence[Value],
        scale: Number,
        noise: Literal["laplace", "exponential"],
    ) -> None:
        if noise not in ("laplace", "exponential"):
            raise InvalidArgument.of("noise", "laplace or exponential", noise)
        object.__setattr__(self, "scores", exact_scores(scores))
        object.__setattr__(self, "scale", positive(scale, name="scale"))
        object.__setattr__(self, "noise", noise)

    def mass(self, index: int) -> arb:
        """P(index) as a ball; 0 for what is not an index."""
        if not 0 <= index < len(self.scores):
            return ball(0)
        best = max(self.scores)
        levels = [(score - best) / self.scale for score in self.scores]  # all ≤ 0
        own = levels.pop(index)
        wins = _laplace_wins if self.noise == "laplace" else _exponential_wins
        return sharp(lambda: wins(own, levels))

    @property
    def outcomes(self) -> range:
        """The indices."""
        return range(len(self.scores))


def _exponential_wins(own: Fraction, others: Sequence[Fraction]) -> arb:
    """Exponential noise: with pⱼ = e^(gⱼ) and u = e^(−y), P(i) = pᵢ·∫₀¹ Π_{j≠i} (1 − pⱼu) du.

    The winner lies above the best score, at y ≥ 0, where F(y − gⱼ) = 1 − pⱼe^(−y); this is also
    the law of permute-and-flip (Ding et al. 2021).
    """
    terms: Terms = {0: ball(1)}
    for level in others:
        terms = _times(terms, {0: ball(1), 1: -ball(level).exp()})
    return ball(own).exp() * sum((c / ball(k + 1) for k, c in terms.items()), start=ball(0))


def _laplace_wins(own: Fraction, others: Sequence[Fraction]) -> arb:
    """Laplace noise: the pieces lie between neighbouring levels and beyond both ends."""
    factors = [density(own, rate=1), *(between(None, level, rate=1) for level in others)]
    return integral(factors, sorted({own, *others}))


# -- integrals over a noisy level, piece by piece --------------------------------------------------
# A factor of the integrand, at y = knot + v for v on the stated side of a knot, is a sum of terms
# c·e^(kv).


def density(place: Fraction, *, rate: Fraction | int) -> Factor:
    """The density of Laplace noise of this rate around a place: rate·e^(−rate·|y − place|)/2."""

    def factor(knot: Fraction, above: bool) -> Terms:
        k, share = _decay(place, knot, above, rate)
        return {k: share * ball(rate) / 2}

    return factor


def between(start: Fraction | None, end: Fraction | None, *, rate: Fraction | int) -> Factor:
    """P(score + bN − y is in the interval) = tail(y − start) − tail(y − end).

    The arguments are the places in y where b·N would be 0, and the tail of b·N ≥ x is
    e^(−x/b)/2 for x ≥ 0 and 1 − e^(x/b)/2 below.
    """

    def tail(place: Fraction, knot: Fraction, above: bool, *, rest: bool = False) -> Terms:
        """The tail, or the `rest`: what it lacks to 1."""
        k, share = _decay(place, knot, above, rate)
        return {k: share / 2} if (k < 0) != rest else {0: ball(1), k: -share / 2}

    def factor(knot: Fraction, above: bool) -> Terms:
        if start is None:
            assert end is not None
            return tail(end, knot, above, rest=True)
        terms = dict(tail(start, knot, above))
        for k, c in ({} if end is None else tail(end, knot, above)).items():
            terms[k] = terms.get(k, ball(0)) - c
        return terms

    return factor


def _decay(
    place: Fraction, knot: Fraction, above: bool, rate: Fraction | int
) -> tuple[Fraction | int, arb]:
    """k and c of c·e^(kv) = e^(−rate·|y − place|), which falls where the place is passed."""
    if place <= knot if above else place < knot:
        return -rate, ball((place - knot) * rate).exp()
    return rate, ball((knot - place) * rate).exp()


def integral(factors: Sequence[Factor], knots: Sequence[Fraction]) -> arb:
    """The integral over all y of the product, whose pieces lie between neighbouring knots."""

    def pieces(knot: Fraction, above: bool) -> Iterable[tuple[Fraction | int, arb]]:
        return reduce(_times, (factor(knot, above) for factor in factors)).items()

    # Below all knots every k is positive, above all of them negative: ∫ e^(kv) = 1/k and −1/k.
    total = sum((c / ball(k) for k, c in pieces(knots[0], False)), ball(0))
    for start, end in pairwise(knots):
        length = end - start
        for k, c in pieces(start, True):
            total += c * (ball(length) if k == 0 else ball(k * length).expm1() / ball(k))
    return total - sum((c / ball(k) for k, c in pieces(knots[-1], True)), ball(0))


def _times(left: Terms, right: Terms) -> Terms:
    product: dict[Fraction | int, arb] = {}
    for j, a in left.items():
        for k, b in right.items():
            at, term = j + k, a * b
            product[at] = product[at] + term if at in product else term
    return product


# -- the winner together with its lead over the runner-up ------------------------------------------


@dataclass(frozen=True, init=False)
class NoisyLead(DiscreteLaw):
    """The law of which of at least two noisy scores is largest, and by how much.

    The noise is Laplace, and the lead is rounded to a multiple of the step. To lead by more than g
    is to win with a score that is lower by g, so every probability is a difference of two of
    `NoisyArgmax`.

    >>> law = NoisyLead(scores=(0, 1), scale=1, step=1)
    >>> law.pmf((1, 0)), law.pmf((1, 2))
    (0.10317208144181415, 0.18384277219051978)
    """

    scores: tuple[Fraction, ...]
    scale: Fraction
    step: Fraction

    def __init__(self, scores: Sequence[Value], scale: Number, step: Number) -> None:
        object.__setattr__(self, "scores", exact_scores(scores))
        object.__setattr__(self, "scale", positive(scale, name="scale"))
        object.__setattr__(self, "step", positive(step, name="step"))
        if len(self.scores) < 2:
            raise InvalidArgument("scores", "at least two", "one")

    def mass(self, outcome: tuple[int, Value]) -> arb:
        """P(index, gap) as a ball; 0 for what is not an index or not a multiple of the step."""
        index, gap = outcome[0], exact_value(outcome[1], name="gap")
        if not 0 <= index < len(self.scores) or gap < 0 or gap % self.step:
            return ball(0)
        nearest, farthest = max(Fraction(0), gap - self.step / 2), gap + self.step / 2
        with precision(192):
            return self.leads_by(index, nearest) - self.leads_by(index, farthest)

    def leads_by(self, index: int, lead: Fraction) -> arb:
        """P(index wins by `lead` or more, before any rounding) as a ball."""
        scores = list(self.scores)
        scores[index] -= lead
        return NoisyArgmax(scores, scale=self.scale, noise="laplace").mass(index)
