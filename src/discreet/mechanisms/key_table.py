"""The optimal rule for discovering keys: how likely a key of n units may be kept at most.

One unit more or less may change the probability π(n) of keeping a key by a factor of e^ε and
δ, in both directions and for both outcomes. From π(0) = 0 the largest such probabilities are

    π(n+1) = min(e^ε·π(n) + δ,  1 − e^(−ε)·(1 − π(n) − δ),  1)

(Desfontaines, Voss, Gipson and Mandayam 2022, Theorem 1). They are irrational, so the table
holds slightly smaller ones, multiples of 2^(−bits): each is computed from the one in the table
before it and rounded down, and then the inequalities hold for the table itself, exactly.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, floor, log, log1p, tanh
from typing import Final

import numpy as np
from numpy.typing import NDArray

from discreet import laws
from discreet.balls import ball, lower_fraction, precision, upper_fraction
from discreet.errors import Refused
from discreet.guarantees.key_pair import KeyPair
from discreet.lazy import cached_property
from discreet.mechanisms.key_coins import worst_coins
from discreet.noise import entropy
from discreet.noise.bernoulli import Rational, coins_each
from discreet.noise.workspace import in_blocks

LARGEST_TABLE: Final = 10**6
_LARGEST_EPSILON: Final = 4096  # a smaller ε is a stronger promise, and e^(−4096) is no loss


@dataclass(frozen=True)
class KeyTable:
    """Keep probabilities of keys by size, in multiples of 2^(−bits); from the end on, 1."""

    numerators: tuple[int, ...]
    bits: int

    def probability(self, n: int) -> Fraction:
        """π(n), exact."""
        if n < len(self.numerators):
            return Fraction(self.numerators[max(n, 0)], 1 << self.bits)
        return Fraction(1)

    @property
    def pair(self) -> KeyPair:
        """What one key tells: the coins (π(n), π(n+1)) that are the worst at some ε, exact."""
        worst = worst_coins([*self.numerators, 1 << self.bits])
        return KeyPair(coins=[(self.probability(n), self.probability(n + 1)) for n in worst])

    def keep(self, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Toss a coin for each key: True with probability exactly π of its count."""
        source = entropy.source()
        kept = counts >= len(self.numerators)
        sizes = np.clip(counts, 0, len(self.numerators) - 1)

        def work(start: int, end: int) -> None:
            def rest(place: int) -> Rational:
                return Rational(self.probability(int(sizes[start + place])))

            kept[start:end] |= coins_each(self._first_digits[sizes[start:end]], rest, source)

        in_blocks(work, counts.size, source)
        return kept

    def law(self, n: int) -> laws.Finite:
        """The law of "kept" for a key of n units."""
        kept = self.probability(n)
        return laws.Finite((False, True), (1 - kept, kept))

    def least_size(self, confidence: Fraction) -> int:
        """The least n that is kept with at least this probability."""
        return bisect_left(self.numerators, confidence * (1 << self.bits))

    @cached_property
    def _first_digits(self) -> NDArray[np.uint64]:
        shift = self.bits - 64
        return np.array([numerator >> shift for numerator in self.numerators], np.uint64)


def key_table(epsilon: Fraction, delta: Fraction) -> KeyTable:
    """Return the table for one key; see ``check_length`` for how long it may get.

    >>> table = key_table(Fraction(1), Fraction(1, 100))
    >>> [round(float(table.probability(n)), 4) for n in (0, 1, 2, 5, 9, 10)]
    [0.0, 0.01, 0.0372, 0.7506, 1.0, 1.0]
    """
    # δ keeps 64 digits, so π(n) ≥ δ loses at most n parts in 2^64.
    bits = 64 + max(0, delta.denominator.bit_length() - delta.numerator.bit_length() + 1)
    one, step = 1 << bits, floor(delta * (1 << bits))
    grow, shrink = _factors(min(epsilon, Fraction(_LARGEST_EPSILON)), bits + 64)
    numerators, p = [0], 0
    while (
        p := min(
            (grow * p >> (bits + 64)) + step,
            one - max(0, -(-shrink * (one - p - step) >> (bits + 64))),
        )
    ) < one:
        numerators.append(p)
    return KeyTable(tuple(numerators), bits)


def _factors(epsilon: Fraction, bits: int) -> tuple[int, int]:
    """Return e^ε rounded down and e^(−ε) rounded up, in units of 2^(−bits)."""
    with precision(2 * bits + 2 * _LARGEST_EPSILON):
        grow, shrink = ball(epsilon).exp(), ball(-epsilon).exp()
    return floor(lower_fraction(grow) * (1 << bits)), ceil(upper_fraction(shrink) * (1 << bits))


def check_length(epsilon: Fraction, delta: Fraction) -> None:
    """Refuse a table of more than 10⁶ sizes."""
    # π reaches about ½ where δ·(e^(nε) − 1)/(e^ε − 1) does, and 1 about as many steps later:
    # n ≈ 2·ln(1 + tanh(ε/2)/δ)/ε. For ε far below δ that is 1/δ, whatever ε is.
    e = float(min(max(epsilon, Fraction(1, 10**30)), Fraction(_LARGEST_EPSILON)))
    odds = log(tanh(e / 2)) - log(delta.numerator) + log(delta.denominator)
    if 2 * (max(odds, 0) + log1p(exp(-abs(odds)))) / e > LARGEST_TABLE:
        raise Refused(
            f"the optimal rule would need a table of more than {LARGEST_TABLE} sizes for so small "
            'an epsilon and delta; use rule="laplace", which needs none'
        )
