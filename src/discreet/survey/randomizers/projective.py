"""Projective geometry response: one short number for a choice among very many."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import expm1
from typing import TYPE_CHECKING, ClassVar, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.exact import Number, positive
from discreet.guarantees import LossDistribution
from discreet.inputs import Categories
from discreet.lazy import cached_property
from discreet.noise.bernoulli import Rational, coins
from discreet.noise.uniform import integers
from discreet.survey.randomizers.grid import GRID, exchanged, least_noise, ratio_loss, true_loss
from discreet.survey.randomizers.hyperplanes import meeting
from discreet.survey.randomizers.reading import count_integers, read_integers, writable
from discreet.survey.randomizers.response import read_categories
from discreet.survey.randomizers.shares import variance_of_share
from discreet.survey.randomizers.space import Integers, Space

if TYPE_CHECKING:
    from flint import arb

MOST_CATEGORIES: Final = 1 << 22
_MOST_POINTS: Final = 8  # a category; and so few cost nothing:
_FEW_POINTS: Final = 4096
_BLOCK: Final = 1 << 16  # answers randomized at a time


@dataclass(frozen=True, init=False)
class Projective:
    """Category v is a point of a projective space; the report is a point u, likelier if it meets v.

    With probability T/2⁵³ the report is one of the points that do not meet v, else one of those
    that do, fairly drawn. Every point meets equally many others, and every two of them equally
    many (Feldman, Nelson, Nguyen and Talwar 2022). The field is the one of least variance, near
    e^ε + 1; with two elements this is Hadamard response (Acharya, Sun and Zhang 2019).

    >>> towns = Projective(categories=10_000, epsilon=2)
    >>> towns.space, towns.outcomes
    (Space(prime=7, dimension=6), 19608)
    >>> reports = towns.randomize(np.full(50_000, 1234))
    >>> int(np.argmax(towns.supports(reports)))
    1234
    """

    categories: int
    space: Space
    step: int  #: T
    epsilon: Fraction = field(compare=False)  #: the loss of this law, rounded up

    kind: ClassVar[str] = "projective"
    report: ClassVar[Literal["integer"]] = "integer"

    def __init__(self, *, categories: int, epsilon: Number) -> None:
        k = read_categories(categories, most=MOST_CATEGORIES)
        asked = positive(epsilon, name="epsilon")
        space = best_space(k, min(max(float(asked), 1e-9), 50.0))  # the same beyond
        loss = partial(_loss, space)
        # all points are equally likely from here on
        none = -(-GRID * (space.points - space.met) // space.points)
        step = least_noise(loss, asked, none=none)
        object.__setattr__(self, "categories", k)
        object.__setattr__(self, "space", space)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "epsilon", true_loss(loss, step, asked))

    @property
    def name(self) -> str:
        return "Hadamard response" if self.space.prime == 2 else "projective response"

    @property
    def outcomes(self) -> int:
        return self.space.points

    @property
    def inside(self) -> Fraction:
        """P(the report meets v, if v is true)."""
        return 1 - Fraction(self.step, GRID)

    @property
    def outside(self) -> Fraction:
        """P(the report meets v, if another point w is true): it meets w as well, or not."""
        near, far = _each(self.space, self.step)
        both = self.space.met_by_two
        return both * near + (self.space.met - both) * far

    @cached_property
    def guarantee(self) -> LossDistribution:
        """The tight profile of this law, in ε-differential privacy for each answer."""
        alone = self.space.met - self.space.met_by_two
        near, far = _each(self.space, self.step)
        return exchanged(alone * near, alone * far)

    def randomize(self, truths: ArrayLike) -> NDArray[np.int64]:
        """Return the number of a point for each true category. Costs ``guarantee`` each."""
        column = read_integers(truths, self.categories, name="truths")
        reports = np.empty(column.size, np.int64)
        for start in range(0, column.size, _BLOCK):
            part = slice(start, start + _BLOCK)
            reports[part] = self._draw(column[part].astype(np.int64))
        return reports

    def _draw(self, truths: Integers) -> Integers:
        """Fairly one of the points u with ⟨u, v⟩ = 0, or one with ⟨u, v⟩ = 1.

        Let p be the place of the leading 1 of v. All digits of u but the one at p are free, and
        that one is then what makes the product right. The first kind is drawn without the zero
        vector, and each point comes from q − 1 of its vectors; of the second kind each point has
        just one vector.
        """
        space, n = self.space, truths.size
        q, free = space.prime, space.prime ** (space.dimension - 1)
        away = coins(Rational(Fraction(self.step, GRID)), n)
        digits = np.where(away, integers(free, n), 1 + integers(free - 1, n))
        v = space.codes(truths)
        place = space.powers[space.leading(v)]
        low, high = digits % place, digits // place
        own = (away - space.inner(v - place, low)) % q
        return space.numbers(low + own * place + high * (place * q))

    def law(self, truth: int) -> laws.Finite:
        """The exact law of the report of this true category."""
        writable(self.outcomes)
        points = self.space.codes(np.arange(self.outcomes))
        met = self.space.inner(points, points[truth]) == 0
        near, far = _each(self.space, self.step)
        return laws.Finite(range(self.outcomes), [near if meets else far for meets in met])

    @property
    def inputs(self) -> Categories:
        return Categories(self.categories)

    def counts(self, reports: ArrayLike) -> Integers:
        """How often each point was reported."""
        return count_integers(reports, self.outcomes)

    def supports_of(self, counts: Integers) -> Integers:
        """How many of the reports counted meet each category."""
        return meeting(counts, self.space, self.categories)

    def asked_of(self, counts: Integers) -> Integers:
        return np.full(self.categories, counts.sum())

    def supports(self, reports: ArrayLike) -> Integers:
        """How many reports support each category."""
        return self.supports_of(self.counts(reports))

    def asked(self, reports: ArrayLike) -> Integers:
        """How many reports say something about each category: all of them."""
        return np.full(self.categories, np.asarray(reports).shape[0])

    def variance(self, share: float | None = None) -> float:
        """Of one respondent's contribution to an estimated share; at 1/k if none is given."""
        at = 1 / self.categories if share is None else share
        return variance_of_share(self.inside, self.outside, at)

    def document(self) -> dict[str, int | str]:
        """What a browser needs to do the same."""
        return {
            "kind": self.kind,
            "categories": self.categories,
            "prime": self.space.prime,
            "dimension": self.space.dimension,
            "away": self.step,
        }


