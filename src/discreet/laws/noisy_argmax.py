"""Which score is largest after adding noise to each, and by how much it leads.

With gᵢ = scoreᵢ/scale and noise of density f and distribution function F, candidate i wins with

    P(i) = ∫ f(y − gᵢ)·Π_{j≠i} F(y − gⱼ) dy,

where, piece by piece, the integrand is a sum of terms c·e^(ky). Such sums are kept as a map from
k to c and integrated term by term: exact except for the balls' rounding, in time quadratic in the
number of candidates (a hundred are fine).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from discreet.errors import InvalidArgument
from discreet.laws.value import Value, exact_scores, exact_value
from discreet.numeric.balls import ball, precision, sharp
from discreet.numeric.exact import Number, positive

if TYPE_CHECKING:
    from flint import arb


Terms = Mapping[int, "arb"]


@dataclass(frozen=True, init=False)
class NoisyArgmax:
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

    def pmf(self, index: int) -> float:
        """P(index) as a float."""
        return float(self.mass(index))

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
    return ball(own).exp() * sum((c / (k + 1) for k, c in terms.items()), start=ball(0))


def _laplace_wins(own: Fraction, others: Sequence[Fraction]) -> arb:
    """Laplace noise: the pieces lie between neighbouring levels and beyond both ends."""
    knots = sorted({own, *others})
    total = ball(0)
    # Below all levels every factor is e^(y − g)/2; with y = lowest + v, v ≤ 0: ∫ e^(kv) = 1/k.
    for k, c in _laplace_terms(own, others, knots[0], above=False).items():
        total += c / k
    for start, end in pairwise(knots):
        for k, c in _laplace_terms(own, others, start, above=True).items():
            length = ball(end - start)
            total += c * length if k == 0 else c * (k * length).expm1() / k
    # Above all levels every k is negative: ∫ over v ≥ 0 is −1/k.
    for k, c in _laplace_terms(own, others, knots[-1], above=True).items():
        total -= c / k
    return total


def _laplace_terms(
    own: Fraction, others: Sequence[Fraction], start: Fraction, *, above: bool
) -> Terms:
    """The integrand at y = start + v, for v on the stated side of the knot `start`, in e^(kv)."""

    def is_passed(level: Fraction) -> bool:
        return level <= start if above else level < start

    # f(y − g) = e^(−|y − g|)/2
    half = ball(-abs(start - own)).exp() / 2
    terms: Terms = {-1 if is_passed(own) else 1: half}
    for level in others:
        half = ball(-abs(start - level)).exp() / 2
        # F(y − g) = 1 − e^(−(y − g))/2 above the level, e^(y − g)/2 below it
        factor: Terms = {0: ball(1), -1: -half} if is_passed(level) else {1: half}
        terms = _times(terms, factor)
    return terms


def _times(left: Terms, right: Terms) -> Terms:
    product: dict[int, arb] = {}
    for j, a in left.items():
        for k, b in right.items():
            product[j + k] = product.get(j + k, ball(0)) + a * b
    return product


# -- the winner together with its lead over the runner-up ------------------------------------------


@dataclass(frozen=True, init=False)
class NoisyLead:
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

    def pmf(self, outcome: tuple[int, Value]) -> float:
        """P(index, gap) as a float."""
        return float(self.mass(outcome))

    def leads_by(self, index: int, lead: Fraction) -> arb:
        """P(index wins by `lead` or more, before any rounding) as a ball."""
        scores = list(self.scores)
        scores[index] -= lead
        return NoisyArgmax(scores, scale=self.scale, noise="laplace").mass(index)
