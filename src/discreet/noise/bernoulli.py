"""Biased coins: heads with probability exactly p, for any p that can be computed.

A coin is heads when a uniform real U lies below p. The first 16 bits of U settle it unless
they equal the first 16 bits of p (once in 65,536); then 64 more are drawn, and so on.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import floor
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from discreet.noise import entropy
from discreet.noise.entropy import Source, Words
from discreet.noise.workspace import in_blocks
from discreet.numeric.balls import arb, ball, lower_fraction, precision, upper_fraction


@dataclass(frozen=True)
class Rational:
    """p = a/b."""

    p: Fraction

    def floor(self, bits: int) -> int:
        """Return ⌊2^bits·p⌋."""
        return (self.p.numerator << bits) // self.p.denominator


@dataclass(frozen=True)
class Computed:
    """p as a function in ball arithmetic; it must be irrational, or its digits may not settle.

    Digits are computed once: a single coin takes a tenth of the time its formula takes.
    """

    formula: Callable[[], arb]
    _known: dict[int, int] = field(default_factory=dict, compare=False, repr=False)

    def floor(self, bits: int) -> int:
        if bits not in self._known:
            self._known[bits] = self._compute(bits)
        return self._known[bits]

    def _compute(self, bits: int) -> int:
        working = bits + 64
        while True:
            with precision(working):
                digits = self.formula() * ball(1 << bits)
                # p lies in (0, 1), which decides where rounding cannot tell it from 0 or from 1
                first = max(0, floor(lower_fraction(digits)))
                last = min((1 << bits) - 1, floor(upper_fraction(digits)))
            if first == last:
                return first
            working *= 2


Probability: TypeAlias = Rational | Computed  # a number in [0, 1], given by its binary digits


def coins(p: Probability, size: int) -> NDArray[np.bool_]:
    """Return ``size`` independent coins, each True with probability exactly ``p``."""
    source = entropy.source()
    heads = np.empty(size, np.bool_)
    limit = p.floor(16)
    if limit >= 1 << 16:  # p = 1
        heads[:] = True
        return heads

    def work(start: int, end: int) -> None:
        part = heads[start:end]
        bits = source.words((part.size + 3) // 4).view(np.uint16)[: part.size]
        np.less(bits, limit, out=part)
        same = bits == limit
        if same.any():
            tied = np.flatnonzero(same)
            part[tied] = _below(p, limit, 16, source.words(tied.size), source)

    in_blocks(work, size, source)
    return heads


def coins_each(digits: Words, p: Callable[[int], Probability], source: Source) -> NDArray[np.bool_]:
    """Return one coin for each place; ``digits`` holds ⌊2^64·p⌋ and ``p(place)`` the rest."""
    words = source.words(digits.size)
    heads = words < digits
    for place in np.flatnonzero(words == digits):
        probability = p(int(place))
        more = source.words(1)
        heads[place] = _below(probability, int(digits[place]), 64, more, source)[0]
    return heads


def _below(
    p: Probability, first: int, bits: int, words: Words, source: Source
) -> NDArray[np.bool_]:
    """Decide U < p for reals U that begin with ``first`` and go on with ``words``."""
    digits = p.floor(bits + 64) - (first << 64)
    heads = words < np.uint64(digits)
    for place in np.flatnonzero(words == np.uint64(digits)):
        more = source.extend(words[place : place + 1], bits)
        rest = _below(p, (first << 64) + digits, bits + 64, more, source)
        heads[place] = rest[0]
    return heads
