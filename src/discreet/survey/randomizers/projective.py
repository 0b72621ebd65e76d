"""Projective geometry response: one short number for a choice among very many."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from math import expm1, log2, sqrt
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import laws
from discreet.errors import InternalError
from discreet.guarantees import LossDistribution
from discreet.lazy import cached_property
from discreet.noise.bernoulli import Rational, coins
from discreet.noise.uniform import integers
from discreet.numeric.balls import arb
from discreet.numeric.exact import Number, integer, positive
from discreet.survey.chances import least_often, most_often, sentence
from discreet.survey.randomizers.randomizer import (
    GRID,
    IntegerReports,
    exchanged,
    in_blocks,
    least_noise,
    ratio_loss,
    read_integers,
    variance_of_share,
    writable,
)

MOST_CATEGORIES: Final = 1 << 22
_MOST_POINTS: Final = 8  # per category
_FEW_POINTS: Final = 4096  # allowed in any case, as this few cost nothing
_BLOCK: Final = 1 << 16  # answers randomized at a time


@dataclass(frozen=True, init=False)
class Projective(IntegerReports):
    """Category v is a point of a projective space; the report is a point u, likelier if it meets v.

    With probability T/2⁵³ the report is one of the points that do not meet v, else one of those
    that do, fairly drawn. Every point meets the same number of others, and so does every pair of
    points (Feldman, Nelson, Nguyen and Talwar 2022). The field has the size with the least
    variance, near e^ε + 1; with two elements this is Hadamard response (Acharya, Sun and Zhang
    2019).

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

    def __init__(self, *, categories: int, epsilon: Number) -> None:
        k = integer(categories, name="categories", minimum=2, maximum=MOST_CATEGORIES)
        asked = positive(epsilon, name="epsilon")
        space = best_space(k, min(max(float(asked), 1e-9), 50.0))  # beyond, it is the same
        # from this T on, all points are equally likely
        none = -(-GRID * (space.points - space.met) // space.points)
        step, lost = least_noise(partial(_loss, space), asked, none=none)
        self.__dict__.update(categories=k, space=space, step=step, epsilon=lost)

    @property
    def name(self) -> str:
        return "Hadamard response" if self.space.prime == 2 else "projective response"

    @property
    def outcomes(self) -> int:
        return self.space.points

    @property
    def answers(self) -> int:
        return self.categories

    @property
    def inside(self) -> Fraction:
        """P(the report meets v, if v is true)."""
        return 1 - Fraction(self.step, GRID)

    @property
    def outside(self) -> Fraction:
        """P(the report meets v, if another point w is true), whether it meets w as well or not."""
        near, far = _each(self.space, self.step)
        both = self.space.met_by_two
        return both * near + (self.space.met - both) * far

    @cached_property
    def guarantee(self) -> LossDistribution:
        """The tight profile of this law, which is ε-differentially private for each answer."""
        alone = self.space.met - self.space.met_by_two
        near, far = _each(self.space, self.step)
        return exchanged(alone * near, alone * far)

    def randomize(self, truths: ArrayLike) -> NDArray[np.int64]:
        """Return the number of a point for each true category. Costs ``guarantee`` each."""
        column = read_integers(truths, self.categories, name="truths")
        return in_blocks(self._draw, column, np.empty(column.size, np.int64), _BLOCK)

    def _draw(self, truths: NDArray[Any]) -> Integers:
        """Draw fairly one of the points u with ⟨u, v⟩ = 0, or one with ⟨u, v⟩ = 1.

        Let p be the place of the leading 1 of v. All digits of u but the one at p are free, and
        that one is chosen to make the product right. The first kind is drawn without the zero
        vector, and each point comes from q − 1 of its vectors; of the second kind each point has
        just one vector.
        """
        space, n = self.space, truths.size
        q, free = space.prime, space.prime ** (space.dimension - 1)
        away = coins(Rational(Fraction(self.step, GRID)), n)
        digits = np.where(away, integers(free, n), 1 + integers(free - 1, n))
        v = space.codes(truths.astype(np.int64))
        place = space.powers[space.leading(v)]
        low, high = digits % place, digits // place
        own = (away - space.inner(v - place, low)) % q
        return space.numbers(low + own * place + high * (place * q))

    def law(self, truth: int) -> laws.Finite:
        writable(self.outcomes)
        points = self.space.codes(np.arange(self.outcomes))
        met = self.space.inner(points, points[truth]) == 0
        near, far = _each(self.space, self.step)
        return laws.Finite(range(self.outcomes), [near if meets else far for meets in met])

    def supports_of(self, counts: Integers) -> Integers:
        """How many of the reports counted meet each category."""
        return meeting(counts, self.space, self.categories)

    def changed(self, opposite: str) -> str:
        return (
            "Your device draws a code number, and each code number fits many of the "
            f"{self.categories:,} options. {sentence(most_often(self.inside))}, it fits your "
            f"option; it fits any other option too, {least_often(self.outside)}."
        )

    def chances(self) -> dict[str, int | str]:
        space = self.space
        return {"prime": space.prime, "dimension": space.dimension, "away": self.step}


def best_space(categories: int, epsilon: float) -> Space:
    """The space with at least this many points whose estimates have the least variance.

    In each dimension the variance falls and then grows with the prime. So a search finds the number
    of least variance, prime or not, and the primes on either side of it are tried.
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
        low, high = (low, second) if value(first) <= value(second) else (first, high)
    return min(range(low, high + 1), key=value)


def _least_prime(categories: int, dimension: int) -> int:
    """The least prime whose space has enough points."""
    numbers = range(2, max(3, categories))
    first = bisect_left(numbers, categories, key=lambda number: Space(number, dimension).points)
    return _prime(numbers[first] if first < len(numbers) else categories, 1)


def _prime(start: int, direction: int) -> int:
    """The next prime from ``start`` on, up or down; 2 if there is none below."""
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


# -- the projective space over a prime field: its points, numbered, and which of them meet ---------
# A vector (u₀, …, u₍t₋₁₎) of digits below the prime q has the code u₀ + u₁·q + … + u₍t₋₁₎·q^(t−1).
# A point is a nonzero vector up to a factor. Its canonical vector has leading digit 1 (the last
# digit that is not 0), so its code lies in q^j … 2q^j − 1 for some j. Points are numbered in the
# order of these codes:
#
#     number = (1 + q + … + q^(j−1)) + code − q^j.
#
# Every number here stays below q^t, far below 2⁵³, so that a browser can compute it exactly.


Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Space:
    """The points of F_q^t; two of them meet if their inner product is 0.

    >>> plane = Space(3, 3)
    >>> plane.points, plane.met, plane.met_by_two       # of 13 points each meets 4
    (13, 4, 1)
    """

    prime: int  #: q
    dimension: int  #: t

    @property
    def points(self) -> int:
        """K = (q^t − 1)/(q − 1)."""
        return int((self.prime**self.dimension - 1) // (self.prime - 1))

    @property
    def met(self) -> int:
        """How many points meet a given one: those of a hyperplane."""
        return int((self.prime ** (self.dimension - 1) - 1) // (self.prime - 1))

    @property
    def met_by_two(self) -> int:
        """How many points meet two given ones."""
        return int((self.prime ** (self.dimension - 2) - 1) // (self.prime - 1))

    @cached_property
    def powers(self) -> Integers:
        """1, q, …, q^(t−1)."""
        return self.prime ** np.arange(self.dimension, dtype=np.int64)

    @cached_property
    def starts(self) -> Integers:
        """The number of the first point with leading digit at 0, 1, …, t − 1."""
        return (self.powers - 1) // (self.prime - 1)

    @cached_property
    def inverses(self) -> Integers:
        """1/d = d^(q−2) of every digit d (Fermat); for 0, which has no inverse, it is 0."""

        power, inverse = np.arange(self.prime), np.ones(self.prime, np.int64)
        for bit in reversed(f"{self.prime - 2:b}"):
            if bit == "1":
                inverse = inverse * power % self.prime
            power = power * power % self.prime
        return inverse

    def codes(self, numbers: Integers) -> Integers:
        """The codes of points by their numbers.

        >>> Space(3, 3).codes(np.arange(13))
        array([ 1,  3,  4,  5,  9, 10, 11, 12, 13, 14, 15, 16, 17])
        """
        leading = np.searchsorted(self.starts, numbers, "right") - 1
        return numbers - self.starts[leading] + self.powers[leading]

    def numbers(self, codes: Integers) -> Integers:
        """The numbers of the points that these nonzero vectors belong to."""
        leading = self.leading(codes)
        power = self.powers[leading]
        if self.prime > 2:
            codes = self.times(codes, self.inverses[codes // power])
        return codes - power + self.starts[leading]

    def leading(self, codes: Integers) -> NDArray[np.intp]:
        """The place of the leading digit of each nonzero vector."""
        return np.searchsorted(self.powers, codes, "right") - 1

    def times(self, codes: Integers, factors: Any) -> Integers:
        """Each vector times its factor."""
        product = np.zeros(np.broadcast(codes, factors).shape, np.int64)
        for power in self.powers.tolist():
            product += codes // power % self.prime * factors % self.prime * power
        return product

    def inner(self, first: Integers, second: Integers) -> Integers:
        """The inner products, modulo q."""
        if self.prime == 2:
            odd: Integers = np.bitwise_count(first & second).astype(np.int64) & 1
            return odd
        total = np.zeros(np.broadcast(first, second).shape, np.int64)
        for power in self.powers.tolist():
            total += (first // power % self.prime) * (second // power % self.prime)
        total %= self.prime
        return total


# -- how many reports each point meets: sums over hyperplanes, by Fourier transforms ---------------
# The points with leading digit at j are (w, 1, 0, …) with w in F_q^j. Such a point meets v, whose
# first j digits are a and whose next one is b, where  ⟨w, a⟩ = −b. Let R(a, s) be the count of
# reports with ⟨w, a⟩ = s. Its discrete Fourier transform in s is the transform of the counts along
# the line through a (the Fourier slice theorem):
#
#     Σ_s R(a, s)·ω^(cs) = Σ_w f(w)·ω^⟨w, ca⟩ = F(c·a).
#
# With a = λ·â, â canonical, R(a, −b) = R(â, −b/λ). So it takes one transform of q^j numbers, one
# gathering along lines, and one transform back of length q: memory grows with the number of points,
# not with q times that number.
#
# Rounding. All counts are whole numbers, so an error below ½ is no error. Let N = q^j, n the number
# of reports and u = 2⁻⁵³. A fast Fourier transform is off by at most C·u·log₂N·√N·‖f‖₂ in the
# Euclidean norm (Higham, Accuracy and Stability, theorem 24.2, with C below 10 for powers of two).
# The transform back divides by √q. So every count is off by at most
#
#     C·u·(log₂N + log₂q)·√(N/q)·‖f‖₂ + C·u·log₂q·n.
#
# NumPy's transform of other lengths comes without a proof of its C. We take 64, and a test checks
# that errors stay below a tenth of that, in small fields and large ones. Where the bound is above
# 1/16, the counts are split into their high and low binary digits, which are transformed one after
# the other. The result is checked: every number must be within 1/8 of a whole one, and every line
# must add up to the number of reports; else nothing is returned.


_CONSTANT: Final = 64.0
_UNIT: Final = 2.0**-53


def meeting(counts: Integers, space: Space, categories: int) -> Integers:
    """How many of the reports counted meet each of the first points.

    >>> plane = Space(3, 3)
    >>> reports = np.zeros(13, np.int64)
    >>> reports[0] = 5                                   # five reports of the point (1, 0, 0)
    >>> meeting(reports, plane, 13)                      # which meets all points (0, ·, ·)
    array([0, 5, 0, 0, 5, 0, 0, 5, 0, 0, 5, 0, 0])
    """
    if space.prime == 2:
        return _walsh(counts, space, categories)
    codes = space.codes(np.arange(categories))
    total = np.zeros(categories, np.int64)
    for j, power in enumerate(space.powers.tolist()):
        start = int(space.starts[j])
        f = counts[start : start + power]
        digits = codes % (power * space.prime)
        if power * space.prime <= categories:  # compute every possible value once
            every = np.arange(power * space.prime)
            total += _met(f, Space(space.prime, j), every)[digits]
        else:
            total += _met(f, Space(space.prime, j), digits)
    return total


def _walsh(counts: Integers, space: Space, categories: int) -> Integers:
    """Over two elements: (n + those that meet − those that do not)/2, in whole numbers."""
    f = np.concatenate([[0], counts])
    for j in range(space.dimension):
        pairs = f.reshape(-1, 2, 1 << j)
        f = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1)
    flat = f.reshape(-1)
    met: Integers = (flat[0] + flat[1 : categories + 1]) // 2
    return met


def _met(f: Integers, lower: Space, digits: Integers) -> Integers:
    """Σ f(w) over the w with ⟨w, a⟩ = −b, for the vectors (a, b) with these codes."""
    q = lower.prime
    b, a = np.divmod(digits, q**lower.dimension)
    nowhere = np.where(b == 0, f.sum(), 0)  # where a is zero
    if lower.dimension == 0:
        return nowhere
    line = np.where(a == 0, 1, a)
    factor = lower.inverses[line // lower.powers[lower.leading(line)]]
    met = _lines(f, lower)[lower.numbers(line), -b * factor % q]
    return np.where(a == 0, nowhere, met)


def _lines(f: Integers, space: Space) -> Integers:
    """R(â, s) for every canonical â and every s."""
    q = space.prime
    if space.dimension == 1:  # â = 1 alone
        return f.reshape(1, q)
    if _error(f, space) > 1 / 16:
        half = int(f.max()).bit_length() // 2
        high = f >> half
        return (_lines(high, space) << half) + _lines(f - (high << half), space)
    transform = np.fft.fftn(f.reshape((q,) * space.dimension)).reshape(-1)
    points = space.codes(np.arange(space.points))
    slices = np.empty((space.points, q // 2 + 1), np.complex128)
    slices[:, 0], slices[:, 1] = transform[0], transform[points]
    for c in range(2, q // 2 + 1):
        slices[:, c] = transform[space.times(points, c)]
    return _whole(np.fft.irfft(slices, q, axis=1), int(f.sum()))


def _error(f: Integers, space: Space) -> float:
    """The bound above; 0 for counts that cannot be split any further."""
    q, bits = space.prime, space.dimension * log2(space.prime)
    norm = sqrt(float(np.dot(f.astype(float), f.astype(float))))
    if f.max() <= 1:
        return 0.0
    first = (bits + log2(q)) * sqrt(q ** (space.dimension - 1)) * norm
    return _CONSTANT * _UNIT * (first + log2(q) * float(f.sum()))


def _whole(values: NDArray[np.float64], total: int) -> Integers:
    rounded = np.rint(values)
    whole = rounded.astype(np.int64)
    if np.abs(values - rounded).max() > 1 / 8 or (whole.sum(axis=1) != total).any():
        raise InternalError("sums over hyperplanes are not whole numbers")
    return whole