def best_space(categories: int, epsilon: float) -> Space:
    """The space with at least so many points whose estimates have the least variance.

    In each dimension the variance falls and then grows with the prime. So the number of least
    variance is closed in on, prime or not, and the primes on its two sides are tried.
    """
    most = max(_FEW_POINTS, _MOST_POINTS * categories)
    spaces = []
    for dimension in range(2, (categories + 1).bit_length() + 1):
        low = _least_prime(categories, dimension)
        high = max(low, int(most ** (1 / (dimension - 1))) + 1)
        best = _lowest(partial(_ideal, categories, epsilon, dimension), low, high)
        primes = {low, max(low, _prime(best, -1)), _prime(best, 1)}
        spaces += [Space(prime, dimension) for prime in primes]
    fitting = [space for space in spaces if categories <= space.points <= most]
    ideal = partial(_ideal, categories, epsilon)
    return min(fitting, key=lambda space: (ideal(space.dimension, space.prime), space.points))


def _lowest(value: Callable[[int], float], low: int, high: int) -> int:
    """Where a function that falls and then grows is least."""
    while high - low > 2:
        first = low + (high - low) // 3
        second = high - (high - low) // 3
        if value(first) <= value(second):
            high = second
        else:
            low = first
    return min(range(low, high + 1), key=value)


def _least_prime(categories: int, dimension: int) -> int:
    """The least prime whose space has enough points."""
    numbers = range(2, max(3, categories))
    first = bisect_left(numbers, categories, key=lambda number: Space(number, dimension).points)
    return _prime(numbers[first] if first < len(numbers) else categories, 1)


def _prime(start: int, direction: int) -> int:
    """The next prime from ``start`` on, up or down; 2 where there is none below."""
    number = max(2, start)
    while any(number % d == 0 for d in range(2, int(number**0.5) + 1)):
        number += direction
    return number


def _ideal(categories: int, epsilon: float, dimension: int, number: int) -> float:
    """The variance at share 1/k without rounding to the grid, in this space if q is a prime."""
    space = Space(number, dimension)
    times = 1 + expm1(epsilon)
    rest = space.points - space.met
    inside = times * space.met / (times * space.met + rest)
    both = space.met_by_two
    outside = (times * both + space.met - both) / (times * space.met + rest)
    return variance_of_share(inside, outside, 1 / categories)


def _each(space: Space, step: int) -> tuple[Fraction, Fraction]:
    """The probability of each point that meets the true one, and of each that does not."""
    away = Fraction(step, GRID)
    return (1 - away) / space.met, away / (space.points - space.met)


def _loss(space: Space, step: int) -> arb:
    return ratio_loss(*_each(space, step))
