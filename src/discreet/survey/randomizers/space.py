"""The projective space over a prime field: its points, numbered, and which of them meet.

A vector (u₀, …, u₍t₋₁₎) of digits below the prime q has the code u₀ + u₁·q + … + u₍t₋₁₎·q^(t−1).
A point is a nonzero vector up to a factor. Its canonical vector has leading digit 1 (the last
digit that is not 0), so its code lies in q^j … 2q^j − 1 for some j. Points are numbered in the
order of these codes:

    number = (1 + q + … + q^(j−1)) + code − q^j.

Every number here stays below q^t, far below 2⁵³, so that a browser can do the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.lazy import cached_property

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
        """1/d = d^(q−2) of every digit d (Fermat); 0 stands in for that of 0."""
        power, inverse = np.arange(self.prime), np.ones(self.prime, np.int64)
        exponent = self.prime - 2
        while exponent:
            if exponent % 2:
                inverse = inverse * power % self.prime
            power = power * power % self.prime
            exponent //= 2
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
        """Where the leading digit of each nonzero vector stands."""
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
